/*
 * build.h - making a layout, from the inside out.
 *
 * Each step takes places (a node and where it begins) and returns one, in
 * canonical form if they are. What fails (no memory, sizes beyond 2^62, more
 * than SW_LAYOUT_WORDS irregular places) is remembered, and the end returns
 * NULL.
 */
#ifndef SW_LAYOUT_BUILD_H
#define SW_LAYOUT_BUILD_H

#include "layout.h"

#define SW_LAYOUT_WORDS ((size_t)3 << 20)

typedef struct {
    int64_t at;
    uint32_t node; /* 0: empty */
} sw_layout_place_t;

typedef struct sw_build sw_build_t;

SW_API sw_build_t *sw_build_new(void); /* NULL: no memory */

SW_API sw_layout_place_t sw_build_run(sw_build_t *b, uint64_t bytes);
SW_API sw_layout_place_t sw_build_repeat(sw_build_t *b, int64_t count,
                                         int64_t stride,
                                         sw_layout_place_t child);
/* One after another; `place` is used up. */
SW_API sw_layout_place_t sw_build_list(sw_build_t *b, int64_t n,
                                       sw_layout_place_t *place);

/* Is it one piece? */
SW_API bool sw_build_is_run(const sw_build_t *b, sw_layout_place_t place);

static inline sw_layout_place_t sw_place_moved(sw_layout_place_t p, int64_t by)
{
    p.at += by;
    return p;
}

/* The layout, to be freed by free(), or NULL. The builder is gone. */
SW_API sw_layout_t *sw_build_end(sw_build_t *b, sw_layout_place_t root,
                                 int64_t extent);

#endif
