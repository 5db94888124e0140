/*
 * unhelped.h - lists are under way, and no thread works for this rank.
 *
 * That is so for a moment only. A process takes its thread when MPI starts, and
 * tells the others (sw_agent_reserve). Where one member has none, all leave
 * nonblocking collectives to the host (mpi/base/comm_slates.c). For nothing
 * else would do: a blocking collective of the host's does not match its
 * nonblocking form, so a call cannot become that at one member alone.
 */
#ifndef SW_MPI_REQUEST_UNHELPED_H
#define SW_MPI_REQUEST_UNHELPED_H

#include "complete.h"
#include "offload/agent.h"
#include "offload/list.h"

static inline bool sw_unhelped(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_lists,
                                            memory_order_relaxed) > 0) &&
           !sw_agent_runs();
}

#endif
