/*
 * arena_hide.c - shown pages become private again, or lose what they hold.
 *
 * The caller has the pages, or gives up what they hold (arena_gate.h). Pages
 * that stay for another reason are cleared where they are, in the file.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "arena_gate.h"

#include <string.h>

static _Atomic bool holds; /* see sw_show_hold */

void sw_show_hold(void)
{
    if (!sw_show_holds())
        atomic_store(&holds, true);
}

bool sw_show_holds(void)
{
    return atomic_load_explicit(&holds, memory_order_relaxed);
}

void sw_show_unhold(void)
{
    atomic_store(&holds, false);
}

static int empty(void *p, size_t size)
{
    return sw_os_map_lazy(p, size) ? 0 : -1;
}

/* Make the shown pages of a run private: with what they hold, or empty. False:
 * some of them are not. */
static bool hide(sw_run_t run, int (*replace)(void *p, size_t size))
{
    bool done = true;
    uint64_t first = run.first, pages;
    for (; sw_bits_next(SW_BIT_SHOWN, true, &first, run.end, &pages);
         first += pages) {
        sw_assert(sw_gate_granted(first, pages));
        if (replace(sw_run_address(first), pages * SW_PAGE)) {
            done = false;
            continue;
        }
        /* It had a border at either end, or not: the other way round now. */
        sw_bits_set(SW_BIT_SHOWN, first, first + pages, false);
        sw_showing.borders -= sw_run_borders(first, first + pages);
        sw_showing.stats.shown -= pages * SW_PAGE;
        sw_assert(sw_showing.borders >= 0);
    }
    return done;
}

/* The pages of [p, p+n), if they are private or may be; none else. */
static sw_run_t pages_at(const void *p, size_t n)
{
    uint64_t offset = n ? sw_arena_offset(p, n) : UINT64_MAX;
    return offset == UINT64_MAX || sw_shown_always(offset)
               ? (sw_run_t){0, 0}
               : sw_run_of(offset, n);
}

void sw_show_hide(void *p, size_t n)
{
    sw_run_t run = pages_at(p, n);
    if (sw_run_none(run))
        return;
    sw_show_lock();
    sw_gate_handed(run);
    hide(run, sw_os_unshare);
    sw_show_unlock();
}

void sw_show_freeze(const void *p, size_t n)
{
    sw_run_t run = pages_at(p, n);
    if (sw_run_none(run))
        return;
    sw_show_lock();
    sw_arena_said_somewhere(p, n);
    sw_bits_set(SW_BIT_FROZEN, run.first, run.end, true);
    sw_show_unlock();
}

/* A page at an end that holds foreign bytes stays as it is: another thread may
 * write to them now. */
void sw_show_stack(void *p, size_t n)
{
    sw_run_t run = pages_at(p, n);
    if (sw_run_none(run))
        return;
    sw_show_freeze(p, n);
    sw_run_t own = sw_run_inside(p, n, run);
    sw_show_lock();
    sw_gate_handed(own);
    hide(own, sw_os_unshare);
    sw_show_unlock();
}

/* With the lock: nothing of a run is the file's any more. */
static bool forget(sw_run_t run)
{
    if (!sw_bits_any(SW_BIT_BACKED, run.first, run.end))
        return true;
    if (!hide(run, empty))
        return false;
    if (sw_show_holds())
        return true;
    if (sw_os_punch(sw_arena.fd, sw_showing.alias + run.first * SW_PAGE,
                    run.first * SW_PAGE, (run.end - run.first) * SW_PAGE))
        return false;
    sw_bits_set(SW_BIT_BACKED, run.first, run.end, false);
    return true;
}

bool sw_show_forget(uint32_t page, uint32_t pages)
{
    sw_run_t run = {page, (uint64_t)page + pages};
    if (!sw_bits_any(SW_BIT_BACKED, run.first, run.end) &&
        !sw_bits_any(SW_BIT_USED, run.first, run.end) &&
        !sw_bits_any(SW_BIT_FROZEN, run.first, run.end))
        return true;
    sw_show_lock();
    sw_gate_freed(run);
    bool done = forget(run);
    if (done) {
        sw_bits_set(SW_BIT_USED, run.first, run.end, false);
        sw_bits_set(SW_BIT_FROZEN, run.first, run.end, false);
    }
    sw_show_unlock();
    return done;
}

/* With the lock: the file's pages of a run read as zeros, and stay. */
static bool clear(sw_run_t run)
{
    if (!sw_gate_ours())
        return false;
    memset(sw_showing.alias + run.first * SW_PAGE, 0,
           (run.end - run.first) * SW_PAGE);
    return true;
}

/* Must a page stay at its address? Peers go on to load and store in a window's
 * pages; and what the program has said of a page would be lost. */
static bool stays(uint64_t page)
{
    return sw_bits_is(SW_BIT_SHOWN, page) &&
           (sw_bits_is(SW_BIT_FROZEN, page) || sw_bits_is(SW_BIT_SPOKEN, page));
}

/* Private pages are the system's to empty. */
static bool drop(sw_run_t run)
{
    bool done = true;
    for (uint64_t at = run.first, end; at < run.end; at = end) {
        bool stay = stays(at);
        for (end = at + 1; end < run.end && stays(end) == stay;)
            end++;
        sw_run_t some = {at, end};
        if (stay) {
            done = clear(some) && done;
            continue;
        }
        uint64_t first = at, pages;
        for (; sw_bits_next(SW_BIT_SHOWN, true, &first, end, &pages);
             first += pages) {
            sw_run_t part = {first, first + pages};
            sw_gate_dropped(part);
            done = forget(part) && done;
        }
    }
    return done;
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
    sw_show_lock();
    sw_run_t run = sw_run_of(offset, n);
    bool done = always ? clear(run) : drop(run);
    sw_show_unlock();
    return done;
}
