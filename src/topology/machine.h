/*
 * machine.h - the machine as a whole: what `doctor` and the benchmarks
 * describe, and the cache sizes that copies are tuned by.
 */
#ifndef SW_TOPOLOGY_MACHINE_H
#define SW_TOPOLOGY_MACHINE_H

#include "sysfs.h"

/* Counts over all online processors, whatever the affinity; 0: not known. */
typedef struct {
    int packages;
    int numa_nodes; /* with processors: memory-only nodes do not count */
    int l3s;
    int cores;
    int pus;            /* processing units: hardware threads */
    int l3_pus;         /* processing units that share one L3 */
    size_t l1d, l2, l3; /* bytes of one cache of each level */
} sw_machine_t;

/* Reads some files per processor: for reports, not for start-up. */
SW_API void sw_machine_describe(sw_machine_t *to);

/* Domains of the machine, each by the list of its processors. */
typedef enum {
    SW_DOMAIN_PACKAGE,
    SW_DOMAIN_NUMA,
    SW_DOMAIN_L3,
    SW_DOMAIN_CORE
} sw_domain_t;

/* The domain of the first processor in `left` that has one; what has been
 * looked at leaves `left`. False: there is none. So a walk from all online
 * processors (sw_machine_online) gives each domain once. */
SW_API bool sw_machine_domain(sw_domain_t kind, sw_cpus_t *left, sw_cpus_t *to);
/* The online processors. False: the table is missing. */
SW_API bool sw_machine_online(sw_cpus_t *to);

/* Bytes of the caches of the first processor this process may run on; 0: not
 * known. Read once, at the first call. On a machine whose cores differ two
 * processes may get different answers: fit for choosing how to copy, not for
 * what all members must decide alike. */
SW_API size_t sw_machine_l2_bytes(void);
SW_API size_t sw_machine_l3_bytes(void);

/* Hardware threads of a core that this process may use, at least 1. */
SW_API int sw_machine_core_threads(void);

#endif
