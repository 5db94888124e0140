/*
 * reduce.c - MPI_Reduce, MPI_Allreduce, their large and nonblocking forms.
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
                     (send == recv && count))) ||
        (count && (!in || (is_root && !recv))))
        return false;
    k->id = SW_COLL_REDUCE;
    k->root = root;
    k->type = d;
    k->in = in;
    k->out = is_root ? recv : NULL;
    k->ins = k->outs = count;
    k->counts = NULL;
    *reason = SW_REASON_OPERATION;
    return sw_operation(op, d, &k->o);
}

static bool check_allreduce(sw_comm_t *c, const void *send, void *recv,
                            int64_t count, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, sw_reduction_t *k,
                            sw_reason_t *reason, int *result)
{
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    const void *in = send == MPI_IN_PLACE ? recv : send;
    if (!d || count < 0 || recv == MPI_IN_PLACE ||
        (count && (!in || !recv || send == recv)))
        return false;
    k->id = SW_COLL_ALLREDUCE;
    k->root = 0;
    k->type = d;
    k->in = in;
    k->out = recv;
    k->ins = k->outs = count;
    k->counts = NULL;
    *reason = SW_REASON_OPERATION;
    return sw_operation(op, d, &k->o);
}

static bool reduce(sw_comm_t *c, const sw_reduction_t *k, MPI_Comm comm,
                   sw_reason_t *reason, int *result)
{
    sw_operands_t x;
    size_t n = (size_t)k->ins;
    if (!sw_ready_to_reduce(c, k->id, n, &k->o, reason))
        return false;
    sw_operands(&x, k->in, k->ins, k->out, k->outs, k->type, comm);
    int status = !n ? SW_OK
        : c->ring ? sw_coll_reduce(c->ring, k->root, &k->o.reducer, x.in,
                                   x.out, n)
                  : sw_span_reduce(c->span, k->root, &k->o, x.in, x.out, n);
    sw_operands_end(&x, c->me == k->root && status == SW_OK);
    *result = sw_finish(k->id, comm, status);
    return true;
}

static bool allreduce(sw_comm_t *c, const sw_reduction_t *k, MPI_Comm comm,
                      sw_reason_t *reason, int *result)
{
    sw_operands_t x;
    size_t n = (size_t)k->ins;
    if (!sw_ready_to_reduce(c, k->id, n, &k->o, reason))
        return false;
    sw_operands(&x, k->in, k->ins, k->out, k->outs, k->type, comm);
    int status = !n ? SW_OK
        : c->ring ? sw_coll_allreduce(c->ring, &k->o.reducer, x.in, x.out, n)
                  : sw_span_allreduce(c->span, &k->o, x.in, x.out, n);
    sw_operands_end(&x, status == SW_OK);
    *result = sw_finish(k->id, comm, status);
    return true;
}

#define REDUCE(NAME, INAME, COUNT)                                      \
SW_REDUCES(NAME, INAME, SW_COLL_REDUCE,                                 \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, int root, MPI_Comm comm),                               \
    (send, recv, count, type, op, root, comm),                          \
    check_reduce(c, send, recv, count, type, op, root, comm, k,         \
                 &reason, &result), reduce)

#define ALLREDUCE(NAME, INAME, COUNT)                                   \
SW_REDUCES(NAME, INAME, SW_COLL_ALLREDUCE,                              \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    check_allreduce(c, send, recv, count, type, op, comm, k, &reason,   \
                    &result), allreduce)

REDUCE(Reduce, Ireduce, int)
ALLREDUCE(Allreduce, Iallreduce, int)
#if SW_LARGE_COUNT
REDUCE(Reduce_c, Ireduce_c, MPI_Count)
ALLREDUCE(Allreduce_c, Iallreduce_c, MPI_Count)
#endif
