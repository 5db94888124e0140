/*
 * heap.h - future events, the earliest first.
 *
 * Events of the same time come by kind, by rank, by number: their order must
 * not depend on the order in which the engine put them in.
 */
#ifndef SW_VTIME_BASE_HEAP_H
#define SW_VTIME_BASE_HEAP_H

#include "time.h"

typedef struct {
    sw_ps_t time;
    uint64_t key; /* kind and rank */
    uint64_t number;
    void *of;
} sw_heap_event_t;

typedef struct {
    sw_heap_event_t *events;
    size_t count, room;
} sw_heap_t;

/* False: no memory. */
bool sw_heap_push(sw_heap_t *heap, const sw_heap_event_t *event);
/* There must be one. */
sw_heap_event_t sw_heap_pop(sw_heap_t *heap);
void sw_heap_free(sw_heap_t *heap);

#endif
