/*
 * cpu_clock.c - see cpu_clock.h.
 *
 * The kernel defines the descriptor of a sequence (linux/rseq.h): version and
 * flags 0, where it begins, how long it is, where to go instead. The kernel
 * wants the signature that glibc has registered before the last. That address
 * is data here: no thread ever goes there, for none is ever within 0 bytes.
 */
#include "cpu_clock.h"

#include <stddef.h>
#include <time.h>

#define TRIES 3

_Thread_local sw_cpu_clock_t sw_cpu_clock
    __attribute__((tls_model("initial-exec")));
double sw_cpu_clock_tick;
int64_t sw_cpu_clock_cost;

/* Version and flags, begin, length, instead. */
uint64_t sw_cpu_clock_sequence[4] __attribute__((aligned(32)));

#if defined(__x86_64__)
#define SIGNATURE 0x53053053u
#elif defined(__aarch64__)
#define SIGNATURE 0xd428bc00u
#endif

/* As of glibc 2.35. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

#ifdef SIGNATURE
static uint32_t signature[2] = {SIGNATURE, 0};

/* Where the thread's rseq_cs is, 8 bytes into its area; NULL: it has none. */
static uint64_t **find_mark(void)
{
    if (!&__rseq_size || !&__rseq_offset || !__rseq_size ||
        sw_cpu_clock_tick <= 0)
        return NULL;
    char *area = (char *)__builtin_thread_pointer() + __rseq_offset;
    /* cpu_id: negative where the kernel has refused. */
    if ((int32_t)((uint32_t *)(void *)area)[1] < 0)
        return NULL;
    return (uint64_t **)(void *)(area + 8);
}
#else
static uint64_t **find_mark(void)
{
    return NULL;
}
#endif

static int64_t read_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec) * 1000;
}

static bool marked(uint64_t *const *mark)
{
    return *(uint64_t *const volatile *)mark == sw_cpu_clock_sequence;
}

/* The mark is set before the clock is read: if it is there afterwards, clock
 * and counter belong together. */
int64_t sw_cpu_clock_read(void)
{
    sw_cpu_clock_t *c = &sw_cpu_clock;
    if (!c->met) {
        c->met = true;
        c->mark = find_mark();
    }
    if (!c->mark)
        return read_clock();
    for (int i = 0; i < TRIES; i++) {
        *(uint64_t *volatile *)c->mark = sw_cpu_clock_sequence;
        c->ps = read_clock();
        c->ticks = sw_counter();
        if (marked(c->mark))
            break;
    }
    return c->ps;
}

bool sw_cpu_clock_counts(void)
{
    sw_cpu_clock_now();
    return sw_cpu_clock.mark != NULL;
}

void sw_cpu_clock_start(double ns_a_tick)
{
    enum { READINGS = 1000 };
#ifdef SIGNATURE
    sw_cpu_clock_sequence[1] = 0;
    sw_cpu_clock_sequence[3] = (uintptr_t)&signature[1];
#else
    ns_a_tick = 0;
#endif
    sw_cpu_clock_tick = ns_a_tick * 1000;
    sw_cpu_clock.met = false;
    sw_cpu_clock_cost = INT64_MAX;
    int64_t before = sw_cpu_clock_now();
    for (int i = 0; i < READINGS; i++) {
        int64_t now = sw_cpu_clock_now();
        sw_cpu_clock_cost = sw_min(sw_cpu_clock_cost, now - before);
        before = now;
    }
}
