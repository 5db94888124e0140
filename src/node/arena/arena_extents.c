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
 * Dirt is what may be resident of a free extent: at most `count` pages, all of
 * them in [low, high). It stands in the extent's two records. A cut divides the
 * stretch exactly, so that parts which were never touched stay clean. Dirty and
 * clean extents have bins of their own: memory that is there serves first.
 *
 * The sum of the counts is `kept`, and stays within what the program needs
 * anyway: handed out and kept pages are never more than were once handed out
 * at a time, and a slack (`may_keep`). The setting bounds it too. The thread
 * that passes the bound gives the largest dirty extents back to the system. It
 * goes on until half the slack is free again, so that each call of the system
 * is paid by many pages. The call runs without the lock: the extent is out of
 * the bins then.
 *
 * A program whose blocks never fit into its holes would give back in each of
 * its steps what the next one touches anew. So the slack doubles, up to that
 * most, whenever as much has been given back. In all, a program touches its
 * memory anew a few times at most, however long it runs.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_impl.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "node/base/settings.h"

#define SCAN 24                /* extents looked at for the best fit */
#define STEP ((size_t)1 << 20) /* the table grows by this many bytes */
#define TAIL_MIN 16            /* pages worth cutting off a used block */
#define SLACK_MIN 512u         /* pages: 2 MiB */
#define SLACK_PART 128         /* of the most that was handed out */
#define SCARCE 4               /* see choose */

/* The table ----------------------------------------------------------- */

/* Make records up to and including `page` usable. */
static bool table_reach(sw_zone_t *z, uint32_t page)
{
    size_t need = ((size_t)page + 1) * sizeof(sw_page_t);
    if (sw_likely(need <= z->table_ready))
        return true;
    size_t end = sw_min(
        sw_round_up(need, STEP),
        sw_round_up(((size_t)z->end + 1) * sizeof(sw_page_t), SW_PAGE));
    if (!sw_os_map_private((char *)sw_pages + z->table_ready,
                           end - z->table_ready))
        return false;
    z->table_ready = end;
    return true;
}

/* Dirt ---------------------------------------------------------------- */

static const sw_dirt_t clean = {0};

/* Of a free extent: in its first record how much, in its last one where. */
static sw_dirt_t dirt_of(uint32_t page)
{
    uint32_t count = sw_pages[page].dirty;
    uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
    if (!count)
        return clean;
    if (pages == 1)
        return sw_arena_all_dirty(page, 1);
    const sw_page_t *tail = &sw_pages[page + pages - 1];
    return (sw_dirt_t){count, tail->prev, tail->next};
}

static sw_dirt_t joined(sw_dirt_t a, sw_dirt_t b)
{
    if (!a.count || !b.count)
        return a.count ? a : b;
    return (sw_dirt_t){a.count + b.count, sw_min(a.low, b.low),
                       sw_max(a.high, b.high)};
}

/* What [from, end) may have of it. */
static sw_dirt_t within(sw_dirt_t d, uint32_t from, uint32_t end)
{
    d.low = sw_max(d.low, from);
    d.high = sw_min(d.high, end);
    if (!d.count || d.low >= d.high)
        return clean;
    d.count = sw_min(d.count, d.high - d.low);
    return d;
}

/* Bins ---------------------------------------------------------------- */

static sw_bins_t *bins_of(sw_zone_t *z, uint32_t page)
{
    return &z->bins[sw_pages[page].dirty != 0];
}

static void bin_add(sw_zone_t *z, uint32_t page, uint32_t pages, sw_dirt_t dirt)
{
    int b = sw_arena_class_of(pages);
    sw_page_t *p = &sw_pages[page];
    sw_page_mark(page, SW_PAGE_FREE, pages);
    p->dirty = dirt.count;
    if (pages > 1) {
        sw_page_mark(page + pages - 1, SW_PAGE_TAIL, pages);
        sw_pages[page + pages - 1].prev = dirt.low;
        sw_pages[page + pages - 1].next = dirt.high;
    }
    sw_bins_t *bins = bins_of(z, page);
    p->prev = SW_NO_PAGE;
    p->next = bins->first[b];
    if (p->next != SW_NO_PAGE)
        sw_pages[p->next].prev = page;
    bins->first[b] = page;
    bins->filled[b / 64] |= 1ull << b % 64;
}

