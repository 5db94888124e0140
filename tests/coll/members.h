/*
 * members.h - what the tests of the collectives share: a member of a team with
 * its random numbers, its buffers, and the data that it sends.
 *
 * Every byte that a test sends is a function of a key and a position. So any
 * member knows what any other has sent, without a second channel.
 *
 * `common` draws the same numbers on every member (what is called, with which
 * size and root); `own` draws what members need not agree on (where buffers
 * lie, how long one dawdles).
 */
#ifndef SW_TEST_COLL_MEMBERS_H
#define SW_TEST_COLL_MEMBERS_H

#include "coll/agreement.h"
#include "coll/coll.h"
#include "layout/share.h"
#include "node/arena/arena.h"
#include "node/os/os.h"
#include "node/base/settings.h"
#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    uint64_t state;
} random_t;

typedef enum {
    IN_ARENA,
    IN_HEAP,
    ON_STACK,
    IN_MMAP,
    IN_STATIC,
    PLACES
} place_t;

#define GUARD 32    /* bytes of a known pattern on either side */
#define BUFFERS 160 /* held at once */

typedef struct {
    char *base, *at;
    size_t total, n;
    place_t place;
    sw_data_t data; /* in there, if it has gaps: scattered.h */
} buffer_t;

typedef struct {
    sw_sequence_t *seq;
    int n, me;
    const char *way; /* how memory is reached, for messages */
    uint64_t seed;
    random_t common, own;
    buffer_t buffer[BUFFERS];
    int held;
    char *stack, *fixed; /* pools for ON_STACK, IN_STATIC */
    size_t stack_used, stack_room, fixed_used, fixed_room;
} member_t;

/* Contiguous data at `p`. */
#define PLAIN(p) (&(sw_data_t){.at = (char *)(p)})

typedef void (*member_func_t)(member_t *m);

#define fail(m, ...)                                                      \
    (fprintf(stderr, "%s:%d: member %d of %d, %s, seed %llu: ", __FILE__, \
             __LINE__, (m)->me, (m)->n, (m)->way,                         \
             (unsigned long long)(m)->seed),                              \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), _exit(1))

/* Random numbers and data --------------------------------------------- */

static inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint64_t draw(random_t *r)
{
    return mix(r->state++);
}

static inline int below(random_t *r, int limit)
{
    return (int)(draw(r) % (uint64_t)limit);
}

/* The key of what member `from` sends to `to` in this round. */
static inline uint64_t key_of(uint64_t round, int from, int to)
{
    return mix(mix(round * 4096 + (uint64_t)from) + (uint64_t)to);
}

static inline void fill(void *to, size_t n, uint64_t key)
{
    uint64_t word;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        word = mix(key + i / 8);
        memcpy((char *)to + i, &word, 8);
    }
    word = mix(key + i / 8);
    if (i < n)
        memcpy((char *)to + i, &word, n - i);
}

/* The first byte of `n` at `p` that is not the key's, or n. */
static inline size_t differs(const void *p, size_t n, uint64_t key)
{
    uint64_t word, there;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        word = mix(key + i / 8);
        memcpy(&there, (const char *)p + i, 8);
        if (there != word)
            return i;
    }
    word = mix(key + i / 8);
    return i < n && memcmp((const char *)p + i, &word, n - i) ? i : n;
}

#define expect_data(m, p, n, key, what)                                      \
    do {                                                                     \
        size_t at_ = differs(p, n, key);                                     \
        if (at_ < (n))                                                       \
            fail(m, "%s: wrong at byte %zu of %zu", what, at_, (size_t)(n)); \
    } while (0)

