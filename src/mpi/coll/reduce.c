/*
 * reduce.c - MPI_Reduce, MPI_Allreduce, in all their forms.
 */
#include "started.h"

/* Are the arguments right? Fills in the rest. */
static bool check_reduce(sw_comm_t *c, const void *send, void *recv,
                         int64_t count, MPI_Datatype type, MPI_Op op, int root,
                         MPI_Comm comm, sw_reduction_t *k,
                         sw_reason_t *reason, int *result)
{
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    bool is_root = c->me == root;
    bool in_place = is_root && send == MPI_IN_PLACE;
    const void *in = in_place ? recv : send;
    if (!d || count < 0 || root < 0 || root >= c->n || in == MPI_IN_PLACE ||
        (is_root && (recv == MPI_IN_PLACE ||
                     sw_aliased(SW_COLL_REDUCE, send, recv, count) ||
                     sw_missing(recv, count, d))) ||
        sw_missing(in, count, d))
        return false;
    bool known = sw_reduction(k, SW_COLL_REDUCE, d, op, in, count,
                              is_root ? recv : NULL, is_root ? count : 0,
                              reason);
    k->root = root;
    return known;
}

static bool check_allreduce(sw_comm_t *c, const void *send, void *recv,
                            int64_t count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, sw_reduction_t *k,
                            sw_reason_t *reason, int *result)
{
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    const void *in = send == MPI_IN_PLACE ? recv : send;
    if (!d || count < 0 || recv == MPI_IN_PLACE ||
        sw_missing(in, count, d) || sw_missing(recv, count, d) ||
        sw_aliased(SW_COLL_ALLREDUCE, send, recv, count))
        return false;
    return sw_reduction(k, SW_COLL_ALLREDUCE, d, op, in, count, recv, count,
                        reason);
}

static int run_reduce(sw_comm_t *c, const sw_reduction_t *k,
                      const sw_operands_t *x)
{
    size_t n = (size_t)k->ins;
    return c->ring ? sw_coll_reduce(c->ring, k->root, &k->o.reducer, x->in,
                                    x->out, n)
                   : sw_span_reduce(c->span, k->root, &k->o, x->in, x->out, n);
}

static int run_allreduce(sw_comm_t *c, const sw_reduction_t *k,
                         const sw_operands_t *x)
{
    size_t n = (size_t)k->ins;
    return c->ring ? sw_coll_allreduce(c->ring, &k->o.reducer, x->in, x->out,
                                       n)
                   : sw_span_allreduce(c->span, &k->o, x->in, x->out, n);
}

#define REDUCE(NAME, INAME, INIT, COUNT)                                \
SW_REDUCES(NAME, INAME, INIT, SW_COLL_REDUCE,                           \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, int root, MPI_Comm comm),                               \
    (send, recv, count, type, op, root, comm),                          \
    check_reduce(c, send, recv, count, type, op, root, comm, k,         \
                 &reason, &result), run_reduce)

#define ALLREDUCE(NAME, INAME, INIT, COUNT)                             \
SW_REDUCES(NAME, INAME, INIT, SW_COLL_ALLREDUCE,                        \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    check_allreduce(c, send, recv, count, type, op, comm, k, &reason,   \
                    &result), run_allreduce)

REDUCE(Reduce, Ireduce, Reduce_init, int)
ALLREDUCE(Allreduce, Iallreduce, Allreduce_init, int)
#if SW_LARGE_COUNT
REDUCE(Reduce_c, Ireduce_c, Reduce_init_c, MPI_Count)
ALLREDUCE(Allreduce_c, Iallreduce_c, Allreduce_init_c, MPI_Count)
#endif
