/*
 * clocks.c - clock_gettime and its kin, as the program calls them; see
 * clocks.h.
 *
 * They may be called at any time: by the resolvers that the dynamic linker
 * calls before it has relocated this library, by constructors before ours, in
 * signal handlers. So the way of a program that is not in virtual time goes
 * through nothing that is relocated: two loads and a jump to the function that
 * comes next, usually libc's, which is looked up in our constructor. Until
 * then the kernel is asked.
 *
 *     PLAIN    the option is off, or this is no MPI program
 *     WAITS    MPI_Init is to come
 *     BEGINS   virtual time begins: a thread that reads a clock waits for that
 *     RUNS     virtual time, and what goes on from there
 *     CHILD    in a child of fork: from there on as real time goes
 *
 * No clock goes backwards in a thread: the clocks are read while no other
 * thread reads them. A thread that has read one in WAITS looks whether the
 * state is still that one.
 */
#include "clocks.h"
#include "callers.h"
#include "waits.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define CLOCKS 12 /* their numbers are less */
#define NS 1000000000

enum { PLAIN, WAITS, BEGINS, RUNS, CHILD };

typedef int (*clock_gettime_t)(clockid_t, struct timespec *);
typedef int (*gettimeofday_t)(struct timeval *, void *);
typedef time_t (*time_call_t)(time_t *);
typedef int (*timespec_get_t)(struct timespec *, int);

static _Atomic int state;
static struct {
    _Atomic(clock_gettime_t) clock_gettime;
    _Atomic(gettimeofday_t) gettimeofday;
    _Atomic(time_call_t) time;
    _Atomic(timespec_get_t) timespec_get;
} next;

static struct {
    _Atomic(const sw_clock_source_t *) source;
    int64_t base[CLOCKS];  /* ns, when virtual time began */
    int64_t ahead[CLOCKS]; /* of real time, where that goes on (CHILD) */
    int64_t forks;         /* virtual, before the fork */
    int64_t cost;          /* ns */
    _Atomic bool sleeps;   /* count */
} clocks;

/* Without libc ---------------------------------------------------------- */

#if defined(__x86_64__)
static inline long ask_kernel(long number, long a, long b)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline long ask_kernel(long number, long a, long b)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
    return x0;
}
#endif

static __attribute__((noinline)) int early(clockid_t clock, struct timespec *to)
{
    long result = ask_kernel(SYS_clock_gettime, clock, (long)to);
    if (result >= 0)
        return 0;
    errno = (int)-result;
    return -1;
}

/* What it is ------------------------------------------------------------ */

static int real_clock(clockid_t clock, struct timespec *to)
{
    clock_gettime_t real = atomic_load_explicit(&next.clock_gettime,
                                                memory_order_relaxed);
    return real ? real(clock, to) : early(clock, to);
}

int64_t sw_clocks_real(clockid_t clock)
{
    struct timespec t;
    return real_clock(clock, &t) ? 0 : (int64_t)t.tv_sec * NS + t.tv_nsec;
}

/* Does the clock advance by itself, even while the processor is idle? */
static bool goes(clockid_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_BOOTTIME_ALARM:
    case CLOCK_TAI: return true;
    default: return false;
    }
}

static const sw_clock_source_t *source(void)
{
    return atomic_load_explicit(&clocks.source, memory_order_acquire);
}

bool sw_clocks_virtual(clockid_t clock, const void *from)
{
    return atomic_load_explicit(&state, memory_order_acquire) >= RUNS &&
           goes(clock) && sw_callers_program(from);
}

int64_t sw_clocks_seen(clockid_t clock)
{
    for (;;) {
        int was = atomic_load(&state);
        int64_t ns;
        if (was == RUNS)
            return clocks.base[clock] + source()->now() / 1000;
        if (was == CHILD)
            return sw_clocks_real(clock) + clocks.ahead[clock];
        ns = sw_clocks_real(clock);
        if (was != BEGINS && atomic_load(&state) == was)
            return ns;
        if (was == BEGINS)
            sw_os_yield();
    }
}

/* Of the program's call that returns to `from`; false: it is not one, or the
 * clock is not virtual. */
static __attribute__((noinline)) bool seen(clockid_t clock, const void *from,
                                           struct timespec *to)
{
    if (!goes(clock) ||
        (atomic_load(&state) >= RUNS && !sw_callers_program(from)))
        return false;
    int64_t ns = sw_clocks_seen(clock);
    *to = (struct timespec){(time_t)(ns / NS), (long)(ns % NS)};
    return true;
}

static inline bool plain(void)
{
    return sw_likely(atomic_load_explicit(&state, memory_order_relaxed) ==
                     PLAIN);
}

#define CALLER() __builtin_extract_return_addr(__builtin_return_address(0))

/* As the program calls them --------------------------------------------- */

