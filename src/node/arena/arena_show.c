/*
 * arena_show.c - private pages become shared; see show.h.
 *
 * A few bits tell how each page stands (arena_bits.h).
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
#include "arena_bits.h"
#include "arena_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "node/base/settings.h"

#define STEP ((uint64_t)2048)   /* pages that are there twice meanwhile      */
#define CREDIT_MAX ((size_t)1 << 30)

sw_show_mode_t sw_show_mode;
uint64_t sw_shown_from, sw_shown_bytes = INT64_MAX;
bool (*sw_show_quiet)(void);
bool (*sw_show_barred)(void);
const sw_placement_t *sw_show_placement;
_Thread_local sw_show_cost_t sw_show_cost
    __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *alias;             /* the file, as peers have it                */
static size_t credit;
static bool asks_huge;
static int64_t borders, borders_max;
static bool lost;               /* the program has closed our descriptor     */
static _Atomic bool holds;      /* see sw_show_hold                          */
static sw_show_stats_t stats;   /* with the lock                             */

/* The file's pages of which n bytes at an offset have a part. */
typedef struct {
    uint64_t first, end;
} pages_t;

static pages_t pages_of(uint64_t offset, size_t n)
{
    return (pages_t){offset / SW_PAGE, (offset + n - 1) / SW_PAGE + 1};
}

/* Where a page of the file lies in this process. */
static char *address(uint64_t page)
{
    uint64_t offset = page * SW_PAGE;
    for (int i = 0; i < sw_arena.count; i++)
        if (offset - sw_arena.range[i].offset < sw_arena.range[i].size)
            return sw_arena.range[i].start +
                   (offset - sw_arena.range[i].offset);
    return NULL;
}

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
    if (sw_likely(alias))
        return true;
    borders_max = most_mappings() / 4;
    if (sw_os_memory_nodes() > 1)
        sw_show_placement = &the_systems;
    alias = sw_os_map_shared(NULL, sw_arena.span, sw_arena.fd, 0);
    asks_huge = alias && sw_arena_shared_asks_huge() &&
                !sw_os_huge_advice(alias, sw_arena.span);
    return alias != NULL;
}

/* The program may have given our descriptor's number to another file by now. */
static bool ours(void)
{
    if (!lost && !sw_same_file(sw_os_file_id(sw_arena.fd), sw_arena.file))
        lost = true;
    return !lost && ready();
}

/* What a run would add to the borders. */
static int more_borders(uint64_t first, uint64_t end)
{
    return (first && sw_bits_is(SW_BIT_SHOWN, first - 1) ? -1 : 1) +
           (sw_bits_is(SW_BIT_SHOWN, end) ? -1 : 1);
}

static void count_again(uint64_t first, uint64_t end)
{
    uint64_t bytes = sw_bits_count(SW_BIT_BEFORE, first, end) * SW_PAGE;
    sw_bits_set(SW_BIT_BEFORE, first, end, true);
    stats.again += bytes;
    sw_show_cost.again += bytes;
}

#define HUGE (SW_HUGE / SW_PAGE)

/* In vain, they are small ones. */
static void make_huge_pages(uint64_t first, uint64_t end)
{
    uint64_t low = sw_round_up(first, HUGE), high = end / HUGE * HUGE;
    if (asks_huge && low < high)
        sw_os_populate(alias + low * SW_PAGE, (high - low) * SW_PAGE);
}

static bool show_run(uint64_t first, uint64_t pages)
{
    char *at = address(first);
    size_t size = pages * SW_PAGE, offset = first * SW_PAGE;
    int more = more_borders(first, first + pages);
    if (!at || borders + more > borders_max ||
        !sw_bits_set(SW_BIT_BACKED, first, first + pages, true))
        return false;
    sw_assert(!sw_bits_any(SW_BIT_SHOWN, first, first + pages));
    sw_assert(!sw_bits_any(SW_BIT_FROZEN, first, first + pages));
    make_huge_pages(first, first + pages);
    if (sw_os_show(sw_arena.fd, at, size, offset))
        return false;
    borders += more;
    stats.shown += size;
    stats.bytes += size;
    count_again(first, first + pages);
    return sw_bits_set(SW_BIT_SHOWN, first, first + pages, true);
}

/* How many of these pages lie on one node. The file's come to lie there as
 * well: a program's threads have touched them first where they compute. */
