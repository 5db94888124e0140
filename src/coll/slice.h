/*
 * slice.h - which member works on which part of a vector.
 *
 * n units are cut into `parts` slices of equal size. The size is rounded, so
 * that two slices share no cache line where the vector is aligned. The last
 * ones may be smaller or empty.
 */
#ifndef SW_COLL_SLICE_H
#define SW_COLL_SLICE_H

#include "node/base/base.h"

typedef struct {
    size_t start, count; /* units */
} sw_slice_t;

/* Units per cache line, for slices of `elem`-byte elements. */
static inline size_t sw_slice_grain(size_t elem)
{
    return elem < SW_LINE ? SW_LINE / elem : 1;
}

/* `grain`: units per cache line, at least 1. */
static inline sw_slice_t sw_slice(size_t n, int parts, int index, size_t grain)
{
    size_t each = (n + (size_t)parts - 1) / (size_t)parts;
    each = (each + grain - 1) / grain * grain;
    size_t start = sw_min((size_t)index * each, n);
    return (sw_slice_t){start, sw_min(each, n - start)};
}

#endif
