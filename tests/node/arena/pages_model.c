/*
 * pages_model.c - random steps of what befalls pages, beside a simple model of
 * what each process must see.
 *
 * The model has a copy of each block's bytes: what the owner sees outside the
 * operations under way. It also has what was said of each page. A peer is a
 * second mapping of the arena's file. Steps: blocks come and go; the program
 * writes; sends and receives begin and end, and the peer moves their bytes in
 * between; windows and persistent sends are made of any memory; a second thread
 * counts beside all that; pages are locked, left out of dumps, wiped in
 * children, protected, wished huge, emptied; a child looks and goes its own
 * way. Operations obey MPI: only the peer touches a receive under way, and no
 * process writes to a send.
 *
 *   pages_model [FIRST SEED [SEEDS [STEPS]]]  (STRAIGHTWAY_DEEP=1: a long run)
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "node/arena/show.h"
#include "node/base/settings.h"

#include "must.h"
#include "sanitized.h"
#include "smaps.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u
#define BLOCKS 12
#define PAGES 80 /* of a block, at most */
#define OPS 6

enum { LOCKED = 1, UNDUMPED = 2, WIPED = 4, ABSENT = 8, GUARDED = 16 };

typedef struct {
    char *at, *should; /* the block, and what it must hold */
    size_t size;
    char *page; /* its first whole page */
    size_t pages;
    unsigned char said[PAGES];
} block_t;

typedef struct {
    block_t *block; /* NULL: none */
    size_t at, n;
    char *there; /* where the peer has it */
    bool receives;
} op_t;

static block_t block[BLOCKS];
static op_t op[OPS];
static char *peer;
static uint64_t state, seed, steps;

static size_t below(size_t n)
{
    return random_from(&state) % n;
}

#define RIGHT(x, what)                                                   \
    do {                                                                 \
        if (!(x)) {                                                      \
            fprintf(stderr, "seed %llu, step %llu: %s\n",                \
                    (unsigned long long)seed, (unsigned long long)steps, \
                    what);                                               \
            _exit(1);                                                    \
        }                                                                \
    } while (0)

static void scribble(char *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (char)random_from(&state);
}

/* The second thread ------------------------------------------------------- */

static _Atomic bool stop;
static bool counting;
static pthread_t thread;
static _Atomic uint64_t *word; /* the thread's own */
static uint64_t counted;

static void *count(void *ignored)
{
    _Atomic uint64_t *at = word;
    uint64_t n = *at;
    do {
        RIGHT(*at == n, "a thread's store was lost");
        atomic_store_explicit(at, ++n, memory_order_relaxed);
    } while (!atomic_load_explicit(&stop, memory_order_relaxed));
    RIGHT(*at == n, "a thread's last store was lost");
    counted = n;
    return ignored;
}

static bool under_way(void)
{
    bool any = false;
    for (int i = 0; i < OPS; i++)
        any |= op[i].block && op[i].receives;
    return any;
}

static bool quiet(void)
{
    return !counting && !under_way();
}

/* Is this byte somebody's: a receive's, a send's (if `reads`), the thread's, or
 * on a page that is protected? */
static bool taken(const block_t *b, size_t at, size_t n, bool writes)
{
    const char *from = b->at + at;
    for (int i = 0; i < OPS; i++)
        if (op[i].block == b && (writes || op[i].receives) &&
            at < op[i].at + op[i].n && op[i].at < at + n)
            return true;
    if (counting && (char *)word < from + n && from < (char *)(word + 1))
        return true;
    for (size_t i = 0; i < b->pages && writes; i++)
        if (b->said[i] & GUARDED && b->page + i * PAGE < from + n &&
            from < b->page + (i + 1) * PAGE)
            return true;
    return false;
}

/* What the owner must see of [at, at+n), where no receive is under way. */
static void compare(const block_t *b, size_t at, size_t n)
{
    for (size_t i = at; i < at + n;) {
        size_t some = sw_min(at + n - i, 64);
        if (taken(b, i, some, false) ||
            !memcmp(b->at + i, b->should + i, some)) {
            i += some;
            continue;
        }
        size_t k = 0;
        while (b->at[i + k] == b->should[i + k])
            k++;
        RIGHT(false, "the owner sees other bytes");
    }
}

