/*
 * location.h - where in the machine a process runs.
 *
 * Each member of a communicator finds its own location once and publishes it;
 * trees (tree.h) are built from all of them.
 */
#ifndef SW_TOPOLOGY_LOCATION_H
#define SW_TOPOLOGY_LOCATION_H

#include "sysfs.h"

/* The domains a process is bound to, each named by the number of its first
 * processor. -1: not known, or the process may run on several of them. */
typedef struct {
    int16_t package, numa, l3, core;
} sw_location_t;

/* From this process's affinity mask and the machine's tables: about ten small
 * reads. Where tables are missing (SW_DOOR_TOPOLOGY, some containers) the
 * levels that hang on them are -1. */
SW_API void sw_location_self(sw_location_t *to);

/* The same for any set of processors. */
SW_API void sw_location_of(const sw_cpus_t *allowed, sw_location_t *to);

/* How near two places are: the smallest domain that both lie in, as far as is
 * known (two unknown domains inside the same larger one count as one). */
typedef enum {
    SW_SHARE_L3,
    SW_SHARE_NUMA,
    SW_SHARE_PACKAGE,
    SW_SHARE_MACHINE,
    SW_SHARE_COUNT
} sw_share_t;

static inline sw_share_t sw_location_share(const sw_location_t *a,
                                           const sw_location_t *b)
{
    return a->package != b->package ? SW_SHARE_MACHINE
           : a->numa != b->numa     ? SW_SHARE_PACKAGE
           : a->l3 != b->l3         ? SW_SHARE_NUMA
                                    : SW_SHARE_L3;
}

#endif
