/*
 * clocks.c - the system's clocks in virtual time: what front/clock/clocks.h
 * shows the program.
 *
 * A thread that calls MPI reads a clock as it calls MPI_Wtime: what it computed
 * is counted, and the engine asked if anything has been put since its last
 * answer. A reading takes as long as in a normal run, at any processor speed.
 * So a loop that waits for a time comes to its end.
 *
 * Where threads call at once, each that has called reads a clock of its own.
 *
 * Elsewhere a thread cannot ask the engine: inside a call (the program's
 * reductions and handlers), and in a signal's handler that comes while a clock
 * is read. Nor can threads that never call MPI, nor a thread beside another
 * one's call where MPI has one at a time. There a clock shows the last time
 * that any thread knew, and what this thread has computed since.
 */
#include "virtual.h"

#include "contract/clocks.h"

#include <signal.h>

#define LONGEST (INT64_MAX / 4) /* ps of a sleep: 26 days */

bool sw_virtual_turns;

/* The pthread functions of a recursive lock, for calls within calls. */
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void sw_virtual_turn_take(void)
{
    pthread_mutex_lock(&turn);
}

bool sw_virtual_turn_try(void)
{
    return pthread_mutex_trylock(&turn) == 0;
}

void sw_virtual_turn_give(void)
{
    pthread_mutex_unlock(&turn);
}

static sw_ps_t reading(void)
{
    return sw_clocks_cost() * SW_PS_PER_NS;
}

/* What it computed since the last guess was the program's, not the MPI
 * library's, whose waiting a signal's handler may interrupt at any time. */
static bool programs(const sw_virtual_thread_t *t)
{
    return !(t->inside || t->reads) || !sw_virtual_handles_signal();
}

static sw_ps_t guess(sw_virtual_thread_t *t)
{
    int64_t computed = sw_cpu_clock_now();
    sw_ps_t known = sw_virtual_known(), then = known;
    if (!atomic_load(&sw_virtual_alive))
        return known; /* it goes on as real time does */
    if (t->guessed && computed > t->guessed_at && programs(t))
        then = t->told + (sw_ps_t)((double)(computed - t->guessed_at) /
                                   sw_virtual_model.cpu_speed);
    t->guessed = true;
    t->guessed_at = computed;
    return sw_ps_max(known, then) + reading();
}

static bool asked(sw_virtual_thread_t *t, sw_ps_t *now)
{
    bool free = !sw_virtual_turns || !pthread_mutex_trylock(&turn);
    if (!free)
        return false;
    sw_virtual_compute(sw_cpu_clock_now() - t->left - sw_cpu_clock_cost);
    sw_virtual_passed(reading());
    if (sw_virtual_shared)
        sw_virtual_thread_comes();
    bool there = sw_virtual_time(now);
    if (sw_virtual_shared)
        sw_virtual_thread_leaves();
    t->left = sw_cpu_clock_now();
    if (sw_virtual_turns)
        pthread_mutex_unlock(&turn);
    return there;
}

/* Its own processor time is counted in the rank's. */
static bool is_ranks(const sw_virtual_thread_t *t)
{
    return atomic_load(&sw_virtual_alive) && t->left && !t->inside &&
           !t->reads && (!sw_virtual_shared || t->clock);
}

static int64_t now_here(void)
{
    sw_virtual_thread_t *t = &sw_virtual_thread;
    sw_ps_t now;
    if (is_ranks(t)) {
        t->reads = true;
        atomic_signal_fence(memory_order_seq_cst);
        bool there = asked(t, &now);
        if (there)
            t->guessed = false;
        else
            now = guess(t);
        atomic_signal_fence(memory_order_seq_cst);
        t->reads = false;
    } else {
        now = guess(t);
    }
    return t->told = sw_ps_max(now, t->told);
}

/* The engine is told, unless a handler or another thread is about to. */
static void tell_slept(sw_virtual_thread_t *t)
{
    if (sw_virtual_turns && pthread_mutex_trylock(&turn))
        return;
    t->reads = true;
    atomic_signal_fence(memory_order_seq_cst);
    sw_virtual_slept();
    atomic_signal_fence(memory_order_seq_cst);
    t->reads = false;
    if (sw_virtual_turns)
        pthread_mutex_unlock(&turn);
}

static void sleeps(int64_t ns)
{
    if (is_ranks(&sw_virtual_thread))
        sw_virtual_sleeps((uint64_t)ns);
}

static void slept(int64_t ns)
{
    sw_virtual_thread_t *t = &sw_virtual_thread;
    sw_ps_t ps = ns < LONGEST / SW_PS_PER_NS ? ns * SW_PS_PER_NS : LONGEST;
    if (is_ranks(t)) {
        sw_virtual_passed(ps);
        if (sw_virtual_shared)
            sw_virtual_thread_slept();
        tell_slept(t);
    } else if (atomic_load(&sw_virtual_alive)) {
        t->told = sw_ps_max(guess(t), t->told) + ps;
        if (sw_virtual_shared && !t->clock)
            t->early += ps;
    }
}

/* In a handler its own signal is blocked, at least. */
static sigset_t usual;

bool sw_virtual_handles_signal(void)
{
    sigset_t now;
    if (pthread_sigmask(SIG_BLOCK, NULL, &now))
        return false;
    for (int i = 1; i < NSIG; i++)
        if (sigismember(&now, i) == 1 && sigismember(&usual, i) != 1)
            return true;
    return false;
}

void sw_virtual_clocks_start(void)
{
    pthread_sigmask(SIG_BLOCK, NULL, &usual);
    static const sw_clock_source_t source = {now_here, sleeps, slept};
    sw_clocks_begin(&source);
}
