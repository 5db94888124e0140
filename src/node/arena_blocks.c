/*
 * arena_blocks.c - blocks: what malloc and MPI_Alloc_mem hand out.
 *
 * A block is one extent. Its length is rounded up to a size class (at most a
 * quarter more, and untouched pages cost nothing), plus one page that makes
 * room for colour: blocks begin at varying cache lines of their first page,
 * because arrays that all began at the same offset would collide in the
 * first-level cache and in the store buffer's 4 KiB comparison. A pointer
 * always lies in its extent's first page, so page number -> record -> length
 * is all that free needs.
 *
 * Each thread keeps a few freed blocks of each class up to 4 MiB. A block
 * goes used -> cached -> used without the lock: only its owner changes the
 * state then, and other threads, who may look at it while they merge
 * neighbours, see "not free" either way; so relaxed atomics suffice. The
 * program itself orders the hand-over of a block between threads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"

#define CLASSES 36                      /* up to 1024 pages                 */
#define CACHED_MAX 1024u
#define DEPTH 16                        /* blocks of a class in a cache     */
#define CACHE_PAGES 2048u               /* all of a thread's cached pages   */
#define ROUND_MAX 8192u                 /* classes end here: 32 MiB         */
#define WIPE_MIN 8192u                  /* pages zeroed by giving them back */
#define COLOUR_STEP 13u                 /* odd: visits all 64 lines         */

typedef struct {
    enum { NEW, OPEN, CLOSED } state;
    uint32_t colour;
    uint32_t pages;                     /* in the cache                     */
    uint32_t allocations, reused;       /* not yet added to the totals      */
    int32_t pages_told;                 /* pages, as last told              */
    uint8_t count[CLASSES];
    uint32_t block[CLASSES][DEPTH];
} cache_t;

/* Initial-exec: the general model may call malloc at a thread's first use. */
static __thread cache_t cache __attribute__((tls_model("initial-exec")));
static pthread_key_t at_exit;
static bool have_key;
static _Atomic uint64_t allocations, reused;
static _Atomic int64_t cached;          /* pages, over all threads          */

static void tell(void)
{
    atomic_fetch_add_explicit(&allocations, cache.allocations,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&reused, cache.reused, memory_order_relaxed);
    atomic_fetch_add_explicit(&cached, (int64_t)cache.pages - cache.pages_told,
                              memory_order_relaxed);
    cache.allocations = cache.reused = 0;
    cache.pages_told = (int32_t)cache.pages;
}

/* Give the `n` oldest cached blocks of a class to the shared bins. */
static void spill(int c, int n)
{
    uint32_t *block = cache.block[c];
    for (int i = 0; i < n; i++)
        cache.pages -= SW_HEAD_PAGES(sw_page_head(block[i]));
    tell();
    sw_extents_give(block, n);
    cache.count[c] = (uint8_t)(cache.count[c] - n);
    memmove(block, block + n, cache.count[c] * sizeof *block);
}

void sw_blocks_flush(void)
{
    for (int c = 0; c < CLASSES; c++)
        if (cache.count[c])
            spill(c, cache.count[c]);
}

static void thread_exit(void *ignored)
{
    (void)ignored;
    sw_blocks_flush();
    /* Later destructors of this thread may still allocate and free. */
    cache.state = CLOSED;
    tell();
}

bool sw_blocks_start(void)
{
    have_key = pthread_key_create(&at_exit, thread_exit) == 0;
    return true;
}

/* May this thread cache? Opens the cache at the first call. */
static bool cache_open(void)
{
    if (sw_likely(cache.state == OPEN))
        return true;
    if (cache.state == CLOSED || !have_key)
        return false;
    /* Threads start at different colours. pthread_setspecific may allocate,
     * and comes back here: closed meanwhile. */
    cache.state = CLOSED;
    cache.colour = (uint32_t)((uintptr_t)&cache >> 12) * 29;
    if (pthread_setspecific(at_exit, &cache) == 0)
        cache.state = OPEN;
    return cache.state == OPEN;
}

