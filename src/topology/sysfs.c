/*
 * sysfs.c - the machine's tables in /sys; see sysfs.h.
 *
 * Every rank of a node reads them at start, all at once: one open, read and
 * close per file, no directory listing, no heap.
 */
#include "sysfs.h"

#include "node/base/array.h"
#include "node/os/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sw_sysfs_root = "/sys/devices/system";

/* Processor sets ------------------------------------------------------ */

int sw_cpus_next(const sw_cpus_t *cpus, int from)
{
    for (int w = from / 64; w < SW_CPU_WORDS; w++) {
        uint64_t bits = cpus->word[w];
        if (w == from / 64)
            bits &= ~(uint64_t)0 << from % 64;
        if (bits)
            return w * 64 + __builtin_ctzll(bits);
    }
    return -1;
}

bool sw_cpus_inside(const sw_cpus_t *part, const sw_cpus_t *whole)
{
    for (int w = 0; w < SW_CPU_WORDS; w++)
        if (part->word[w] & ~whole->word[w])
            return false;
    return true;
}

/* A number without sign or leading space, below the limit; -1: none. */
static long number_at(const char **text, long limit)
{
    const char *p = *text;
    long n = 0;
    if (*p < '0' || *p > '9')
        return -1;
    for (; *p >= '0' && *p <= '9'; p++) {
        n = n * 10 + (*p - '0');
        if (n >= limit)
            return -1;
    }
    *text = p;
    return n;
}

bool sw_cpus_parse(const char *text, sw_cpus_t *to)
{
    memset(to, 0, sizeof *to);
    for (;;) {
        long first = number_at(&text, SW_CPU_WORDS * 64L), last = first;
        if (*text == '-' && first >= 0) {
            text++;
            last = number_at(&text, SW_CPU_WORDS * 64L);
        }
        if (first < 0 || last < first)
            return false;
        for (long cpu = first; cpu <= last; cpu++)
            to->word[cpu / 64] |= (uint64_t)1 << cpu % 64;
        if (*text == '\0' || *text == '\n')
            return true;
        if (*text++ != ',')
            return false;
    }
}

/* Files --------------------------------------------------------------- */

/* A table entry is at most a page; one that fills the room may be cut. */
static bool read_file(char *to, size_t room, const char *format, va_list args)
{
    char path[256];
    int n = snprintf(path, sizeof path, "%s/", sw_sysfs_root);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    int m = vsnprintf(path + n, sizeof path - (size_t)n, format, args);
    if (m < 0 || (size_t)(n + m) >= sizeof path)
        return false;
    int length = sw_os_read_text(path, to, room);
    return length > 0 && (size_t)length < room - 1;
}

/* The longest list of processors, as text. */
#define CPUS_TEXT 4096

bool sw_sysfs_cpus(sw_cpus_t *to, const char *format, ...)
{
    SW_BYTES(text, CPUS_TEXT);
    va_list args;
    va_start(args, format);
    bool found = read_file(text, CPUS_TEXT, format, args);
    va_end(args);
    return found && sw_cpus_parse(text, to);
}

bool sw_sysfs_number(uint64_t *to, const char *format, ...)
{
    char text[32];
    va_list args;
    va_start(args, format);
    bool found = read_file(text, sizeof text, format, args);
    va_end(args);
    if (!found || text[0] < '0' || text[0] > '9')
        return false;
    char *end;
    *to = strtoull(text, &end, 10);
    *to <<= *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return true;
}

bool sw_sysfs_word(char to[32], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool found = read_file(to, 32, format, args);
    va_end(args);
    if (found)
        to[strcspn(to, "\n")] = '\0';
    return found;
}

/* Domains ------------------------------------------------------------- */

/* The old names of the two files; the kernel keeps them beside the new. */
bool sw_sysfs_core(int cpu, sw_cpus_t *to)
{
    return sw_sysfs_cpus(to, "cpu/cpu%d/topology/thread_siblings_list", cpu);
}

bool sw_sysfs_package(int cpu, sw_cpus_t *to)
{
    return sw_sysfs_cpus(to, "cpu/cpu%d/topology/core_siblings_list", cpu);
}

bool sw_sysfs_numa(int cpu, sw_cpus_t *to)
{
    /* A processor's folder links to its own node alone, so that opening the
     * others' lists through it fails at once. */
    sw_cpus_t nodes;
    if (!sw_sysfs_cpus(&nodes, "node/online"))
        return false;
    for (int k = sw_cpus_next(&nodes, 0); k >= 0;
         k = sw_cpus_next(&nodes, k + 1))
        if (sw_sysfs_cpus(to, "cpu/cpu%d/node%d/cpulist", cpu, k))
            return sw_cpus_has(to, cpu);
    return false;
}

static bool is_cache(int cpu, int index, int level, bool *more)
{
    uint64_t is;
    char type[32];
    *more = sw_sysfs_number(&is, "cpu/cpu%d/cache/index%d/level", cpu, index);
    return *more && is == (uint64_t)level &&
           sw_sysfs_word(type, "cpu/cpu%d/cache/index%d/type", cpu, index) &&
           strcmp(type, "Instruction") != 0;
}

int sw_sysfs_cache(int cpu, int level)
{
    /* With a split first level, as everywhere today, index 2 is level 2. */
    bool more;
    if (is_cache(cpu, level, level, &more))
        return level;
    more = true;
    for (int i = 0; i < 16 && more; i++)
        if (i != level && is_cache(cpu, i, level, &more))
            return i;
    return -1;
}
