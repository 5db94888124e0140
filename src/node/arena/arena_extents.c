/*
 * arena_extents.c - runs of pages, used or free.
 *
 * A zone is cut into extents, each either used or free, one after another from
 * its first page to `top`; beyond is memory that was never touched. What is
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
 * Free extents wait in bins, four to each doubling. The first bin that can
 * serve gives its best fit. Among equals the lowest address wins, so that the
 * upper end empties.
 *
 * `dirty` bounds from above how many of a free extent's pages may be resident.
 * Their sum is `kept`. When `kept` passes the setting, the thread that frees
 * gives the largest dirty extents back to the system. It goes on until a
 * quarter of the setting is free again, so that the next free need not punch.
 * The system call runs without the lock: the extent is out of the bins then.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "node/base/settings.h"

#define SCAN 24                     /* extents looked at for the best fit   */
#define STEP ((size_t)1 << 20)      /* the table grows by this many bytes   */
#define TAIL_MIN 16                 /* pages worth cutting off a used block */

sw_page_t *sw_pages;
sw_zone_t sw_heap_zone, sw_common_zone;

/* The table ----------------------------------------------------------- */

/* Make records up to and including `page` usable. */
static bool table_reach(sw_zone_t *z, uint32_t page)
{
    size_t need = ((size_t)page + 1) * sizeof(sw_page_t);
    if (sw_likely(need <= z->table_ready))
        return true;
    size_t end = sw_min(sw_round_up(need, STEP),
                        sw_round_up(((size_t)z->end + 1) * sizeof(sw_page_t),
                                    SW_PAGE));
    if (!sw_os_map_private((char *)sw_pages + z->table_ready,
                           end - z->table_ready))
        return false;
    z->table_ready = end;
    return true;
}

/* Bins ---------------------------------------------------------------- */

static void bin_add(sw_zone_t *z, uint32_t page, uint32_t pages)
{
    int b = sw_class_of(pages);
    sw_page_t *p = &sw_pages[page];
    sw_page_mark(page, SW_PAGE_FREE, pages);
    if (pages > 1)
        sw_page_mark(page + pages - 1, SW_PAGE_TAIL, pages);
    p->prev = SW_NO_PAGE;
    p->next = z->bin[b];
    if (p->next != SW_NO_PAGE)
        sw_pages[p->next].prev = page;
    z->bin[b] = page;
    z->filled[b / 64] |= 1ull << b % 64;
}

static void bin_remove(sw_zone_t *z, uint32_t page)
{
    sw_page_t *p = &sw_pages[page];
    int b = sw_class_of(SW_HEAD_PAGES(sw_page_head(page)));
    if (p->prev != SW_NO_PAGE)
        sw_pages[p->prev].next = p->next;
    else
        z->bin[b] = p->next;
    if (p->next != SW_NO_PAGE)
        sw_pages[p->next].prev = p->prev;
    if (z->bin[b] == SW_NO_PAGE)
        z->filled[b / 64] &= ~(1ull << b % 64);
}

/* The first filled bin at or above b, or SW_BINS. */
static int bin_from(sw_zone_t *z, int b)
{
    for (int w = b / 64; w < SW_BINS / 64; w++) {
        uint64_t bits = z->filled[w];
        if (w == b / 64)
            bits &= ~0ull << b % 64;
        if (bits)
            return w * 64 + __builtin_ctzll(bits);
    }
    return SW_BINS;
}

