/*
 * aligned.h - blocks of the heap at a multiple of a power of two.
 *
 * Heaps of old debuggers (Electric Fence) have memalign, and no aligned_alloc.
 * libc's would give a block that such a debugger's `free` does not know.
 */
#ifndef SW_NODE_BASE_ALIGNED_H
#define SW_NODE_BASE_ALIGNED_H

#include <malloc.h>

/* For `free`. NULL: no memory. */
static inline void *sw_aligned(size_t to, size_t n)
{
    return memalign(to, n);
}

#endif
