/*
 * windows.c - one-sided communication: what it moves, between which ranks, and
 * which rank was late; see traffic.h.
 *
 * A rank waits in a fence and in the making of a window, as in a collective.
 * Else it waits for stamps that others post on their boards, under a key made
 * of the window and of what they do: an unlock, a post, a complete. The latest
 * one tells, so these stamps have no number. A rank may wait for a lock or a
 * post later than where it asks: hosts put this off until an access, a flush or
 * the end of the epoch. So the recorder looks in all of these.
 *
 * An unlock and a complete may last, since they move data. They post the stamp
 * at their beginning, where no rank misses it, and again at their end.
 */
#include "traffic.h"

#include <pthread.h>
#include <stdlib.h>

/* What a stamp tells. Of an unlock, target + 1 is added; 0: all targets. */
#define POSTED 1u
#define COMPLETED 2u
#define UNLOCKED 3u

/* Calls that last longer, in ns, post their stamp at their end, too. */
#define LONG 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_window_t *windows;

static uint64_t stamp(const sw_window_t *w, uint64_t what)
{
    return w && w->id ? sw_board_nth(w->id, what * SW_BOARD_RUN) : 0;
}

static void note(sw_event_t *e, const sw_window_t *w, int64_t rank,
                 uint64_t flags)
{
    SW_EVENT_NOTE(e, SW_NOTE_TARGET,
                  sw_tracer_signed(rank < -1 ? SW_PEER_ELSEWHERE : rank),
                  w ? w->number : 0, flags);
}

/* A target in MPI_COMM_WORLD. */
static int64_t rank_of(const sw_event_t *e, int target)
{
    int64_t rank = sw_known_rank(e->comm, target);
    return rank < 0 ? SW_PEER_ELSEWHERE : rank;
}

/* Windows ----------------------------------------------------------------- */

void sw_window_made(sw_event_t *e, MPI_Win handle, MPI_Comm comm)
{
    sw_window_t *w = calloc(1, sizeof *w);
    sw_known_comm_t *c = sw_known_comm_meet(comm);
    if (!w || !c) {
        free(w);
        return;
    }
    uint64_t number = ++c->windows;
    *w = (sw_window_t){.handle = handle,
                       .comm = c,
                       .number = number,
                       .id = c->id ? sw_board_key(~c->id, number) : 0};
    pthread_mutex_lock(&lock);
    w->next = windows;
    windows = w;
    pthread_mutex_unlock(&lock);
    note(e, w, -1, 0);
}

void sw_window_freed(MPI_Win handle)
{
    pthread_mutex_lock(&lock);
    sw_window_t **link = &windows;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    sw_window_t *w = *link;
    if (w)
        *link = w->next;
    pthread_mutex_unlock(&lock);
    if (w) {
        sw_members_drop(w->targets);
        sw_members_drop(w->origins);
    }
    free(w);
}

sw_window_t *sw_window_before(sw_event_t *e, MPI_Win handle)
{
    pthread_mutex_lock(&lock);
    sw_window_t *w = windows;
    while (w && w->handle != handle)
        w = w->next;
    e->comm = w ? w->comm : NULL;
    pthread_mutex_unlock(&lock);
    return w;
}

/* A fence, or the end of a window. */
void sw_window_meet(sw_event_t *e, const sw_window_t *w)
{
    note(e, w, -1, 0);
    sw_collective_begins(e, SW_WAITS_ALL, -1);
}

/* Late ranks -------------------------------------------------------------- */

/* What the event has waited for: the stamps of some ranks, or nothing. */
static void look(sw_event_t *e, const int *rank, int n, uint64_t key)
{
    e->looked = true;
    for (int i = 0; i < n; i++)
        if (rank[i] >= 0 && rank[i] != sw_job.rank)
            sw_event_look(e, rank[i], key);
}

static void look_at_members(sw_event_t *e, const sw_members_t *members,
                            uint64_t key)
{
    if (members)
        look(e, members->rank, members->n, key);
}

static bool is_chosen(sw_event_t *e)
{
    if (!e->partners && !e->paused) {
        e->stands_for = e->amount.time; /* it waits for no rank */
        e->looked = true;
        return false;
    }
    return e->stands_for != 0;
}

static uint64_t unlocked(int target)
{
    return UNLOCKED + (target == SW_ALL_TARGETS ? 0 : (uint64_t)target + 1);
}

static uint32_t others(const sw_window_t *w)
{
    return w && w->comm->n > 1 ? (uint32_t)w->comm->n - 1 : 0;
}

/* For a lock that others hold: in a lock, a flush or an unlock. */
void sw_window_lock_before(sw_event_t *e, const sw_window_t *w)
{
    e->partners = others(w);
}

void sw_window_lock_after(sw_event_t *e, const sw_window_t *w, int target,
                          unsigned flags)
{
    if (target == MPI_PROC_NULL)
        return;
    note(e, w, target == SW_ALL_TARGETS ? -1 : rank_of(e, target), flags);
    if (is_chosen(e) && w && w->comm->world)
        look(e, w->comm->world, w->comm->n, stamp(w, unlocked(target)));
}

void sw_window_unlock_before(sw_event_t *e, const sw_window_t *w, int target)
{
    sw_window_lock_before(e, w);
    if (target == MPI_PROC_NULL)
        return;
    if (target != SW_ALL_TARGETS)
        sw_event_post(e, stamp(w, unlocked(SW_ALL_TARGETS)));
    e->post = stamp(w, unlocked(target));
}

