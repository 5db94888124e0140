/*
 * random_memory.h - buffers in every kind of memory that a program may hand
 * to MPI: heap (fresh, reused, aligned, from MPI), stack, static data, private
 * and shared mappings, and for sending pages that cannot be written.
 *
 * A buffer is an image with a guard before and after it. The test makes the
 * image elsewhere and copies it in, so that read-only pages can hold it too.
 * After the call the test compares every byte with the image, not only those
 * that the call should have written.
 */
#ifndef RANDOM_MEMORY_H
#define RANDOM_MEMORY_H

#include "mpi/test.h"
#include <fcntl.h>
#include <sys/mman.h>

#define GUARD 64
#define STACK_ROOM (512 << 10)
#define STATIC_ROOM (2 << 20)

enum {
    HEAP,
    HEAP_KEPT,
    HEAP_ALIGNED,
    HEAP_MPI,
    STACK,
    STATIC,
    INITIALISED,
    MAP_OWN,
    MAP_TOGETHER,
    READ_ONLY,
    READ_ONLY_FILE,
    PLACES_COUNT
};

static const char *const place_names[PLACES_COUNT] = {
    "heap",       "kept heap",     "aligned heap",       "MPI_Alloc_mem",
    "stack",      "static",        "initialised static", "private map",
    "shared map", "read-only map", "read-only file"};

enum { SEND_ROLE, RECEIVE_ROLE };

typedef struct {
    char *p; /* the image's first byte */
    size_t n;
    int place;
    void *base;
    size_t mapped;
} place_t;

static char static_room[2][STATIC_ROOM];
static char initialised_room[2][64 << 10] = {"not in bss", "not in bss"};
static char *stack_room[2]; /* set by main, on its stack */
static char *kept_room[2];
static size_t kept_size[2];

/* Put an image of n bytes somewhere, `shift` bytes past a 64-byte boundary;
 * `read_only`: perhaps where no process can write. */
static place_t place_take(rng_t *r, int role, bool read_only, const char *image,
                          size_t n, size_t shift)
{
    place_t b = {.n = n};
    b.place = (int)rng_below(r, read_only ? PLACES_COUNT : READ_ONLY);
    if (b.place >= MAP_OWN && !rng_one_in(r, 4))
        b.place = HEAP; /* mapping is slow */
    size_t need = n + shift + 64;
    switch (b.place) {
    case STACK:
        if (need > STACK_ROOM)
            b.place = HEAP;
        break;
    case STATIC:
        if (need > STATIC_ROOM)
            b.place = HEAP;
        break;
    case INITIALISED:
        if (need > sizeof initialised_room[0])
            b.place = HEAP;
        break;
    }
    switch (b.place) {
    case HEAP: b.base = malloc(need); break;
    case HEAP_KEPT:
        if (need > kept_size[role]) {
            kept_size[role] = need + need / 2;
            kept_room[role] = realloc(kept_room[role], kept_size[role]);
        }
        b.base = kept_room[role];
        break;
    case HEAP_ALIGNED:
        if (posix_memalign(&b.base, (size_t)64 << rng_below(r, 8), need))
            b.base = NULL;
        break;
    case HEAP_MPI:
        if (MPI_Alloc_mem((MPI_Aint)need, MPI_INFO_NULL, &b.base))
            b.base = NULL;
        break;
    case STACK: b.base = stack_room[role]; break;
    case STATIC: b.base = static_room[role]; break;
    case INITIALISED: b.base = initialised_room[role]; break;
    case MAP_OWN:
    case MAP_TOGETHER:
    case READ_ONLY:
        b.mapped = need;
        b.base = mmap(NULL, need, PROT_READ | PROT_WRITE,
                      MAP_ANONYMOUS |
                          (b.place == MAP_TOGETHER ? MAP_SHARED : MAP_PRIVATE),
                      -1, 0);
        break;
    case READ_ONLY_FILE: {
        b.mapped = need;
        char name[] = "/tmp/random_collectives_XXXXXX";
        int fd = mkstemp(name);
        CHECK(fd >= 0, "no temporary file");
        unlink(name);
        size_t done = 0;
        while (done < n) {
            ssize_t w = pwrite(fd, image + done, n - done,
                               (off_t)(shift + done));
            CHECK(w > 0, "temporary file cannot be written");
            done += (size_t)w;
        }
        CHECK(ftruncate(fd, (off_t)need) == 0, "ftruncate");
        b.base = mmap(NULL, need, PROT_READ, MAP_PRIVATE, fd, 0);
        close(fd);
        break;
    }
    }
    CHECK(b.base && b.base != MAP_FAILED, "no memory for %zu bytes of %s", need,
          place_names[b.place]);
    b.p = (char *)(((uintptr_t)b.base + 63) & ~(uintptr_t)63) + shift;
    if (b.place == READ_ONLY_FILE) {
        b.p = (char *)b.base + shift;
        return b;
    }
    memcpy(b.p, image, n);
    if (b.place == READ_ONLY)
        mprotect(b.base, need, PROT_READ);
    return b;
}

static void place_give(place_t *b)
{
    switch (b->place) {
    case HEAP:
    case HEAP_ALIGNED: free(b->base); break;
    case HEAP_MPI: MPI_Free_mem(b->base); break;
    case MAP_OWN:
    case MAP_TOGETHER:
    case READ_ONLY:
    case READ_ONLY_FILE: munmap(b->base, b->mapped); break;
    }
}

#endif
