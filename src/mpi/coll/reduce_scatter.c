/*
 * reduce_scatter.c - MPI_Reduce_scatter, MPI_Reduce_scatter_block, in all their
 * forms.
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
    if (sw_missing(in, total, d) ||
        sw_missing(recv, (int64_t)sizes[c->me], d) ||
        sw_aliased(id, send, recv, total))
        return false;
    bool known = sw_reduction(k, id, d, op, in, total, recv,
                              (int64_t)sizes[c->me], reason);
    k->counts = sizes;
    return known;
}

static int run(sw_comm_t *c, const sw_reduction_t *k, const sw_operands_t *x)
{
    return c->ring ? sw_coll_reduce_scatter(c->ring, &k->o.reducer, x->in,
                                            x->out, k->counts, 0)
                   : sw_span_reduce_scatter(c->span, &k->o, x->in, x->out,
                                            k->counts);
}

#define SCATTER(NAME, INAME, INIT, ID, PARAMETER, ARGUMENT, VECTOR, COUNT) \
SW_SCATTERS(NAME, INAME, INIT, ID,                                      \
    (const void *send, void *recv, PARAMETER, MPI_Datatype type,        \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, ARGUMENT, type, op, comm),                             \
    check(c, ID, send, recv, VECTOR, COUNT, type, op, comm, sizes, k,   \
          &reason, &result), run)

/* A missing array of counts is the host's to judge: count -1 says so. */
#define LISTED(NAME, INAME, INIT, ELEMENTS)                             \
SCATTER(NAME, INAME, INIT, SW_COLL_REDUCE_SCATTER,                      \
        const ELEMENTS counts[], counts, SW_VECTOR(counts), counts ? 0 : -1)
#define BLOCK(NAME, INAME, INIT, ELEMENTS)                              \
SCATTER(NAME, INAME, INIT, SW_COLL_REDUCE_SCATTER_BLOCK,                \
        ELEMENTS count, count, ((sw_vector_t){NULL, 0}), count)

LISTED(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init, int)
BLOCK(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init,
      int)
#if SW_LARGE_COUNT
LISTED(Reduce_scatter_c, Ireduce_scatter_c, Reduce_scatter_init_c, MPI_Count)
BLOCK(Reduce_scatter_block_c, Ireduce_scatter_block_c,
      Reduce_scatter_block_init_c, MPI_Count)
#endif
