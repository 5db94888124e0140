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
    sw_ring_t *ring = sw_comm_ring(c, reason);
    if (!ring)
        return false;
    sw_operands_t x;
    sw_operands(&x, in, count, recv, needs_out ? count : 0, d, comm);
    int status = count ? sw_coll_scan(ring, id == SW_COLL_EXSCAN, &o.reducer,
                                      x.in, x.out, (size_t)count)
                       : SW_OK;
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
