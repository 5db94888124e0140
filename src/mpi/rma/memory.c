/*
 * memory.c - MPI_Alloc_mem and MPI_Free_mem: what a program allocates for
 * communication lies where its peers can reach it, whatever its size.
 *
 * The blocks handed out are remembered, because the host's own allocations may
 * come from the arena too (it calls malloc as any library does). Info keys that
 * ask for something else (an alignment, a kind of memory) go to the host.
 *
 * Small blocks share chunks. Programs attach thousands of them to a dynamic
 * window, and Open MPI counts the pages there: it takes a few dozen.
 */
#include "mpi/base/host.h"
#include "node/control.h"

#include "node/arena/arena.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 256
#define SMALL 1024 /* bytes of a block that shares, at most */
#define CHUNK 65536

typedef struct {
    char *at;
    size_t used; /* bytes, from its start */
    int blocks;
} chunk_t;

typedef struct block {
    void *at;
    chunk_t *chunk; /* NULL: a block by itself */
    struct block *next;
} block_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block_t *blocks[BUCKETS];

static chunk_t *current; /* small blocks come from it */

static block_t **bucket(const void *p)
{
    return &blocks[((uintptr_t)p >> 6) % BUCKETS];
}

static void free_chunk(chunk_t *c)
{
    sw_arena_free(c->at);
    free(c);
}

/* The chunk that has room for so many bytes, or NULL. */
static chunk_t *chunk_for(size_t bytes)
{
    if (current && CHUNK - current->used >= bytes)
        return current;
    chunk_t *c = malloc(sizeof *c);
    if (!c)
        return NULL;
    *c = (chunk_t){.at = sw_arena_alloc_shared(CHUNK, SW_PAGE)};
    if (!c->at) {
        free(c);
        return NULL;
    }
    if (current && !current->blocks)
        free_chunk(current);
    return current = c;
}

/* False: there is no memory. The lock is held. */
static bool place(block_t *b, size_t size)
{
    size_t bytes = sw_round_up(size, SW_LINE);
    b->chunk = size <= SMALL ? chunk_for(bytes) : NULL;
    if (size > SMALL)
        b->at = sw_arena_alloc_shared(size, SW_PAGE);
    if (!b->chunk)
        return size > SMALL && b->at;
    b->at = b->chunk->at + b->chunk->used;
    b->chunk->used += bytes;
    b->chunk->blocks++;
    return true;
}

/* Its memory may be another block's. The lock is held. */
static void leave(block_t *b)
{
    chunk_t *c = b->chunk;
    if (!c)
        sw_arena_free(b->at);
    else if (--c->blocks == 0 && c != current)
        free_chunk(c);
    else if (c->blocks == 0)
        c->used = 0;
}

int sw_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base)
{
    block_t *b = NULL;
    bool placed = false;
    if (info == MPI_INFO_NULL && size > 0 && sw_control_accelerating())
        b = malloc(sizeof *b);
    if (b) {
        pthread_mutex_lock(&lock);
        if ((placed = place(b, (size_t)size))) {
            b->next = *bucket(b->at);
            *bucket(b->at) = b;
        }
        pthread_mutex_unlock(&lock);
    }
    if (placed) {
        *(void **)base = b->at;
        return MPI_SUCCESS;
    }
    free(b);
    return host.Alloc_mem(size, info, base);
}

int sw_MPI_Free_mem(void *base)
{
    pthread_mutex_lock(&lock);
    block_t **link = bucket(base), *b;
    while ((b = *link) && b->at != base)
        link = &b->next;
    if (b) {
        *link = b->next;
        leave(b);
    }
    pthread_mutex_unlock(&lock);
    if (!b)
        return host.Free_mem(base);
    free(b);
    return MPI_SUCCESS;
}
