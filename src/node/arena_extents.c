/*
 * arena_extents.c - runs of pages, and who holds them.
 *
 * The arena is cut into extents, each either used or free, one after another
 * from page 0 to `top`; beyond is memory that was never touched. What is
 * known of an extent stands in the records of its first and last page, in a
 * table apart from the memory itself: an overflow in the program's data
 * cannot damage it, and freeing a block never touches the block.
 *
 *   pages     | used  | free              | used | free | top ...
 *   records   | U . I | F . . . . . . . T | U  I | F  T |
 *             first, inner, tail: T tells the right neighbour how far back
 *             its free left neighbour begins
 *
 * Two free extents never touch: a freed one is merged with its neighbours.
 * Free extents wait in bins, four to each doubling, and the best fit of the
 * first bin that can serve is taken, lowest address first among equals, so
 * that the upper end empties.
 *
 * `dirty` bounds from above how many of a free extent's pages may be
 * resident. Their sum is `kept`. When it passes the setting, the largest
 * dirty extents are given back by punching holes, until a quarter of the
 * setting is free again, so that the next free does not punch as well. The
 * system call runs without the lock: the extent is out of the bins then.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "settings.h"

#define BINS 128
#define SCAN 24                     /* extents looked at for the best fit   */
#define STEP ((size_t)1 << 20)      /* the table grows by this many bytes   */
#define TAIL_MIN 16                 /* pages worth cutting off a used block */

sw_page_t *sw_pages;

static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static uint32_t limit;              /* pages of the arena                   */
/* Pages ever handed out. Written with the lock; free looks without it, at a
 * block that was handed out before. */
static _Atomic uint32_t top;
static size_t table_ready;          /* bytes of the table that are mapped   */
static uint32_t bin[BINS];
static uint64_t filled[BINS / 64];
static bool given_over;             /* forked: private memory, no file      */
static bool punching, never_punch;
static size_t out, out_peak, kept, given_back;  /* pages */

/* The table ----------------------------------------------------------- */

/* Make records up to and including `page` usable. */
static bool table_reach(uint32_t page)
{
    size_t need = ((size_t)page + 1) * sizeof(sw_page_t);
    if (sw_likely(need <= table_ready))
        return true;
    size_t end = sw_min(sw_round_up(need, STEP),
                        sw_extents_room((size_t)limit * SW_PAGE));
    if (!sw_os_map_private((char *)sw_pages + table_ready, end - table_ready))
        return false;
    table_ready = end;
    return true;
}

/* Bins ---------------------------------------------------------------- */

static void bin_add(uint32_t page, uint32_t pages)
{
    int b = sw_class_of(pages);
    sw_page_t *p = &sw_pages[page];
    sw_page_mark(page, SW_PAGE_FREE, pages);
    if (pages > 1)
        sw_page_mark(page + pages - 1, SW_PAGE_TAIL, pages);
    p->prev = SW_NO_PAGE;
    p->next = bin[b];
    if (p->next != SW_NO_PAGE)
        sw_pages[p->next].prev = page;
    bin[b] = page;
    filled[b / 64] |= 1ull << b % 64;
}

static void bin_remove(uint32_t page)
{
    sw_page_t *p = &sw_pages[page];
    int b = sw_class_of(SW_HEAD_PAGES(sw_page_head(page)));
    if (p->prev != SW_NO_PAGE)
        sw_pages[p->prev].next = p->next;
    else
        bin[b] = p->next;
    if (p->next != SW_NO_PAGE)
        sw_pages[p->next].prev = p->prev;
    if (bin[b] == SW_NO_PAGE)
        filled[b / 64] &= ~(1ull << b % 64);
}

/* The first filled bin at or above b, or BINS. */
static int bin_from(int b)
{
    for (int w = b / 64; w < BINS / 64; w++) {
        uint64_t bits = filled[w];
        if (w == b / 64)
            bits &= ~0ull << b % 64;
        if (bits)
            return w * 64 + __builtin_ctzll(bits);
    }
    return BINS;
}

static uint32_t bin_find(uint32_t need)
{
    for (int b = bin_from(sw_class_of(need)); b < BINS; b = bin_from(b + 1)) {
        uint32_t best = SW_NO_PAGE, best_pages = UINT32_MAX;
        int look = SCAN;
        for (uint32_t p = bin[b]; p != SW_NO_PAGE && look;
             p = sw_pages[p].next, look--) {
            uint32_t pages = SW_HEAD_PAGES(sw_page_head(p));
            if (pages < need)
                continue;
            if (pages < best_pages || (pages == best_pages && p < best)) {
                best = p;
                best_pages = pages;
            }
        }
        if (best != SW_NO_PAGE)
            return best;
        if (b == BINS - 1)
            break;
    }
    return SW_NO_PAGE;
}

/* Extents, the lock held ---------------------------------------------- */

