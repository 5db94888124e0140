/*
 * clock.h - time at the price of one instruction.
 *
 * A recorded call reads the clock twice, and the kernel's clock takes 30 ns a
 * time. So the recorder reads the processor's counter, where the kernel itself
 * trusts it: its pace is then constant, and alike on all cores of the node.
 * Elsewhere it reads the kernel's CLOCK_MONOTONIC. Ticks of two processes of a
 * node can be compared.
 */
#ifndef SW_PROFILE_RECORD_CLOCK_H
#define SW_PROFILE_RECORD_CLOCK_H

#include "node/base/base.h"
#include "node/base/counter.h"
#include "node/os/os.h"

/* Settled by sw_clock_start. */
SW_API extern bool sw_clock_counts;    /* ticks are the counter's */
SW_API extern double sw_clock_tick;    /* ns a tick */
SW_API extern uint64_t sw_clock_scale; /* the same, as a fraction of 2^32 */

static inline uint64_t sw_clock_ticks(void)
{
    if (sw_likely(sw_clock_counts))
        return sw_counter();
    return sw_os_now();
}

/* Nanoseconds of a stretch of ticks, without floating point. A tick of a slow
 * counter (40 ns on some Arm processors) makes 64 bits too few in seconds. */
static inline uint64_t sw_clock_ns(uint64_t ticks)
{
    return (uint64_t)((unsigned __int128)ticks * sw_clock_scale >> 32);
}

/* Choose the clock, and begin to compare it with the kernel's. To be called
 * as early as can be. */
SW_API void sw_clock_open(void);

/* Finish the comparison: takes up to 2 ms, less the time since
 * sw_clock_open. */
SW_API void sw_clock_start(void);

/* When the kernel's clock read 0, in ticks, so that ticks become times of
 * CLOCK_MONOTONIC. As exact as the comparison over the whole run. */
SW_API uint64_t sw_clock_time(uint64_t ticks);

#endif
