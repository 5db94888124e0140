/*
 * grow.h - arrays that grow by doubling.
 */
#ifndef SW_NODE_BASE_GROW_H
#define SW_NODE_BASE_GROW_H

#include "base.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more element of `size` bytes where `n` are: `at` is the address
 * of the pointer to the array, which may change. False: no memory, and all is
 * as it was. */
static inline bool sw_grow(void *at, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return true;
    uint32_t more = *room ? 2 * *room : 16;
    void *array;
    memcpy(&array, at, sizeof array);
    void *larger = realloc(array, (size_t)more * size);
    if (!larger)
        return false;
    memcpy(at, &larger, sizeof larger);
    *room = more;
    return true;
}

/* The same, and the elements from place `to` on move up by one, to make way for
 * the new one. */
static inline bool sw_grow_at(void *at, uint32_t n, uint32_t *room, size_t size,
                              size_t to)
{
    char *array;
    if (!sw_grow(at, n, room, size))
        return false;
    memcpy(&array, at, sizeof array);
    memmove(array + (to + 1) * size, array + to * size, (n - to) * size);
    return true;
}

/* The same for a ring, whose first element is at place `first` and whose room
 * is a power of two. What had gone round to the front goes behind the rest. */
static inline bool sw_grow_ring(void *at, uint32_t n, uint32_t *room,
                                size_t size, uint32_t first)
{
    char *array;
    if (n < *room)
        return true;
    if (!sw_grow(at, n, room, size))
        return false;
    memcpy(&array, at, sizeof array);
    memcpy(array + n * size, array, first * size);
    return true;
}

#endif
