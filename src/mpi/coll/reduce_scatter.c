/*
 * reduce_scatter.c - MPI_Reduce_scatter, MPI_Reduce_scatter_block, their large
 * and nonblocking forms.
 */
#include "started.h"
#include "vector.h"

/* Are the arguments right? Fills in the rest; `sizes` is room for all counts.
 * counts.at NULL: equal blocks of `count`. */
static bool check(sw_comm_t *c, sw_collective_t id, const void *send,
                  void *recv, sw_vector_t counts, int64_t count,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm, size_t *sizes,
                  sw_reduction_t *k, sw_reason_t *reason, int *result)
{
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    const void *in = send == MPI_IN_PLACE ? recv : send;
    int64_t total = 0;
    if (!d || count < 0 || recv == MPI_IN_PLACE ||
        (counts.at && !sw_counts_ok(counts, c->n)))
        return false;
    for (int i = 0; i < c->n; i++) {
        sizes[i] = (size_t)(counts.at ? sw_at(counts, i) : count);
        total += (int64_t)sizes[i];
    }
    if (total &&
        (!in || (!recv && sizes[c->me]) || sw_aliased(send, recv)))
        return false;
    k->id = id;
    k->root = 0;
    k->type = d;
    k->in = in;
    k->out = recv;
    k->ins = total;
    k->outs = (int64_t)sizes[c->me];
    k->counts = sizes;
    *reason = SW_REASON_OPERATION;
    return sw_operation(op, d, &k->o);
}

static bool reduce_scatter(sw_comm_t *c, sw_collective_t id,
                           const void *send, void *recv, sw_vector_t counts,
                           int64_t count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm, sw_reason_t *reason, int *result)
{
    sw_reduction_t k;
    sw_operands_t x;
    SW_ARRAY(size_t, sizes, c->n);
    if (!check(c, id, send, recv, counts, count, type, op, comm, sizes, &k,
               reason, result))
        return *result != MPI_SUCCESS;
    if (!sw_ready_to_reduce(c, id, (size_t)k.ins, &k.o, reason))
        return false;
    sw_operands(&x, k.in, k.ins, recv, k.outs, k.type, comm);
    int status = !k.ins ? SW_OK
        : c->ring ? sw_coll_reduce_scatter(c->ring, &k.o.reducer, x.in, x.out,
                                           sizes, 0)
                  : sw_span_reduce_scatter(c->span, &k.o, x.in, x.out, sizes);
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

#define IREDUCE_SCATTER(NAME, ID, PARAMETER, ARGUMENT, VECTOR, COUNT)   \
SW_NONBLOCKING(NAME, ID,                                                \
    (const void *send, void *recv, PARAMETER, MPI_Datatype type,        \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, ARGUMENT, type, op, comm),                             \
    check(c, ID, send, recv, VECTOR, COUNT, type, op, comm,             \
          sw_started_counts(s), &s->reduction, &reason, &result) &&     \
    sw_reduction_goes_on(&s->reduction))

#define NO_VECTOR ((sw_vector_t){NULL, 0})

/* A missing array of counts is the host's to judge: count -1 says so. */
#define BOTH(NAME, ...)                                                 \
REDUCE_SCATTER(R##NAME, __VA_ARGS__)                                    \
IREDUCE_SCATTER(Ir##NAME, __VA_ARGS__)

BOTH(educe_scatter, SW_COLL_REDUCE_SCATTER, const int counts[], counts,
     SW_VECTOR(counts), counts ? 0 : -1)
BOTH(educe_scatter_block, SW_COLL_REDUCE_SCATTER_BLOCK, int count, count,
     NO_VECTOR, count)
#if SW_LARGE_COUNT
BOTH(educe_scatter_c, SW_COLL_REDUCE_SCATTER, const MPI_Count counts[], counts,
     SW_VECTOR(counts), counts ? 0 : -1)
BOTH(educe_scatter_block_c, SW_COLL_REDUCE_SCATTER_BLOCK, MPI_Count count,
     count, NO_VECTOR, count)
#endif
