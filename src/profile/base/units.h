/*
 * units.h - times, shares and counts for readers: three significant digits.
 *
 * straightway/units.py writes numbers alike, so that the lines at the end of a
 * run agree with its reports. A text here is ASCII: "us" for microseconds.
 */
#ifndef SW_PROFILE_BASE_UNITS_H
#define SW_PROFILE_BASE_UNITS_H

#include "node/base/base.h"

/* The longest text, with its '\0'. */
#define SW_UNITS_TEXT 32

typedef struct {
    char text[SW_UNITS_TEXT];
} sw_units_t;

SW_API sw_units_t sw_units_duration(double ns);    /* 1.23 s, 45.6 ms */
SW_API sw_units_t sw_units_share(double part);     /* 12.3 %, of 0.123 */
SW_API sw_units_t sw_units_number(uint64_t count); /* 950, 12.3 k, 4.5 M */

#endif
