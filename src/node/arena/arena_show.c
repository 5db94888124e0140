/*
 * arena_show.c - private pages become shared; see show.h.
 *
 * A few bits tell how each page stands (arena_bits.h). Whether a page may be
 * replaced is asked at the gate (arena_gate.h).
 *
 * What is shown when. Showing a page takes as long as the hosts need to move
 * some tens of KiB. So a buffer that the program uses once is never shown. Each
 * byte that went another way earns credit, and each byte that is shown costs
 * STRAIGHTWAY_SHOW_AFTER times as much. Whatever the program does, the time
 * spent on showing is then bounded by a part of what communication took anyway.
 *
 * Threads read bits without the lock and write them with it. A page's bit
 * changes only while a call that owns the page's bytes is under way, or when
 * the program frees its block. So no thread relies on an answer that changes.
 *
 * Where shared memory gets huge pages for the asking, runs of 2 MiB ask: the
 * file's pages are made by a mapping that does, and then written.
 *
 * Each border between shown and private pages is one mapping more for the
 * kernel, which has a limit for them (vm.max_map_count): a quarter of it is
 * ours. Beyond, what is not shown stays private.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_gate.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "node/base/settings.h"

#define STEP ((uint64_t)2048) /* pages that are there twice meanwhile */
#define CREDIT_MAX ((size_t)1 << 30)

const sw_placement_t *sw_show_placement;
sw_showing_t sw_showing;
_Thread_local sw_show_cost_t sw_show_cost
    __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t credit;
static bool asks_huge;
static int64_t borders_max;

/* Showing, with the lock ------------------------------------------------ */

static int64_t most_mappings(void)
{
    char text[32];
    if (sw_os_read_text("/proc/sys/vm/max_map_count", text, sizeof text) <= 0)
        return 65530;
    return atoll(text);
}

static const sw_placement_t the_systems = {sw_os_nodes_of, sw_os_prefer_node};

/* Most processes that start with us show nothing: what showing needs is made at
 * the first time. False: the system refuses. */
static bool ready(void)
{
    if (sw_likely(sw_showing.alias))
        return true;
    borders_max = most_mappings() / 4;
    if (sw_os_memory_nodes() > 1)
        sw_show_placement = &the_systems;
    char *alias = sw_os_map_shared(NULL, sw_arena.span, sw_arena.fd, 0);
    asks_huge = alias && sw_arena_shared_asks_huge() &&
                !sw_os_huge_advice(alias, sw_arena.span);
    sw_showing.alias = alias;
    return alias != NULL;
}

static void count_again(uint64_t first, uint64_t end)
{
    uint64_t bytes = sw_bits_count(SW_BIT_BEFORE, first, end) * SW_PAGE;
    sw_bits_set(SW_BIT_BEFORE, first, end, true);
    sw_showing.stats.again += bytes;
    sw_show_cost.again += bytes;
}

#define HUGE (SW_HUGE / SW_PAGE)

/* In vain, they are small ones. */
static void make_huge_pages(uint64_t first, uint64_t end)
{
    uint64_t low = sw_round_up(first, HUGE), high = end / HUGE * HUGE;
    if (asks_huge && low < high)
        sw_os_populate(sw_showing.alias + low * SW_PAGE,
                       (high - low) * SW_PAGE);
}

/* The program has asked for huge pages there: it need not ask again. */
static void ask_again(uint64_t first, uint64_t pages)
{
    uint64_t end = first + pages, run;
    for (; sw_bits_next(SW_BIT_HUGE, true, &first, end, &run); first += run)
        sw_os_huge_advice(sw_run_address(first), run * SW_PAGE);
}

static bool show_run(uint64_t first, uint64_t pages)
{
    char *at = sw_run_address(first);
    size_t size = pages * SW_PAGE, offset = first * SW_PAGE;
    int more = sw_run_borders(first, first + pages);
    if (!at || sw_showing.borders + more > borders_max ||
        !sw_bits_set(SW_BIT_BACKED, first, first + pages, true))
        return false;
    sw_assert(sw_gate_granted(first, pages));
    sw_assert(!sw_bits_any(SW_BIT_SHOWN, first, first + pages));
    sw_assert(!sw_bits_any(SW_BIT_FROZEN, first, first + pages));
    sw_assert(!sw_bits_any(SW_BIT_SPOKEN, first, first + pages));
    make_huge_pages(first, first + pages);
    if (sw_os_show(sw_arena.fd, at, size, offset))
        return false;
    sw_showing.borders += more;
    sw_showing.stats.shown += size;
    sw_showing.stats.bytes += size;
    count_again(first, first + pages);
    ask_again(first, pages);
    return sw_bits_set(SW_BIT_SHOWN, first, first + pages, true);
}

