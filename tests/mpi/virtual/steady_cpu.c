/*
 * steady_cpu.c - a processor that takes the same for the same: a library that
 * is preloaded behind Straightway's, for tests of what is computed in virtual
 * time.
 *
 * A thread's processor time is no time here but a count: each reading of its
 * clock takes a microsecond, and nothing else takes anything. So a program
 * computes for as long as it looks at this clock. What else runs on the
 * machine, or what a hypervisor takes away, does not show.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define READING 1000            /* ns */

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
