/*
 * memory.c - MPI_Alloc_mem and MPI_Free_mem: what a program allocates for
 * communication lies where its peers can reach it, whatever its size.
 *
 * The blocks handed out are remembered, because the host's own allocations may
 * come from the arena too (it calls malloc like everybody). Info keys that ask
 * for something else (an alignment, a kind of memory) go to the host.
 */
#include "mpi/base/host.h"
#include "node/control.h"

#include "node/arena/arena.h"

#include <pthread.h>
#include <stdlib.h>

#define BUCKETS 256

typedef struct block {
    void *at;
    struct block *next;
} block_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block_t *blocks[BUCKETS];

static block_t **bucket(const void *p)
{
    return &blocks[((uintptr_t)p >> 12) % BUCKETS];
}

int sw_MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base)
{
    block_t *b = NULL;
    if (info == MPI_INFO_NULL && size > 0 && sw_accelerating())
        b = malloc(sizeof *b);
    if (b && (b->at = sw_arena_alloc_shared((size_t)size, SW_PAGE))) {
        pthread_mutex_lock(&lock);
        b->next = *bucket(b->at);
        *bucket(b->at) = b;
        pthread_mutex_unlock(&lock);
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
    if (b)
        *link = b->next;
    pthread_mutex_unlock(&lock);
    if (!b)
        return host.Free_mem(base);
    sw_arena_free(base);
    free(b);
    return MPI_SUCCESS;
}
