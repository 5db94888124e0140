/*
 * barrier.c - MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init.
 */
#include "started.h"

static bool barrier(sw_comm_t *c, MPI_Comm comm, sw_reason_t *reason,
                    int *result)
{
    if (!sw_ready(c, SW_COLL_BARRIER, 0, reason))
        return false;
    int status = c->ring ? sw_coll_barrier(c->ring) : sw_span_barrier(c->span);
    *result = sw_finish(SW_COLL_BARRIER, comm, status);
    return true;
}

SW_COLLECTIVE(Barrier, SW_COLL_BARRIER, (MPI_Comm comm), (comm),
              barrier(c, comm, &reason, &result))

SW_NONBLOCKING(Ibarrier, SW_COLL_BARRIER, (MPI_Comm comm), (comm), true)
SW_PERSISTENT(Barrier_init, SW_COLL_BARRIER, (MPI_Comm comm), (comm), true)
