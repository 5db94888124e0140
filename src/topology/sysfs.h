/*
 * sysfs.h - the machine's tables in /sys, as this room reads them.
 *
 * Linux describes every domain (core, cache, NUMA node, package) by the list
 * of its processors: "0-23,96-119". That list alone is used, never the ids
 * beside it, which may be missing, repeat in every package or be as large as
 * an address: a domain is named by the number of its first processor, which
 * is unique in the machine and the same for every reader.
 *
 * The commands have a reader of their own,
 * straightway/machine/readers/sysfs.py. It also reads devices, memory and
 * copies of older systems, which would only weigh on a process that starts.
 */
#ifndef SW_TOPOLOGY_SYSFS_H
#define SW_TOPOLOGY_SYSFS_H

#include "node/os/os.h"

#define SW_CPU_WORDS SW_OS_CPU_WORDS

typedef struct {
    uint64_t word[SW_CPU_WORDS];
} sw_cpus_t;

static inline bool sw_cpus_has(const sw_cpus_t *cpus, int cpu)
{
    return cpus->word[cpu / 64] >> cpu % 64 & 1;
}

/* The lowest processor of the set that is at least `from`; -1: none. */
SW_API int sw_cpus_next(const sw_cpus_t *cpus, int from);
SW_API bool sw_cpus_inside(const sw_cpus_t *part, const sw_cpus_t *whole);
/* Read a list as the kernel writes it. False: not such a list, or empty. */
SW_API bool sw_cpus_parse(const char *text, sw_cpus_t *to);

/* Where the tables are: /sys/devices/system, unless a test has its own. Not
 * to be changed while others read. */
SW_API extern const char *sw_sysfs_root;

/* Read the file ROOT/path, path made by printf's rules: as a list of
 * processors, as a number (suffixes K, M, G), as a word. False where it is
 * missing, refused or malformed. */
bool sw_sysfs_cpus(sw_cpus_t *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool sw_sysfs_number(uint64_t *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool sw_sysfs_word(char to[32], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The domains of one processor: the list of processors that share it. */
bool sw_sysfs_core(int cpu, sw_cpus_t *to);
bool sw_sysfs_package(int cpu, sw_cpus_t *to);
bool sw_sysfs_numa(int cpu, sw_cpus_t *to);
/* The index of the processor's data cache of this level, for paths
 * cpu/cpuC/cache/indexI; -1: none. */
int sw_sysfs_cache(int cpu, int level);

#endif
