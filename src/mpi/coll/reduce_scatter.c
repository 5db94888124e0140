/*
 * reduce_scatter.c - MPI_Reduce_scatter, MPI_Reduce_scatter_block and their
 * large forms.
 */
#include "call.h"
#include "mpi/base/op.h"
#include "mpi/base/reach.h"
#include "vector.h"

/* counts.at NULL: equal blocks of `count`. */
static bool reduce_scatter(sw_comm_t *c, sw_collective_t id,
                           const void *send, void *recv, sw_vector_t counts,
                           int64_t count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, sw_reason_t *reason, int *result)
{
    sw_operation_t o;
    SW_ARRAY(size_t, sizes, c->n);
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    const void *in = send == MPI_IN_PLACE ? recv : send;
    int64_t total = 0;
    if (!d || count < 0 || recv == MPI_IN_PLACE ||
        (counts.at && !sw_counts_ok(counts, c->n)))
        return *result != MPI_SUCCESS;
    for (int i = 0; i < c->n; i++) {
        sizes[i] = (size_t)(counts.at ? sw_at(counts, i) : count);
        total += (int64_t)sizes[i];
    }
    if (total &&
        (!in || (!recv && sizes[c->me]) || sw_aliased(send, recv)))
        return false;
    *reason = SW_REASON_OPERATION;
    if (!sw_operation(op, d, &o))
        return false;
    if (!sw_ready_to_reduce(c, id, (size_t)total, &o, reason))
        return false;
    sw_operands_t x;
    sw_operands(&x, in, total, recv, (int64_t)sizes[c->me], d, comm);
    int status = !total ? SW_OK
        : c->ring ? sw_coll_reduce_scatter(c->ring, &o.reducer, x.in, x.out,
                                           sizes, 0)
                  : sw_span_reduce_scatter(c->span, &o, x.in, x.out, sizes);
    sw_operands_end(&x, status == SW_OK);
    *result = sw_finish(id, comm, status);
    return true;
}

#define REDUCE_SCATTER(NAME, ID, PARAMETER, ARGUMENT, VECTOR, COUNT)    \
SW_COLLECTIVE(NAME, ID,                                                 \
    (const void *send, void *recv, PARAMETER, MPI_Datatype type,        \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, ARGUMENT, type, op, comm),                             \
    reduce_scatter(c, ID, send, recv, VECTOR, COUNT, type, op, comm,    \
                   &reason, &result))

#define NO_VECTOR ((sw_vector_t){NULL, 0})

/* A missing array of counts is the host's to judge: count -1 says so. */
REDUCE_SCATTER(Reduce_scatter, SW_COLL_REDUCE_SCATTER, const int counts[],
               counts, SW_VECTOR(counts), counts ? 0 : -1)
REDUCE_SCATTER(Reduce_scatter_block, SW_COLL_REDUCE_SCATTER_BLOCK, int count,
               count, NO_VECTOR, count)
#if SW_LARGE_COUNT
REDUCE_SCATTER(Reduce_scatter_c, SW_COLL_REDUCE_SCATTER,
               const MPI_Count counts[], counts, SW_VECTOR(counts),
               counts ? 0 : -1)
REDUCE_SCATTER(Reduce_scatter_block_c, SW_COLL_REDUCE_SCATTER_BLOCK,
               MPI_Count count, count, NO_VECTOR, count)
#endif
