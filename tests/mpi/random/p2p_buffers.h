/*
 * p2p_buffers.h - buffers of messages, many alive at once, in every kind of
 * memory, whose every byte is known.
 *
 * A buffer is a stretch of memory with a guard at both ends, filled from a
 * key. A datatype's layout says where the elements of a message lie in it. The
 * buffer's key and the message's decide what it must hold at any time, so the
 * test remembers these two numbers alone. Each check covers the data, the gaps
 * of the datatype, the room that a message left and the guards.
 */
#ifndef P2P_BUFFERS_H
#define P2P_BUFFERS_H

#include "random_elements.h"
#include "random_layouts.h"
#include <sys/mman.h>

#define GUARD 64
#define ROOM_SIZE (768 << 10)
#define NOTHING PTRDIFF_MIN
#define PREFIX 192 /* bytes that messages often have in common */

enum {
    HEAP,
    HEAP_ALIGNED,
    HEAP_MPI,
    ROOM_STACK,
    ROOM_STATIC,
    MAP_OWN,
    MAP_TOGETHER,
    READ_ONLY,
    KINDS
};

static char without[256]; /* words: what the program leaves out */

static bool has(const char *word)
{
    return !strstr(without, word);
}

/* Memory that is handed out piece after piece until the round is over. */
typedef struct {
    char *base;
    size_t used;
} room_t;

typedef struct {
    layout_t layout;
    size_t k;     /* elements that fit */
    ptrdiff_t lo; /* bytes touched before the user's address */
    size_t n;     /* of the whole, guards included */
    char *p;      /* its first byte */
    int kind;
    void *base;
    size_t mapped;
    uint64_t key;
    void *user; /* the argument */
} buffer_t;

/* Scratch memory that grows; one set for each thread. */
enum { PACKED, WANTED, SCRATCHES };
static _Thread_local char *scratch_at[SCRATCHES];
static _Thread_local size_t scratch_size[SCRATCHES];

static char *scratch(int which, size_t n)
{
    n += 64;
    if (n > scratch_size[which]) {
        free(scratch_at[which]);
        scratch_size[which] = n + n / 2;
        scratch_at[which] = malloc(scratch_size[which]);
        CHECK(scratch_at[which], "no memory");
    }
    return scratch_at[which];
}

/* The packed payload of a message. Some begin as another message began, and
 * some are all zeros, or all ones. */
static const char *payload(uint64_t key, const element_t *e, size_t k)
{
    size_t n = k * e->packed;
    char *packed = scratch(PACKED, n);
    uint64_t how = mix(key ^ 0x5eed) % 16;
    if (how == 0) {
        memset(packed, key & 64 ? 0 : 255, n);
        return packed;
    }
    fill(packed, n, key);
    if (how < 4)
        fill(packed, n < PREFIX ? n : PREFIX, mix(key) % 8);
    return packed;
}

static void buffer_bytes(const buffer_t *b, char *to, bool message,
                         uint64_t key, size_t k)
{
    fill(to, b->n, b->key);
    if (message && k > 0)
        layout_scatter(&b->layout, to + GUARD - b->lo,
                       payload(key, b->layout.element, k), k);
}

static void *memory(rng_t *r, buffer_t *b, room_t rooms[2], size_t need)
{
    void *at = NULL;
    if (b->kind >= MAP_OWN && !rng_one_in(r, 4))
        b->kind = HEAP; /* mapping is slow */
    if (b->kind == ROOM_STACK || b->kind == ROOM_STATIC) {
        room_t *room = &rooms[b->kind == ROOM_STATIC];
        if (room->base && room->used + need <= ROOM_SIZE) {
            at = room->base + room->used;
            room->used += need;
            return at;
        }
        b->kind = HEAP;
    }
    switch (b->kind) {
    case HEAP: return malloc(need);
    case HEAP_ALIGNED:
        return posix_memalign(&at, (size_t)64 << rng_below(r, 8), need) ? NULL
                                                                        : at;
    case HEAP_MPI:
        return MPI_Alloc_mem((MPI_Aint)need, MPI_INFO_NULL, &at) ? NULL : at;
    default:
        b->mapped = need;
        at = mmap(NULL, need, PROT_READ | PROT_WRITE,
                  MAP_ANONYMOUS |
                      (b->kind == MAP_TOGETHER ? MAP_SHARED : MAP_PRIVATE),
                  -1, 0);
        return at == MAP_FAILED ? NULL : at;
    }
}

