/*
 * gather.c - MPI_Gather, MPI_Gatherv, in all their forms.
 */
#include "aliases.h"
#include "describe.h"

bool sw_gather(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
               MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
               MPI_Datatype recvtype, int root)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    if (root < 0 || root >= k->c->n)
        return false;
    bool is_root = k->c->me == root;
    bool in_place = is_root && sendbuf == MPI_IN_PLACE;
    if (!in_place && !sw_buffer_usable(sendbuf, sendcount, sendtype, k->comm,
                                       &s, &k->result))
        return false;
    if (is_root &&
        (!sw_buffer_usable(recvbuf, recvcount, recvtype, k->comm, &r,
                           &k->result) ||
         (!in_place &&
          sw_aliased_block(k->id, sendbuf, sendcount, sendtype, recvbuf,
                           root * recvcount, recvcount, recvtype, r))))
        return false;
    sw_move_t *m = sw_call_moves(k, root, in_place);
    sw_half_rows(&m->out, sendbuf, sendcount, s);
    if (is_root)
        sw_half_rows(&m->in, recvbuf, recvcount, r);
    k->bytes = in_place ? (size_t)recvcount * r->size
                        : (size_t)sendcount * s->size;
    return true;
}

bool sw_gatherv(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                MPI_Datatype sendtype, void *recvbuf, sw_vector_t recvcounts,
                sw_vector_t displs, MPI_Datatype recvtype, int root)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    if (root < 0 || root >= k->c->n)
        return false;
    bool is_root = k->c->me == root;
    bool in_place = is_root && sendbuf == MPI_IN_PLACE;
    if (!in_place && !sw_buffer_usable(sendbuf, sendcount, sendtype, k->comm,
                                       &s, &k->result))
        return false;
    if (is_root &&
        (recvbuf == MPI_IN_PLACE ||
         !sw_vector_lists_ok(recvcounts, displs, k->c->n) ||
         !(r = sw_datatype(recvtype, k->comm, &k->result)) ||
         (!in_place &&
          sw_aliased_block(k->id, sendbuf, sendcount, sendtype, recvbuf,
                           sw_vector_displ(displs, root),
                           sw_counts_at(recvcounts, root), recvtype, r))))
        return false;
    sw_move_t *m = sw_call_moves(k, root, in_place);
    sw_half_rows(&m->out, sendbuf, sendcount, s);
    if (is_root)
        sw_half_list(&m->in, recvbuf, recvcounts, displs, r);
    k->bytes = 0;
    return true;
}
