/*
 * pool.c - see pool.h.
 */
#include "pool.h"

#include <stdlib.h>

enum { CHUNK = 64 << 10, HEAD = SW_LINE };

bool sw_pool_init(sw_pool_t *pool, size_t size, bool *failed)
{
    size = sw_round_up(size, sizeof(void *));
    *pool = (sw_pool_t){.size = size, .failed = failed};
    pool->spare = calloc(1, size);
    return pool->spare != NULL;
}

void sw_pool_free(sw_pool_t *pool)
{
    for (void *chunk = pool->chunks, *next; chunk; chunk = next) {
        next = *(void **)chunk;
        free(chunk);
    }
    free(pool->spare);
    *pool = (sw_pool_t){0};
}

void *sw_pool_more(sw_pool_t *pool)
{
    char *chunk = malloc(CHUNK);
    if (!chunk) {
        *pool->failed = true;
        return pool->spare;
    }
    *(void **)chunk = pool->chunks;
    pool->chunks = chunk;
    pool->at = chunk + HEAD;
    pool->end = pool->at + (CHUNK - HEAD) / pool->size * pool->size;
    void *one = pool->at;
    pool->at += pool->size;
    return one;
}
