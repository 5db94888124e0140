/*
 * barrier.c - MPI_Barrier.
 */
#include "call.h"

static bool barrier(sw_comm_t *c, MPI_Comm comm, sw_reason_t *reason,
                    int *result)
{
    sw_group_t *g = sw_group(c, reason);
    if (!g)
        return false;
    *result = sw_finish(SW_COLL_BARRIER, comm, sw_coll_barrier(g));
    return true;
}

SW_COLLECTIVE(Barrier, SW_COLL_BARRIER, (MPI_Comm comm), (comm),
              barrier(c, comm, &reason, &result))
