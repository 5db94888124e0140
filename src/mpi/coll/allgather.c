/*
 * allgather.c - MPI_Allgather, MPI_Allgatherv, in all their forms.
 */
#include "aliases.h"
#include "describe.h"

bool sw_allgather(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                  MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                  MPI_Datatype recvtype)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = sendbuf == MPI_IN_PLACE;
    if (!sw_buffer_usable(recvbuf, recvcount, recvtype, k->comm, &r,
                          &k->result) ||
        (!in_place && !sw_buffer_usable(sendbuf, sendcount, sendtype, k->comm,
                                        &s, &k->result)) ||
        (!in_place &&
         sw_aliased_block(k->id, sendbuf, sendcount, sendtype, recvbuf,
                          k->c->me * recvcount, recvcount, recvtype, r)))
        return false;
    sw_move_t *m = sw_call_moves(k, 0, in_place);
    sw_half_rows(&m->out, sendbuf, sendcount, s);
    sw_half_rows(&m->in, recvbuf, recvcount, r);
    k->bytes = (size_t)recvcount * r->size;
    return true;
}

/* The mean block's bytes. A sequence needs none, unless a table or a trial has
 * its way by size. */
static size_t mean(const sw_comm_t *c, sw_vector_t counts, size_t size)
{
    if (sw_likely(c->sequence && !c->tuned && !sw_settings.guard))
        return 0;
    size_t total = 0;
    for (int i = 0; i < c->n; i++)
        total += (size_t)sw_counts_at(counts, i) * size;
    return total / (size_t)c->n;
}

bool sw_allgatherv(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                   MPI_Datatype sendtype, void *recvbuf, sw_vector_t recvcounts,
                   sw_vector_t displs, MPI_Datatype recvtype)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = sendbuf == MPI_IN_PLACE;
    if ((!in_place && !sw_buffer_usable(sendbuf, sendcount, sendtype, k->comm,
                                        &s, &k->result)) ||
        recvbuf == MPI_IN_PLACE ||
        !sw_vector_lists_ok(recvcounts, displs, k->c->n) ||
        !(r = sw_datatype(recvtype, k->comm, &k->result)) ||
        (!in_place &&
         sw_aliased_block(k->id, sendbuf, sendcount, sendtype, recvbuf,
                          sw_vector_displ(displs, k->c->me),
                          sw_counts_at(recvcounts, k->c->me), recvtype, r)))
        return false;
    sw_move_t *m = sw_call_moves(k, 0, in_place);
    sw_half_rows(&m->out, sendbuf, sendcount, s);
    sw_half_list(&m->in, recvbuf, recvcounts, displs, r);
    k->bytes = mean(k->c, recvcounts, r->size);
    return true;
}
