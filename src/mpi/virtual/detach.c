/*
 * detach.c - sends that the program need not wait for in the host.
 *
 * A send is over when the model says so, and others may wait for what the
 * sender does next. But a host keeps a sender of more than a few KiB, or of a
 * synchronous message, until the receiver has come. The receiver may sleep just
 * then, because its answer depends on that very sender. Or it may have met
 * another message in virtual time than in the host. So the sender packs such
 * data away and sends them from there, and only the engine says how long that
 * takes. A nonblocking send gets a request that is complete (a generalized one)
 * in place of the host's. Buffered sends go so, too: MPI_Buffer_detach waits
 * for those that the host has. Persistent ones are not even started: the host
 * takes them for complete.
 *
 * It costs a copy, in no virtual time.
 */
#include "virtual.h"

#include "node/base/grow.h"

#include <limits.h>
#include <stdlib.h>

/* No host keeps the sender of less. */
#define HOST_EAGER 2048

typedef struct {
    MPI_Request request;
    void *data;
} detached_t;

static detached_t *list;
static uint32_t used, room, sweep_at = 64;

/* Forget those that the host is done with. */
static void sweep(void)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < used; i++) {
        int flag = 0;
        if (served.Test(&list[i].request, &flag, MPI_STATUS_IGNORE) !=
                MPI_SUCCESS ||
            flag)
            free(list[i].data);
        else
            list[kept++] = list[i];
    }
    used = kept;
    sweep_at = 2 * used + 64;
}

void sw_virtual_detached_end(void)
{
    sw_virtual_nap_t nap = {0};
    for (sweep(); used; sweep())
        sw_virtual_nap(&nap);
    free(list);
    list = NULL;
    room = 0;
}

static bool make_room(void)
{
    if (used >= sweep_at)
        sweep();
    return sw_grow(&list, used, &room, sizeof *list);
}

/* Under the lock. */
static bool detach(const void *buffer, int64_t count, MPI_Datatype type,
                   int dest, int tag, MPI_Comm comm, unsigned flags)
{
    int size = 0, place = 0;
    if (!atomic_load(&sw_virtual_alive) || dest == MPI_PROC_NULL || dest < 0 ||
        count < 0 || count > INT_MAX || comm == MPI_COMM_NULL ||
        type == MPI_DATATYPE_NULL)
        return false;
    uint64_t bytes = (uint64_t)count * sw_known_type(type)->size;
    bool small = bytes <= HOST_EAGER &&
                 !(flags & (SW_SEND_SYNCHRONOUS | SW_DETACH_SMALL));
    if (small || bytes > INT_MAX / 2 || !make_room() ||
        host.Pack_size((int)count, type, comm, &size) != MPI_SUCCESS)
        return false;
    void *data = malloc((size_t)size + 1);
    if (!data ||
        host.Pack(buffer, (int)count, type, data, size, &place, comm) !=
            MPI_SUCCESS ||
        served.Isend(data, place, MPI_PACKED, dest, tag, comm,
                     &list[used].request) != MPI_SUCCESS) {
        free(data);
        return false;
    }
    list[used++].data = data;
    return true;
}

bool sw_virtual_detach(const void *buffer, int64_t count, MPI_Datatype type,
                       int dest, int tag, MPI_Comm comm, unsigned flags)
{
    sw_virtual_lock();
    bool gone = detach(buffer, count, type, dest, tag, comm, flags);
    sw_virtual_unlock();
    return gone;
}

void sw_virtual_detachable(MPI_Request request, const void *buffer,
                           int64_t count, MPI_Datatype type, int dest, int tag,
                           MPI_Comm comm, unsigned flags)
{
    sw_virtual_lock();
    sw_work_t *w = sw_work_take((uintptr_t)request);
    sw_work_back(w);
    sw_virtual_unlock();
    if (w) {
        w->from.buffer = buffer;
        w->from.count = count;
        w->from.type = type;
        w->from.dest = dest;
        w->from.tag = tag;
        w->from.comm = comm;
        w->from.flags = flags;
    }
}

/* The program's request for it --------------------------------------------- */

static int query(void *state, MPI_Status *status)
{
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    host.Status_set_cancelled(status, 0);
    host.Status_set_elements(status, MPI_BYTE, 0);
    return MPI_SUCCESS;
}

static int nothing_to_free(void *state)
{
    return MPI_SUCCESS;
}

static int no_cancel(void *state, int complete)
{
    return MPI_SUCCESS;
}

int sw_virtual_detached_request(MPI_Request *request)
{
    int rc = host.Grequest_start(query, nothing_to_free, no_cancel, NULL,
                                 request);
    return rc == MPI_SUCCESS ? host.Grequest_complete(*request) : rc;
}
