/*
 * reduce.c - MPI_Reduce, MPI_Allreduce and their large forms.
 */
#include "mpi/base/buffer.h"
#include "call.h"
#include "mpi/base/op.h"
#include "mpi/base/reach.h"

static bool reduce(sw_comm_t *c, const void *send, void *recv, int64_t count,
                   MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                   sw_reason_t *reason, int *result)
{
    sw_operation_t o;
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    bool is_root = c->me == root;
    bool in_place = is_root && send == MPI_IN_PLACE;
    const void *in = in_place ? recv : send;
    if (!d || count < 0 || root < 0 || root >= c->n || in == MPI_IN_PLACE ||
        (is_root && (recv == MPI_IN_PLACE ||
                     (send == recv && count))) ||
        (count && (!in || (is_root && !recv))))
        return *result != MPI_SUCCESS;
    *reason = SW_REASON_OPERATION;
    if (!sw_operation(op, d, &o))
        return false;
    if (!sw_ready_to_reduce(c, SW_COLL_REDUCE, (size_t)count, &o, reason))
        return false;
    sw_operands_t x;
    sw_operands(&x, in, count, is_root ? recv : NULL, count, d, comm);
    size_t n = (size_t)count;
    int status = !count ? SW_OK
        : c->ring ? sw_coll_reduce(c->ring, root, &o.reducer, x.in, x.out, n)
                  : sw_span_reduce(c->span, root, &o, x.in, x.out, n);
    sw_operands_end(&x, is_root && status == SW_OK);
    *result = sw_finish(SW_COLL_REDUCE, comm, status);
    return true;
}

static bool allreduce(sw_comm_t *c, const void *send, void *recv,
                      int64_t count, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm, sw_reason_t *reason, int *result)
{
    sw_operation_t o;
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    const void *in = send == MPI_IN_PLACE ? recv : send;
    if (!d || count < 0 || recv == MPI_IN_PLACE ||
        (count && (!in || !recv || send == recv)))
        return *result != MPI_SUCCESS;
    *reason = SW_REASON_OPERATION;
    if (!sw_operation(op, d, &o))
        return false;
    if (!sw_ready_to_reduce(c, SW_COLL_ALLREDUCE, (size_t)count, &o, reason))
        return false;
    sw_operands_t x;
    sw_operands(&x, in, count, recv, count, d, comm);
    size_t n = (size_t)count;
    int status = !count ? SW_OK
        : c->ring ? sw_coll_allreduce(c->ring, &o.reducer, x.in, x.out, n)
                  : sw_span_allreduce(c->span, &o, x.in, x.out, n);
    sw_operands_end(&x, status == SW_OK);
    *result = sw_finish(SW_COLL_ALLREDUCE, comm, status);
    return true;
}

#define REDUCE(NAME, COUNT)                                             \
SW_COLLECTIVE(NAME, SW_COLL_REDUCE,                                     \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, int root, MPI_Comm comm),                               \
    (send, recv, count, type, op, root, comm),                          \
    reduce(c, send, recv, count, type, op, root, comm, &reason,         \
           &result))

#define ALLREDUCE(NAME, COUNT)                                          \
SW_COLLECTIVE(NAME, SW_COLL_ALLREDUCE,                                  \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    allreduce(c, send, recv, count, type, op, comm, &reason, &result))

REDUCE(Reduce, int)
ALLREDUCE(Allreduce, int)
#if SW_LARGE_COUNT
REDUCE(Reduce_c, MPI_Count)
ALLREDUCE(Allreduce_c, MPI_Count)
#endif
