/*
 * period.c - see period.h.
 *
 * The calls are read from the latest one backwards. A sequence of m calls
 * repeats itself after m - b, where b is its longest border (Knuth, Morris and
 * Pratt: Fast Pattern Matching in Strings, 1977).
 */
#include "period.h"

#define REPEATS 3

uint32_t sw_period(const sw_calls_t *calls)
{
    static uint16_t border[SW_PERIOD_CALLS + 1];
    uint32_t n = (uint32_t)sw_min(calls->count, SW_PERIOD_CALLS), found = 0;
    border[0] = 0;
    for (uint32_t m = 1, b = 0; m < n; m++) {
        while (b && sw_calls_last(calls, m) != sw_calls_last(calls, b))
            b = border[b];
        b += sw_calls_last(calls, m) == sw_calls_last(calls, b);
        border[m + 1] = (uint16_t)b;
        if (REPEATS * (m + 1 - b) <= m + 1 && 2 * (m + 1) >= n)
            found = m + 1 - b;
    }
    return found;
}
