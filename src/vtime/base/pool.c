/*
 * pool.c - see pool.h.
 */
#include "pool.h"

#include "node/base/aligned.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10, HEAD = SW_LINE };

void *sw_pool_array(size_t count, size_t size)
{
    size_t bytes = sw_round_up(count * size, SW_LINE);
    if (bytes < count || bytes / size < count)
        return NULL;
    void *array = sw_aligned(SW_LINE, bytes);
    return array ? memset(array, 0, bytes) : NULL;
}

bool sw_pool_init(sw_pool_t *pool, size_t size, bool *failed)
{
    size = sw_round_up(size, size < SW_LINE ? sizeof(void *) : SW_LINE);
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
    char *chunk = sw_aligned(SW_LINE, CHUNK);
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
