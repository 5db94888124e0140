/*
 * wait.c - waits end: soon where the doorbell wakes them, within a bound where
 * a wake-up is lost, and the host's progress is driven meanwhile. A wait gives
 * its core away where ranks or other processes want it, and nowhere else.
 */
#include "node/wait.h"
#include "node/base/settings.h"
#include "rounds.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define fail(...)                                    \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static sw_doorbell_t doorbell;
static _Atomic uint64_t ball; /* thrown to and fro */
static _Atomic int progressed;

static bool progress(void)
{
    atomic_fetch_add(&progressed, 1);
    return false;
}

static void nap(long ns)
{
    nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

/* Waiting for something that comes after `ns`, announced or not. */
typedef struct {
    long ns;
    bool rings;
} giver_t;

static void *give(void *arg)
{
    const giver_t *g = arg;
    nap(g->ns);
    atomic_store_explicit(&ball, 1, memory_order_release);
    if (g->rings)
        sw_doorbell_ring(&doorbell);
    return NULL;
}

static void wait_for(long ns, bool rings)
{
    giver_t g = {ns, rings};
    pthread_t thread;
    atomic_store(&ball, 0);
    if (pthread_create(&thread, NULL, give, &g))
        fail("pthread_create");
    SW_WAIT_UNTIL(atomic_load_explicit(&ball, memory_order_acquire) == 1,
                  &doorbell);
    pthread_join(thread, NULL);
    if (atomic_load(&doorbell.sleepers))
        fail("a wait that is over is still announced");
}

/* Two threads answer each other at random pace: any wake-up that could be lost
 * for good would stop them. */
#define ROUNDS FEWER(3000)

static void *partner(void *arg)
{
    uint64_t seed = 7;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        SW_WAIT_UNTIL(atomic_load_explicit(&ball, memory_order_acquire) ==
                          2 * i + 1,
                      &doorbell);
        seed = seed * 6364136223846793005u + 1;
        if (seed >> 60 == 0)
            nap(300000);
        atomic_store_explicit(&ball, 2 * i + 2, memory_order_release);
        sw_doorbell_ring(&doorbell);
    }
    return NULL;
}

static void to_and_fro(void)
{
    pthread_t thread;
    uint64_t seed = 3;
    atomic_store(&ball, 0);
    if (pthread_create(&thread, NULL, partner, NULL))
        fail("pthread_create");
    for (uint64_t i = 0; i < ROUNDS; i++) {
        seed = seed * 6364136223846793005u + 1;
        if (seed >> 60 == 0)
            nap(300000);
        atomic_store_explicit(&ball, 2 * i + 1, memory_order_release);
        sw_doorbell_ring(&doorbell);
        SW_WAIT_UNTIL(atomic_load_explicit(&ball, memory_order_acquire) ==
                          2 * i + 2,
                      &doorbell);
    }
    pthread_join(thread, NULL);
}

/* A ring that is not heard: the writer looked before the sleeper had announced
 * itself. Simulated by not ringing at all. */
static void lost(void)
{
    wait_for(20000000, false);
}

static void sleeps(void)
{
    struct timespec cpu;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    uint64_t before = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
    wait_for(400000000, true);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    uint64_t used = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec -
                    before;
    if (used > 300000000)
        fail("a wait of 400 ms has used %llu ms of a core",
             (unsigned long long)(used / 1000000));
}

/* The system that a wait sees: its clock, how often and for how long it has
 * taken the core away, and how often the thread has waited. And how often the
 * wait has yielded and napped. */
static struct {
    bool shown;
    uint64_t now, lost;
    long taken, waits, yields, naps;
} played;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!played.shown)
        return (int)syscall(SYS_clock_gettime, clock, t);
    uint64_t ns = played.now;
    if (clock == CLOCK_THREAD_CPUTIME_ID)
        ns -= played.lost;
    *t = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *use)
{
    if (!played.shown)
        return (int)syscall(SYS_getrusage, who, use);
    *use = (struct rusage){.ru_nivcsw = played.taken, .ru_nvcsw = played.waits};
    return 0;
}

/* Yields and naps are made by number (os_linux.c). It reads more words than
 * there are arguments. */
