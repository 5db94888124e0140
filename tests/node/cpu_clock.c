/*
 * cpu_clock.c - processor time by the counter is what the kernel's clock says:
 * it grows with work, not with sleep, nor while others have the core; and an
 * interruption takes the mark away.
 */
#include "node/cpu_clock.h"
#include "must.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

static int64_t kernels(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return ((int64_t)t.tv_sec * 1000000000 + t.tv_nsec) * 1000;
}

static int64_t wall_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static double ns_a_tick(void)
{
    int64_t ns = wall_ns();
    uint64_t ticks = sw_counter();
    while (wall_ns() < ns + 20000000)
        ;
    return (double)(wall_ns() - ns) / (double)(sw_counter() - ticks);
}

static void nap(long ns)
{
    nanosleep(&(struct timespec){0, ns}, NULL);
}

static _Thread_local volatile uint64_t sum;

static void work(int turns)
{
    for (int i = 0; i < turns * 1000; i++)
        sum += (uint64_t)i;
}

/* ps that an anchor may take back: what a hypervisor had the core for. */
#define TAKEN_BACK 20000000000

/* Both clocks over the same work, to 2 % and 50 us. */
static void same(int turns, bool sleep)
{
    int64_t theirs = kernels(), ours = sw_cpu_clock_now(), before = ours;
    for (int i = 0; i < turns; i++) {
        work(20);
        if (sleep && i % 10 == 0)
            nap(100000);
        int64_t now = sw_cpu_clock_now();
        MUST(now >= before - TAKEN_BACK);
        before = now;
    }
    ours = sw_cpu_clock_read() - ours;
    theirs = kernels() - theirs;
    int64_t off = ours > theirs ? ours - theirs : theirs - ours;
    if (off > theirs / 50 + 50000000)
        fprintf(stderr, "ours %lld ps, theirs %lld ps\n", (long long)ours,
                (long long)theirs);
    MUST(off <= theirs / 50 + 50000000);
}

static void *other(void *arg)
{
    same(500, true);
    return arg;
}

static void *burn(void *stop)
{
    while (!atomic_load((_Atomic bool *)stop))
        work(1);
    return NULL;
}

static void caught(int signal)
{
    (void)signal;
}

static void all(void)
{
    same(2000, false);
    same(2000, true);
    int64_t before = sw_cpu_clock_now();
    nap(50000000);
    MUST(sw_cpu_clock_now() - before < 10000000000); /* 10 ms of 50 */
    pthread_t thread, crowd[8];
    _Atomic bool stop = false;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 8; i++)
        pthread_create(&crowd[i], NULL, burn, (void *)&stop);
    same(2000, false);
    atomic_store(&stop, true);
    for (int i = 0; i < 8; i++)
        pthread_join(crowd[i], NULL);
}

int main(void)
{
    sw_cpu_clock_start(0);
    MUST(!sw_cpu_clock_counts());
    all();
    sw_cpu_clock_start(ns_a_tick());
    MUST(sw_cpu_clock_cost >= 0 && sw_cpu_clock_cost < 100000000);
    all();
    if (!sw_cpu_clock_counts()) {
        printf("no rseq here: the clock is read each time\n");
        return 0;
    }
    /* What the whole thing stands on. */
    signal(SIGUSR1, caught);
    for (int i = 0; i < 2; i++) {
        sw_cpu_clock_read();
        if (i == 0)
            nap(1000000);
        else
            raise(SIGUSR1);
        MUST(*(uint64_t *volatile *)sw_cpu_clock.mark != sw_cpu_clock_sequence);
    }
    return 0;
}
