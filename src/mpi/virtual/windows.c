/*
 * windows.c - one-sided communication in virtual time; see virtual.h.
 *
 * A window is a context of its own (vtime/ops/op.h), on which data move, and
 * fences are collectives. Post and complete are empty messages there, one to
 * each rank of the group; start and wait receive them.
 *
 * A rank that is locked out sleeps in the engine, not in the host. It asks for
 * the lock in virtual time first, and asks the host when it has that. No rank
 * has given a lock back there before it has in the host. So ranks hold locks in
 * the order of virtual time in the host, too. That is a pause: the call is not
 * over. Where no rank goes on, the rank asks the host without the engine's
 * lock, for hosts may grant locks at their first use (engine/program/doubt.c).
 * A rank hands the host first what other ranks may wait for: they may look for
 * its effect in memory, which no call shows.
 *
 * The contexts of windows that were freed are used again, by the next that is
 * made on the same communicator: all members make and free them in one order.
 */
#include "virtual.h"

#include "mpi/base/comm.h"

#include <stdlib.h>

/* Empty messages under way. */
typedef struct {
    uint32_t *requests;
    int count;
} awaited_t;

enum { UNLOCKED, SHARED, EXCLUSIVE, UNCHECKED };

typedef struct window {
    struct window *next;
    MPI_Win handle; /* MPI_WIN_NULL: its context is free */
    sw_known_comm_t *comm;
    uint32_t context;
    awaited_t posts, completes; /* of an access, and of an exposure */
    sw_members_t *targets;      /* of the access */
    bool complete;              /* the exposure is over in virtual time */
    uint8_t all;                /* how all are locked, */
    uint8_t *locked;            /* and each is: see above */
} window_t;

static window_t *windows; /* the oldest first */

static window_t *find(MPI_Win handle)
{
    window_t *w = windows;
    while (w && w->handle != handle)
        w = w->next;
    return w;
}

/* One that is known; else it is counted. Locked. */
static window_t *known(MPI_Win handle)
{
    sw_virtual_lock();
    window_t *w = find(handle);
    if (!w) {
        sw_virtual_unlock();
        sw_virtual_unmodelled();
    }
    return w;
}

static sw_vop_t operation(const window_t *w, sw_window_t what, int32_t peer)
{
    return (sw_vop_t){.kind = SW_OP_WINDOW,
                      .what = (uint8_t)what,
                      .context = w->context,
                      .peer = peer};
}

/* A rank of the world; -1: all, or none. */
static int32_t rank_of(const window_t *w, int member)
{
    return member < 0 ? -1 : (int32_t)sw_known_rank(w->comm, member);
}

static void flush(const window_t *w, int32_t peer, bool local)
{
    sw_vop_t op = operation(w, SW_WINDOW_FLUSH, peer);
    op.flags = local ? SW_WINDOW_LOCAL : 0;
    sw_virtual_put(&op);
}

/* Beginning and end -------------------------------------------------------- */

static window_t *new_window(sw_known_comm_t *c)
{
    window_t **link = &windows;
    uint64_t nth = 0;
    for (; *link; link = &(*link)->next)
        if ((*link)->comm == c) {
            if ((*link)->handle == MPI_WIN_NULL)
                return *link;
            nth++;
        }
    window_t *w = calloc(1, sizeof *w);
    uint8_t *locked = calloc((size_t)c->n, 1);
    if (!w || !locked) {
        free(w);
        free(locked);
        return NULL;
    }
    *w = (window_t){
        .comm = c, .locked = locked, .context = sw_virtual_beside(c, nth)};
    return *link = w;
}

void sw_virtual_window_made(MPI_Win window, MPI_Comm comm, unsigned flags)
{
    sw_known_comm_t *c = sw_virtual_comm(comm);
    if (!c || c->inter)
        return; /* its calls will be counted */
    sw_virtual_lock();
    window_t *w = new_window(c);
    if (w) {
        w->handle = window;
        sw_vop_t op = operation(w, SW_WINDOW_MAKE, -1);
        op.flags = (uint16_t)flags;
        sw_virtual_put(&op);
    }
    sw_virtual_unlock();
}

void sw_virtual_window_freed(MPI_Win window)
{
    sw_virtual_lock();
    window_t *w = find(window);
    if (w) {
        sw_vop_t op = operation(w, SW_WINDOW_FREE, -1);
        sw_virtual_put(&op);
        w->handle = MPI_WIN_NULL;
        w->all = UNLOCKED;
    }
    sw_virtual_unlock();
}

void sw_virtual_meet_window(MPI_Win window, sw_op_collective_t what)
{
    window_t *w = known(window);
    if (!w)
        return;
    sw_vop_t op = {.kind = SW_OP_COLLECTIVE,
                   .what = (uint8_t)what,
                   .context = w->context,
                   .peer = -1};
    flush(w, -1, false);
    sw_virtual_unlock();
    sw_virtual_meet(&op);
}

