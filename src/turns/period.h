/*
 * period.h - how many calls of a program make a period.
 *
 * A call is a number here, alike for calls of one call site. Most programs
 * repeat a sequence of calls, a time step or an iteration. Its length is found
 * from the latest calls, whatever came before the sequence began.
 */
#ifndef SW_TURNS_PERIOD_H
#define SW_TURNS_PERIOD_H

#include "node/base/base.h"

enum { SW_PERIOD_CALLS = 4096 };

/* The latest calls. */
typedef struct {
    uint64_t count;                 /* of all calls; the last ones are there */
    uint32_t call[SW_PERIOD_CALLS]; /* number count - 1 is at its remainder */
} sw_calls_t;

static inline void sw_calls_add(sw_calls_t *calls, uint32_t call)
{
    calls->call[calls->count++ % SW_PERIOD_CALLS] = call;
}

/* The last call but `back`; there must be so many. */
static inline uint32_t sw_calls_last(const sw_calls_t *calls, uint64_t back)
{
    return calls->call[(calls->count - 1 - back) % SW_PERIOD_CALLS];
}

/* The shortest sequence that the latest calls repeat three times or more, back
 * through at least half of all calls that are there; 0: there is none.
 * Linear in the calls. */
SW_API uint32_t sw_period(const sw_calls_t *calls);

#endif
