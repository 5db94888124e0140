/*
 * heap.c - see heap.h. Four children each: half the levels of two, and they
 * lie in two cache lines, as the root is the last of a pair.
 */
#include "heap.h"

#include "node/base/aligned.h"
#include "node/base/base.h"

#include <stdlib.h>
#include <string.h>

static inline bool before(const sw_heap_event_t *a, const sw_heap_event_t *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->key != b->key)
        return a->key < b->key;
    return a->number < b->number;
}

enum { CHILDREN = 4, BEFORE = CHILDREN - 1 };

static void *start(const sw_heap_t *heap)
{
    return heap->events ? heap->events - BEFORE : NULL;
}

static bool grow(sw_heap_t *heap)
{
    size_t room = heap->room ? 2 * heap->room : 64;
    sw_heap_event_t *more = sw_aligned(CHILDREN * sizeof *more,
                                       (CHILDREN + room) * sizeof *more);
    if (!more)
        return false;
    more += BEFORE;
    if (heap->count)
        memcpy(more, heap->events, heap->count * sizeof *more);
    free(start(heap));
    heap->events = more;
    heap->room = room;
    return true;
}

bool sw_heap_push(sw_heap_t *heap, const sw_heap_event_t *event)
{
    if (heap->count == heap->room && !grow(heap))
        return false;
    sw_heap_event_t *e = heap->events;
    size_t at = heap->count++;
    while (at > 0) {
        size_t above = (at - 1) / CHILDREN;
        if (!before(event, &e[above]))
            break;
        e[at] = e[above];
        at = above;
    }
    e[at] = *event;
    return true;
}

sw_heap_event_t sw_heap_pop(sw_heap_t *heap)
{
    sw_assert(heap->count > 0);
    sw_heap_event_t *e = heap->events, top = e[0], last = e[--heap->count];
    size_t at = 0, n = heap->count;
    for (;;) {
        size_t child = CHILDREN * at + 1;
        size_t end = child + CHILDREN < n ? child + CHILDREN : n;
        if (child >= n)
            break;
        size_t least = child;
        for (child++; child < end; child++)
            if (before(&e[child], &e[least]))
                least = child;
        if (!before(&e[least], &last))
            break;
        e[at] = e[least];
        at = least;
    }
    e[at] = last;
    sw_assert(!n || !before(&e[0], &top));
    return top;
}

void sw_heap_free(sw_heap_t *heap)
{
    free(start(heap));
    *heap = (sw_heap_t){0};
}