/* What is moved ------------------------------------------------------------ */

sw_window_t sw_virtual_combines(MPI_Op op, sw_window_t what)
{
    if (op == MPI_NO_OP)
        return SW_WINDOW_GET;
    return op == MPI_REPLACE && what == SW_WINDOW_REDUCE ? SW_WINDOW_PUT : what;
}

void sw_virtual_moved(MPI_Win window, sw_window_t what, int target,
                      int64_t count, MPI_Datatype type, MPI_Request request)
{
    if (target == MPI_PROC_NULL) {
        sw_virtual_nothing(request, false);
        return;
    }
    window_t *w = known(window);
    if (!w)
        return;
    sw_vop_t op = operation(w, what, rank_of(w, target));
    if (count > 0 && type != MPI_DATATYPE_NULL)
        op.bytes = (uint64_t)count * sw_known_type(type)->size;
    if (op.peer < 0)
        sw_virtual_unmodelled();
    else if (request != MPI_REQUEST_NULL)
        sw_virtual_begun(w->comm, &op, request, false);
    else
        sw_virtual_put(&op);
    sw_virtual_unlock();
}

void sw_virtual_flush(MPI_Win window, int target, bool local)
{
    if (target == MPI_PROC_NULL)
        return;
    window_t *w = known(window);
    if (!w)
        return;
    flush(w, rank_of(w, target), local);
    sw_virtual_unlock();
}

/* Locks ------------------------------------------------------------------- */

/* NULL: there is no such target. */
static uint8_t *lock_of(window_t *w, int target)
{
    if (target == SW_EVERY_TARGET)
        return &w->all;
    return target >= 0 && target < w->comm->n ? &w->locked[target] : NULL;
}

/* Where threads call at once, no thread may sleep for what another of them may
 * have: the host alone keeps them apart. */
void sw_virtual_lock_window(MPI_Win window, int target, bool exclusive,
                            int assertion)
{
    sw_op_answer_t answer;
    window_t *w = target == MPI_PROC_NULL ? NULL : known(window);
    uint8_t *how = w ? lock_of(w, target) : NULL;
    if (!w)
        return;
    if (how && !sw_virtual_shared && !(assertion & MPI_MODE_NOCHECK)) {
        sw_vop_t op = operation(w, SW_WINDOW_LOCK, rank_of(w, target));
        op.flags = exclusive ? SW_WINDOW_EXCLUSIVE : 0;
        *how = exclusive ? EXCLUSIVE : SHARED;
        sw_virtual_put(&op);
        sw_virtual_ask(
            &(sw_vop_t){.kind = SW_OP_CLOCK, .flags = SW_CLOCK_PAUSE}, &answer);
    } else if (how) {
        *how = UNCHECKED;
        if (sw_virtual_shared)
            sw_virtual_unmodelled();
    }
    sw_virtual_unlock();
}

void sw_virtual_unlock_window(MPI_Win window, int target)
{
    window_t *w = target == MPI_PROC_NULL ? NULL : known(window);
    uint8_t *how = w ? lock_of(w, target) : NULL;
    if (!w)
        return;
    flush(w, rank_of(w, target), false);
    if (how && (*how == SHARED || *how == EXCLUSIVE)) {
        sw_vop_t op = operation(w, SW_WINDOW_UNLOCK, rank_of(w, target));
        op.flags = *how == EXCLUSIVE ? SW_WINDOW_EXCLUSIVE : 0;
        sw_virtual_put(&op);
    }
    if (how)
        *how = UNLOCKED;
    sw_virtual_unlock();
}

/* Post, start, complete, wait ---------------------------------------------- */

/* The members of a group, held; NULL: none, or no memory. */
static sw_members_t *members_of(MPI_Group group)
{
    int n = 0;
    if (group == MPI_GROUP_NULL || host.Group_size(group, &n) != MPI_SUCCESS)
        return NULL;
    return n > 0 ? sw_members_of(group, n) : NULL;
}

static void tell(const window_t *w, int32_t peer, int tag)
{
    sw_virtual_put(&(sw_vop_t){.kind = SW_OP_SEND,
                               .context = w->context,
                               .peer = peer,
                               .tag = tag,
                               .flags = SW_SEND_BUFFERED});
}

