/*
 * halves.h - the vertices of a web in the order of their seats, which cuts
 * divide into halves of halves.
 *
 * A stretch of vertex[] is the part at work. `place` tells whether a vertex is
 * in it. The heap has vertices that may come next, by what they gain. The gain
 * of a vertex may change: then another entry has the new one.
 */
#ifndef SW_MAPPING_HALVES_H
#define SW_MAPPING_HALVES_H

#include "web.h"

typedef struct {
    int64_t gain;
    int stamp, vertex;
} sw_gain_t;

/* The first is the one with the most gain; of equals the one that changed last.
 */
typedef struct {
    sw_gain_t *next;
    size_t n;
} sw_gains_t;

void sw_gains_push(sw_gains_t *heap, sw_gain_t one);
void sw_gains_pop(sw_gains_t *heap);

typedef struct {
    const sw_web_t *web;
    int *vertex, *place; /* place[v]: where v stands in vertex[] */
    int64_t *gain;       /* of each vertex */
    bool *taken;
    sw_gains_t heap;
} sw_halves_t;

void sw_halves_start(const sw_web_t *web, sw_halves_t *to);
void sw_halves_free(sw_halves_t *h);

/* Is a vertex in the stretch? */
static inline bool sw_halves_holds(const sw_halves_t *h, int begin, int end,
                                   int vertex)
{
    return h->place[vertex] >= begin && h->place[vertex] < end;
}

/* Exchange the vertices at two places. */
void sw_halves_exchange(sw_halves_t *h, int a, int b);
/* The first vertex of a heap whose entry is true and that is not taken; -1:
 * there is none. It stays in the heap. */
int sw_halves_top(sw_halves_t *h, sw_gains_t *heap);
/* Bring `count` vertices that hang together with the first one to the front of
 * the stretch, and return the last of them. */
int sw_halves_grow(sw_halves_t *h, int begin, int end, int count);
/* The same from a vertex at the rim: the last that the first one reaches. */
void sw_halves_grow_from_rim(sw_halves_t *h, int begin, int end, int count);

#endif
