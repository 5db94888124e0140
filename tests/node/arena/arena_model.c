/*
 * arena_model.c - random use of the arena, beside a simple model of it.
 *
 * The model is a list of the live blocks: address, size, and a number of its
 * own, which the test writes into every page of the block. Whatever the arena
 * does inside, blocks must be aligned, be large enough and not overlap. They
 * must keep what the test wrote, and read as zeros when calloc returns them. No
 * other block may seem to begin inside one.
 *
 * A round prefers two sizes out of all, so that many blocks share a size
 * class; each size lies at a quarter of a doubling or close to it. A round
 * ends by freeing most blocks: at random, by address, or the lowest ones. Some
 * survive all rounds, and some rounds fork: the child checks all blocks and
 * goes on by itself. Between rounds the test makes a comb: many free stretches
 * of nearly the same length, none of which touches another. It fills them
 * again.
 *
 *   arena_model [FIRST SEED [SEEDS [ROUNDS]]]  (STRAIGHTWAY_DEEP=1: a long run)
 */
#include "node/arena/arena.h"
#include "node/base/settings.h"

#include "must.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u
#define LIVE 6000                 /* blocks at most */
#define BYTES ((size_t)320 << 20) /* ... and what they hold together */
#define DENSE ((size_t)8 << 20)   /* blocks up to here: every page */
#define SPARSE 61u                /* beyond: one page in so many */

typedef struct {
    char *at;
    size_t size;
    uint64_t number;
} block_t;

static block_t live[LIVE]; /* ordered by address */
static int count;
static size_t held;
static uint64_t state, numbers, seed, steps;

static uint64_t below(uint64_t n)
{
    return random_from(&state) % n;
}

static void wrong(const char *what, const block_t *b, size_t at)
{
    fprintf(stderr,
            "seed %llu, step %llu: %s: block of %zu bytes at %p, "
            "byte %zu\n",
            (unsigned long long)seed, (unsigned long long)steps, what, b->size,
            (void *)b->at, at);
    _exit(1);
}

/* What the model writes into a block ----------------------------------- */

static size_t stride(size_t size)
{
    return size <= DENSE ? PAGE : SPARSE * PAGE;
}

static uint64_t word_at(const block_t *b, size_t at)
{
    return b->number * 0x9e3779b97f4a7c15u ^ at;
}

static void stamp(const block_t *b)
{
    for (size_t at = 0; at + 8 <= b->size; at += stride(b->size)) {
        uint64_t word = word_at(b, at);
        memcpy(b->at + at, &word, 8);
    }
    if (b->size)
        b->at[b->size - 1] = (char)b->number;
}

/* The stamps of the first `n` bytes stand, as a block of b's size wrote
 * them. */
static void check(const block_t *b, size_t n)
{
    for (size_t at = 0; at + 8 <= n && at + 8 < b->size;
         at += stride(b->size)) {
        uint64_t word;
        memcpy(&word, b->at + at, 8);
        if (word != word_at(b, at))
            wrong("its data changed", b, at);
    }
    if (n == b->size && n && b->at[n - 1] != (char)b->number)
        wrong("its last byte changed", b, n - 1);
}

static void check_zero(const block_t *b)
{
    static const char zeros[PAGE];
    for (size_t at = 0; at < b->size; at += PAGE)
        if (memcmp(b->at + at, zeros, sw_min(PAGE, b->size - at)))
            wrong("calloc returned old data", b, at);
}

/* The list ------------------------------------------------------------- */

