/*
 * line.h - what lies between two measured points.
 */
#ifndef SW_VTIME_MODEL_LINE_H
#define SW_VTIME_MODEL_LINE_H

#include "words.h"

/* Between two points, on the line; behind the last, as far on as the bytes are
 * behind it, but never less. */
static inline sw_ps_t sw_line_at(uint64_t bytes, uint64_t x0, sw_ps_t y0,
                                 uint64_t x1, sw_ps_t y1)
{
    double slope = (double)(y1 - y0) / (double)(x1 - x0);
    if (bytes > x1) {
        sw_ps_t more = slope > 0 ? sw_ps_of(slope, bytes - x1) : 0;
        return more < SW_PS_MOST - y1 ? y1 + more : SW_PS_MOST;
    }
    double y = (double)y0 + slope * (double)(bytes - x0);
    return (sw_ps_t)(y + 0.5);
}

#endif
