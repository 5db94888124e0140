/*
 * pattern.h - queues of messages or receives, by what they match.
 *
 * A pattern is a context with a source and a tag, each of which may be any
 * (SW_PATTERN_ANY). A receive waits in the queue of its own pattern. A message
 * that has come too early waits in the queues of all four patterns that it
 * matches. So the earliest message for a receive is the first of one queue.
 * The earliest receive for a message is the earliest of four firsts.
 *
 * Queues are found by a hash table. A queue that became empty stays: a program
 * comes back to its patterns. Where empty ones are many the table drops them.
 * Time and memory are bounded by the messages and receives that wait, however
 * many patterns there were.
 */
#ifndef SW_MATCH_PATTERN_H
#define SW_MATCH_PATTERN_H

#include "node/base/base.h"

#define SW_PATTERN_ANY (-1)

typedef struct {
    uint64_t context;
    int32_t source, tag;
} sw_pattern_t;

typedef struct sw_fifo sw_fifo_t;

/* A place in a queue. */
typedef struct sw_queued {
    struct sw_queued *next, *before;
    sw_fifo_t *queue; /* NULL: in none */
    uint64_t order;   /* of coming, among all */
} sw_queued_t;

struct sw_fifo {
    sw_pattern_t pattern;
    sw_queued_t *first, *last;
    sw_fifo_t *after; /* in the table */
};

typedef struct {
    sw_fifo_t **bucket;
    size_t buckets; /* a power of two, or 0 */
    size_t queues;  /* in the table */
    size_t waiting; /* entries in all queues */
    size_t wild;    /* ... of patterns with an any */
    uint64_t order;
} sw_queues_t;

static inline uint64_t sw_pattern_hash(const sw_pattern_t *p)
{
    uint64_t x = p->context + (uint32_t)p->source * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) + (uint32_t)p->tag;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

static inline bool sw_pattern_same(const sw_pattern_t *a, const sw_pattern_t *b)
{
    return a->context == b->context && a->source == b->source &&
           a->tag == b->tag;
}

static inline bool sw_pattern_is_wild(const sw_pattern_t *p)
{
    return p->source == SW_PATTERN_ANY || p->tag == SW_PATTERN_ANY;
}

/* The first that waits for exactly this pattern, or NULL. */
static inline sw_queued_t *sw_queues_first(const sw_queues_t *q,
                                           const sw_pattern_t *p)
{
    if (!q->waiting)
        return NULL;
    sw_fifo_t *queue = q->bucket[sw_pattern_hash(p) & (q->buckets - 1)];
    while (queue && !sw_pattern_same(&queue->pattern, p))
        queue = queue->after;
    return queue ? queue->first : NULL;
}

/* Put it at the end of its pattern's queue; sw_queues_next_order gives its
 * order. False: no memory. */
SW_API bool sw_queues_put(sw_queues_t *q, const sw_pattern_t *p,
                          sw_queued_t *entry, uint64_t order);
SW_API void sw_queues_take(sw_queues_t *q, sw_queued_t *entry);
SW_API void sw_queues_free(sw_queues_t *q);

static inline uint64_t sw_queues_next_order(sw_queues_t *q)
{
    return ++q->order;
}

#endif
