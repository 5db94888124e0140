/*
 * Threads allocate, resize, pass on and free blocks of all sizes. Every block
 * carries its own pattern at its ends and in the middle; an overlap, a lost
 * copy or a block handed out twice breaks one. Threads come and go, so that
 * caches are emptied, and memory is given back meanwhile.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "rounds.h"

#define THREADS 6
#define SLOTS 64
#define GENERATIONS 3

typedef struct {
    uint64_t *p;
    size_t words;
    uint64_t mark;
} block_t;

static block_t shared_slot[SLOTS];
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static int laps = FEWER(3000);

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void fail(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

static void write_marks(block_t *b)
{
    for (size_t i = 0; i < b->words; i += 509)
        b->p[i] = b->mark + i;
    b->p[b->words - 1] = ~b->mark;
}

static void check_marks(const block_t *b, size_t words)
{
    for (size_t i = 0; i < words; i += 509)
        if (b->p[i] != b->mark + i && i != b->words - 1)
            fail("a block was overwritten");
    if (words == b->words && b->p[words - 1] != ~b->mark)
        fail("a block's end was overwritten");
}

static void make(block_t *b, uint64_t *random)
{
    uint64_t r = next_random(random);
    size_t size = (size_t)1 << (10 + r % 12);
    size += next_random(random) % size & ~(size_t)7;
    if (r >> 20 & 1) {
        b->p = sw_arena_alloc(size, (size_t)8 << (r >> 24) % 16);
    } else {
        b->p = sw_arena_calloc(size);
        for (size_t i = 0; b->p && i < size / 8; i += 61)
            if (b->p[i])
                fail("calloc is not zero");
    }
    if (!b->p)
        fail("no memory");
    b->words = size / 8;
    b->mark = next_random(random);
    write_marks(b);
}

static void drop(block_t *b)
{
    check_marks(b, b->words);
    sw_arena_free(b->p);
    b->p = NULL;
}

static void resize(block_t *b, uint64_t *random)
{
    size_t words = b->words / 2 + next_random(random) % b->words;
    if (words == 0 || !sw_arena_resize(b->p, words * 8))
        return;
    check_marks(b, words < b->words ? words - 1 : b->words);
    b->words = words;
    write_marks(b);
}

static void *work(void *seed)
{
    uint64_t random = (uint64_t)(uintptr_t)seed * 0x9e3779b97f4a7c15u + 1;
    block_t own[16] = {0};
    for (int i = 0; i < laps; i++) {
        block_t *b = &own[next_random(&random) % 16];
        switch (next_random(&random) % 4) {
        case 0:
        case 1:
            if (b->p)
                drop(b);
            else
                make(b, &random);
            break;
        case 2:
            if (b->p)
                resize(b, &random);
            break;
        default: {
            /* Exchange with any thread: one frees what another got. */
            size_t slot = next_random(&random) % SLOTS;
            pthread_mutex_lock(&shared_lock);
            block_t other = shared_slot[slot];
            shared_slot[slot] = *b;
            *b = other;
            pthread_mutex_unlock(&shared_lock);
            if (b->p)
                check_marks(b, b->words);
        }
        }
    }
    for (int i = 0; i < 16; i++)
        if (own[i].p)
            drop(&own[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        laps = atoi(argv[1]);
    sw_settings_load();
    sw_settings.arena_static = false;
    sw_settings.arena_keep = 16 << 20;
    sw_arena_start();
    if (sw_arena.fd < 0)
        fail("no arena");
    for (int g = 0; g < GENERATIONS; g++) {
        pthread_t thread[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, work,
                           (void *)(uintptr_t)(g * THREADS + i + 1));
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
    }
    for (int i = 0; i < SLOTS; i++)
        if (shared_slot[i].p)
            drop(&shared_slot[i]);
    sw_arena_stats_t now;
    sw_arena_stats(&now);
    if (now.in_use || !now.given_back || !now.reused)
        fail("the counts are off");
    puts("ok");
    return 0;
}
