/*
 * reduce_scatter.c - MPI_Reduce_scatter, MPI_Reduce_scatter_block, in all their
 * forms.
 */
#include "aliases.h"
#include "describe.h"

/* The counts are those of the members' blocks; those without an array are of
 * `count` elements each. */
static bool describe(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
                     sw_vector_t counts, int64_t count, MPI_Datatype datatype,
                     MPI_Op op)
{
    int n = k->c->n, me = k->c->me;
    const sw_datatype_t *d = sw_datatype(datatype, k->comm, &k->result);
    const void *in = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    int64_t total = 0;
    if (!d || recvbuf == MPI_IN_PLACE)
        return false;
    size_t *sizes = sw_call_room(k, (size_t)n * sizeof *sizes);
    for (int i = 0; i < n; i++) {
        sizes[i] = (size_t)(counts.at ? sw_counts_at(counts, i) : count);
        total += (int64_t)sizes[i];
    }
    if (sw_buffer_missing(in, total, d) ||
        sw_buffer_missing(recvbuf, (int64_t)sizes[me], d) ||
        sw_aliased(k->id, sendbuf, recvbuf, total))
        return false;
    bool known = sw_describe_reduction(k, d, op, in, total, recvbuf,
                                       (int64_t)sizes[me]);
    k->reduction.counts = sizes;
    return known;
}

bool sw_reduce_scatter(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
                       sw_vector_t recvcounts, MPI_Datatype datatype, MPI_Op op)
{
    return sw_vector_counts_ok(recvcounts, k->c->n) &&
           describe(k, sendbuf, recvbuf, recvcounts, 0, datatype, op);
}

bool sw_reduce_scatter_block(sw_coll_call_t *k, const void *sendbuf,
                             void *recvbuf, int64_t recvcount,
                             MPI_Datatype datatype, MPI_Op op)
{
    return recvcount >= 0 &&
           describe(k, sendbuf, recvbuf, (sw_vector_t){NULL, 0}, recvcount,
                    datatype, op);
}
