/*
 * duration.h - a time as a user writes it: 90, 90s, 10m, 2h or 1d.
 *
 * The library and the command read it alike. "off" is no time at all.
 */
#ifndef SW_NODE_BASE_DURATION_H
#define SW_NODE_BASE_DURATION_H

#include "base.h"

#include <string.h>
#include <strings.h>

#define SW_DURATION_WANTED "a time such as 30s, 10m or 2h, or off"

/* Whole seconds, 1 or more; 0: off; -1: the text is no time. */
static inline int64_t sw_duration(const char *text)
{
    static const char units[] = "smhd";
    static const int64_t seconds[] = {1, 60, 3600, 86400};
    int64_t n = 0;
    size_t digits = strspn(text, "0123456789");
    const char *unit = text + digits;
    if (!strcasecmp(text, "off"))
        return 0;
    if (!digits || digits > 9)
        return -1;
    for (; text < unit; text++)
        n = 10 * n + (*text - '0');
    if (*unit) {
        const char *found = strchr(units, *unit);
        if (!found || unit[1])
            return -1;
        n *= seconds[found - units];
    }
    return n ? n : -1;
}

#endif
