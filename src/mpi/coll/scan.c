/*
 * scan.c - MPI_Scan, MPI_Exscan and their large forms.
 */
#include "mpi/base/buffer.h"
#include "call.h"
#include "mpi/base/op.h"
#include "mpi/base/reach.h"

static bool scan(sw_comm_t *c, sw_collective_t id, const void *send,
                 void *recv, int64_t count, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm, sw_reason_t *reason, int *result)
{
    sw_operation_t o;
    const sw_datatype_t *d = sw_datatype(type, comm, result);
    const void *in = send == MPI_IN_PLACE ? recv : send;
    bool needs_out = id == SW_COLL_SCAN || c->me > 0;
    if (!d || count < 0 || recv == MPI_IN_PLACE ||
        (count && (!in || (needs_out && !recv) || sw_aliased(send, recv))))
        return *result != MPI_SUCCESS;
    *reason = SW_REASON_OPERATION;
    if (!sw_operation(op, d, &o))
        return false;
    if (!sw_ready_to_reduce(c, id, (size_t)count, &o, reason))
        return false;
    sw_operands_t x;
    sw_operands(&x, in, count, recv, needs_out ? count : 0, d, comm);
    size_t n = (size_t)count;
    bool exclusive = id == SW_COLL_EXSCAN;
    int status = !count ? SW_OK
        : c->ring ? sw_coll_scan(c->ring, exclusive, &o.reducer, x.in, x.out,
                                 n)
                  : sw_span_scan(c->span, exclusive, &o, x.in, x.out, n);
    sw_operands_end(&x, needs_out && status == SW_OK);
    *result = sw_finish(id, comm, status);
    return true;
}

#define SCAN(NAME, ID, COUNT)                                           \
SW_COLLECTIVE(NAME, ID,                                                 \
    (const void *send, void *recv, COUNT count, MPI_Datatype type,      \
     MPI_Op op, MPI_Comm comm),                                         \
    (send, recv, count, type, op, comm),                                \
    scan(c, ID, send, recv, count, type, op, comm, &reason, &result))

SCAN(Scan, SW_COLL_SCAN, int)
SCAN(Exscan, SW_COLL_EXSCAN, int)
#if SW_LARGE_COUNT
SCAN(Scan_c, SW_COLL_SCAN, MPI_Count)
SCAN(Exscan_c, SW_COLL_EXSCAN, MPI_Count)
#endif
