/*
 * cpu_clock.h - a thread's processor time at the price of the counter.
 *
 * Between two MPI calls a program computes. What that takes must not depend on
 * the other threads that had the core meanwhile. CLOCK_THREAD_CPUTIME_ID tells
 * it, at some 300 ns a reading: more than many a stretch between calls takes.
 * As long as a thread keeps its core, though, its processor time advances
 * exactly as the processor's counter does. So the thread reads the clock once,
 * and the counter from then on, until something has interrupted the thread.
 *
 * The kernel tells that by itself. glibc registers an area for restartable
 * sequences for each thread (rseq(2); 2.35 and later export where it is). When
 * a preempted, moved or signalled thread resumes, the kernel looks at the
 * sequence that the thread was in. If the thread was not within it, the kernel
 * forgets it (rseq_cs := 0). We name an empty sequence: the pointer stands
 * there until the first interruption. Without rseq, or with a counter that the
 * kernel does not trust, the thread reads the clock each time.
 *
 *     anchor                      now
 *     | clock c, counter k        | counter n, mark still there
 *     +---------------------------+        processor time: c + (n - k)
 *
 * The mark is looked at after the counter is read: what comes between is then
 * known not to lie before the reading.
 */
#ifndef SW_NODE_CPU_CLOCK_H
#define SW_NODE_CPU_CLOCK_H

#include "node/base/base.h"
#include "node/base/counter.h"

typedef struct {
    uint64_t **mark; /* the thread's rseq_cs; NULL: none, read always */
    uint64_t ticks;  /* the anchor's counter */
    int64_t ps;      /* and its clock */
    bool met;
} sw_cpu_clock_t;

SW_API extern _Thread_local sw_cpu_clock_t sw_cpu_clock
    __attribute__((tls_model("initial-exec")));

/* ps a tick; 0: the counter is of no use. */
SW_API extern double sw_cpu_clock_tick;
/* ps that pass, as measured, between two readings with nothing between. */
SW_API extern int64_t sw_cpu_clock_cost;
/* What the mark points to: a sequence that is empty. */
SW_API extern uint64_t sw_cpu_clock_sequence[];

/* `ns_a_tick`: of the counter; 0: it is not to be used. Measures what a reading
 * costs. Before the first reading. */
SW_API void sw_cpu_clock_start(double ns_a_tick);
/* Is the counter in use, in this thread? */
SW_API bool sw_cpu_clock_counts(void);
SW_API int64_t sw_cpu_clock_read(void);

/* The calling thread's processor time, ps. What interrupts a thread without
 * taking its core away (a hypervisor, the kernel's own interrupts) counts until
 * the next anchor, which takes it back: so a reading may be less than the one
 * before, and a difference less than 0. */
static inline int64_t sw_cpu_clock_now(void)
{
    const sw_cpu_clock_t *c = &sw_cpu_clock;
    if (sw_likely(c->mark)) {
        uint64_t ticks = sw_counter();
        __asm__ volatile("" ::: "memory");
        if (sw_likely(*(uint64_t *volatile *)c->mark == sw_cpu_clock_sequence))
            return c->ps + (int64_t)((double)(int64_t)(ticks - c->ticks) *
                                     sw_cpu_clock_tick);
    }
    return sw_cpu_clock_read();
}

#endif
