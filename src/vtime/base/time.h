/*
 * time.h - virtual time.
 */
#ifndef SW_VTIME_BASE_TIME_H
#define SW_VTIME_BASE_TIME_H

#include "node/base/base.h"

/* Picoseconds, so that sums are exact and a byte of a fast
 * network counts; 106 days fit. */
typedef int64_t sw_ps_t;

static inline sw_ps_t sw_ps_max(sw_ps_t a, sw_ps_t b)
{
    return a > b ? a : b;
}
static inline sw_ps_t sw_ps_min(sw_ps_t a, sw_ps_t b)
{
    return a < b ? a : b;
}

#define SW_PS_PER_NS ((sw_ps_t)1000)
#define SW_PS_NEVER INT64_MAX

#endif