__attribute__((no_sanitize("address"))) long syscall(long number, ...)
{
    static long (*next)(long, ...);
    va_list list;
    long a[6];
    if (!next)
        next = (long (*)(long, ...))(uintptr_t)dlsym(RTLD_NEXT, "syscall");
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (played.shown && number == SYS_sched_yield)
        played.yields++;
    if (played.shown && number == SYS_clock_nanosleep) {
        const struct timespec *t = (const struct timespec *)a[2];
        played.naps++;
        if (t->tv_sec || t->tv_nsec > 200000)
            fail("a nap of %ld ns", t->tv_nsec);
        played.now += (uint64_t)t->tv_nsec;
        return 0;
    }
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Steps a wait every 10 µs until it would sleep; returns how long it took. */
static uint64_t until_sleep(double crowd, sw_doorbell_t *on)
{
    sw_wait_t wait = {.doorbell = on};
    uint64_t start = played.now;
    sw_wait_crowd(crowd);
    played.yields = 0;
    while (!wait.announced && played.now - start < 1000000000) {
        sw_wait_step(&wait);
        played.now += 10000;
    }
    sw_wait_end(&wait);
    return played.now - start;
}

/* Another thread has the core for so long. */
static void take_core(uint64_t ns)
{
    played.taken++;
    played.lost += ns;
    played.now += ns;
}

static void gives_way(void)
{
    played.shown = true;
    played.now = 1000000000;
    uint64_t slept = until_sleep(1.0, &doorbell);
    if (slept < 4000000 || played.yields)
        fail("a core that nobody wants: %llu us, %ld yields",
             (unsigned long long)slept / 1000, played.yields);
    for (int i = 0; i < 9; i++) /* by a daemon */
        take_core(90000);
    slept = until_sleep(1.0, &doorbell);
    if (slept < 4000000 || played.yields)
        fail("a core that was taken for moments: %llu us, %ld yields",
             (unsigned long long)slept / 1000, played.yields);
    played.waits++; /* ... and this thread has slept */
    played.lost += 5000000;
    played.now += 5000000;
    take_core(90000);
    slept = until_sleep(1.0, &doorbell);
    if (slept < 4000000 || played.yields)
        fail("a core that was given away: %llu us, %ld yields",
             (unsigned long long)slept / 1000, played.yields);
    take_core(3000000); /* by a process that computes */
    slept = until_sleep(1.0, &doorbell);
    if (slept < 50000 || slept > 120000 || played.yields)
        fail("a core that was taken: %llu us, %ld yields",
             (unsigned long long)slept / 1000, played.yields);
    played.now += 1000000000;
    slept = until_sleep(1.0, &doorbell);
    if (slept < 4000000 || played.yields)
        fail("a core that was taken long ago: %llu us, %ld yields",
             (unsigned long long)slept / 1000, played.yields);
    slept = until_sleep(2.0, &doorbell);
    if (slept > 300000 || played.yields < 10)
        fail("a crowded core: %llu us, %ld yields",
             (unsigned long long)slept / 1000, played.yields);
    for (int crowd = 1; crowd <= 2; crowd++) {
        take_core(3000000);
        if (until_sleep(crowd, NULL) < 1000000000)
            fail("a sleep that nothing would end");
        if (played.naps)
            fail("a nap of a rank that is not patient");
    }
    sw_wait_naps = true;
    until_sleep(2.0, NULL);
    sw_wait_naps = false;
    if (played.naps < 1000 || played.yields < 10 || played.yields > 100)
        fail("a patient rank: %ld yields, %ld naps", played.yields,
             played.naps);
    played.shown = false;
}

static void whole(double crowd)
{
    sw_wait_crowd(crowd);
    if (sw_wait_crowded() != (crowd > 1.01))
        fail("crowded at %g?", crowd);
    atomic_store(&progressed, 0);
    sleeps();
    if (atomic_load(&progressed) < 10)
        fail("the host's progress was driven %d times in 400 ms",
             atomic_load(&progressed));
    lost();
    to_and_fro();
}

int main(void)
{
    gives_way();
    sw_wait_progress = progress;
    for (int futex = 1; futex >= 0; futex--) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(60);
            sw_settings.refuse = futex ? "" : "futex";
            whole(1.0);
            whole(4.0);
            exit(0);
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            fail("%s futexes", futex ? "with" : "without");
    }
    /* A setting overrules what the crowd suggests; no hook is no crash. */
    sw_settings.spin_us = 100;
    sw_wait_progress = NULL;
    sw_wait_crowd(8.0);
    wait_for(3000000, true);
    wait_for(50000, true);
}
