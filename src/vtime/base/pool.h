/*
 * pool.h - many small things of one size: taken and given back in a few
 * instructions, never moved, freed all at once. Those of a cache line or more
 * begin with one. A caller that takes one finds the next in the cache.
 */
#ifndef SW_VTIME_BASE_POOL_H
#define SW_VTIME_BASE_POOL_H

#include "node/base/base.h"

typedef struct {
    size_t size; /* of one, at least a pointer */
    void *free;  /* the next one's address stands in each */
    void *chunks;
    char *at, *end; /* what was never taken of the newest chunk */
    void *spare;    /* given when there is no memory */
    bool *failed;   /* set then */
} sw_pool_t;

/* An array of zeroes that begins with a cache line, to be freed; NULL: no
 * memory. */
void *sw_pool_array(size_t count, size_t size);

/* False: no memory. */
bool sw_pool_init(sw_pool_t *pool, size_t size, bool *failed);
void sw_pool_free(sw_pool_t *pool);
void *sw_pool_more(sw_pool_t *pool);

/* Never NULL. Its bytes are of the last that had it. */
static inline void *sw_pool_take(sw_pool_t *pool)
{
    void *one = pool->free;
    if (sw_likely(one != NULL)) {
        pool->free = *(void **)one;
        sw_prefetch(pool->free, pool->size);
        return one;
    }
    if (pool->at < pool->end) {
        one = pool->at;
        pool->at += pool->size;
        return one;
    }
    return sw_pool_more(pool);
}

static inline void sw_pool_give(sw_pool_t *pool, void *one)
{
    if (sw_unlikely(one == pool->spare))
        return;
    *(void **)one = pool->free;
    pool->free = one;
}

#endif
