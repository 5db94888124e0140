/*
 * bcast.c - MPI_Bcast and MPI_Bcast_c.
 */
#include "mpi/base/buffer.h"
#include "call.h"

/* False: the host serves. */
static bool bcast(sw_comm_t *c, void *buffer, int64_t count,
                  MPI_Datatype type, int root, MPI_Comm comm,
                  sw_reason_t *reason, int *result)
{
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    if (!d)
        return *result != MPI_SUCCESS;
    if (count < 0 || root < 0 || root >= c->n ||
        buffer == MPI_IN_PLACE || (!buffer && d->dense && count && d->size))
        return false;
    if (!sw_ready(c, SW_COLL_BCAST, (size_t)count * d->size, reason))
        return false;
    sw_buffer_t b;
    if (c->me == root)
        sw_buffer_send(&b, buffer, count, d, comm);
    else
        sw_buffer_receive(&b, buffer, count, d, comm);
    int status = c->ring ? sw_coll_bcast(c->ring, root, &b.data, b.bytes)
                         : sw_span_bcast(c->span, root, &b.data, b.bytes);
    if (c->me == root)
        sw_buffer_end(&b);
    else
        sw_buffer_received(&b);
    *result = sw_finish(SW_COLL_BCAST, comm, status);
    return true;
}

#define BCAST(NAME, COUNT)                                              \
SW_COLLECTIVE(NAME, SW_COLL_BCAST,                                      \
    (void *buffer, COUNT count, MPI_Datatype type, int root,            \
     MPI_Comm comm),                                                    \
    (buffer, count, type, root, comm),                                  \
    bcast(c, buffer, count, type, root, comm, &reason,           \
          &result))

BCAST(Bcast, int)
#if SW_LARGE_COUNT
BCAST(Bcast_c, MPI_Count)
#endif
