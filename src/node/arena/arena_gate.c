/*
 * arena_gate.c - see arena_gate.h.
 *
 * The gate asks the conditions in the order of what they cost: bits, the
 * system's count of threads, a file of the system's. It asks the system last,
 * so programs pay for that only where a call is about to show pages.
 */
#include "arena_gate.h"

bool (*sw_show_quiet)(void);
bool (*sw_show_barred)(void);
bool (*sw_show_pinned)(void);

static sw_run_t granted;
static bool lost; /* the program has closed our descriptor */

#define NEAR 16u /* pages of the stack that this call may write to */

char *sw_run_address(uint64_t page)
{
    uint64_t offset = page * SW_PAGE;
    for (int i = 0; i < sw_arena.count; i++)
        if (offset - sw_arena.range[i].offset < sw_arena.range[i].size)
            return sw_arena.range[i].start +
                   (offset - sw_arena.range[i].offset);
    return NULL;
}

bool sw_gate_may(size_t n)
{
    return sw_show_mode == SW_SHOW_LAZY && n <= sw_arena_plain_max &&
           sw_arena.fd >= 0 && !lost && !(sw_show_barred && sw_show_barred());
}

bool sw_gate_ours(void)
{
    if (!lost && !sw_same_file(sw_os_file_id(sw_arena.fd), sw_arena.file))
        lost = true;
    return !lost;
}

bool sw_gate_stays(sw_run_t run)
{
    uint64_t first = run.first, pages;
    for (; sw_bits_next(SW_BIT_SHOWN, false, &first, run.end, &pages);
         first += pages)
        if (sw_bits_any(SW_BIT_FROZEN, first, first + pages) ||
            sw_bits_any(SW_BIT_SPOKEN, first, first + pages))
            return true;
    return false;
}

/* The program has asked for huge pages here, which it would lose. Small
 * stretches lose little (arena.c). */
static bool loses_huge(sw_run_t run)
{
    return run.end > run.first &&
           (run.end - run.first) * SW_PAGE > sw_arena_asked_max &&
           sw_bits_any(SW_BIT_HUGE, run.first, run.end);
}

/* May foreign bytes be replaced as well? A program may run on a stack that is a
 * heap block (a coroutine), where this very call writes. */
static bool is_quiet(sw_run_t run)
{
    uint64_t here = sw_arena_offset(__builtin_frame_address(0), 1);
    bool on_it = here != UINT64_MAX && here / SW_PAGE + NEAR >= run.first &&
                 here / SW_PAGE < run.end + NEAR;
    return !on_it && sw_show_quiet && sw_show_quiet();
}

static sw_run_t widest(sw_run_t all, sw_run_t own)
{
    static const sw_run_t none;
    bool owns_all = own.first == all.first && own.end == all.end;
    if (!owns_all && !sw_gate_stays(all) && is_quiet(all))
        return all;
    return sw_run_none(own) || sw_gate_stays(own) ? none : own;
}

sw_run_t sw_gate_call(sw_run_t all, sw_run_t own)
{
    sw_run_t run = widest(all, own);
    if (sw_run_none(run) || loses_huge(all) ||
        (sw_show_pinned && sw_show_pinned()) || !sw_gate_ours())
        run = (sw_run_t){0, 0};
    return granted = run;
}

void sw_gate_freed(sw_run_t run)
{
    granted = run;
}

void sw_gate_dropped(sw_run_t run)
{
    sw_assert(!sw_bits_any(SW_BIT_FROZEN, run.first, run.end));
    sw_assert(!sw_bits_any(SW_BIT_SPOKEN, run.first, run.end));
    granted = run;
}

void sw_gate_handed(sw_run_t run)
{
    granted = run;
}

bool sw_gate_granted(uint64_t first, uint64_t pages)
{
    return pages && first >= granted.first && first + pages <= granted.end;
}
