/*
 * arena_said.c - what the program has set for its pages: locks, policies,
 * protections, keys.
 *
 * A program may lock pages, or leave them out of dumps or of its children. It
 * may give them a policy, a protection or a key. front/heap/pages.c hears these
 * calls. A shared page in such a page's place would lack the setting. So such
 * pages are spoken for: no call replaces them, and their bytes are staged. Two
 * settings are otherwise:
 *
 *   huge pages   are a wish. A page that is shown keeps it, and the gate keeps
 *                large buffers where shared memory has no huge pages
 *   protection   ends when the program opens the pages again. Meanwhile peers
 *                stay out of them, shown or not: the access must fault here
 *
 * Pages that are shown when the program calls are mappings like any other, and
 * the system carries the call out. Only advice on children has no meaning for
 * shared memory. So the child, which makes its memory private in any case,
 * follows that advice itself (sw_arena_said_forked).
 *
 * A setting ends with its block. When the block is freed, fresh pages replace
 * those that were spoken for: one system call for all settings. A child
 * remembers the settings of its parent's blocks.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_gate.h"

#include <errno.h>

#include "node/base/settings.h"

_Atomic bool sw_arena_said_guards;
_Atomic uintptr_t sw_arena_said_low = UINTPTR_MAX, sw_arena_said_high;
static _Atomic bool policies; /* shared pages keep theirs */

void sw_arena_said_somewhere(const void *p, size_t n)
{
    uintptr_t low = atomic_load(&sw_arena_said_low);
    while ((uintptr_t)p < low && !atomic_compare_exchange_weak(
                                     &sw_arena_said_low, &low, (uintptr_t)p))
        ;
    uintptr_t high = atomic_load(&sw_arena_said_high);
    while ((uintptr_t)p + n > high &&
           !atomic_compare_exchange_weak(&sw_arena_said_high, &high,
                                         (uintptr_t)p + n))
        ;
}

/* What [p, p+n) and each range of the arena have in common, one after another:
 * false, there is no more. A forked child's blocks count. */
static bool next_part(const void *p, size_t n, int *i, sw_run_t *run)
{
    uintptr_t from = (uintptr_t)p, to = from + n;
    for (; *i < sw_arena.count || *i == 0; ++*i) {
        const sw_arena_range_t *r = &sw_arena.range[*i];
        uintptr_t low = (uintptr_t)r->start, high = low + r->size;
        low = sw_max(low, from);
        high = sw_min(high, to);
        if (low >= high)
            continue;
        *run = sw_run_of(r->offset + (low - (uintptr_t)r->start), high - low);
        ++*i;
        return true;
    }
    return false;
}

/* False: none of it is the arena's. */
static bool mark(const void *p, size_t n, sw_bit_t bit, bool on)
{
    sw_run_t run;
    int i = 0;
    if (!n || !next_part(p, n, &i, &run))
        return false;
    sw_show_lock();
    if (on)
        sw_arena_said_somewhere(p, n);
    do
        sw_bits_set(bit, run.first, run.end, on);
    while (next_part(p, n, &i, &run));
    sw_show_unlock();
    return true;
}

void sw_said(const void *p, size_t n)
{
    mark(p, n, SW_BIT_SPOKEN, true);
}

void sw_arena_said_all(void)
{
    uint32_t top = sw_pages ? sw_zone_top(&sw_heap_zone) : 0;
    if (top)
        sw_said(sw_page_address(0), top * (size_t)SW_PAGE);
    for (int i = 1; i < sw_arena.count; i++)
        sw_said(sw_arena.range[i].start, sw_arena.range[i].size);
}

void sw_arena_said_policy(const void *p, size_t n)
{
    atomic_store(&policies, true);
    sw_said(p, n);
}

void sw_arena_said_huge(const void *p, size_t n)
{
    mark(p, n, SW_BIT_HUGE, true);
}

void sw_arena_said_protection(const void *p, size_t n, bool open)
{
    if (open &&
        !atomic_load_explicit(&sw_arena_said_guards, memory_order_relaxed))
        return;
    if (!open && mark(p, n, SW_BIT_SPOKEN, true))
        atomic_store(&sw_arena_said_guards, true);
    mark(p, n, SW_BIT_GUARDED, !open);
}

size_t sw_arena_said_of_child(const void *p, size_t n,
                              sw_arena_said_child_t what, bool *done)
{
    sw_run_t run;
    int i = 0;
    *done = false;
    if (sw_arena.fd < 0) /* all is private */
        return n;
    uint64_t offset = sw_arena_offset(p, 1);
    if (offset == UINT64_MAX) {
        if (!next_part(p, n, &i, &run))
            return n;
        return (size_t)(sw_run_address(run.first) - (const char *)p);
    }
    i = 0;
    if (!next_part(p, n, &i, &run))
        return n;
    bool shared = sw_shown_always(offset);
    uint64_t first = run.first, end = run.end, pages = end - first;
    if (!shared) {
        shared = sw_bits_is(SW_BIT_SHOWN, first);
        sw_bits_next(SW_BIT_SHOWN, shared, &first, end, &pages);
    }
    size_t bytes = sw_min(n, pages * SW_PAGE);
    if (!shared)
        return bytes;
    sw_bit_t bit = what == SW_SAID_WIPE || what == SW_SAID_KEEP ? SW_BIT_WIPED
                                                                : SW_BIT_ABSENT;
    mark(p, bytes, bit, what == SW_SAID_WIPE || what == SW_SAID_LEAVE_OUT);
    *done = true;
    return bytes;
}

