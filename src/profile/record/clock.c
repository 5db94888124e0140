/*
 * clock.c - see clock.h.
 */
#include "clock.h"

#include <stdlib.h>
#include <string.h>

#define COMPARE_NS 2000000

bool sw_clock_counts;
double sw_clock_tick = 1;
uint64_t sw_clock_scale = (uint64_t)1 << 32;

static struct {
    bool open;
    uint64_t ticks, ns; /* at the same moment */
} begun;

/* Both clocks at one moment: the quickest of a few tries counts. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    *ticks = *ns = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t before = sw_clock_ticks(), now = sw_os_now(),
                 after = sw_clock_ticks();
        if (after - before < best) {
            best = after - before;
            *ticks = before + best / 2;
            *ns = now;
        }
    }
}

/* Does the kernel take its own time from the counter? */
static bool trusted(void)
{
#if defined(__x86_64__)
    char name[32];
    int n = sw_os_read_text("/sys/devices/system/clocksource/clocksource0/"
                            "current_clocksource",
                            name, sizeof name);
    return n >= 3 && !strncmp(name, "tsc", 3);
#elif defined(__aarch64__)
    return true; /* the architecture promises it */
#else
    return false;
#endif
}

void sw_clock_open(void)
{
    if (begun.open)
        return;
    begun.open = true;
    sw_clock_counts = trusted();
    read_both(&begun.ticks, &begun.ns);
}

void sw_clock_start(void)
{
    uint64_t ticks, ns;
    sw_clock_open();
    if (!sw_clock_counts)
        return;
    do
        read_both(&ticks, &ns);
    while (ns - begun.ns < COMPARE_NS);
    sw_clock_tick = (double)(ns - begun.ns) / (double)(ticks - begun.ticks);
    sw_clock_scale = (uint64_t)(sw_clock_tick * 4294967296.0);
}

uint64_t sw_clock_time(uint64_t ticks)
{
    if (!sw_clock_counts)
        return ticks;
    uint64_t now_ticks, now_ns;
    read_both(&now_ticks, &now_ns);
    double tick = (double)(now_ns - begun.ns) /
                  (double)(now_ticks - begun.ticks);
    double since = (double)(int64_t)(ticks - begun.ticks) * tick;
    return (uint64_t)((double)begun.ns + since);
}