/* From each of them an empty message. */
static void expect(const window_t *w, awaited_t *awaited,
                   const sw_members_t *from, int tag)
{
    awaited->requests = malloc((size_t)from->n * sizeof *awaited->requests);
    for (int i = 0; i < from->n && awaited->requests; i++) {
        if (from->rank[i] < 0)
            continue;
        uint32_t request = sw_work_number();
        awaited->requests[awaited->count++] = request;
        sw_virtual_put(&(sw_vop_t){.kind = SW_OP_RECV,
                                   .context = w->context,
                                   .peer = from->rank[i],
                                   .tag = tag,
                                   .request = request});
    }
}

/* `told`: the engine knows that they have come. */
static void have_come(awaited_t *awaited, bool told)
{
    for (int i = 0; i < awaited->count; i++) {
        if (!told)
            sw_virtual_tell(SW_OP_WAIT, awaited->requests[i]);
        sw_work_number_free(awaited->requests[i]);
    }
    free(awaited->requests);
    *awaited = (awaited_t){NULL, 0};
}

void sw_virtual_post_window(MPI_Win window, MPI_Group origins)
{
    window_t *w = known(window);
    if (!w)
        return;
    sw_members_t *to = members_of(origins);
    have_come(&w->completes, true);
    w->complete = false;
    if (to) {
        for (int i = 0; i < to->n; i++)
            if (to->rank[i] >= 0)
                tell(w, to->rank[i], SW_WINDOW_POSTED);
        expect(w, &w->completes, to, SW_WINDOW_COMPLETED);
    }
    sw_members_drop(to);
    sw_virtual_unlock();
}

void sw_virtual_start_window(MPI_Win window, MPI_Group targets)
{
    window_t *w = known(window);
    if (!w)
        return;
    sw_members_drop(w->targets);
    w->targets = members_of(targets);
    if (w->targets)
        expect(w, &w->posts, w->targets, SW_WINDOW_POSTED);
    if (!sw_virtual_shared)
        have_come(&w->posts, false);
    sw_virtual_unlock();
    sw_virtual_pause();
}

void sw_virtual_started_window(MPI_Win window)
{
    sw_virtual_lock();
    window_t *w = find(window);
    if (w)
        have_come(&w->posts, false);
    sw_virtual_unlock();
}

void sw_virtual_complete_window(MPI_Win window)
{
    window_t *w = known(window);
    if (!w)
        return;
    flush(w, -1, false);
    for (int i = 0; w->targets && i < w->targets->n; i++)
        if (w->targets->rank[i] >= 0)
            tell(w, w->targets->rank[i], SW_WINDOW_COMPLETED);
    sw_members_drop(w->targets);
    w->targets = NULL;
    sw_virtual_unlock();
}

int sw_virtual_wait_window(MPI_Win window)
{
    window_t *w = known(window);
    sw_virtual_nap_t nap = {0};
    int flag = 0, rc = MPI_SUCCESS;
    if (!w)
        return served.Win_wait(window);
    if (!sw_virtual_shared)
        have_come(&w->completes, w->complete);
    sw_virtual_unlock();
    sw_virtual_pause();
    if (!sw_virtual_naps())
        rc = served.Win_wait(window);
    else
        while ((rc = served.Win_test(window, &flag)) == MPI_SUCCESS && !flag)
            sw_virtual_nap_and_tell(&nap);
    sw_virtual_lock();
    have_come(&w->completes, w->complete);
    sw_virtual_unlock();
    return rc;
}

/* Have all completed, in virtual time? */
static bool all_complete(window_t *w, bool *asked)
{
    sw_op_answer_t answer = {.found = false};
    uint64_t key = sw_board_key(w->context, 3) | 1;
    if (w->complete || !w->completes.count)
        return true;
    if (sw_virtual_still_not(key))
        return false;
    for (int i = 0; i < w->completes.count; i++)
        sw_virtual_tell(SW_OP_LIST, w->completes.requests[i]);
    *asked = sw_virtual_ask(
        &(sw_vop_t){.kind = SW_OP_SELECT, .what = SW_TEST_ALL}, &answer);
    if (*asked && !answer.found)
        sw_virtual_found_nothing(key, &answer);
    w->complete = answer.found;
    return answer.found || !*asked;
}

/* What is complete in virtual time, the host knows soon. */
int sw_virtual_test_window(MPI_Win window, int *flag)
{
    window_t *w = known(window);
    bool asked = true;
    if (!w)
        return served.Win_test(window, flag);
    if (!sw_virtual_shared && !all_complete(w, &asked)) {
        sw_virtual_unlock();
        *flag = 0;
        sw_virtual_idle();
        return MPI_SUCCESS;
    }
    sw_virtual_unlock();
    int rc = served.Win_test(window, flag);
    if (rc == MPI_SUCCESS && *flag) {
        sw_virtual_lock();
        have_come(&w->completes, w->complete);
        sw_virtual_unlock();
    } else if (rc == MPI_SUCCESS) {
        sw_virtual_poll();
    }
    return rc;
}
