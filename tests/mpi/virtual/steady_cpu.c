/*
 * steady_cpu.c - a processor that takes equal time for equal work. Tests of
 * computing in virtual time preload this library behind Straightway's.
 *
 * A thread's processor time is a count here: each reading of its clock takes a
 * microsecond, and nothing else takes any time. So a program computes for as
 * long as it reads this clock. Other work on the machine, or time that a
 * hypervisor takes away, does not show.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define READING 1000 /* ns */

typedef int (*clock_t_)(clockid_t, struct timespec *);

static _Thread_local uint64_t readings;

int clock_gettime(clockid_t clock, struct timespec *to)
{
    static clock_t_ next;
    if (clock == CLOCK_THREAD_CPUTIME_ID) {
        uint64_t ns = ++readings * READING;
        *to = (struct timespec){(time_t)(ns / 1000000000u),
                                (long)(ns % 1000000000u)};
        return 0;
    }
    clock_t_ real = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (!real) {
        real = (clock_t_)(uintptr_t)dlsym(RTLD_NEXT, "clock_gettime");
        __atomic_store_n(&next, real, __ATOMIC_RELAXED);
    }
    return real(clock, to);
}