SW_API int clock_gettime(clockid_t clock, struct timespec *to)
{
    if (plain() || !seen(clock, CALLER(), to)) {
        clock_gettime_t real = atomic_load_explicit(&next.clock_gettime,
                                                    memory_order_relaxed);
        return sw_likely(real) ? real(clock, to) : early(clock, to);
    }
    return 0;
}

SW_API int gettimeofday(struct timeval *restrict to, void *restrict zone)
{
    struct timespec t;
    if (plain() || !seen(CLOCK_REALTIME, CALLER(), &t)) {
        gettimeofday_t real = atomic_load_explicit(&next.gettimeofday,
                                                   memory_order_relaxed);
        return sw_likely(real)
                   ? real(to, zone)
                   : (int)ask_kernel(SYS_gettimeofday, (long)to, (long)zone);
    }
    *to = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
    return 0;
}

SW_API time_t time(time_t *to)
{
    struct timespec t;
    if (plain() || !seen(CLOCK_REALTIME, CALLER(), &t)) {
        time_call_t real = atomic_load_explicit(&next.time,
                                                memory_order_relaxed);
        if (sw_likely(real))
            return real(to);
        early(CLOCK_REALTIME_COARSE, &t);
    }
    if (to)
        *to = t.tv_sec;
    return t.tv_sec;
}

SW_API int timespec_get(struct timespec *to, int base)
{
    if (plain() || base != TIME_UTC || !seen(CLOCK_REALTIME, CALLER(), to)) {
        timespec_get_t real = atomic_load_explicit(&next.timespec_get,
                                                   memory_order_relaxed);
        if (sw_likely(real))
            return real(to, base);
        return base == TIME_UTC && !early(CLOCK_REALTIME, to) ? base : 0;
    }
    return base;
}

/* Beginning ------------------------------------------------------------- */

static void look_up(void)
{
    atomic_store(&next.gettimeofday,
                 (gettimeofday_t)(uintptr_t)dlsym(RTLD_NEXT, "gettimeofday"));
    atomic_store(&next.time, (time_call_t)(uintptr_t)dlsym(RTLD_NEXT, "time"));
    atomic_store(&next.timespec_get,
                 (timespec_get_t)(uintptr_t)dlsym(RTLD_NEXT, "timespec_get"));
    atomic_store(&next.clock_gettime,
                 (clock_gettime_t)(uintptr_t)dlsym(RTLD_NEXT, "clock_gettime"));
}

void sw_clocks_start(void)
{
    int was = PLAIN;
    look_up();
    sw_waits_look_up();
    if (*sw_settings.whatif && sw_settings.whatif_clocks)
        atomic_compare_exchange_strong(&state, &was, WAITS);
}

bool sw_clocks_wanted(void)
{
    return atomic_load(&state) != PLAIN;
}

int64_t sw_clocks_cost(void)
{
    return clocks.cost;
}

/* The quickest of some rounds: the processor may be taken away in others. */
static void measure_cost(void)
{
    enum { ROUNDS = 20, READINGS = 50 };
    int64_t quickest = INT64_MAX;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t begin = sw_clocks_real(CLOCK_MONOTONIC), end = begin;
        for (int i = 0; i < READINGS; i++)
            end = sw_clocks_real(CLOCK_MONOTONIC);
        quickest = sw_min(quickest, end - begin);
    }
    clocks.cost = quickest > READINGS ? quickest / READINGS : 1;
}

static void before_fork(void)
{
    if (atomic_load(&state) == RUNS)
        clocks.forks = source()->now() / 1000;
}

static void in_child(void)
{
    atomic_store(&clocks.sleeps, false);
    if (atomic_load(&state) != RUNS)
        return;
    for (int i = 0; i < CLOCKS; i++)
        if (goes(i))
            clocks.ahead[i] = clocks.base[i] + clocks.forks - sw_clocks_real(i);
    atomic_store(&state, CHILD);
}

void sw_clocks_init(void)
{
    sw_callers_before();
}

void sw_clocks_begin(const sw_clock_source_t *from)
{
    sigset_t all, old;
    sw_callers_after();
    measure_cost();
    pthread_atfork(before_fork, NULL, in_child);
    /* No handler of this thread's shall wait for it. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    bool wanted = atomic_load(&state) == WAITS;
    if (wanted)
        atomic_store(&state, BEGINS);
    for (int i = 0; i < CLOCKS; i++)
        clocks.base[i] = goes(i) ? sw_clocks_real(i) : 0;
    atomic_store(&clocks.source, from);
    atomic_store(&clocks.sleeps, true);
    if (wanted)
        atomic_store(&state, RUNS);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Sleeps ---------------------------------------------------------------- */

bool sw_clocks_sleep(const void *from)
{
    return atomic_load_explicit(&clocks.sleeps, memory_order_acquire) &&
           sw_callers_program(from);
}

void sw_clocks_sleeps(int64_t ns)
{
    if (ns > 0)
        source()->sleeps(ns);
}

void sw_clocks_slept(int64_t ns)
{
    if (ns > 0)
        source()->slept(ns);
}
