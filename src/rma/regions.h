/*
 * regions.h - what each member of a dynamic window has attached, as far as its
 * peers reach that by loads and stores.
 *
 *   member:  version (4) | region 0 | region 1 | ... | region 31
 *   region:  base (8)  bytes (8)  offset in the member's arena (8)
 *
 * The member alone writes its table. A program accesses a region only after it
 * has been attached, and before it is detached. So a reader may take any
 * answer on other regions, if it is not a mixture of two. It takes none while
 * the version is odd, or where it changes.
 *
 * What is not in the table peers reach by system calls. Both ways to one
 * element may meet: updates by system calls are long ones (update.h).
 */
#ifndef SW_RMA_REGIONS_H
#define SW_RMA_REGIONS_H

#include "node/base/base.h"

#define SW_REGIONS 32

typedef struct {
    _Atomic uint64_t base, bytes, offset;
} sw_region_t;

typedef struct {
    _Alignas(SW_PAIR) _Atomic uint32_t version;
    sw_region_t region[SW_REGIONS];
} sw_regions_t;

/* The member has attached [base, base+bytes), or detaches what begins there.
 * Calls of its threads exclude each other. A full table takes no more. */
SW_API void sw_regions_add(sw_regions_t *r, uint64_t base, uint64_t bytes,
                           uint64_t offset);
SW_API void sw_regions_remove(sw_regions_t *r, uint64_t base);

/* Where [low, high) lies in the member's arena; UINT64_MAX: it is not said. */
SW_API uint64_t sw_regions_find(const sw_regions_t *r, uint64_t low,
                                uint64_t high);

#endif
