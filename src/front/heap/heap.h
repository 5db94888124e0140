/*
 * heap.h - the one call the library's constructor makes into the heap entry
 * points.
 */
#ifndef SW_FRONT_HEAP_HEAP_H
#define SW_FRONT_HEAP_HEAP_H

#include "node/base/base.h"

/* From now on big blocks come from the arena, if there is one and if libc's
 * is the heap below. Call after sw_arena_start, before main. Without it every
 * block comes from the heap below. */
void sw_heap_start(void);

/* The name of the library whose heap the program brought along (jemalloc,
 * tcmalloc, a sanitizer, ...), or NULL: libc's. Then blocks are private. */
const char *sw_heap_other(void);

/* The ones behind ours. */
void *sw_heap_real_madvise(void);
void *sw_heap_real_mremap(void);

#endif
