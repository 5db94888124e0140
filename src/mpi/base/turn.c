/*
 * turn.c - see turn.h.
 */
#include "turn.h"

#include "roster.h"

#include <pthread.h>

_Atomic bool sw_turn_host;
static pthread_t thread;

void sw_turn_take_thread(void)
{
    thread = pthread_self();
}

bool sw_turn_is_thread(void)
{
    return pthread_equal(pthread_self(), thread);
}

bool sw_turn_is_hosts_on(MPI_Comm comm)
{
    return !sw_threaded || comm == MPI_COMM_WORLD || sw_turn_is_thread();
}