/* The place of the first block at or above an address. */
static int place(const char *at)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (live[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void check_fits(int i)
{
    const block_t *b = &live[i];
    if (i && live[i - 1].at + live[i - 1].size > b->at)
        wrong("it overlaps the block below", b, 0);
    if (i + 1 < count && b->at + b->size > live[i + 1].at)
        wrong("it overlaps the block above", b, b->size);
    if (!sw_arena_is_block(b->at) || sw_arena_usable(b->at) < b->size)
        wrong("it is too short", b, b->size);
    if (sw_arena.count && sw_arena_offset(b->at, b->size) !=
                              (uint64_t)(b->at - sw_arena.range[0].start))
        wrong("peers cannot find it", b, 0);
    if (sw_arena_begin(b->at) != b->at)
        wrong("it does not begin where it does", b, 0);
    for (size_t at = PAGE; at < b->size; at += stride(b->size))
        if (sw_arena_begin(b->at + at))
            wrong("another block begins in it", b, at);
}

static void insert(block_t b)
{
    int i = place(b.at);
    memmove(live + i + 1, live + i, (size_t)(count - i) * sizeof b);
    live[i] = b;
    count++;
    held += b.size;
    check_fits(i);
}

static void drop(int i)
{
    check(&live[i], live[i].size);
    sw_arena_free(live[i].at);
    held -= live[i].size;
    count--;
    memmove(live + i, live + i + 1, (size_t)(count - i) * sizeof *live);
}

/* Steps ---------------------------------------------------------------- */

/* A quarter of a doubling, or close to it. */
static size_t near(unsigned doubling)
{
    static const int off[] = {0,     0,    0,        -1,     1,
                              -64,   64,   -4096,    4096,   -4033,
                              -8192, 8192, 3 * 4096, -12345, 20000};
    size_t size = ((size_t)4 + below(4)) << (doubling - 2);
    int64_t by = off[below(sizeof off / sizeof *off)];
    return (int64_t)size + by > 0 ? (size_t)((int64_t)size + by) : size;
}

static size_t choose_size(const unsigned doubling[2])
{
    switch (below(16)) {
    case 0: return near((unsigned)(12 + below(9)));
    case 1: return below(2 * PAGE);
    default: return near(doubling[below(2)]);
    }
}

static size_t choose_align(void)
{
    return below(4) ? 1 : (size_t)1 << below(below(8) ? 13 : 23);
}

static void make(size_t size, bool zeroed, size_t align)
{
    block_t b = {.size = size, .number = ++numbers};
    b.at = zeroed ? sw_arena_calloc(size) : sw_arena_alloc(size, align);
    if (!b.at)
        wrong("it could not be had", &b, 0);
    if ((uintptr_t)b.at % (zeroed ? 64 : sw_max(align, 64)))
        wrong("it is not aligned", &b, 0);
    if (zeroed)
        check_zero(&b);
    insert(b);
    stamp(&b);
}

static void resize(int i, size_t size)
{
    block_t *b = &live[i];
    if (size > b->size && held + size - b->size > BYTES)
        return;
    if (!sw_arena_resize(b->at, size))
        return;
    check(b, sw_min(size, b->size));
    held += size - b->size;
    b->size = size;
    b->number = ++numbers;
    check_fits(i);
    stamp(b);
}

static void step(const unsigned doubling[2], bool growing)
{
    steps++;
    uint64_t what = below(16);
    if (what < (growing ? 10 : 5) || !count) {
        size_t size = choose_size(doubling);
        if (count < LIVE && held + size <= BYTES)
            make(size, below(3) == 0, choose_align());
    } else if (what < 13)
        drop((int)below((uint64_t)count));
    else
        resize((int)below((uint64_t)count), choose_size(doubling));
}

static void free_most(void)
{
    uint64_t how = below(4);
    int keep = (int)below((uint64_t)count / 2 + 1);
    if (how == 0) /* nothing remains */
        keep = 0;
    if (how == 1) /* every second, by address */
        for (int i = count - 1; i >= 0; i -= 2)
            drop(i);
    while (count > keep) /* the lowest ones, or any */
        drop(how == 2 ? 0 : (int)below((uint64_t)count));
}

/* Free the blocks whose number above `least` is odd, or all of these. */
static void drop_above(uint64_t least, bool odd_only)
{
    for (int i = count - 1; i >= 0; i--)
        if (live[i].number > least &&
            (!odd_only || (live[i].number - least) % 2))
            drop(i);
}

/* Teeth of one size or a little more stand between small blocks, the longest
 * one last; they go, and others of about that size come. */
static void comb(void)
{
    int teeth = (int)(26 + below(20));
    size_t power = (size_t)1 << (below(2) ? 25 : 15 + below(10));
    size_t room = power / 8, size = power + 2 * room * below(4);
    uint64_t before = numbers;
    sw_settings.arena_keep = (size_t)1 << 40;
    for (int i = 1; i <= teeth && count + 2 < LIVE; i++) {
        make(size + (i < teeth ? below(room) : 2 * room - 4 * PAGE), false, 1);
        if (i < teeth)
            make(below(PAGE), false, 1);
    }
    drop_above(before, true);
    for (int i = 0; i < 8 && count < LIVE; i++)
        make(size + room + below(room), i % 2,
             (size_t)PAGE << below(below(2) ? 1 : 5));
    drop_above(before, false);
}

static void fork_and_go_on(const unsigned doubling[2])
{
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        state ^= 0x5851f42d4c957f2du;
        for (int i = 0; i < count; i++)
            check(&live[i], live[i].size);
        for (int i = 0; i < 200; i++)
            step(doubling, i < 100);
        while (count)
            drop(count - 1);
        _exit(0);
    }
    int status;
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

static void play(int rounds)
{
    state = seed * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 4; i++)
        comb();
    for (int i = 0; i < rounds; i++) {
        static const size_t keeps[] = {0, 1 << 20, 16 << 20, 1 << 30};
        /* Nine in ten up to 1 MiB; below() is called in this order. */
        unsigned doubling[2];
        for (int k = 0; k < 2; k++)
            doubling[k] = (unsigned)(12 + below(below(10) ? 9 : 14));
        sw_settings.arena_keep = keeps[below(4)];
        int most = (int)(100 + below(below(4) ? 1000 : 9000));
        for (int k = 0; k < most; k++)
            step(doubling, k < most / 2);
        if (below(4) == 0)
            fork_and_go_on(doubling);
        free_most();
        comb();
    }
    for (int i = 0; i < count; i++)
        check(&live[i], live[i].size);
    while (count)
        drop((int)below((uint64_t)count));
    sw_arena_stats_t now;
    sw_arena_stats(&now);
    MUST(now.in_use == 0 && held == 0);
}

/* A search that gives up early once overlooked a free stretch at the end of
 * the used ones, and grew "behind" it: old data counted as untouched. */
static void overlooked_stretch(void)
{
    enum { N = 30 };
    char *block[N], *between[N], *last, *half;
    sw_settings.arena_keep = (size_t)1 << 40;
    for (int i = 0; i < N; i++) {
        block[i] = sw_arena_alloc(8200 * (size_t)PAGE, 1);
        between[i] = sw_arena_alloc(PAGE, 1);
        MUST(block[i] && between[i]);
    }
    MUST(last = sw_arena_alloc(9000 * (size_t)PAGE, 1));
    memset(last, 1, 9000 * (size_t)PAGE);
    sw_arena_free(last);
    for (int i = 0; i < N; i++)
        sw_arena_free(block[i]);
    half = sw_arena_alloc(8500 * (size_t)PAGE, 1);
    block_t b = {.size = 8300 * (size_t)PAGE};
    MUST(half && (b.at = sw_arena_calloc(b.size)));
    check_zero(&b);
    sw_arena_free(b.at);
    sw_arena_free(half);
    for (int i = 0; i < N; i++)
        sw_arena_free(between[i]);
}

/* Each seed has a process, hence an arena, of its own. */
static void apart(int rounds)
{
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        sw_settings_load();
        sw_settings.arena_static = false;
        sw_arena_start();
        MUST(sw_arena.count > 0);
        if (seed)
            play(rounds);
        else
            overlooked_stretch();
        _exit(0);
    }
    int status;
    MUST(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(int argc, char **argv)
{
    const char *deep = getenv("STRAIGHTWAY_DEEP");
    bool is_long = deep && *deep && strcmp(deep, "0");
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    int seeds = argc > 2 ? atoi(argv[2]) : is_long ? 20 : 5;
    int rounds = argc > 3 ? atoi(argv[3]) : is_long ? 15 : 3;
    for (seed = first; seed < first + (uint64_t)seeds; seed++)
        apart(rounds);
    puts("ok");
    return 0;
}