/* How many of these pages lie on one node. The file's come to lie there as
 * well: a program's threads have touched them first where they compute. */
static uint64_t place(uint64_t first, uint64_t pages)
{
    static int node[STEP];
    const char *at = sw_run_address(first);
    uint64_t n = 1;
    if (!sw_show_placement || !at ||
        sw_show_placement->nodes_of(at, pages, node))
        return pages;
    while (n < pages && node[n] == node[0])
        n++;
    sw_show_placement->prefer(node[0]);
    return n;
}

/* Show what is not yet shown of [first, end). */
static bool show_pages(uint64_t first, uint64_t end)
{
    sigset_t none, before;
    uint64_t start = sw_os_now(), took, pages;
    bool done = true;
    /* A handler must not write to what is being replaced. */
    sigfillset(&none);
    pthread_sigmask(SIG_SETMASK, &none, &before);
    while (done && sw_bits_next(SW_BIT_SHOWN, false, &first, end, &pages)) {
        pages = place(first, sw_min(pages, STEP - first % HUGE));
        done = show_run(first, pages);
        first += pages;
    }
    if (sw_show_placement)
        sw_show_placement->prefer(-1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    took = sw_os_now() - start;
    sw_showing.stats.times++;
    sw_showing.stats.nanoseconds += took;
    sw_show_cost.nanoseconds += took;
    sw_showing.stats.refused += !done;
    return done;
}

/* Has the file a page of its own here? What is shown is backed. */
static bool is_there(uint64_t page)
{
    return sw_bits_is(SW_BIT_BACKED, page);
}

/* Gives a page at an end a page of the file, of which peers see only the
 * staged bytes. */
static bool back_page(uint64_t page)
{
    static const char zero;
    if (is_there(page))
        return true;
    return !sw_os_write_at(sw_arena.fd, &zero, 1, page * SW_PAGE) &&
           sw_bits_set(SW_BIT_BACKED, page, page + 1, true);
}

/* Is it worth `pages` to show, after a use of n bytes? */
static bool worth(sw_run_t run, size_t n, uint64_t pages)
{
    size_t price = pages * SW_PAGE * sw_settings.show_after;
    if (!price)
        return true;
    /* Unused credit is bounded, but a buffer can earn its own price. */
    credit = sw_max(credit, sw_min(credit + n, sw_max(CREDIT_MAX, price)));
    bool again = sw_bits_all(SW_BIT_USED, run.first, run.end);
    if (!again)
        sw_bits_set(SW_BIT_USED, run.first, run.end, true);
    if (!again || price > credit)
        return false;
    credit -= price;
    return true;
}

sw_run_t sw_run_inside(const void *p, size_t n, sw_run_t all)
{
    uintptr_t from = (uintptr_t)p, to = from + n;
    uintptr_t block_end = sw_block_end(p);
    uint64_t low = all.first + (from % SW_PAGE && !block_end);
    uint64_t high = all.end - (to % SW_PAGE && !(block_end && to >= block_end));
    return (sw_run_t){low, sw_max(low, high)};
}

/* How many pages lack what they need. */
static uint64_t missing(sw_run_t all, sw_run_t own)
{
    uint64_t n = own.end - own.first -
                 sw_bits_count(SW_BIT_SHOWN, own.first, own.end);
    if (all.first < own.first)
        n += !is_there(all.first);
    if (own.end < all.end && all.end - 1 >= own.first)
        n += !is_there(all.end - 1);
    return n;
}

/* Show what may be shown of a call's pages, and back those at its ends. */
static bool reach(sw_run_t all, sw_run_t own)
{
    sw_run_t run = sw_gate_call(all, own);
    if (sw_run_none(run)) {
        if (!sw_run_none(own) || !sw_gate_ours())
            return false;
        run = own;
    }
    return ready() && (sw_run_none(run) || show_pages(run.first, run.end)) &&
           (all.first == run.first || back_page(all.first)) &&
           (all.end == run.end || back_page(all.end - 1));
}

/* Are all pages the file's, and may peers touch them? What the program has
 * protected must fault in its own process. */
static bool all_shown(sw_run_t run)
{
    return sw_bits_all(SW_BIT_SHOWN, run.first, run.end) &&
           !sw_arena_said_guarded(run);
}

uint64_t sw_show_slow(const void *p, size_t n, uint64_t offset)
{
    sw_run_t all = sw_run_of(offset, n);
    if (all_shown(all))
        return offset;
    if (!sw_gate_may(n) || sw_arena_said_guarded(all))
        return UINT64_MAX;
    sw_run_t own = sw_run_inside(p, n, all);
    uint64_t lacks = missing(all, own);
    if (!lacks)
        return offset;
    int saved = errno;
    sw_show_lock();
    bool done = worth(all, n, lacks) && reach(all, own);
    sw_show_unlock();
    errno = saved;
    return done ? offset : UINT64_MAX;
}

/* Shows all pages of a stretch of which no byte is the call's own; with the
 * lock. */
static bool show_strange(sw_run_t all)
{
    static const sw_run_t none;
    return !sw_run_none(sw_gate_call(all, none)) && ready() &&
           show_pages(all.first, all.end);
}

uint64_t sw_show_span_slow(size_t n, uint64_t offset)
{
    sw_run_t all = sw_run_of(offset, n);
    if (all_shown(all))
        return offset;
    if (!sw_gate_may(n))
        return UINT64_MAX;
    int saved = errno;
    sw_show_lock();
    bool done = worth(all, n, missing(all, all)) && show_strange(all);
    sw_show_unlock();
    errno = saved;
    return done ? offset : UINT64_MAX;
}

uint64_t sw_show_whole(const void *p, size_t n)
{
    uint64_t offset = sw_arena_offset(p, n);
    if (offset == UINT64_MAX || sw_shown_always(offset))
        return offset;
    sw_run_t all = sw_run_of(offset, n);
    int saved = errno;
    sw_show_lock();
    bool done = all_shown(all) || (sw_gate_may(n) && show_strange(all));
    sw_show_unlock();
    errno = saved;
    sw_show_freeze(p, n);
    return done ? offset : UINT64_MAX;
}

/* The ends --------------------------------------------------------------- */

typedef struct {
    size_t at, bytes; /* from the beginning of the buffer */
} piece_t;

/* The parts of [p, p+n) in pages that are not shown: at most two. */
static int ends(size_t n, uint64_t offset, piece_t piece[2])
{
    uint64_t first = offset / SW_PAGE, last = (offset + n - 1) / SW_PAGE;
    int pieces = 0;
    if (!sw_bits_is(SW_BIT_SHOWN, first))
        piece[pieces++] = (piece_t){0,
                                    sw_min(n, (first + 1) * SW_PAGE - offset)};
    if (last != first && !sw_bits_is(SW_BIT_SHOWN, last))
        piece[pieces++] = (piece_t){last * SW_PAGE - offset,
                                    offset + n - last * SW_PAGE};
    return pieces;
}

void sw_show_stage_slow(const void *p, size_t n, uint64_t offset)
{
    piece_t piece[2];
    if (offset == UINT64_MAX)
        return;
    for (int i = ends(n, offset, piece); i-- > 0;)
        memcpy(sw_showing.alias + offset + piece[i].at,
               (const char *)p + piece[i].at, piece[i].bytes);
}

void sw_show_fetch_slow(void *p, size_t n, uint64_t offset)
{
    piece_t piece[2];
    if (offset == UINT64_MAX)
        return;
    for (int i = ends(n, offset, piece); i-- > 0;)
        memcpy((char *)p + piece[i].at, sw_showing.alias + offset + piece[i].at,
               piece[i].bytes);
}

/* Start, fork, figures ---------------------------------------------------- */

void sw_show_start(void)
{
    sw_shown_from = sw_show_mode == SW_SHOW_EAGER
                        ? 0
                        : (uint64_t)sw_common_zone.first * SW_PAGE;
    sw_shown_bytes = sw_show_mode == SW_SHOW_EAGER
                         ? INT64_MAX
                         : (uint64_t)(sw_common_zone.end -
                                      sw_common_zone.first) *
                               SW_PAGE;
}

void sw_show_lock(void)
{
    pthread_mutex_lock(&lock);
}

void sw_show_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

bool sw_show_try(void)
{
    return !pthread_mutex_trylock(&lock);
}

bool sw_show_next(uint64_t *first, uint64_t end, uint64_t *pages)
{
    return sw_bits_next(SW_BIT_SHOWN, true, first, end, pages);
}

void sw_show_forked(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    memcpy(&lock, &fresh, sizeof lock);
    sw_arena_said_forked();
    sw_bits_forget();
    sw_show_unhold();
    if (sw_showing.alias)
        sw_os_unmap(sw_showing.alias, sw_arena.span);
    sw_showing = (sw_showing_t){0};
}

void sw_show_stats(sw_show_stats_t *to)
{
    sw_show_lock();
    *to = sw_showing.stats;
    sw_show_unlock();
}
