/*
 * reduce.c - MPI_Reduce, MPI_Allreduce, in all their forms.
 */
#include "aliases.h"
#include "describe.h"

bool sw_reduce(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
               int64_t count, MPI_Datatype datatype, MPI_Op op, int root)
{
    const sw_datatype_t *d = sw_datatype(datatype, k->comm, &k->result);
    bool is_root = k->c->me == root;
    bool in_place = is_root && sendbuf == MPI_IN_PLACE;
    const void *in = in_place ? recvbuf : sendbuf;
    if (!d || count < 0 || root < 0 || root >= k->c->n || in == MPI_IN_PLACE ||
        (is_root && (recvbuf == MPI_IN_PLACE ||
                     sw_aliased(k->id, sendbuf, recvbuf, count) ||
                     sw_buffer_missing(recvbuf, count, d))) ||
        sw_buffer_missing(in, count, d))
        return false;
    bool known = sw_describe_reduction(
        k, d, op, in, count, is_root ? recvbuf : NULL, is_root ? count : 0);
    k->reduction.root = root;
    return known;
}

bool sw_allreduce(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
                  int64_t count, MPI_Datatype datatype, MPI_Op op)
{
    const sw_datatype_t *d = sw_datatype(datatype, k->comm, &k->result);
    const void *in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    if (!d || count < 0 || recvbuf == MPI_IN_PLACE ||
        sw_buffer_missing(in, count, d) ||
        sw_buffer_missing(recvbuf, count, d) ||
        sw_aliased(k->id, sendbuf, recvbuf, count))
        return false;
    return sw_describe_reduction(k, d, op, in, count, recvbuf, count);
}
