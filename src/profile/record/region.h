/*
 * region.h - parts of a program that it names itself.
 *
 * Regions nest. One within another has a number of its own, and the name
 * "outer/inner". They are the process's, not a thread's: what other threads
 * communicate meanwhile belongs to them, too.
 */
#ifndef SW_PROFILE_RECORD_REGION_H
#define SW_PROFILE_RECORD_REGION_H

#include "node/base/base.h"

#define SW_REGIONS_MAX 1024
#define SW_REGION_NAME 120

typedef struct {
    char name[SW_REGION_NAME];
    _Atomic uint64_t entered, ticks, since; /* since 0: not in it now */
    uint32_t outer;
} sw_region_t;

/* region.c calls this under a lock, in order, when the region at hand changes,
 * unless it is NULL. */
SW_API extern void (*_Atomic sw_region_changed)(uint32_t number);

/* The region at hand. */
SW_API extern _Atomic uint32_t sw_region_now;

/* Regions in the order of their first entry; 0 is outside of all. */
SW_API const sw_region_t *sw_region(uint32_t number);
SW_API uint32_t sw_region_count(void);

/* Enters the region `name` within the one at hand. If there are too many, or
 * the name is too long, one line says so, and calls belong to the outer one. */
SW_API void sw_region_begin(const char *name);
/* Leaves the region at hand if its own name is `name`, or `name` is NULL.
 * False: the program is not in that region (said once). */
SW_API bool sw_region_end(const char *name);
/* The same as MPI_Pcontrol says it: n > 1 begins the region "phase n", -n ends
 * it; 0 and 1 say nothing. */
SW_API void sw_region_level(int level);

#endif