#define expect_ok(m, call)                         \
    do {                                           \
        int rc_ = (call);                          \
        if (rc_ != SW_OK)                          \
            fail(m, "%s returned %d", #call, rc_); \
    } while (0)

/* A size around the places where the form of a payload changes. `share`: how
 * many blocks of this size make up the payload. */
static inline size_t pick_size(member_t *m, int share)
{
    size_t slot = m->seq->team->stage_max;
    size_t near[] = {0,     1,    8,     9,
                     64,    700,  4096,  SW_INLINE_MAX,
                     16384, slot, 65536, 3 * slot + 13,
                     150000};
    size_t count = sizeof near / sizeof *near - (m->n > 9 ? 1 : 0);
    size_t size = near[draw(&m->common) % count] / (size_t)share;
    size_t off = draw(&m->common) % 3;
    return size + off > 0 ? size + off - 1 : 0;
}

/* Members run at different paces. */
static inline void dawdle(member_t *m)
{
    int what = below(&m->own, 64);
    if (what == 0)
        nanosleep(&(struct timespec){0, 100000}, NULL);
    else if (what < 8)
        sw_os_yield();
}

/* Buffers -------------------------------------------------------------- */

/* What they hold before they are filled, and around. */
#define BLANK ((char)0xa5)

static inline char *take_pool(char *pool, size_t *used, size_t room,
                              size_t total)
{
    if (total > room - *used)
        return NULL;
    *used += total;
    return pool + *used - total;
}

/* n bytes anywhere a program might have them, at any alignment. */
static inline char *take_buffer(member_t *m, size_t n)
{
    if (m->held == BUFFERS)
        fail(m, "the test holds too many buffers");
    buffer_t *b = &m->buffer[m->held++];
    size_t shift = below(&m->own, 2) ? (size_t)below(&m->own, 64) : 0;
    *b = (buffer_t){.n = n,
                    .total = n + 2 * GUARD + 64,
                    .place = (place_t)below(&m->own, PLACES)};
    if (b->place == IN_ARENA)
        b->base = sw_arena_alloc(b->total, SW_LINE);
    else if (b->place == ON_STACK)
        b->base = take_pool(m->stack, &m->stack_used, m->stack_room, b->total);
    else if (b->place == IN_STATIC)
        b->base = take_pool(m->fixed, &m->fixed_used, m->fixed_room, b->total);
    else if (b->place == IN_MMAP) {
        b->base = mmap(NULL, b->total, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (b->base == MAP_FAILED)
            fail(m, "mmap");
    }
    if (!b->base) {
        b->place = IN_HEAP;
        b->base = malloc(b->total);
        if (!b->base)
            fail(m, "no memory");
    }
    memset(b->base, BLANK, b->total);
    b->at = b->base + GUARD + shift;
    return b->at;
}

/* Only the gaps stay as they are: no member may have written there. */
static inline void spoil_data(buffer_t *b)
{
    size_t n = (size_t)b->data.count * b->data.layout->size;
    sw_data_t blank = {.at = malloc(n)};
    memset(blank.at, BLANK, n);
    sw_data_copy(&blank, &b->data, 0, n);
    free(blank.at);
    sw_layout_drop((sw_layout_t *)(uintptr_t)b->data.layout);
    b->n = 0;
}

/* The first of n bytes at p that is no longer blank, or n. */
static inline size_t written(const char *p, size_t n)
{
    if (n == 0 || (*p == BLANK && !memcmp(p, p + 1, n - 1)))
        return n;
    size_t i = 0;
    while (p[i] == BLANK)
        i++;
    return i;
}

static inline void expect_blank(member_t *m, const buffer_t *b, const char *p,
                                const char *end)
{
    size_t n = (size_t)(end - p), at = written(p, n);
    if (at < n)
        fail(m, "byte %td of a buffer of %zu was written", p + at - b->at,
             b->n);
}

static inline void release_buffers(member_t *m)
{
    while (m->held > 0) {
        buffer_t *b = &m->buffer[--m->held];
        if (b->data.layout)
            spoil_data(b);
        expect_blank(m, b, b->base, b->at);
        expect_blank(m, b, b->at + b->n, b->base + b->total);
        if (b->place == IN_ARENA)
            sw_arena_free(b->base);
        else if (b->place == IN_HEAP)
            free(b->base);
        else if (b->place == IN_MMAP)
            munmap(b->base, b->total);
    }
    m->stack_used = m->fixed_used = 0;
}

/* Runs the body of a test, on a stack with room for buffers. */
#define STACK_POOL 200000

static inline void run_member(member_t *m, member_func_t body)
{
    char pool[STACK_POOL];
    m->stack = pool;
    m->stack_room = sizeof pool;
    m->common = (random_t){mix(m->seed)};
    m->own = (random_t){mix(m->seed + (uint64_t)m->me * 7919 + 1)};
    body(m);
    release_buffers(m);
}

/* Opens a second sequence. The leader tells where its block is over the
 * first. */
static inline sw_sequence_t *second_sequence(member_t *m)
{
    uint64_t offset = m->me == 0 ? sw_sequence_reserve(m->n) : 0;
    expect_ok(m, sw_coll_bcast(m->seq, 0, PLAIN(&offset), sizeof offset));
    if (!offset)
        fail(m, "no block for a second sequence");
    sw_sequence_t *seq = sw_sequence_open(m->seq->team, offset);
    if (seq->team != m->seq->team)
        fail(m, "the second sequence is another team's");
    return seq;
}

#endif