static void bin_remove(sw_zone_t *z, uint32_t page)
{
    sw_bins_t *bins = bins_of(z, page);
    sw_page_t *p = &sw_pages[page];
    int b = sw_arena_class_of(SW_HEAD_PAGES(sw_page_head(page)));
    if (p->prev != SW_NO_PAGE)
        sw_pages[p->prev].next = p->next;
    else
        bins->first[b] = p->next;
    if (p->next != SW_NO_PAGE)
        sw_pages[p->next].prev = p->prev;
    if (bins->first[b] == SW_NO_PAGE)
        bins->filled[b / 64] &= ~(1ull << b % 64);
}

/* The first filled bin at or above b, or SW_BINS. */
static int bin_from(const sw_bins_t *bins, int b)
{
    for (int w = b / 64; w < SW_BINS / 64; w++) {
        uint64_t bits = bins->filled[w];
        if (w == b / 64)
            bits &= ~0ull << b % 64;
        if (bits)
            return w * 64 + __builtin_ctzll(bits);
    }
    return SW_BINS;
}

static uint32_t bin_find(const sw_bins_t *bins, uint32_t need)
{
    for (int b = bin_from(bins, sw_arena_class_of(need)); b < SW_BINS;
         b = bin_from(bins, b + 1)) {
        uint32_t best = SW_NO_PAGE, best_pages = UINT32_MAX;
        int look = SCAN;
        for (uint32_t p = bins->first[b]; p != SW_NO_PAGE && look;
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

/* A dirty extent serves before a clean one. But a long one is not broken for a
 * small need: its next user would have to take fresh memory in its place. */
static uint32_t choose(const sw_zone_t *z, uint32_t need)
{
    uint32_t used = bin_find(&z->bins[1], need);
    uint32_t fresh = bin_find(&z->bins[0], need);
    if (used == SW_NO_PAGE || fresh == SW_NO_PAGE)
        return used == SW_NO_PAGE ? fresh : used;
    return SW_HEAD_PAGES(sw_page_head(fresh)) <
                   SW_HEAD_PAGES(sw_page_head(used)) / SCARCE
               ? fresh
               : used;
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
static void put(sw_zone_t *z, uint32_t page, uint32_t pages, sw_dirt_t dirt)
{
    sw_assert(pages && page >= z->first && page + pages <= z->top);
    sw_assert(!dirt.count || (dirt.low >= page && dirt.high <= page + pages &&
                              dirt.count <= dirt.high - dirt.low));
    z->kept += dirt.count;
    uint32_t left = free_before(z, page);
    if (left != SW_NO_PAGE) {
        dirt = joined(dirt_of(left), dirt);
        bin_remove(z, left);
        sw_page_mark(page, SW_PAGE_INNER, 0); /* begins no block any more */
        pages += SW_HEAD_PAGES(sw_page_head(left));
        page = left;
    }
    uint32_t right = page + pages;
    if (right < z->top) {
        uint32_t head = sw_page_head(right);
        if (SW_HEAD_STATE(head) == SW_PAGE_FREE) {
            dirt = joined(dirt, dirt_of(right));
            bin_remove(z, right);
            pages += SW_HEAD_PAGES(head);
        }
    }
    sw_assert(free_before(z, page) == SW_NO_PAGE);
    sw_assert(page + pages >= z->top || !is_free(page + pages));
    bin_add(z, page, pages, dirt);
}

/* Cut [at, at+pages) out of an extent in no bin, with its dirt (already taken
 * out of `kept`); the rest becomes free again. */
static void carve(sw_zone_t *z, uint32_t page, uint32_t all, sw_dirt_t dirt,
                  uint32_t at, uint32_t pages)
{
    uint32_t before = at - page, end = at + pages, after = page + all - end;
    mark_used(at, pages);
    if (before)
        put(z, page, before, within(dirt, page, at));
    if (after)
        put(z, end, after, within(dirt, end, page + all));
}

static void handed_out(sw_zone_t *z, uint32_t pages)
{
    z->out += pages;
    if (z->out > z->out_peak)
        z->out_peak = z->out;
}

static uint32_t take(sw_zone_t *z, uint32_t pages, uint32_t align,
                     sw_dirt_t *dirt)
{
    uint32_t need = pages + align - 1;
    if (need < pages)
        return SW_NO_PAGE;
    uint32_t page = choose(z, need), all = 0;
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
    uint32_t at = page +
                  (uint32_t)((sw_round_up(address, (size_t)align * SW_PAGE) -
                              address) /
                             SW_PAGE);
    *dirt = all ? dirt_of(page) : clean;
    if (align == 1 && all > pages && at + pages <= dirt->low)
        at = sw_min(dirt->low, page + all - pages);
    if (!sw_arena_open(z, at, pages))
        return SW_NO_PAGE;
    if (all) {
        bin_remove(z, page);
        sw_assert(dirt->count <= z->kept);
        z->kept -= dirt->count;
    }
    if (all < need) {
        all = need;
        atomic_store_explicit(&z->top, page + need, memory_order_relaxed);
    }
    carve(z, page, all, *dirt, at, pages);
    *dirt = within(*dirt, at, at + pages);
    handed_out(z, pages);
    return at;
}

static void give(sw_zone_t *z, uint32_t page)
{
    uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
    sw_assert(SW_HEAD_STATE(sw_page_head(page)) >= SW_PAGE_CACHED);
    sw_assert(pages <= z->out);
    z->out -= pages;
    put(z, page, pages, sw_arena_all_dirty(page, pages));
}

/* Giving back --------------------------------------------------------- */

/* The largest dirty extent, roughly: the first of the top bin. */
static uint32_t find_dirty(const sw_zone_t *z)
{
    const sw_bins_t *bins = &z->bins[1];
    for (int w = SW_BINS / 64 - 1; w >= 0; w--)
        if (bins->filled[w])
            return bins->first[w * 64 + 63 - __builtin_clzll(bins->filled[w])];
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
    return z->kind != SW_ZONE_SHARED && sw_os_map_lazy(sw_page_address(page),
                                                       (size_t)pages * SW_PAGE)
               ? 0
               : -1;
}

static size_t slack(const sw_zone_t *z)
{
    return sw_max(z->out_peak / SLACK_PART, z->slack);
}

/* How many pages a zone may keep. */
static size_t may_keep(const sw_zone_t *z)
{
    return sw_min(sw_settings.arena_keep / SW_PAGE,
                  z->out_peak - z->out + slack(z));
}

/* Given back because of the slack, and not of the setting. */
static void widen(sw_zone_t *z, size_t pages)
{
    z->since_wider += pages;
    if (z->since_wider > z->out_peak && slack(z) < z->out_peak) {
        z->since_wider = 0;
        z->slack = 2 * slack(z);
    }
}

/* The whole units of an extent that its dirt lay in. */
static void close_around(const sw_zone_t *z, uint32_t page, uint32_t pages,
                         sw_dirt_t dirt)
{
    uint32_t unit = SW_HUGE / SW_PAGE, end = page + pages;
    uint32_t from = sw_max(page, dirt.low / unit * unit);
    uint32_t to = sw_min(end, (uint32_t)sw_round_up(dirt.high, unit));
    sw_arena_close(z, from, to - from);
}

/* Called with the lock, which is dropped during the system calls. Where the
 * system refuses, it is asked again when as much more is kept. */
static void give_back(sw_zone_t *z)
{
    size_t keep = may_keep(z);
    if (sw_likely(z->kept <= keep) || z->punching || sw_os_locks_future ||
        (z->refused && z->kept <= z->refused + slack(z)))
        return;
    int saved = errno;
    size_t aim = keep - sw_min(keep, slack(z) / 2);
    z->punching = true;
    while (z->kept > aim) {
        uint32_t page = find_dirty(z);
        if (page == SW_NO_PAGE)
            break;
        uint32_t pages = SW_HEAD_PAGES(sw_page_head(page));
        sw_dirt_t dirt = dirt_of(page);
        bin_remove(z, page);
        mark_used(page, pages);
        sw_page_mark(page, SW_PAGE_BUSY, pages);
        z->kept -= dirt.count;
        pthread_mutex_unlock(&z->lock);
        int rc = wipe_locked(z, dirt.low, dirt.high - dirt.low);
        pthread_mutex_lock(&z->lock);
        if (!rc)
            close_around(z, page, pages, dirt);
        put(z, page, pages, rc ? dirt : clean);
        z->refused = rc ? z->kept : 0;
        if (rc)
            break;
        z->given_back += dirt.count;
        if (keep < sw_settings.arena_keep / SW_PAGE)
            widen(z, dirt.count);
    }
    z->punching = false;
    errno = saved;
}

/* The interface ------------------------------------------------------- */

static void start(sw_zone_t *z, int kind, uint32_t first, uint32_t pages)
{
    static const pthread_mutex_t fresh = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    *z = (sw_zone_t){.kind = kind,
                     .first = first,
                     .end = first + pages,
                     .table_ready = first * sizeof(sw_page_t),
                     .slack = SLACK_MIN};
    memcpy(&z->lock, &fresh, sizeof z->lock);
    atomic_init(&z->top, first);
    for (int b = 0; b < SW_BINS; b++)
        z->bins[0].first[b] = z->bins[1].first[b] = SW_NO_PAGE;
}

bool sw_extents_start(bool shared, uint32_t heap, uint32_t common,
                      uint32_t pages)
{
    sw_pages = sw_os_reserve(
        sw_extents_room((size_t)(common + pages) * SW_PAGE), SW_PAGE);
    if (!sw_pages)
        return false;
    start(&sw_heap_zone, shared ? SW_ZONE_SHARED : SW_ZONE_PRIVATE, 0, heap);
    start(&sw_common_zone, SW_ZONE_SHARED, common, pages);
    return true;
}

uint32_t sw_extents_take(sw_zone_t *z, uint32_t pages, uint32_t align,
                         sw_dirt_t *dirt)
{
    pthread_mutex_lock(&z->lock);
    uint32_t page = take(z, pages, align, dirt);
    give_back(z);
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
        put(z, page + pages, tail, sw_arena_all_dirty(page + pages, tail));
    } else if (pages > have) {
        uint32_t right = page + have, more = pages - have;
        uint32_t room = 0;
        sw_dirt_t dirt = clean;
        if (right < z->top && is_free(right)) {
            room = SW_HEAD_PAGES(sw_page_head(right));
            dirt = dirt_of(right);
        }
        bool at_top = right + room == z->top;
        if ((room >= more || (at_top && more <= z->end - right &&
                              table_reach(z, right + more))) &&
            sw_arena_open(z, right, more)) {
            if (room) {
                bin_remove(z, right);
                z->kept -= dirt.count;
            }
            sw_page_mark(right, SW_PAGE_INNER, 0);
            mark_used(page, pages);
            if (room > more) {
                put(z, right + more, room - more,
                    within(dirt, right + more, right + room));
            } else if (more > room) {
                atomic_store_explicit(&z->top, right + more,
                                      memory_order_relaxed);
            }
            handed_out(z, more);
        } else {
            done = false;
        }
    }
    give_back(z);
    pthread_mutex_unlock(&z->lock);
    return done;
}

bool sw_extents_wipe(uint32_t page, uint32_t pages)
{
    int saved = errno;
    int rc = wipe(sw_zone_of(page), page, pages);
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
    bool empty = z->kind == SW_ZONE_SHARED; /* free extents were left out */
    if (empty)
        z->kind = SW_ZONE_GIVEN;
    z->punching = false;
    z->refused = 0;
    z->end = end;
    uint32_t top = sw_zone_top(z);
    for (uint32_t page = z->first, pages; page < top && empty; page += pages) {
        pages = SW_HEAD_PAGES(sw_page_head(page));
        if (is_free(page)) {
            bin_remove(z, page);
            bin_add(z, page, pages, clean);
        }
    }
    z->kept = empty ? 0 : z->kept;
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
            put(z, page, pages,
                empty ? clean : sw_arena_all_dirty(page, pages));
        }
        page = next;
    }
    sw_assert(adds_up(z));
}