/* The end -------------------------------------------------------------- */

/* Fresh pages, with all that a new block's pages have. */
static bool renew_shared(char *at, size_t size, uint64_t offset)
{
    if (!sw_gate_ours())
        return false;
    if (atomic_load(&policies))
        sw_os_no_policy(at, size);
    if (!sw_os_map_shared(at, size, sw_arena.fd, offset))
        return false;
    sw_os_dump(at, size, true);
    if (sw_settings.huge_pages)
        sw_os_huge_advice(at, size);
    return true;
}

static bool renew(const sw_zone_t *z, sw_run_t run)
{
    char *at = sw_page_address((uint32_t)run.first);
    uint32_t pages = (uint32_t)(run.end - run.first);
    size_t size = pages * SW_PAGE;
    if (z->kind == SW_ZONE_SHARED)
        return renew_shared(at, size, run.first * SW_PAGE);
    if (atomic_load(&policies))
        sw_os_no_policy(at, size);
    if (z->kind == SW_ZONE_PRIVATE &&
        !sw_show_forget((uint32_t)run.first, pages))
        return false;
    if (!sw_os_map_lazy(at, size))
        return false;
    if (sw_arena_asks_huge)
        sw_os_huge_advice(at, size);
    return true;
}

bool sw_arena_said_end_slow(uint32_t page, uint32_t pages)
{
    static const sw_bit_t ends[] = {SW_BIT_SPOKEN, SW_BIT_GUARDED, SW_BIT_HUGE,
                                    SW_BIT_WIPED, SW_BIT_ABSENT};
    sw_run_t run = {page, (uint64_t)page + pages}, all = run;
    uint64_t some;
    int saved = errno;
    bool done = true;
    if (sw_bits_any(SW_BIT_FROZEN, run.first, run.end)) {
        sw_show_lock();
        sw_bits_set(SW_BIT_FROZEN, run.first, run.end, false);
        sw_show_unlock();
    }
    if (!sw_bits_any(SW_BIT_SPOKEN, run.first, run.end))
        return true;
    sw_bits_next(SW_BIT_SPOKEN, true, &run.first, run.end, &some);
    while (!sw_bits_is(SW_BIT_SPOKEN, run.end - 1))
        run.end--;
    done = renew(sw_zone_of(page), run);
    if (done) {
        sw_show_lock();
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            sw_bits_set(ends[i], ends[i] == SW_BIT_HUGE ? run.first : all.first,
                        ends[i] == SW_BIT_HUGE ? run.end : all.end, false);
        sw_show_unlock();
    }
    errno = saved;
    return done;
}

bool sw_arena_said_moves(uint32_t from, uint32_t to, uint32_t pages)
{
    static const sw_bit_t said[] = {SW_BIT_SPOKEN, SW_BIT_GUARDED, SW_BIT_HUGE};
    uint64_t end = (uint64_t)from + pages;
    if (sw_bits_any(SW_BIT_WIPED, from, end) ||
        sw_bits_any(SW_BIT_ABSENT, from, end))
        return false;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (sw_bits_any(said[i], from, end))
            mark(sw_page_address(to), pages * SW_PAGE, said[i], true);
    return true;
}

void sw_arena_said_closed(uint64_t first, uint64_t end)
{
    if (!sw_bits_any(SW_BIT_HUGE, first, end))
        return;
    sw_show_lock();
    sw_bits_set(SW_BIT_HUGE, first, end, false);
    sw_show_unlock();
}

/* In the child, whose memory is private by now. */
static void each_run(sw_bit_t bit, void (*deed)(char *at, size_t size))
{
    for (int i = 0; i < sw_arena.count; i++) {
        const sw_arena_range_t *r = &sw_arena.range[i];
        uint64_t first = r->offset / SW_PAGE, pages;
        uint64_t end = first + r->size / SW_PAGE;
        for (; sw_bits_next(bit, true, &first, end, &pages); first += pages)
            deed(sw_run_address(first), pages * SW_PAGE);
    }
}

static void wipe(char *at, size_t size)
{
    sw_os_map_lazy(at, size);
}

static void leave_out(char *at, size_t size)
{
    sw_os_close(at, size);
}

void sw_arena_said_forked(void)
{
    each_run(SW_BIT_WIPED, wipe);
    each_run(SW_BIT_ABSENT, leave_out);
}
