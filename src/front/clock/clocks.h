/*
 * clocks.h - the system's clocks and sleeps, as a program in virtual time
 * sees them.
 *
 * With STRAIGHTWAY_WHATIF_CLOCKS, what the program and its libraries read from
 * clock_gettime, gettimeofday, time and timespec_get is virtual from the end
 * of MPI_Init on: what the clock said there, and the virtual time since. After
 * MPI_Finalize it goes on from where it is as real time goes. Clocks of
 * processor time are left alone.
 *
 * Whose call it is, its return address says (callers.h): the MPI library and
 * we always get real time, in all threads, and whether or not a call of MPI is
 * under way. A mark "inside MPI" would not do: the MPI library has threads of
 * its own, and procedures that have no wrapper; and the program's reductions
 * and handlers run inside of MPI.
 *
 * Sleeping is time in virtual time, with the option or without: a sleep is
 * carried out, and then told. Calls that wait for a thread until a moment of
 * such a clock get that moment in real time (waits.c).
 */
#ifndef SW_FRONT_CLOCK_CLOCKS_H
#define SW_FRONT_CLOCK_CLOCKS_H

#include "contract/clocks.h"

#include <time.h>

/* In the library's constructor: looks for the functions that come after
 * ours. */
void sw_clocks_start(void);

/* For the call that returns to `from`: are clocks virtual (`clock`: this one),
 * do sleeps count? */
bool sw_clocks_virtual(clockid_t clock, const void *from);
bool sw_clocks_sleep(const void *from);
/* The clock as the program sees it, as it really is, ns. */
int64_t sw_clocks_seen(clockid_t clock);
int64_t sw_clocks_real(clockid_t clock);
void sw_clocks_sleeps(int64_t ns);
void sw_clocks_slept(int64_t ns);

#endif