static void stop_counting(void)
{
    if (!counting)
        return;
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    counting = false;
    for (int i = 0; i < BLOCKS; i++) {
        block_t *b = &block[i];
        if (b->at && (char *)word >= b->at && (char *)word < b->at + b->size)
            memcpy(b->should + ((char *)word - b->at), &counted,
                   sizeof counted);
    }
}

/* Steps ------------------------------------------------------------------- */

static block_t *any_block(void)
{
    block_t *b = &block[below(BLOCKS)];
    return b->at ? b : NULL;
}

static void start_counting(void)
{
    block_t *b = any_block();
    if (counting || !b || b->size < 64)
        return;
    size_t at = below(b->size / 8 - 1) * 8;
    if ((uintptr_t)(b->at + at) % 8 || taken(b, at, 8, true))
        return;
    word = (_Atomic uint64_t *)(void *)(b->at + at);
    uint64_t before = *word;
    atomic_store(&stop, false);
    MUST(!pthread_create(&thread, NULL, count, NULL));
    counting = true;
    while (atomic_load(word) == before)
        sched_yield();
    (void)sw_show_whole(b->at, b->size); /* it writes there just now */
}

static void make(block_t *b)
{
    size_t align = below(3) ? 64 : PAGE;
    b->size = 1 + below((PAGES - 2) * PAGE);
    b->at = sw_arena_alloc(b->size, align);
    b->should = malloc(b->size);
    MUST(b->at && b->should);
    b->page = (char *)sw_round_up((uintptr_t)b->at, PAGE);
    b->pages = b->page < b->at + b->size
                   ? (size_t)(b->at + b->size - b->page) / PAGE
                   : 0;
    memset(b->said, 0, sizeof b->said);
    if (below(4) && b->pages) /* its pages may be shown by now */
        MUST(!madvise(b->page, b->pages * PAGE, MADV_DONTNEED) &&
             sw_show_drop(b->page, b->pages * PAGE));
    scribble(b->at, b->size);
    memcpy(b->should, b->at, b->size);
    if (below(8) == 0)
        RIGHT(!flagged(b->at, b->size, "lo") && !flagged(b->at, b->size, "dd"),
              "a new block is not plain");
}

static void drop(block_t *b)
{
    for (int i = 0; i < OPS; i++)
        if (op[i].block == b)
            return;
    if (counting && taken(b, 0, b->size, false))
        return;
    compare(b, 0, b->size);
    sw_arena_free(b->at);
    free(b->should);
    b->at = NULL;
}

static void write_some(block_t *b)
{
    size_t at = below(b->size), n = 1 + below(b->size - at);
    n = sw_min(n, 3 * PAGE);
    if (taken(b, at, n, true))
        return;
    scribble(b->at + at, n);
    memcpy(b->should + at, b->at + at, n);
}

static void begin(op_t *o, block_t *b)
{
    bool receives = below(2);
    size_t at = below(4) ? below(b->size) : 0, n = 1 + below(b->size - at);
    if (taken(b, at, n, receives) || (below(3) && at + n < b->size / 2))
        return;
    uint64_t offset = sw_show(b->at + at, n);
    if (offset == UINT64_MAX)
        return;
    sw_show_stage(b->at + at, n);
    *o = (op_t){b, at, n, peer + offset, receives};
    if (!receives)
        RIGHT(!memcmp(o->there, b->should + at, n),
              "the peer sees other bytes");
}

/* The peer reads or writes a part of it, while it is under way. */
static void go_on(op_t *o)
{
    size_t from = below(o->n), n = 1 + below(o->n - from);
    char *should = o->block->should + o->at + from;
    if (o->receives) {
        scribble(o->there + from, n);
        memcpy(should, o->there + from, n);
    } else {
        RIGHT(!memcmp(o->there + from, should, n),
              "the peer sees other bytes later");
    }
}

static void end(op_t *o)
{
    block_t *b = o->block;
    go_on(o);
    if (o->receives) {
        for (size_t i = 0; i < b->pages; i++)
            if (b->said[i] & GUARDED) /* its program opens the pages */
                return;
        sw_show_fetch(b->at + o->at, o->n);
    }
    o->block = NULL;
    compare(b, o->at, o->n);
}

