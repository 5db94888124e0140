/*
 * smaps.h - what the system says about this process's mappings, for tests.
 */
#ifndef SMAPS_H
#define SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Is any byte of [p, p+n) left out of core dumps? Such a mapping has the
 * flag "dd" in /proc/self/smaps, or lacks "rd": no process can touch it.
 * *count: how many mappings there are. */
static inline bool left_out(const void *p, size_t n, int *count)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[4096];
    unsigned long low = 0, high = 0, a, b;
    bool out = false;
    int seen = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
            low = a;
            high = b;
            seen++;
        } else if (!strncmp(line, "VmFlags:", 8) &&
                   (strstr(line, " dd") || !strstr(line, " rd"))) {
            out |= low < (uintptr_t)p + n && (uintptr_t)p < high;
        }
    }
    if (maps)
        fclose(maps);
    if (count)
        *count = seen;
    return out;
}

/* How many of the n bytes at p lie in mappings with a flag of smaps, such as
 * "lo": locked. */
static inline size_t flagged(const void *p, size_t n, const char *flag)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[4096], text[8];
    unsigned long low = 0, high = 0, a, b;
    size_t bytes = 0;
    snprintf(text, sizeof text, " %s", flag);
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
            low = a > (uintptr_t)p ? a : (uintptr_t)p;
            high = b < (uintptr_t)p + n ? b : (uintptr_t)p + n;
        } else if (!strncmp(line, "VmFlags:", 8) && strstr(line, text) &&
                   low < high) {
            bytes += high - low;
        }
    }
    if (maps)
        fclose(maps);
    return bytes;
}

#endif