/* The free extent that ends where `page` begins, or SW_NO_PAGE. */
static uint32_t free_before(uint32_t page)
{
    if (!page)
        return SW_NO_PAGE;
    uint32_t head = sw_page_head(page - 1);
    if (SW_HEAD_STATE(head) == SW_PAGE_TAIL)
        return page - SW_HEAD_PAGES(head);
    if (SW_HEAD_STATE(head) == SW_PAGE_FREE && SW_HEAD_PAGES(head) == 1)
        return page - 1;
    return SW_NO_PAGE;
}

static void mark_used(uint32_t page, uint32_t pages)
{
    if (pages > 1)
        sw_page_mark(page + pages - 1, SW_PAGE_INNER, 0);
    sw_page_mark(page, SW_PAGE_USED, pages);
}

/* Put an extent that is in no bin among the free ones. */
static void put(uint32_t page, uint32_t pages, uint32_t dirty)
{
    kept += dirty;
    uint32_t left = free_before(page);
    if (left != SW_NO_PAGE) {
        bin_remove(left);
        dirty += sw_pages[left].dirty;
        pages += SW_HEAD_PAGES(sw_page_head(left));
        page = left;
    }
    uint32_t right = page + pages;
    if (right < top) {
        uint32_t head = sw_page_head(right);
        if (SW_HEAD_STATE(head) == SW_PAGE_FREE) {
            bin_remove(right);
            dirty += sw_pages[right].dirty;
            pages += SW_HEAD_PAGES(head);
        }
    }
    sw_pages[page].dirty = dirty;
    bin_add(page, pages);
}

/* Cut [at, at+pages) out of an extent in no bin, with `dirty` pages (already
 * taken out of `kept`); the rest becomes free again. */
static void carve(uint32_t page, uint32_t all, uint32_t dirty, uint32_t at,
                  uint32_t pages)
{
    uint32_t before = at - page, after = page + all - (at + pages);
    sw_pages[at].dirty = dirty;
    mark_used(at, pages);
    if (before)
        put(page, before, dirty < before ? dirty : before);
    if (after)
        put(at + pages, after, dirty < after ? dirty : after);
}

static uint32_t take(uint32_t pages, uint32_t align)
{
    uint32_t need = pages + align - 1;
    if (need < pages)
        return SW_NO_PAGE;
    uint32_t page = bin_find(need), all = 0, dirty = 0;
    if (page == SW_NO_PAGE)
        page = free_before(top); /* to grow from; it may even suffice */
    if (page == SW_NO_PAGE)
        page = top;
    else
        all = SW_HEAD_PAGES(sw_page_head(page));
    if (all < need && (need > limit - page || !table_reach(page + need)))
        return SW_NO_PAGE;
    if (all) {
        bin_remove(page);
        dirty = sw_pages[page].dirty;
        kept -= dirty;
    }
    if (all < need) {
        all = need;
        atomic_store_explicit(&top, page + need, memory_order_relaxed);
    }
    /* Alignment is one of addresses: the base is aligned to huge pages, and
     * larger alignments ask for the address itself. */
    uintptr_t address = (uintptr_t)sw_page_address(page);
    uint32_t at = page + (uint32_t)((sw_round_up(address, (size_t)align *
                                                          SW_PAGE) -
                                     address) / SW_PAGE);
    carve(page, all, dirty, at, pages);
    if (!given_over)
        sw_dump_in(at, pages);
    out += pages;
    if (out > out_peak)
        out_peak = out;
    return at;
}

static void give(uint32_t page)
{
    uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
    out -= pages;
    put(page, pages, pages);
}

/* The largest dirty extent, roughly: the first found from the top bin down. */
static uint32_t find_dirty(void)
{
    for (int b = BINS - 1; b >= 0; b--) {
        if (!(filled[b / 64] >> b % 64 & 1))
            continue;
        int look = SCAN;
        for (uint32_t p = bin[b]; p != SW_NO_PAGE && look;
             p = sw_pages[p].next, look--)
            if (sw_pages[p].dirty)
                return p;
    }
    return SW_NO_PAGE;
}

static int wipe(uint32_t page, uint32_t pages)
{
    size_t size = (size_t)pages * SW_PAGE;
    if (given_over)
        return sw_os_discard(sw_page_address(page), size);
    return sw_os_punch(sw_arena.fd, sw_page_address(page),
                       (size_t)page * SW_PAGE, size);
}