/* A buffer for k elements; with `message`, one that holds it; `written`: MPI
 * will write there; `grain` 0: with the element as the datatype. */
static buffer_t buffer_make(rng_t *r, room_t rooms[2], const element_t *e,
                            size_t k, int grain, bool message, bool written,
                            uint64_t key)
{
    buffer_t b = {.k = k, .key = rng_next(r)};
    ptrdiff_t hi;
    if (has("derived") && grain > 0)
        b.layout = layout_random(r, e, (int)k, grain, 1, 0);
    else
        b.layout = layout_base(e);
    layout_bounds(&b.layout, (ptrdiff_t)(k / (size_t)b.layout.m), &b.lo, &hi);
    b.n = (size_t)(hi - b.lo) + 2 * GUARD;
    b.kind = (int)rng_below(r, written ? READ_ONLY : KINDS);
    if (!has("memory"))
        b.kind = HEAP;
    size_t shift = rng_one_in(r, 3) ? rng_below(r, 64) : 0;
    b.base = memory(r, &b, rooms, b.n + shift + 64);
    CHECK(b.base, "no memory for %zu bytes", b.n);
    b.p = (char *)(((uintptr_t)b.base + 63) & ~(uintptr_t)63) + shift;
    b.user = b.p + GUARD - b.lo;
    buffer_bytes(&b, b.p, message, key, k);
    if (b.kind == READ_ONLY)
        mprotect(b.base, b.mapped, PROT_READ);
    if (k == 0 && rng_one_in(r, 3))
        b.user = NULL; /* nothing there, no address */
    return b;
}

/* Other data in the same buffer. */
static void buffer_refill(buffer_t *b, bool message, uint64_t key, size_t k)
{
    if (b->kind == READ_ONLY)
        mprotect(b->base, b->mapped, PROT_READ | PROT_WRITE);
    buffer_bytes(b, b->p, message, key, k);
    if (b->kind == READ_ONLY)
        mprotect(b->base, b->mapped, PROT_READ);
}

/* The first byte that is not as it should be, from the user's address, or
 * NOTHING. What has been received may have any padding. */
static ptrdiff_t buffer_wrong(buffer_t *b, bool message, bool received,
                              uint64_t key, size_t k, uint64_t *digest)
{
    char *want = scratch(WANTED, b->n);
    buffer_bytes(b, want, message, key, k);
    if (received && message) {
        layout_forget_padding(&b->layout, want + GUARD - b->lo, k);
        layout_forget_padding(&b->layout, b->p + GUARD - b->lo, k);
    }
    uint64_t h = 1, word = 0;
    for (size_t i = 0; i < b->n && digest; i += 8) {
        if (b->n - i >= 8)
            memcpy(&word, b->p + i, 8);
        else
            memcpy(&word, b->p + i, b->n - i);
        h = mix(h ^ word);
    }
    if (digest)
        *digest = h;
    if (!memcmp(b->p, want, b->n))
        return NOTHING;
    for (size_t i = 0;; i++)
        if (b->p[i] != want[i])
            return (ptrdiff_t)i - GUARD + b->lo;
}

static void buffer_drop(buffer_t *b)
{
    switch (b->kind) {
    case HEAP:
    case HEAP_ALIGNED: free(b->base); break;
    case HEAP_MPI: MPI_Free_mem(b->base); break;
    case MAP_OWN:
    case MAP_TOGETHER:
    case READ_ONLY: munmap(b->base, b->mapped); break;
    }
    layout_drop(&b->layout);
    b->p = NULL;
}

#endif