static void post_again(sw_event_t *e)
{
    if (e->amount.time > LONG)
        sw_event_post(e, e->post);
}

void sw_window_unlock_after(sw_event_t *e, const sw_window_t *w, int target)
{
    post_again(e);
    sw_window_lock_after(e, w, target, 0);
}

/* The members of a group, held; NULL: none, or no memory. */
static sw_members_t *members_of(MPI_Group group)
{
    int n = 0;
    if (group == MPI_GROUP_NULL || host.Group_size(group, &n) != MPI_SUCCESS)
        return NULL;
    return n > 0 ? sw_members_of(group, n) : NULL;
}

static void note_members(sw_event_t *e, const sw_window_t *w,
                         const sw_members_t *members)
{
    for (int i = 0; members && i < members->n; i++)
        note(e, w, members->rank[i], 0);
}

void sw_window_post_before(sw_event_t *e, const sw_window_t *w)
{
    e->post = stamp(w, POSTED);
}

void sw_window_post_after(sw_event_t *e, sw_window_t *w, MPI_Group origins)
{
    if (!w)
        return;
    sw_members_drop(w->origins);
    w->origins = members_of(origins);
    note_members(e, w, w->origins);
}

void sw_window_start_before(sw_event_t *e, const sw_window_t *w)
{
    e->partners = others(w);
}

void sw_window_start_after(sw_event_t *e, sw_window_t *w, MPI_Group targets)
{
    if (!w)
        return;
    sw_members_drop(w->targets);
    w->targets = members_of(targets);
    note_members(e, w, w->targets);
    if (is_chosen(e))
        look_at_members(e, w->targets, stamp(w, POSTED));
}

void sw_window_complete_before(sw_event_t *e, const sw_window_t *w)
{
    e->partners = w && w->targets ? (uint32_t)w->targets->n : 0;
    e->post = stamp(w, COMPLETED);
}

void sw_window_complete_after(sw_event_t *e, sw_window_t *w)
{
    if (!w)
        return;
    post_again(e);
    note_members(e, w, w->targets);
    if (is_chosen(e))
        look_at_members(e, w->targets, stamp(w, POSTED));
    sw_members_drop(w->targets);
    w->targets = NULL;
}

void sw_window_wait_before(sw_event_t *e, const sw_window_t *w)
{
    e->partners = w && w->origins ? (uint32_t)w->origins->n : 0;
}

void sw_window_wait_after(sw_event_t *e, sw_window_t *w)
{
    if (!w)
        return;
    note_members(e, w, w->origins);
    if (is_chosen(e))
        look_at_members(e, w->origins, stamp(w, COMPLETED));
    sw_members_drop(w->origins);
    w->origins = NULL;
}

/* Accesses ---------------------------------------------------------------- */

/* The first one may wait for the target's post. */
void sw_record_access_before(sw_event_t *e, const sw_window_t *w)
{
    e->partners = w && w->targets;
}

static void put(sw_event_t *e, int target, int64_t count, MPI_Datatype type,
                MPI_Op op)
{
    e->amount.size = e->amount.sent = sw_event_bytes(e, count, type);
    if (op != MPI_OP_NULL)
        SW_KEY_SET(&e->key, operation, sw_known_op(op));
    sw_record_between_sent(e, e->comm, target, e->amount.sent);
    sw_peers_sent(&e->recorder->peers, SW_PEERS_ONE_SIDED,
                  sw_known_rank(e->comm, target), e->amount.sent);
}

static void get(sw_event_t *e, int target, int64_t count, MPI_Datatype type)
{
    e->amount.size = e->amount.received = sw_event_bytes(e, count, type);
    sw_record_between_received(e, e->comm, target, e->amount.received);
    sw_peers_received(&e->recorder->peers, SW_PEERS_ONE_SIDED,
                      sw_known_rank(e->comm, target), e->amount.received);
}

static bool is_counted(const sw_event_t *e, int target)
{
    return target != MPI_PROC_NULL && !e->paused;
}

static void aimed(sw_event_t *e, const sw_window_t *w, int target)
{
    int rank = (int)rank_of(e, target);
    note(e, w, rank, 0);
    if (is_chosen(e))
        look(e, &rank, 1, stamp(w, POSTED));
}

void sw_record_put_after(sw_event_t *e, const sw_window_t *w, int target,
                         int64_t count, MPI_Datatype type, MPI_Op op)
{
    if (!is_counted(e, target))
        return;
    put(e, target, count, type, op);
    aimed(e, w, target);
}

void sw_record_get_after(sw_event_t *e, const sw_window_t *w, int target,
                         int64_t count, MPI_Datatype type)
{
    if (!is_counted(e, target))
        return;
    get(e, target, count, type);
    aimed(e, w, target);
}

/* Nothing is sent where the operation is MPI_NO_OP, and `type` may then be
 * anything. */
void sw_record_fetch_after(sw_event_t *e, const sw_window_t *w, int target,
                           int64_t sent, MPI_Datatype type, int64_t received,
                           MPI_Datatype received_type, MPI_Op op)
{
    if (!is_counted(e, target))
        return;
    get(e, target, received, received_type);
    if (op != MPI_NO_OP) {
        uint64_t size = e->amount.size;
        put(e, target, sent, type, op);
        e->amount.size = sw_max(size, e->amount.size);
    }
    aimed(e, w, target);
}
