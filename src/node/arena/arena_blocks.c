/*
 * arena_blocks.c - blocks: what malloc and MPI_Alloc_mem hand out.
 *
 * A block is one extent. One page for colour is added, and the length of short
 * ones is rounded up to a size class, at most a quarter more.
 * Colour: blocks begin at varying cache lines of their first page. Arrays that
 * all began at one offset would collide in the first-level cache and in the
 * store buffer's 4 KiB comparison. A pointer always lies in its extent's first
 * page, so page number -> record -> length is all that free needs.
 *
 * Each thread keeps a few freed blocks of each class up to 1 MiB. A block goes
 * used -> cached -> used without the lock, since only its owner changes the
 * state then. Other threads may look at the state while they merge neighbours;
 * they see "not free" either way, so relaxed atomics suffice. The program
 * itself orders the hand-over of a block between threads.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "node/base/settings.h"

#define CLASSES 28 /* up to CACHED_MAX pages */
#define CACHED_MAX 256u
#define DEPTH 16         /* blocks of a class in a cache */
#define CACHE_PAGES 512u /* all of a thread's cached pages */
#define WIPE_MIN 8192u   /* pages zeroed by giving them back */
#define COLOUR_STEP 13u  /* odd: visits all 64 lines */

typedef struct {
    enum { NEW, OPEN, CLOSED } state;
    uint32_t colour;
    uint32_t pages;               /* in the cache */
    uint32_t allocations, reused; /* not yet added to the totals */
    int32_t pages_told;           /* pages, as last told */
    struct shelf {
        uint8_t count[CLASSES];
        uint32_t block[CLASSES][DEPTH];
    } shelf[2]; /* of each zone */
} cache_t;

/* Initial-exec: the general model may call malloc at a thread's first use. */
static __thread cache_t cache __attribute__((tls_model("initial-exec")));
static pthread_key_t at_exit;
static bool have_key;
static _Atomic uint64_t allocations, reused;
static _Atomic int64_t cached; /* pages, over all threads */

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

static struct shelf *shelf_of(const sw_zone_t *z)
{
    return &cache.shelf[z == &sw_common_zone];
}

/* Give the `n` oldest cached blocks of a class to the shared bins. */
static void spill(sw_zone_t *z, int c, int n)
{
    struct shelf *shelf = shelf_of(z);
    uint32_t *block = shelf->block[c];
    for (int i = 0; i < n; i++) {
        sw_assert(SW_HEAD_STATE(sw_page_head(block[i])) == SW_PAGE_CACHED);
        cache.pages -= SW_HEAD_PAGES(sw_page_head(block[i]));
    }
    tell();
    sw_extents_give(z, block, n);
    shelf->count[c] = (uint8_t)(shelf->count[c] - n);
    memmove(block, block + n, shelf->count[c] * sizeof *block);
}

static void spill_all(sw_zone_t *z)
{
    for (int c = 0; c < CLASSES; c++)
        if (shelf_of(z)->count[c])
            spill(z, c, shelf_of(z)->count[c]);
}

