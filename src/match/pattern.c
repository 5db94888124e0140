/*
 * pattern.c - the table of queues; see pattern.h.
 */
#include "pattern.h"

#include <stdlib.h>

#define BUCKETS_FIRST ((size_t)64)

static sw_fifo_t **place(const sw_queues_t *q, const sw_pattern_t *p)
{
    sw_fifo_t **at = &q->bucket[sw_pattern_hash(p) & (q->buckets - 1)];
    while (*at && !sw_pattern_same(&(*at)->pattern, p))
        at = &(*at)->after;
    return at;
}

static void drop_empty(sw_queues_t *q)
{
    for (size_t i = 0; i < q->buckets; i++)
        for (sw_fifo_t **at = &q->bucket[i], *queue; (queue = *at);)
            if (queue->first) {
                at = &queue->after;
            } else {
                *at = queue->after;
                free(queue);
                q->queues--;
            }
}

static bool grow(sw_queues_t *q)
{
    size_t buckets = q->buckets ? 2 * q->buckets : BUCKETS_FIRST;
    sw_fifo_t **bucket = calloc(buckets, sizeof *bucket), *queue;
    if (!bucket)
        return false;
    for (size_t i = 0; i < q->buckets; i++)
        while ((queue = q->bucket[i])) {
            q->bucket[i] = queue->after;
            sw_fifo_t *
                *to = &bucket[sw_pattern_hash(&queue->pattern) & (buckets - 1)];
            queue->after = *to;
            *to = queue;
        }
    free(q->bucket);
    q->bucket = bucket;
    q->buckets = buckets;
    return true;
}

/* There is room for one more queue. Each sweep, and each growth, is paid for by
 * as many queues that were made before it. */
static bool make_room(sw_queues_t *q)
{
    if (q->queues < q->buckets)
        return true;
    if (q->buckets)
        drop_empty(q);
    return q->queues < q->buckets / 2 || grow(q) || q->buckets;
}

static sw_fifo_t *queue_of(sw_queues_t *q, const sw_pattern_t *p)
{
    if (q->buckets) {
        sw_fifo_t *found = *place(q, p);
        if (sw_likely(found))
            return found;
    }
    if (!make_room(q))
        return NULL;
    sw_fifo_t *queue = malloc(sizeof *queue);
    if (!queue)
        return NULL;
    sw_fifo_t **at = place(q, p);
    *queue = (sw_fifo_t){.pattern = *p};
    *at = queue;
    q->queues++;
    return queue;
}

bool sw_queues_put(sw_queues_t *q, const sw_pattern_t *p, sw_queued_t *entry,
                   uint64_t order)
{
    sw_fifo_t *queue = queue_of(q, p);
    if (!queue)
        return false;
    sw_assert(!queue->last || queue->last->order < order);
    *entry = (sw_queued_t){
        .before = queue->last, .queue = queue, .order = order};
    if (queue->last)
        queue->last->next = entry;
    else
        queue->first = entry;
    queue->last = entry;
    q->waiting++;
    q->wild += sw_pattern_is_wild(p);
    return true;
}

void sw_queues_take(sw_queues_t *q, sw_queued_t *entry)
{
    sw_fifo_t *queue = entry->queue;
    sw_assert(queue && q->waiting);
    *(entry->before ? &entry->before->next : &queue->first) = entry->next;
    *(entry->next ? &entry->next->before : &queue->last) = entry->before;
    entry->queue = NULL;
    q->waiting--;
    q->wild -= sw_pattern_is_wild(&queue->pattern);
}

void sw_queues_free(sw_queues_t *q)
{
    for (size_t i = 0; i < q->buckets; i++)
        for (sw_fifo_t *queue; (queue = q->bucket[i]);) {
            q->bucket[i] = queue->after;
            free(queue);
        }
    free(q->bucket);
    *q = (sw_queues_t){0};
}
