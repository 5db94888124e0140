/*
 * barrier.c - MPI_Barrier.
 */
#include "call.h"

static bool barrier(sw_comm_t *c, MPI_Comm comm, sw_reason_t *reason,
                    int *result)
{
    sw_ring_t *ring = sw_comm_ring(c, reason);
    if (!ring)
        return false;
    *result = sw_finish(SW_COLL_BARRIER, comm, sw_coll_barrier(ring));
    return true;
}

SW_COLLECTIVE(Barrier, SW_COLL_BARRIER, (MPI_Comm comm), (comm),
              barrier(c, comm, &reason, &result))
