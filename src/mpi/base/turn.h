/*
 * turn.h - whose turn it is (mpi/turns/turns.h): ours, or the host's.
 *
 * All calls of one communicator's collective must find the same side. With
 * MPI_THREAD_MULTIPLE the sides change at collectives on MPI_COMM_WORLD alone,
 * which threads call one after another. On other communicators only the thread
 * that calls those takes turns; other threads' calls are ours.
 */
#ifndef SW_MPI_BASE_TURN_H
#define SW_MPI_BASE_TURN_H

#include "host.h"
#include "node/control.h"

extern _Atomic bool sw_turn_host __attribute__((visibility("hidden")));

/* It is the host's turn: is it for this thread's collective there? */
bool sw_turn_is_hosts_on(MPI_Comm comm);
/* The thread that takes turns is the calling one. */
void sw_turn_take_thread(void);
bool sw_turn_is_thread(void);

static inline bool sw_turn_is_host(void)
{
    return sw_unlikely(
        atomic_load_explicit(&sw_turn_host, memory_order_relaxed));
}

/* Is a blocking collective the host's? */
static inline bool sw_turn_hosts(MPI_Comm comm)
{
    return sw_turn_is_host() && sw_turn_is_hosts_on(comm);
}

/* May messages be patient, and the like? */
static inline bool sw_turn_ours(void)
{
    return sw_control_accelerating() && !sw_turn_is_host();
}

#endif