static uint32_t bin_find(sw_zone_t *z, uint32_t need)
{
    for (int b = bin_from(z, sw_class_of(need)); b < SW_BINS;
         b = bin_from(z, b + 1)) {
        uint32_t best = SW_NO_PAGE, best_pages = UINT32_MAX;
        int look = SCAN;
        for (uint32_t p = z->bin[b]; p != SW_NO_PAGE && look;
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
        if (b == SW_BINS - 1)
            break;
    }
    return SW_NO_PAGE;
}

/* Extents, the lock held ---------------------------------------------- */

/* The free extent that ends where `page` begins, or SW_NO_PAGE. */
static uint32_t free_before(sw_zone_t *z, uint32_t page)
{
    if (page == z->first)
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

static bool is_free(uint32_t page)
{
    return SW_HEAD_STATE(sw_page_head(page)) == SW_PAGE_FREE;
}

/* Do the zone's extents follow one another up to its top, no two free ones
 * side by side, and do the dirty pages add up? For sw_assert. */
static bool adds_up(const sw_zone_t *z)
{
    uint32_t page = z->first, pages, top = sw_zone_top(z);
    size_t dirty = 0;
    for (bool before = false; page < top; page += pages) {
        pages = SW_HEAD_PAGES(sw_page_head(page));
        bool now = is_free(page);
        if (!pages || (before && now))
            return false;
        dirty += now ? sw_pages[page].dirty : 0;
        before = now;
    }
    return page == top && dirty == z->kept;
}

/* Put an extent that is in no bin among the free ones. */
static void put(sw_zone_t *z, uint32_t page, uint32_t pages, uint32_t dirty)
{
    sw_assert(pages && page >= z->first && page + pages <= z->top);
    sw_assert(dirty <= pages);
    z->kept += dirty;
    uint32_t left = free_before(z, page);
    if (left != SW_NO_PAGE) {
        bin_remove(z, left);
        dirty += sw_pages[left].dirty;
        pages += SW_HEAD_PAGES(sw_page_head(left));
        page = left;
    }
    uint32_t right = page + pages;
    if (right < z->top) {
        uint32_t head = sw_page_head(right);
        if (SW_HEAD_STATE(head) == SW_PAGE_FREE) {
            bin_remove(z, right);
            dirty += sw_pages[right].dirty;
            pages += SW_HEAD_PAGES(head);
        }
    }
    sw_assert(free_before(z, page) == SW_NO_PAGE);
    sw_assert(page + pages >= z->top || !is_free(page + pages));
    sw_pages[page].dirty = dirty;
    bin_add(z, page, pages);
}

/* Cut [at, at+pages) out of an extent in no bin, with `dirty` pages (already
 * taken out of `kept`); the rest becomes free again. */
static void carve(sw_zone_t *z, uint32_t page, uint32_t all, uint32_t dirty,
                  uint32_t at, uint32_t pages)
{
    uint32_t before = at - page, after = page + all - (at + pages);
    sw_pages[at].dirty = dirty;
    mark_used(at, pages);
    if (before)
        put(z, page, before, dirty < before ? dirty : before);
    if (after)
        put(z, at + pages, after, dirty < after ? dirty : after);
}

static uint32_t take(sw_zone_t *z, uint32_t pages, uint32_t align)
{
    uint32_t need = pages + align - 1;
    if (need < pages)
        return SW_NO_PAGE;
    uint32_t page = bin_find(z, need), all = 0, dirty = 0;
    if (page == SW_NO_PAGE)
        page = free_before(z, z->top); /* to grow from; it may even suffice */
    if (page == SW_NO_PAGE)
        page = z->top;
    else
        all = SW_HEAD_PAGES(sw_page_head(page));
    if (all < need && (need > z->end - page || !table_reach(z, page + need)))
        return SW_NO_PAGE;
    /* Alignment is one of addresses: the base is aligned to huge pages, and
     * larger alignments ask for the address itself. */
    uintptr_t address = (uintptr_t)sw_page_address(page);
    uint32_t at = page + (uint32_t)((sw_round_up(address, (size_t)align *
                                                          SW_PAGE) -
                                     address) / SW_PAGE);
    if (!sw_open(z, at, pages))
        return SW_NO_PAGE;
    if (all) {
        bin_remove(z, page);
        dirty = sw_pages[page].dirty;
        sw_assert(dirty <= z->kept);
        z->kept -= dirty;
    }
    if (all < need) {
        all = need;
        atomic_store_explicit(&z->top, page + need, memory_order_relaxed);
    }
    carve(z, page, all, dirty, at, pages);
    z->out += pages;
    if (z->out > z->out_peak)
        z->out_peak = z->out;
    return at;
}

static void give(sw_zone_t *z, uint32_t page)
{
    uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
    sw_assert(SW_HEAD_STATE(sw_page_head(page)) >= SW_PAGE_CACHED);
    sw_assert(pages <= z->out);
    z->out -= pages;
    put(z, page, pages, pages);
}

/* The largest dirty extent, roughly: the first found from the top bin down. */
static uint32_t find_dirty(sw_zone_t *z)
{
    for (int b = SW_BINS - 1; b >= 0; b--) {
        if (!(z->filled[b / 64] >> b % 64 & 1))
            continue;
        int look = SCAN;
        for (uint32_t p = z->bin[b]; p != SW_NO_PAGE && look;
             p = sw_pages[p].next, look--)
            if (sw_pages[p].dirty)
                return p;
    }
    return SW_NO_PAGE;
}

static int wipe(const sw_zone_t *z, uint32_t page, uint32_t pages)
{
    size_t size = (size_t)pages * SW_PAGE;
    if (z->kind == SW_ZONE_SHARED && sw_show_holds())
        return -1;
    if (z->kind == SW_ZONE_SHARED)
        return sw_os_punch(sw_arena.fd, sw_page_address(page),
                           (size_t)page * SW_PAGE, size);
    if (z->kind == SW_ZONE_PRIVATE && !sw_show_forget(page, pages))
        return -1;
    return sw_os_discard(sw_page_address(page), size);
}

/* The same of what mlockall has locked, for no block uses it. */
static int wipe_locked(const sw_zone_t *z, uint32_t page, uint32_t pages)
{
    if (!wipe(z, page, pages))
        return 0;
    return z->kind != SW_ZONE_SHARED &&
                   sw_os_map_lazy(sw_page_address(page),
                                  (size_t)pages * SW_PAGE)
               ? 0 : -1;
}

/* Called with the lock, which is dropped during the system calls. Where the
 * system refuses, it is asked again when as much more is kept. */
static void give_back(sw_zone_t *z)
{
    size_t keep = sw_settings.arena_keep / SW_PAGE;
    if (sw_likely(z->kept <= keep) || z->punching || sw_os_locks_future ||
        (z->refused && z->kept <= z->refused + keep / 4))
        return;
    int saved = errno;
    z->punching = true;
    while (z->kept > keep - keep / 4) {
        uint32_t page = find_dirty(z);
        if (page == SW_NO_PAGE)
            break;
        uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
        uint32_t dirty = sw_pages[page].dirty;
        bin_remove(z, page);
        mark_used(page, pages);
        sw_page_mark(page, SW_PAGE_BUSY, pages);
        z->kept -= dirty;
        pthread_mutex_unlock(&z->lock);
        int rc = wipe_locked(z, page, pages);
        pthread_mutex_lock(&z->lock);
        if (!rc)
            sw_close(z, page, pages);
        put(z, page, pages, rc ? dirty : 0);
        z->refused = rc ? z->kept : 0;
        if (rc)
            break;
        z->given_back += dirty;
    }
    z->punching = false;
    errno = saved;
}

/* The interface ------------------------------------------------------- */

static void start(sw_zone_t *z, int kind, uint32_t first, uint32_t pages)
{
    static const pthread_mutex_t fresh = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    *z = (sw_zone_t){.kind = kind, .first = first, .end = first + pages,
                     .table_ready = first * sizeof(sw_page_t)};
    memcpy(&z->lock, &fresh, sizeof z->lock);
    atomic_init(&z->top, first);
    for (int b = 0; b < SW_BINS; b++)
        z->bin[b] = SW_NO_PAGE;
}

bool sw_extents_start(bool shared, uint32_t heap, uint32_t common,
                      uint32_t pages)
{
    sw_pages = sw_os_reserve(sw_extents_room((size_t)(common + pages) *
                                             SW_PAGE), SW_PAGE);
    if (!sw_pages)
        return false;
    start(&sw_heap_zone, shared ? SW_ZONE_SHARED : SW_ZONE_PRIVATE, 0, heap);
    start(&sw_common_zone, SW_ZONE_SHARED, common, pages);
    return true;
}

uint32_t sw_extents_take(sw_zone_t *z, uint32_t pages, uint32_t align)
{
    pthread_mutex_lock(&z->lock);
    uint32_t page = take(z, pages, align);
    pthread_mutex_unlock(&z->lock);
    return page;
}

void sw_extents_give(sw_zone_t *z, const uint32_t *page, int count)
{
    pthread_mutex_lock(&z->lock);
    for (int i = 0; i < count; i++)
        give(z, page[i]);
    give_back(z);
    pthread_mutex_unlock(&z->lock);
}

bool sw_extents_resize(uint32_t page, uint32_t pages)
{
    sw_zone_t *z = sw_zone_of(page);
    bool done = true;
    pthread_mutex_lock(&z->lock);
    uint32_t have = SW_HEAD_PAGES(sw_page_head(page));
    if (pages + TAIL_MIN <= have) {
        uint32_t tail = have - pages;
        mark_used(page, pages);
        z->out -= tail;
        put(z, page + pages, tail, tail);
        give_back(z);
    } else if (pages > have) {
        uint32_t right = page + have, more = pages - have;
        uint32_t room = 0, dirty = 0;
        if (right < z->top &&
            SW_HEAD_STATE(sw_page_head(right)) == SW_PAGE_FREE) {
            room = SW_HEAD_PAGES(sw_page_head(right));
            dirty = sw_pages[right].dirty;
        }
        bool at_top = right + room == z->top;
        if ((room >= more || (at_top && more <= z->end - right &&
                              table_reach(z, right + more))) &&
            sw_open(z, right, more)) {
            if (room) {
                bin_remove(z, right);
                z->kept -= dirty;
            }
            sw_page_mark(right, SW_PAGE_INNER, 0);
            mark_used(page, pages);
            if (room > more) {
                uint32_t rest = room - more;
                put(z, right + more, rest, dirty < rest ? dirty : rest);
            } else if (more > room) {
                atomic_store_explicit(&z->top, right + more,
                                      memory_order_relaxed);
            }
            z->out += more;
            if (z->out > z->out_peak)
                z->out_peak = z->out;
        } else {
            done = false;
        }
    }
    pthread_mutex_unlock(&z->lock);
    return done;
}

bool sw_extents_wipe(uint32_t page)
{
    int saved = errno;
    int rc = wipe(sw_zone_of(page), page, SW_HEAD_PAGES(sw_page_head(page)));
    errno = saved;
    return rc == 0;
}

static void add_stats(sw_zone_t *z, sw_arena_stats_t *to)
{
    pthread_mutex_lock(&z->lock);
    sw_assert(adds_up(z));
    to->in_use += z->out * SW_PAGE;
    to->in_use_peak += z->out_peak * SW_PAGE;
    to->kept += z->kept * SW_PAGE;
    to->given_back += z->given_back * SW_PAGE;
    pthread_mutex_unlock(&z->lock);
}

void sw_extents_stats(sw_arena_stats_t *to)
{
    add_stats(&sw_heap_zone, to);
    add_stats(&sw_common_zone, to);
}

/* Fork ---------------------------------------------------------------- */

void sw_extents_lock(void)
{
    pthread_mutex_lock(&sw_heap_zone.lock);
    pthread_mutex_lock(&sw_common_zone.lock);
}

void sw_extents_unlock(void)
{
    pthread_mutex_unlock(&sw_common_zone.lock);
    pthread_mutex_unlock(&sw_heap_zone.lock);
}

bool sw_extents_try(void)
{
    if (pthread_mutex_trylock(&sw_heap_zone.lock))
        return false;
    if (!pthread_mutex_trylock(&sw_common_zone.lock))
        return true;
    pthread_mutex_unlock(&sw_heap_zone.lock);
    return false;
}

void sw_extents_forked(sw_zone_t *z, uint32_t end, bool keep)
{
    static const pthread_mutex_t fresh = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    memcpy(&z->lock, &fresh, sizeof fresh);
    bool clean = z->kind == SW_ZONE_SHARED;     /* free extents were left out */
    if (clean)
        z->kind = SW_ZONE_GIVEN;
    z->punching = false;
    z->refused = 0;
    z->end = end;
    uint32_t top = sw_zone_top(z);
    for (uint32_t page = z->first; page < top && clean;
         page += SW_HEAD_PAGES(sw_page_head(page)))
        sw_pages[page].dirty = 0;
    z->kept = clean ? 0 : z->kept;
    for (uint32_t page = z->first; page < top;) {
        uint32_t head = sw_page_head(page);
        uint32_t pages = SW_HEAD_PAGES(head), next = page + pages;
        bool cached = !keep && SW_HEAD_STATE(head) == SW_PAGE_CACHED;
        if (cached || SW_HEAD_STATE(head) == SW_PAGE_BUSY) {
            /* It merges with a free neighbour, whose head is none then. */
            uint32_t right = next < top ? sw_page_head(next) : 0;
            if (SW_HEAD_STATE(right) == SW_PAGE_FREE)
                next += SW_HEAD_PAGES(right);
            z->out -= cached ? pages : 0;
            put(z, page, pages, clean ? 0 : pages);
        }
        page = next;
    }
    sw_assert(adds_up(z));
}
