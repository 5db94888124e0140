/*
 * storage.c - windows and files; see traffic.h.
 */
#include "traffic.h"

#include <pthread.h>
#include <stdlib.h>

/* Windows, and the communicators they were made on. */
typedef struct window {
    struct window *next;
    MPI_Win handle;
    sw_known_comm_t *comm;
} window_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static window_t *windows;

void sw_window_made(MPI_Win handle, MPI_Comm comm)
{
    window_t *w = malloc(sizeof *w);
    sw_known_comm_t *c = sw_known_comm_meet(comm);
    if (!w)
        return;
    pthread_mutex_lock(&lock);
    *w = (window_t){.next = windows, .handle = handle, .comm = c};
    windows = w;
    pthread_mutex_unlock(&lock);
}

void sw_window_freed(MPI_Win handle)
{
    pthread_mutex_lock(&lock);
    window_t **link = &windows;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    window_t *w = *link;
    if (w)
        *link = w->next;
    pthread_mutex_unlock(&lock);
    free(w);
}

void sw_window_before(sw_event_t *e, MPI_Win handle)
{
    if (e->paused)
        return;
    pthread_mutex_lock(&lock);
    window_t *w = windows;
    while (w && w->handle != handle)
        w = w->next;
    e->comm = w ? w->comm : NULL;
    pthread_mutex_unlock(&lock);
}

static void put(sw_event_t *e, int target, int64_t count, MPI_Datatype type,
                MPI_Op op)
{
    e->amount.size = e->amount.sent = sw_event_bytes(e, count, type);
    if (op != MPI_OP_NULL)
        SW_KEY_SET(&e->key, operation, sw_known_op(op));
    sw_between_sent(e, e->comm, target, e->amount.sent);
    sw_peers_sent(&e->recorder->peers, SW_PEERS_ONE_SIDED,
                  sw_known_rank(e->comm, target), e->amount.sent);
}

static void get(sw_event_t *e, int target, int64_t count, MPI_Datatype type)
{
    e->amount.size = e->amount.received = sw_event_bytes(e, count, type);
    sw_between_received(e, e->comm, target, e->amount.received);
    sw_peers_received(&e->recorder->peers, SW_PEERS_ONE_SIDED,
                      sw_known_rank(e->comm, target), e->amount.received);
}

/* For the trace. */
static void aimed(sw_event_t *e, int target)
{
    int64_t rank = sw_known_rank(e->comm, target);
    SW_EVENT_NOTE(e, SW_NOTE_TARGET,
                  sw_tracer_signed(rank < 0 ? SW_PEER_ELSEWHERE : rank));
}

void sw_put_after(sw_event_t *e, int target, int64_t count, MPI_Datatype type,
                  MPI_Op op)
{
    if (target == MPI_PROC_NULL || e->paused)
        return;
    put(e, target, count, type, op);
    aimed(e, target);
}

void sw_get_after(sw_event_t *e, int target, int64_t count, MPI_Datatype type)
{
    if (target == MPI_PROC_NULL || e->paused)
        return;
    get(e, target, count, type);
    aimed(e, target);
}

/* Nothing is sent where the operation is MPI_NO_OP, and `type` may then be
 * anything. */
void sw_fetch_after(sw_event_t *e, int target, int64_t sent, MPI_Datatype type,
                    int64_t received, MPI_Datatype received_type, MPI_Op op)
{
    if (target == MPI_PROC_NULL || e->paused)
        return;
    get(e, target, received, received_type);
    if (op != MPI_NO_OP) {
        uint64_t size = e->amount.size;
        put(e, target, sent, type, op);
        e->amount.size = sw_max(size, e->amount.size);
    }
    aimed(e, target);
}

/* Files ------------------------------------------------------------------- */

void sw_file_wrote(sw_event_t *e, int64_t count, MPI_Datatype type)
{
    if (!e->paused)
        e->amount.size = e->amount.sent = sw_event_bytes(e, count, type);
}

/* Fewer than asked for at the end of a file. */
void sw_file_read(sw_event_t *e, int64_t count, MPI_Datatype type,
                  const MPI_Status *status)
{
    if (e->paused)
        return;
    e->amount.size = sw_event_bytes(e, count, type);
    e->amount.received = status ? sw_moves_come(status) : e->amount.size;
}