/* A window of any memory: all of it is the owner's and the peer's, or nothing
 * is promised. */
static void window(block_t *b)
{
    size_t at = below(2) ? below(b->size) : 0, n = 1 + below(b->size - at);
    uint64_t offset = sw_show_whole(b->at + at, n);
    if (offset == UINT64_MAX || taken(b, at, n, true))
        return;
    RIGHT(!memcmp(peer + offset, b->should + at, n), "a window is another");
    scribble(peer + offset, n);
    memcpy(b->should + at, peer + offset, n);
    compare(b, at, n);
}

/* Data with gaps. */
static void span(block_t *b)
{
    size_t at = below(b->size), n = 1 + below(b->size - at);
    uint64_t offset = sw_show_span(b->at + at, n);
    if (offset != UINT64_MAX && !taken(b, at, n, false))
        RIGHT(!memcmp(peer + offset, b->should + at, n), "a span is another");
}

/* As front/heap/pages.c hears it. */
static void say_of_child(block_t *b, size_t first, size_t pages, bool wipe)
{
    char *at = b->page + first * PAGE, *to = at + pages * PAGE;
    sw_said(at, pages * PAGE);
    while (at < to) {
        bool done;
        size_t n = sw_arena_said_of_child(
            at, (size_t)(to - at), wipe ? SW_SAID_WIPE : SW_SAID_LEAVE_OUT,
            &done);
        if (!done)
            MUST(!madvise(at, n, wipe ? MADV_WIPEONFORK : MADV_DONTFORK));
        at += n;
    }
    for (size_t i = first; i < first + pages; i++)
        b->said[i] |= wipe ? WIPED : ABSENT;
}

static void say(block_t *b)
{
    if (!b->pages)
        return;
    size_t first = below(b->pages), pages = 1 + below(b->pages - first);
    char *at = b->page + first * PAGE;
    size_t n = (pages = sw_min(pages, 6)) * PAGE;
    switch (below(7)) {
    case 0:
        sw_said(at, n);
        /* The sanitizers' mlock does nothing. */
        if (!syscall(SYS_mlock, at, n))
            for (size_t i = 0; i < pages; i++)
                b->said[first + i] |= LOCKED;
        break;
    case 1:
        sw_said(at, n);
        MUST(!madvise(at, n, MADV_DONTDUMP));
        for (size_t i = 0; i < pages; i++)
            b->said[first + i] |= UNDUMPED;
        break;
    case 2: say_of_child(b, first, pages, true); break;
    case 3: say_of_child(b, first, pages, false); break;
    case 4:
        sw_arena_said_huge(at, n);
        madvise(at, n, MADV_HUGEPAGE);
        break;
    case 5:
        if (counting && taken(b, (size_t)(at - b->at), n, true))
            break;
        sw_arena_said_protection(at, n, false);
        MUST(!mprotect(at, n, PROT_READ));
        for (size_t i = 0; i < pages; i++)
            b->said[first + i] |= GUARDED;
        break;
    default:
        for (size_t i = 0; i < pages; i++)
            if (b->said[first + i] & LOCKED) /* the system would refuse */
                return;
        if (taken(b, (size_t)(at - b->at), n, true))
            break;
        MUST(!madvise(at, n, MADV_DONTNEED) && sw_show_drop(at, n));
        memset(b->should + (at - b->at), 0, n);
        compare(b, (size_t)(at - b->at), n);
    }
}

static void open_again(block_t *b)
{
    for (size_t i = 0; i < b->pages; i++)
        if (b->said[i] & GUARDED) {
            sw_arena_said_protection(b->page + i * PAGE, PAGE, true);
            MUST(!mprotect(b->page + i * PAGE, PAGE, PROT_READ | PROT_WRITE));
            b->said[i] &= (unsigned char)~GUARDED;
        }
}

