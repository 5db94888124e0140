/*
 * scatter.c - MPI_Scatter, MPI_Scatterv, in all their forms.
 */
#include "aliases.h"
#include "describe.h"

bool sw_scatter(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                MPI_Datatype recvtype, int root)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    if (root < 0 || root >= k->c->n)
        return false;
    bool is_root = k->c->me == root;
    bool in_place = is_root && recvbuf == MPI_IN_PLACE;
    if (!in_place && !sw_buffer_usable(recvbuf, recvcount, recvtype, k->comm,
                                       &r, &k->result))
        return false;
    if (is_root &&
        (!sw_buffer_usable(sendbuf, sendcount, sendtype, k->comm, &s,
                           &k->result) ||
         (!in_place &&
          sw_aliased_block(k->id, recvbuf, recvcount, recvtype, sendbuf,
                           root * sendcount, sendcount, sendtype, s))))
        return false;
    sw_move_t *m = sw_call_moves(k, root, in_place);
    sw_half_rows(&m->in, recvbuf, recvcount, r);
    if (is_root)
        sw_half_rows(&m->out, sendbuf, sendcount, s);
    k->bytes = in_place ? (size_t)sendcount * s->size
                        : (size_t)recvcount * r->size;
    return true;
}

bool sw_scatterv(sw_coll_call_t *k, const void *sendbuf, sw_vector_t sendcounts,
                 sw_vector_t displs, MPI_Datatype sendtype, void *recvbuf,
                 int64_t recvcount, MPI_Datatype recvtype, int root)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    if (root < 0 || root >= k->c->n)
        return false;
    bool is_root = k->c->me == root;
    bool in_place = is_root && recvbuf == MPI_IN_PLACE;
    if (!in_place && !sw_buffer_usable(recvbuf, recvcount, recvtype, k->comm,
                                       &r, &k->result))
        return false;
    if (is_root &&
        (sendbuf == MPI_IN_PLACE ||
         !sw_vector_lists_ok(sendcounts, displs, k->c->n) ||
         !(s = sw_datatype(sendtype, k->comm, &k->result)) ||
         (!in_place &&
          sw_aliased_block(k->id, recvbuf, recvcount, recvtype, sendbuf,
                           sw_vector_displ(displs, root),
                           sw_counts_at(sendcounts, root), sendtype, s))))
        return false;
    sw_move_t *m = sw_call_moves(k, root, in_place);
    sw_half_rows(&m->in, recvbuf, recvcount, r);
    if (is_root)
        sw_half_list(&m->out, sendbuf, sendcounts, displs, s);
    k->bytes = 0;
    return true;
}
