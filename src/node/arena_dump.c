/*
 * arena_dump.c - which parts of the arena a core dump holds.
 *
 * To write a page of shared memory into a dump, the kernel allocates it, even
 * where nobody ever touched it: a dump of the whole arena could take more
 * memory than the machine has. So a mapping starts outside (sw_os_map_shared),
 * what is handed out comes in, and what is given back to the system goes out
 * again. All this in units of 2 MiB, so that growth costs a system call per
 * 2 MiB at most, and no huge page is split. Freed blocks that are kept for
 * reuse stay in, as they do with libc's heap.
 *
 * Each border between inside and outside is one mapping more for the kernel,
 * which has a limit for them (vm.max_map_count). Beyond EDGES borders, nothing
 * goes out any more, and what comes in takes the stretch before it along.
 *
 * The caller holds the lock of arena_extents.c.
 */
#include "arena_impl.h"

#include <errno.h>
#include <string.h>

#define UNIT SW_HUGE
#define UNITS (SW_SPAN_MAX / UNIT)
#define EDGES 1000

static unsigned char inside[UNITS];
static int edges;

static bool edge(size_t unit)
{
    return unit && unit < UNITS && inside[unit - 1] != inside[unit];
}

static void set(size_t from, size_t to, bool in)
{
    int saved = errno;
    for (size_t unit = from; unit <= to; unit++)
        edges -= edge(unit);
    /* Refused or not: a part that stays outside costs a dump its contents, and
     * asking again would cost each allocation a system call. */
    sw_os_dump(sw_arena.range[0].start + from * UNIT, (to - from) * UNIT, in);
    memset(inside + from, in, to - from);
    edges += edge(from) + edge(to);
    errno = saved;
}

void sw_dump_in(uint32_t page, uint32_t pages)
{
    size_t from = (size_t)page * SW_PAGE / UNIT;
    size_t to = ((size_t)page + pages - 1) * SW_PAGE / UNIT + 1;
    if (sw_likely(!memchr(inside + from, 0, to - from)))
        return;
    while (edges + 2 > EDGES && from && !inside[from - 1])
        from--;
    set(from, to, true);
}

void sw_dump_out(uint32_t page, uint32_t pages)
{
    size_t from = sw_round_up((size_t)page * SW_PAGE, UNIT) / UNIT;
    size_t to = ((size_t)page + pages) * SW_PAGE / UNIT;
    if (from < to && edges + 2 <= EDGES)
        set(from, to, false);
}