static uint64_t place(uint64_t first, uint64_t pages)
{
    static int node[STEP];
    const char *at = address(first);
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
    stats.times++;
    stats.nanoseconds += took;
    sw_show_cost.nanoseconds += took;
    stats.refused += !done;
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
static bool worth(uint64_t first, uint64_t end, size_t n, uint64_t pages)
{
    size_t price = pages * SW_PAGE * sw_settings.show_after;
    if (!price)
        return true;
    /* Unused credit is bounded, but whatever one buffer costs can be earned. */
    credit = sw_max(credit, sw_min(credit + n, sw_max(CREDIT_MAX, price)));
    bool again = sw_bits_all(SW_BIT_USED, first, end);
    if (!again)
        sw_bits_set(SW_BIT_USED, first, end, true);
    if (!again || price > credit)
        return false;
    credit -= price;
    return true;
}

/* The pages [low, high) of [first, end) that [p, p+n) has for itself. */
static void inside(const void *p, size_t n, uint64_t first, uint64_t end,
                   uint64_t *low, uint64_t *high)
{
    uintptr_t from = (uintptr_t)p, to = from + n;
    uintptr_t block_end = sw_block_end(p);
    *low = first + (from % SW_PAGE && !block_end);
    *high = end - (to % SW_PAGE && !(block_end && to >= block_end));
    if (*high < *low)
        *high = *low;
}

#define NEAR 16u        /* pages of the stack that this call may write to     */

/* May foreign bytes in [first, end) be replaced as well? A program may run on a
 * stack that is a heap block (a coroutine), where this very call writes. */
static bool is_quiet(uint64_t first, uint64_t end)
{
    uint64_t here = sw_arena_offset(__builtin_frame_address(0), 1);
    bool on_it = here != UINT64_MAX && here / SW_PAGE + NEAR >= first &&
                 here / SW_PAGE < end + NEAR;
    return !on_it && sw_show_quiet && sw_show_quiet();
}

/* Show [low, high), and back the rest of [first, end). */
static bool reach(uint64_t first, uint64_t low, uint64_t high, uint64_t end)
{
    if (low < high && !show_pages(low, high))
        return false;
    return (first == low || back_page(first)) &&
           (end == high || back_page(end - 1));
}

/* How many pages lack what they need. */
static uint64_t missing(uint64_t first, uint64_t low, uint64_t high,
                        uint64_t end)
{
    uint64_t n = high - low - sw_bits_count(SW_BIT_SHOWN, low, high);
    if (first < low)
        n += !is_there(first);
    if (high < end && end - 1 >= low)
        n += !is_there(end - 1);
    return n;
}

static bool may_show(size_t n)
{
    return sw_show_mode == SW_SHOW_LAZY && n <= sw_arena_plain_max &&
           sw_arena.fd >= 0 && !lost && !(sw_show_barred && sw_show_barred());
}

static uint64_t show(const void *p, size_t n, uint64_t offset, bool now)
{
    pages_t in = pages_of(offset, n);
    uint64_t low, high;
    inside(p, n, in.first, in.end, &low, &high);
    uint64_t lacks = missing(in.first, low, high, in.end);
    if (!lacks)
        return offset;
    int saved = errno;
    pthread_mutex_lock(&lock);
    bool done = now || worth(in.first, in.end, n, lacks);
    if (done && (low > in.first || high < in.end) &&
        !sw_bits_any(SW_BIT_FROZEN, in.first, in.end) &&
        is_quiet(in.first, in.end)) {
        low = in.first;
        high = in.end;
    }
    done = done && !sw_bits_any(SW_BIT_FROZEN, low, high) && ours() &&
           reach(in.first, low, high, in.end);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done ? offset : UINT64_MAX;
}

uint64_t sw_show_slow(const void *p, size_t n, uint64_t offset)
{
    pages_t in = pages_of(offset, n);
    if (sw_bits_all(SW_BIT_SHOWN, in.first, in.end))
        return offset;
    return may_show(n) ? show(p, n, offset, false) : UINT64_MAX;
}

uint64_t sw_show_span_slow(size_t n, uint64_t offset)
{
    pages_t in = pages_of(offset, n);
    int saved = errno;
    if (sw_bits_all(SW_BIT_SHOWN, in.first, in.end))
        return offset;
    if (!may_show(n))
        return UINT64_MAX;
    pthread_mutex_lock(&lock);
    bool done = worth(in.first, in.end, n,
                      missing(in.first, in.first, in.end, in.end)) &&
                is_quiet(in.first, in.end) &&
                !sw_bits_any(SW_BIT_FROZEN, in.first, in.end) && ours() &&
                show_pages(in.first, in.end);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return done ? offset : UINT64_MAX;
}

void sw_show_now(const void *p, size_t n)
{
    uint64_t offset = n ? sw_arena_offset(p, n) : UINT64_MAX;
    if (offset != UINT64_MAX && !sw_shown_always(offset) && may_show(n))
        show(p, n, offset, true);
}

/* Does nobody rely on what is private of [first, end)? */
static bool may_replace(uint64_t first, uint64_t end)
{
    for (uint64_t pages; sw_bits_next(SW_BIT_SHOWN, false, &first, end, &pages);
         first += pages)
        if (sw_bits_any(SW_BIT_FROZEN, first, first + pages))
            return false;
    return true;
}

static bool show_whole(const void *p, size_t n, uint64_t first, uint64_t end)
{
    uint64_t low, high;
    inside(p, n, first, end, &low, &high);
    bool own = (low == first || sw_bits_is(SW_BIT_SHOWN, first)) &&
               (high == end || sw_bits_is(SW_BIT_SHOWN, end - 1));
    return (own || is_quiet(first, end)) && may_replace(first, end) &&
           ours() && show_pages(first, end);
}

uint64_t sw_show_whole(const void *p, size_t n)
{
    uint64_t offset = sw_arena_offset(p, n);
    if (offset == UINT64_MAX || sw_shown_always(offset))
        return offset;
    pages_t in = pages_of(offset, n);
    int saved = errno;
    pthread_mutex_lock(&lock);
    bool done = sw_bits_all(SW_BIT_SHOWN, in.first, in.end) ||
                (may_show(n) && show_whole(p, n, in.first, in.end));
    pthread_mutex_unlock(&lock);
    errno = saved;
    if (!done)
        sw_show_now(p, n);
    sw_show_freeze(p, n);
    return done ? offset : UINT64_MAX;
}

/* The ends --------------------------------------------------------------- */

typedef struct {
    size_t at, bytes;           /* from the beginning of the buffer          */
} piece_t;

/* The parts of [p, p+n) in pages that are not shown: at most two. */
static int ends(size_t n, uint64_t offset, piece_t piece[2])
{
    uint64_t first = offset / SW_PAGE, last = (offset + n - 1) / SW_PAGE;
    int pieces = 0;
    if (!sw_bits_is(SW_BIT_SHOWN, first))
        piece[pieces++] = (piece_t){0, sw_min(n, (first + 1) * SW_PAGE -
                                                     offset)};
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
        memcpy(alias + offset + piece[i].at, (const char *)p + piece[i].at,
               piece[i].bytes);
}

void sw_show_fetch_slow(void *p, size_t n, uint64_t offset)
{
    piece_t piece[2];
    if (offset == UINT64_MAX)
        return;
    for (int i = ends(n, offset, piece); i-- > 0;)
        memcpy((char *)p + piece[i].at, alias + offset + piece[i].at,
               piece[i].bytes);
}

/* The end of it ---------------------------------------------------------- */

void sw_show_freeze(const void *p, size_t n)
{
    uint64_t offset = n ? sw_arena_offset(p, n) : UINT64_MAX;
    if (offset == UINT64_MAX || sw_shown_always(offset))
        return;
    pthread_mutex_lock(&lock);
    pages_t in = pages_of(offset, n);
    sw_bits_set(SW_BIT_FROZEN, in.first, in.end, true);
    pthread_mutex_unlock(&lock);
}

void sw_show_hold(void)
{
    if (!sw_show_holds())
        atomic_store(&holds, true);
}

bool sw_show_holds(void)
{
    return atomic_load_explicit(&holds, memory_order_relaxed);
}

static int empty(void *p, size_t size)
{
    return sw_os_map_lazy(p, size) ? 0 : -1;
}

/* Make the shown runs of [first, end) private: with what they hold, or empty.
 * False: some of them are not. */
static bool hide(uint64_t first, uint64_t end,
                 int (*replace)(void *p, size_t size))
{
    bool done = true;
    for (uint64_t pages; sw_bits_next(SW_BIT_SHOWN, true, &first, end, &pages);
         first += pages) {
        if (replace(address(first), pages * SW_PAGE)) {
            done = false;
            continue;
        }
        /* It had a border at either end, or not: the other way round now. */
        sw_bits_set(SW_BIT_SHOWN, first, first + pages, false);
        borders -= more_borders(first, first + pages);
        stats.shown -= pages * SW_PAGE;
        sw_assert(borders >= 0);
    }
    return done;
}

void sw_show_hide(void *p, size_t n)
{
    uint64_t offset = n ? sw_arena_offset(p, n) : UINT64_MAX;
    if (offset == UINT64_MAX || sw_shown_always(offset))
        return;
    pages_t in = pages_of(offset, n);
    pthread_mutex_lock(&lock);
    hide(in.first, in.end, sw_os_unshare);
    pthread_mutex_unlock(&lock);
}

/* A page at an end that holds foreign bytes stays as it is: another thread may
 * write to them now. */
void sw_show_stack(void *p, size_t n)
{
    uint64_t offset = n ? sw_arena_offset(p, n) : UINT64_MAX, low, high;
    if (offset == UINT64_MAX || sw_shown_always(offset))
        return;
    pages_t in = pages_of(offset, n);
    inside(p, n, in.first, in.end, &low, &high);
    pthread_mutex_lock(&lock);
    hide(low, high, sw_os_unshare);
    sw_bits_set(SW_BIT_FROZEN, in.first, in.end, true);
    pthread_mutex_unlock(&lock);
}

/* With the lock: nothing of [first, end) is the file's any more. */
static bool forget(uint64_t first, uint64_t end)
{
    if (!sw_bits_any(SW_BIT_BACKED, first, end))
        return true;
    if (!hide(first, end, empty))
        return false;
    if (sw_show_holds())
        return true;
    if (sw_os_punch(sw_arena.fd, alias + first * SW_PAGE, first * SW_PAGE,
                    (end - first) * SW_PAGE))
        return false;
    sw_bits_set(SW_BIT_BACKED, first, end, false);
    return true;
}

bool sw_show_forget(uint32_t page, uint32_t pages)
{
    uint64_t first = page, end = first + pages;
    if (!sw_bits_any(SW_BIT_BACKED, first, end) &&
        !sw_bits_any(SW_BIT_USED, first, end) &&
        !sw_bits_any(SW_BIT_FROZEN, first, end))
        return true;
    pthread_mutex_lock(&lock);
    bool done = forget(first, end);
    if (done) {
        sw_bits_set(SW_BIT_USED, first, end, false);
        sw_bits_set(SW_BIT_FROZEN, first, end, false);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

/* With the lock: the file's pages [first, end) read as zeros, and stay. */
static bool clear(uint64_t first, uint64_t end)
{
    if (!ours())
        return false;
    memset(alias + first * SW_PAGE, 0, (end - first) * SW_PAGE);
    return true;
}

/* Of a page at an end the kernel takes all or nothing: so do we. */
bool sw_show_drop(void *p, size_t n)
{
    uint64_t offset = n ? sw_arena_offset(p, n) : UINT64_MAX;
    if (offset == UINT64_MAX || (uintptr_t)p % SW_PAGE || sw_arena.fd < 0)
        return false;
    n = sw_round_up(n, SW_PAGE);
    bool always = sw_shown_always(offset);
    if (always && !sw_show_holds())
        return !sw_os_punch(sw_arena.fd, p, offset, n);
    pthread_mutex_lock(&lock);
    pages_t in = pages_of(offset, n);
    /* Peers go on to load and store in a window's pages. */
    bool stays = always || (sw_bits_any(SW_BIT_FROZEN, in.first, in.end) &&
                            sw_bits_all(SW_BIT_SHOWN, in.first, in.end));
    bool done = stays ? clear(in.first, in.end) : forget(in.first, in.end);
    pthread_mutex_unlock(&lock);
    return done;
}

/* Start, fork, figures ---------------------------------------------------- */

void sw_show_start(void)
{
    sw_shown_from = sw_show_mode == SW_SHOW_EAGER
        ? 0 : (uint64_t)sw_common_zone.first * SW_PAGE;
    sw_shown_bytes = sw_show_mode == SW_SHOW_EAGER
        ? INT64_MAX
        : (uint64_t)(sw_common_zone.end - sw_common_zone.first) * SW_PAGE;
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
    sw_bits_forget();
    holds = false;
    if (alias)
        sw_os_unmap(alias, sw_arena.span);
    alias = NULL;
    stats = (sw_show_stats_t){0};
}

void sw_show_stats(sw_show_stats_t *to)
{
    pthread_mutex_lock(&lock);
    *to = stats;
    pthread_mutex_unlock(&lock);
}
