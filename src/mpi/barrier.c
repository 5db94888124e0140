/*
 * barrier.c - MPI_Barrier.
 */
#include "call.h"

static bool barrier(sw_group_t *g, MPI_Comm comm, int *result)
{
    *result = sw_finish(SW_COLL_BARRIER, comm, sw_coll_barrier(g));
    return true;
}

SW_COLLECTIVE(Barrier, SW_COLL_BARRIER, (MPI_Comm comm), (comm),
              barrier(g, comm, &result))
