/*
 * unhelped.h - lists are under way, and no thread works for this rank.
 *
 * Members whose processes can have no helper thread begin no lists
 * (mpi/base/comm_slates.c). But the system may refuse a thread that it would
 * have given when MPI started. Then a call of the program's must not stay in
 * the host. Messages become their nonblocking forms. A collective of the host's
 * cannot: it does not match its nonblocking form at the other members. So a
 * rank asks the system for a thread again, each time that it begins a list.
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