/* Called with the lock, which is dropped during the system calls. */
static void give_back(void)
{
    size_t keep = sw_settings.arena_keep / SW_PAGE;
    if (sw_likely(kept <= keep) || punching || never_punch)
        return;
    int saved = errno;
    punching = true;
    while (kept > keep - keep / 4) {
        uint32_t page = find_dirty();
        if (page == SW_NO_PAGE)
            break;
        uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
        uint32_t dirty = sw_pages[page].dirty;
        bin_remove(page);
        mark_used(page, pages);
        sw_page_mark(page, SW_PAGE_BUSY, pages);
        kept -= dirty;
        pthread_mutex_unlock(&lock);
        int rc = wipe(page, pages);
        pthread_mutex_lock(&lock);
        if (!rc && !given_over)
            sw_dump_out(page, pages);
        put(page, pages, rc ? dirty : 0);
        if (rc) {
            never_punch = true; /* the system will not: keep everything */
            break;
        }
        given_back += dirty;
    }
    punching = false;
    errno = saved;
}

/* The interface ------------------------------------------------------- */

bool sw_extents_start(size_t size)
{
    size_t room = sw_extents_room(size);
    sw_pages = sw_os_reserve(room, SW_PAGE);
    if (!sw_pages)
        return false;
    limit = (uint32_t)(size / SW_PAGE);
    for (int b = 0; b < BINS; b++)
        bin[b] = SW_NO_PAGE;
    return true;
}

uint32_t sw_extents_take(uint32_t pages, uint32_t align)
{
    pthread_mutex_lock(&lock);
    uint32_t page = take(pages, align);
    pthread_mutex_unlock(&lock);
    return page;
}

void sw_extents_give(const uint32_t *page, int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++)
        give(page[i]);
    give_back();
    pthread_mutex_unlock(&lock);
}

bool sw_extents_resize(uint32_t page, uint32_t pages)
{
    bool done = true;
    pthread_mutex_lock(&lock);
    uint32_t have = SW_HEAD_PAGES(sw_page_head(page));
    if (pages + TAIL_MIN <= have) {
        uint32_t tail = have - pages;
        mark_used(page, pages);
        out -= tail;
        put(page + pages, tail, tail);
        give_back();
    } else if (pages > have) {
        uint32_t right = page + have, more = pages - have;
        uint32_t room = 0, dirty = 0;
        if (right < top && SW_HEAD_STATE(sw_page_head(right)) == SW_PAGE_FREE) {
            room = SW_HEAD_PAGES(sw_page_head(right));
            dirty = sw_pages[right].dirty;
        }
        bool at_top = right + room == top;
        if (room >= more ||
            (at_top && more <= limit - right && table_reach(right + more))) {
            if (room) {
                bin_remove(right);
                kept -= dirty;
            }
            sw_page_mark(right, SW_PAGE_INNER, 0);
            mark_used(page, pages);
            if (!given_over)
                sw_dump_in(page, pages);
            if (room > more) {
                uint32_t rest = room - more;
                put(right + more, rest, dirty < rest ? dirty : rest);
            } else if (more > room) {
                atomic_store_explicit(&top, right + more,
                                      memory_order_relaxed);
            }
            out += more;
            if (out > out_peak)
                out_peak = out;
        } else {
            done = false;
        }
    }
    pthread_mutex_unlock(&lock);
    return done;
}

bool sw_extents_wipe(uint32_t page)
{
    int saved = errno;
    int rc = wipe(page, SW_HEAD_PAGES(sw_page_head(page)));
    errno = saved;
    return rc == 0;
}

void sw_extents_stats(sw_arena_stats_t *to)
{
    pthread_mutex_lock(&lock);
    to->in_use = out * SW_PAGE;
    to->in_use_peak = out_peak * SW_PAGE;
    to->kept = kept * SW_PAGE;
    to->given_back = given_back * SW_PAGE;
    pthread_mutex_unlock(&lock);
}

/* Fork ---------------------------------------------------------------- */

void sw_extents_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sw_extents_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uint32_t sw_extents_top(void)
{
    return atomic_load_explicit(&top, memory_order_relaxed);
}

void sw_extents_forked(uint32_t new_limit)
{
    static const pthread_mutex_t fresh = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    memcpy(&lock, &fresh, sizeof lock);
    given_over = true;
    punching = never_punch = false;
    limit = new_limit;
    kept = 0;
    for (uint32_t page = 0; page < top;
         page += SW_HEAD_PAGES(sw_page_head(page)))
        sw_pages[page].dirty = 0;
    for (uint32_t page = 0; page < top;) {
        uint32_t head = sw_page_head(page);
        uint32_t pages = SW_HEAD_PAGES(head), next = page + pages;
        bool cached = SW_HEAD_STATE(head) == SW_PAGE_CACHED;
        if (cached || SW_HEAD_STATE(head) == SW_PAGE_BUSY) {
            /* It merges with a free neighbour, whose head is none then. */
            uint32_t right = next < top ? sw_page_head(next) : 0;
            if (SW_HEAD_STATE(right) == SW_PAGE_FREE)
                next += SW_HEAD_PAGES(right);
            out -= cached ? pages : 0;
            put(page, pages, 0);
        }
        page = next;
    }
}
