/*
 * heap.c - see heap.h. Four children each: half the levels of two, and they
 * lie in two cache lines.
 */
#include "heap.h"

#include <stdlib.h>

static inline bool before(const sw_event_t *a, const sw_event_t *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->key != b->key)
        return a->key < b->key;
    return a->number < b->number;
}

bool sw_heap_push(sw_heap_t *heap, const sw_event_t *event)
{
    if (heap->count == heap->room) {
        size_t room = heap->room ? 2 * heap->room : 64;
        sw_event_t *more = realloc(heap->events, room * sizeof *more);
        if (!more)
            return false;
        heap->events = more;
        heap->room = room;
    }
    sw_event_t *e = heap->events;
    size_t at = heap->count++;
    while (at > 0) {
        size_t above = (at - 1) / 4;
        if (!before(event, &e[above]))
            break;
        e[at] = e[above];
        at = above;
    }
    e[at] = *event;
    return true;
}

sw_event_t sw_heap_pop(sw_heap_t *heap)
{
    sw_event_t *e = heap->events, top = e[0], last = e[--heap->count];
    size_t at = 0, n = heap->count;
    for (;;) {
        size_t child = 4 * at + 1, end = child + 4 < n ? child + 4 : n;
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
    return top;
}

void sw_heap_free(sw_heap_t *heap)
{
    free(heap->events);
    *heap = (sw_heap_t){0};
}
