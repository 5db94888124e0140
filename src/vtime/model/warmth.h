/*
 * warmth.h - how long a rank has computed since it last moved so much data:
 * what the states of a model depend on (model.h).
 *
 * A call leaves what it moved in the caches, and the next of its kind finds it
 * there. But data of other sizes stay where they were. Suppose that a program
 * writes an array, then sends a small message about its size, and then the
 * array. It sends what it has itself written. So a rank remembers for some
 * sizes what it had computed when it was last done with as many bytes or more:
 * 96 bytes.
 */
#ifndef SW_VTIME_MODEL_WARMTH_H
#define SW_VTIME_MODEL_WARMTH_H

#include "words.h"

enum { SW_WARMTHS = 12 }; /* up to 7 bytes, 63, 511, ... */

typedef struct {
    sw_ps_t computed;
    sw_ps_t then[SW_WARMTHS];
} sw_warmth_t;

static inline unsigned sw_warmth_size(uint64_t bytes)
{
    unsigned bits = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    unsigned size = bits ? (bits - 1) / 3 : 0;
    return size < SW_WARMTHS ? size : SW_WARMTHS - 1;
}

/* What was computed since. */
static inline sw_ps_t sw_warmth(const sw_warmth_t *w, uint64_t bytes)
{
    return w->computed - w->then[sw_warmth_size(bytes)];
}

/* The rank has moved so many bytes. */
static inline void sw_warmth_moved(sw_warmth_t *w, uint64_t bytes)
{
    for (unsigned i = 0; i <= sw_warmth_size(bytes); i++)
        w->then[i] = w->computed;
}

#endif