/* What was said holds, whatever has been shown since. */
static void still_said(const block_t *b)
{
    for (size_t i = 0; i < b->pages; i += 7) {
        const char *at = b->page + i * PAGE;
        RIGHT(!(b->said[i] & LOCKED) || flagged(at, PAGE, "lo"),
              "a page is not locked any more");
        RIGHT(!(b->said[i] & UNDUMPED) || flagged(at, PAGE, "dd"),
              "a page would be dumped");
    }
}

static void look_as_child(const block_t *b)
{
    static const char zeros[PAGE];
    for (size_t i = 0; i < b->pages; i++) {
        const char *at = b->page + i * PAGE;
        size_t from = (size_t)(at - b->at);
        if (b->said[i] & ABSENT)
            RIGHT(!sw_os_readable(at), "a child has a page it must not have");
        else if (b->said[i] & WIPED)
            RIGHT(!memcmp(at, zeros, PAGE), "a child sees its parent's page");
        else
            compare(b, from, PAGE);
        if (!(b->said[i] & (ABSENT | GUARDED)))
            memset((char *)(uintptr_t)at, 99, PAGE);
    }
}

static void have_a_child(void)
{
    int status;
    stop_counting();
    fflush(NULL);
    pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        for (int i = 0; i < BLOCKS; i++)
            if (block[i].at)
                look_as_child(&block[i]);
        /* Blocks of the parent's are plain again here, too. */
        for (int i = 0; i < BLOCKS; i++)
            if (block[i].at)
                sw_arena_free(block[i].at);
        for (int i = 0; i < 40; i++) {
            size_t n = 1 + below(PAGES * PAGE);
            char *p = sw_arena_alloc(n, 64);
            memset(p, 1, n);
        }
        _exit(0);
    }
    RIGHT(waitpid(pid, &status, 0) == pid && status == 0, "a child failed");
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at)
            compare(&block[i], 0, block[i].size);
}

static void step(void)
{
    block_t *b = &block[below(BLOCKS)];
    op_t *o = &op[below(OPS)];
    if (!b->at) {
        make(b);
        return;
    }
    switch (below(24)) {
    case 0: drop(b); break;
    case 1:
    case 2:
    case 3: write_some(b); break;
    case 4:
    case 5: window(b); break;
    case 6: span(b); break;
    case 7: say(b); break;
    case 8:
    case 9: open_again(b); break;
    case 10: start_counting(); break;
    case 11: stop_counting(); break;
    case 12: compare(b, 0, b->size); break;
    case 13:
        if (!THREAD_SANITIZED && below(SANITIZED ? 60 : 12) == 0)
            have_a_child();
        else if (below(8) == 0)
            still_said(b);
        break;
    default:
        if (!o->block)
            begin(o, b);
        else if (below(2))
            go_on(o);
        else
            end(o);
    }
}

static void run(uint64_t number, uint64_t many)
{
    seed = number;
    state = number * 0x9e3779b97f4a7c15u + 1;
    for (steps = 0; steps < many; steps++)
        step();
    stop_counting();
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at)
            open_again(&block[i]);
    for (int i = 0; i < OPS; i++)
        if (op[i].block)
            end(&op[i]);
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at)
            drop(&block[i]);
}

static uint64_t argument(int argc, char **argv, int i, uint64_t usual)
{
    return argc > i ? strtoull(argv[i], NULL, 10) : usual;
}

int main(int argc, char **argv)
{
    bool deep = getenv("STRAIGHTWAY_DEEP") != NULL;
    struct rlimit limit = {1 << 20, 1 << 20};
    uint64_t first = argument(argc, argv, 1, 1);
    uint64_t seeds = argument(argc, argv, 2, deep ? 300 : 6);
    uint64_t many = argument(argc, argv, 3, deep ? 5000 : 2500);
    setrlimit(RLIMIT_MEMLOCK, &limit);
    sw_settings_load();
    sw_settings.show_after = 0;
    sw_settings.arena_keep = (size_t)1 << 20;
    sw_settings.arena_size = (size_t)1 << 30;
    sw_arena_start();
    MUST(sw_arena.fd >= 0);
    peer = sw_os_map_shared(NULL, sw_arena.span, sw_arena.fd, 0);
    MUST(peer);
    sw_show_quiet = quiet;
    for (uint64_t i = first; i < first + seeds; i++)
        run(i, many);
    puts("ok");
    return 0;
}
