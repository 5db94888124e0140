/*
 * bcast.c - MPI_Bcast in all its forms.
 */
#include "started.h"

/* Are the arguments right? Fills in the rest. */
static bool check(sw_comm_t *c, void *buffer, int64_t count, MPI_Datatype type,
                  int root, MPI_Comm comm, sw_move_t *m, int *result)
{
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    if (!d || count < 0 || root < 0 || root >= c->n ||
        buffer == MPI_IN_PLACE || sw_missing(buffer, count, d))
        return false;
    *m = (sw_move_t){.id = SW_COLL_BCAST, .root = root, .send = buffer,
                     .recv = buffer, .sendcount = count, .recvcount = count,
                     .s = c->me == root ? d : NULL,
                     .r = c->me == root ? NULL : d};
    return true;
}

static bool bcast(sw_comm_t *c, const sw_move_t *k, MPI_Comm comm,
                  sw_reason_t *reason, int *result)
{
    const sw_datatype_t *d = k->s ? k->s : k->r;
    int64_t count = k->recvcount;
    if (!sw_ready(c, SW_COLL_BCAST, (size_t)count * d->size, reason))
        return false;
    sw_buffer_t b;
    if (k->s)
        sw_buffer_send(&b, k->send, count, d, comm);
    else
        sw_buffer_receive(&b, k->recv, count, d, comm);
    int status = c->ring ? sw_coll_bcast(c->ring, k->root, &b.data, b.bytes)
                         : sw_span_bcast(c->span, k->root, &b.data, b.bytes);
    if (k->s)
        sw_buffer_end(&b);
    else
        sw_buffer_received(&b);
    *result = sw_finish(SW_COLL_BCAST, comm, status);
    return true;
}

#define BCAST(NAME, INAME, INIT, COUNT)                                 \
SW_MOVES(NAME, INAME, INIT, SW_COLL_BCAST,                              \
    (void *buffer, COUNT count, MPI_Datatype type, int root,            \
     MPI_Comm comm),                                                    \
    (buffer, count, type, root, comm),                                  \
    check(c, buffer, count, type, root, comm, k, &result), bcast)

BCAST(Bcast, Ibcast, Bcast_init, int)
#if SW_LARGE_COUNT
BCAST(Bcast_c, Ibcast_c, Bcast_init_c, MPI_Count)
#endif