static char *allocate(size_t size, size_t align, bool *zeros)
{
    size_t bytes = sw_arena.range[0].size;
    if (size > bytes || align > bytes || !sw_pages)
        return NULL;
    uint32_t n = (uint32_t)((size + SW_PAGE - 1) / SW_PAGE);
    n += n == 0;
    if (n <= ROUND_MAX)
        n = sw_class_up(n);
    bool may_cache = cache_open();
    uint32_t page;
    *zeros = false;
    int c = n <= CACHED_MAX ? sw_class_of(n) : 0;
    if (n <= CACHED_MAX && align <= SW_PAGE && may_cache && cache.count[c]) {
        page = cache.block[c][--cache.count[c]];
        uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
        sw_page_mark(page, SW_PAGE_USED, pages);
        cache.pages -= pages;
        cache.reused++;
    } else {
        page = sw_extents_take(n + 1, align <= SW_PAGE ? 1 :
                                          (uint32_t)(align / SW_PAGE));
        if (page == SW_NO_PAGE)
            return NULL;
        *zeros = sw_pages[page].dirty == 0;
        cache.reused += !*zeros;
    }
    if (sw_unlikely((++cache.allocations & 1023) == 0))
        tell();
    cache.colour += COLOUR_STEP;
    size_t offset = align < SW_PAGE
        ? (size_t)(cache.colour % (SW_PAGE / SW_LINE)) * SW_LINE & ~(align - 1)
        : 0;
    return sw_page_address(page) + offset;
}

void *sw_arena_alloc(size_t size, size_t align)
{
    bool zeros;
    return allocate(size, align, &zeros);
}

void *sw_arena_calloc(size_t size)
{
    bool zeros;
    char *p = allocate(size, 1, &zeros);
    if (!p || zeros)
        return p;
    /* Big and used before: giving it back is quicker than writing it, and a
     * program that touches little of it stays small. */
    uint32_t page = sw_page_of(p);
    if (size / SW_PAGE < WIPE_MIN || !sw_extents_wipe(page))
        memset(p, 0, size);
    return p;
}

/* The page of the block at p; anything else than a live block ends the
 * program, as the heap would. */
static uint32_t block_page(const void *p, const char *what)
{
    uint32_t page = sw_page_of(p);
    if (sw_unlikely(!sw_arena_is_block(p) || (uintptr_t)p % SW_LINE ||
                    page >= sw_extents_top() ||
                    SW_HEAD_STATE(sw_page_head(page)) != SW_PAGE_USED)) {
        sw_say("%s(): %p is not an allocated block", what, p);
        abort();
    }
    return page;
}

void sw_arena_free(void *p)
{
    if (!p)
        return;
    uint32_t page = block_page(p, "free");
    uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
    if (pages - 1 <= CACHED_MAX && cache.pages + pages <= CACHE_PAGES &&
        cache_open()) {
        int c = sw_class_of(pages - 1);
        if (cache.count[c] == DEPTH)
            spill(c, DEPTH / 2);
        sw_page_mark(page, SW_PAGE_CACHED, pages);
        cache.block[c][cache.count[c]++] = page;
        cache.pages += pages;
        return;
    }
    sw_extents_give(&page, 1);
}

bool sw_arena_resize(void *p, size_t size)
{
    uint32_t page = block_page(p, "realloc");
    size_t offset = (uintptr_t)p % SW_PAGE;
    if (size > sw_arena.range[0].size)
        return false;
    size_t need = (offset + size + SW_PAGE - 1) / SW_PAGE;
    need = sw_max(need, 2);
    uint32_t have = SW_HEAD_PAGES(sw_page_head(page));
    /* Shrink only when half or more would lie idle: a block that breathes
     * should not wander. */
    if (need <= have && need > have / 2)
        return true;
    return sw_extents_resize(page, (uint32_t)need);
}

size_t sw_arena_usable(const void *p)
{
    if (!p)
        return 0;
    uint32_t page = block_page(p, "malloc_usable_size");
    return SW_HEAD_PAGES(sw_page_head(page)) * (size_t)SW_PAGE -
           (uintptr_t)p % SW_PAGE;
}

void sw_arena_stats(sw_arena_stats_t *to)
{
    memset(to, 0, sizeof *to);
    if (!sw_pages)
        return;
    tell();
    sw_extents_stats(to);
    size_t idle = (size_t)atomic_load(&cached) * SW_PAGE;
    to->in_use -= sw_min(idle, to->in_use);
    to->kept += idle;
    to->allocations = atomic_load(&allocations);
    to->reused = atomic_load(&reused);
}