void sw_blocks_flush(void)
{
    spill_all(&sw_heap_zone);
    spill_all(&sw_common_zone);
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

/* Write down where the block in an extent begins and ends, as the program
 * asked: in the two words of its record that a used extent does not need. */
static void note(uint32_t page, size_t offset, size_t size)
{
    uint64_t word = (uint64_t)(offset + size) << 12 | offset;
    sw_pages[page].next = (uint32_t)word;
    sw_pages[page].prev = (uint32_t)(word >> 32);
}

void *sw_arena_begin(const void *p)
{
    if (!sw_arena_is_block(p))
        return NULL;
    uint32_t page = sw_page_of(p);
    if (page >= sw_zone_top(sw_zone_of(page)) ||
        SW_HEAD_STATE(sw_page_head(page)) != SW_PAGE_USED)
        return NULL;
    return sw_page_address(page) + sw_pages[page].next % SW_PAGE;
}

uintptr_t sw_block_end(const void *p)
{
    if (sw_arena_begin(p) != p)
        return 0;
    uint32_t page = sw_page_of(p);
    uint64_t word = (uint64_t)sw_pages[page].prev << 32 | sw_pages[page].next;
    return (uintptr_t)sw_page_address(page) + (word >> 12);
}

static char *allocate(sw_zone_t *z, size_t size, size_t align, sw_dirt_t *dirt)
{
    size_t bytes = sw_arena.range[0].size;
    if (size > bytes || align > bytes || !sw_pages)
        return NULL;
    uint32_t n = (uint32_t)((size + SW_PAGE - 1) / SW_PAGE);
    n += n == 0;
    if (n <= CACHED_MAX)
        n = sw_arena_class_up(n);
    bool may_cache = cache_open();
    uint32_t page;
    int c = n <= CACHED_MAX ? sw_arena_class_of(n) : 0;
    struct shelf *shelf = shelf_of(z);
    if (n <= CACHED_MAX && align <= SW_PAGE && may_cache && shelf->count[c]) {
        page = shelf->block[c][--shelf->count[c]];
        uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
        sw_assert(SW_HEAD_STATE(sw_page_head(page)) == SW_PAGE_CACHED);
        sw_assert(pages > n && pages <= cache.pages);
        sw_page_mark(page, SW_PAGE_USED, pages);
        cache.pages -= pages;
        *dirt = sw_arena_all_dirty(page, pages);
    } else {
        page = sw_extents_take(
            z, n + 1, align <= SW_PAGE ? 1 : (uint32_t)(align / SW_PAGE), dirt);
        if (page == SW_NO_PAGE)
            return NULL;
    }
    cache.reused += dirt->count != 0;
    if (sw_unlikely((++cache.allocations & 1023) == 0))
        tell();
    cache.colour += COLOUR_STEP;
    size_t offset = align < SW_PAGE
                        ? (size_t)(cache.colour % (SW_PAGE / SW_LINE)) *
                                  SW_LINE &
                              ~(align - 1)
                        : 0;
    sw_assert(offset % SW_LINE == 0 && offset < SW_PAGE);
    sw_assert(offset + size <=
              (size_t)SW_PAGE * SW_HEAD_PAGES(sw_page_head(page)));
    note(page, offset, size);
    return sw_page_address(page) + offset;
}

void *sw_arena_alloc(size_t size, size_t align)
{
    sw_dirt_t dirt;
    return allocate(&sw_heap_zone, size, align, &dirt);
}

void *sw_arena_alloc_shared(size_t size, size_t align)
{
    sw_dirt_t dirt;
    if (sw_unlikely(sw_os_refused(SW_DOOR_ROOM)))
        return NULL;
    return allocate(&sw_common_zone, size, align, &dirt);
}

void *sw_arena_calloc(size_t size)
{
    sw_dirt_t dirt;
    char *p = allocate(&sw_heap_zone, size, 1, &dirt);
    if (!p || !dirt.count)
        return p;
    /* Big and used before: giving it back is quicker than writing it, and a
     * program that touches little of it stays small. */
    uint32_t pages = dirt.high - dirt.low;
    if (pages < WIPE_MIN || !sw_extents_wipe(dirt.low, pages)) {
        char *low = sw_page_address(dirt.low);
        char *high = sw_page_address(dirt.high);
        low = low < p ? p : low;
        high = high > p + size ? p + size : high;
        if (low < high)
            memset(low, 0, (size_t)(high - low));
    }
    return p;
}

/* The page of the block at p; anything else than a live block ends the
 * program, as the heap would. */
static uint32_t block_page(const void *p, const char *what)
{
    uint32_t page = sw_page_of(p);
    if (sw_unlikely(!sw_arena_is_block(p) || (uintptr_t)p % SW_LINE ||
                    page >= sw_zone_top(sw_zone_of(page)) ||
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
    if (!sw_arena_said_end(page, pages))
        return;
    sw_zone_t *z = sw_zone_of(page);
    if (pages - 1 <= CACHED_MAX && cache.pages + pages <= CACHE_PAGES &&
        cache_open()) {
        int c = sw_arena_class_of(pages - 1);
        struct shelf *shelf = shelf_of(z);
        if (shelf->count[c] == DEPTH)
            spill(z, c, DEPTH / 2);
        sw_page_mark(page, SW_PAGE_CACHED, pages);
        shelf->block[c][shelf->count[c]++] = page;
        cache.pages += pages;
        return;
    }
    sw_extents_give(z, &page, 1);
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
    if (need <= have / 2 &&
        !sw_arena_said_end(page + (uint32_t)need, have - (uint32_t)need))
        return true;
    if ((need > have || need <= have / 2) &&
        !sw_extents_resize(page, (uint32_t)need))
        return false;
    note(page, offset, size);
    return true;
}

/* The runs of private pages move; what is shown stays at its place in the file,
 * and is copied, as are all where the system moves none. */
static void move_pages(uint32_t from, uint32_t to, uint32_t pages)
{
    uint64_t at = from, end = (uint64_t)from + pages, run;
    while (at < end) {
        uint64_t shown = at;
        if (!sw_show_next(&shown, end, &run)) {
            shown = end;
            run = 0;
        }
        char *here = sw_page_address((uint32_t)at);
        char *there = sw_page_address(to + ((uint32_t)at - from));
        size_t size = (size_t)(shown - at) * SW_PAGE;
        if (size && sw_os_move_pages(here, there, size))
            memcpy(there, here, size);
        memcpy(there + size, here + size, (size_t)run * SW_PAGE);
        at = shown + run;
    }
}

void *sw_arena_move(void *p, size_t keep, size_t size)
{
    uint32_t page = block_page(p, "realloc"), to;
    size_t offset = (uintptr_t)p % SW_PAGE;
    uint32_t have = (uint32_t)((offset + keep + SW_PAGE - 1) / SW_PAGE);
    if (sw_zone_of(page)->kind != SW_ZONE_PRIVATE ||
        size > sw_arena.range[0].size || keep > size)
        return NULL;
    uint32_t need = (uint32_t)((offset + size + SW_PAGE - 1) / SW_PAGE);
    sw_dirt_t dirt;
    to = sw_extents_take(&sw_heap_zone, need, 1, &dirt);
    if (to == SW_NO_PAGE)
        return NULL;
    if (!sw_show_forget(to, need) || !sw_arena_said_moves(page, to, have)) {
        sw_extents_give(&sw_heap_zone, &to, 1);
        return NULL;
    }
    move_pages(page, to, have);
    note(to, offset, size);
    if (sw_arena_said_end(page, SW_HEAD_PAGES(sw_page_head(page))))
        sw_extents_give(&sw_heap_zone, &page, 1);
    return sw_page_address(to) + offset;
}

size_t sw_arena_usable(const void *p)
{
    if (!p)
        return 0;
    uint32_t page = block_page(p, "malloc_usable_size");
    size_t offset = (uintptr_t)p % SW_PAGE;
    size_t all = SW_HEAD_PAGES(sw_page_head(page)) * (size_t)SW_PAGE;
    note(page, offset, all - offset); /* the caller may use all of it */
    return all - offset;
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
