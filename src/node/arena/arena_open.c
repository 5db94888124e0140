/*
 * arena_open.c - which parts of a zone may be touched, and dumped.
 *
 * Memory that the arena has not handed out yet must cost nothing. The arena
 * closes private memory to all access: neither mlockall nor a core dump takes
 * it then. It cannot close shared memory, because peers access it. But the
 * kernel allocates each page of it that it writes into a dump, even if no
 * process ever touched the page. Such a dump could take more memory than the
 * machine has. So the arena keeps shared memory that it has not handed out
 * out of dumps.
 *
 * The arena opens memory when it hands it out, and closes it again when it
 * gives it back to the system. It does so in units of 2 MiB. So growth costs at
 * most a system call per 2 MiB, and splits no huge page. Freed blocks that the
 * arena keeps for reuse stay open, as they do with libc's heap.
 *
 * Each border between open and closed is one mapping more for the kernel, which
 * has a limit for them (vm.max_map_count). Beyond EDGES borders, nothing is
 * closed any more, and what is opened takes the stretch before it along.
 *
 * The caller holds the zone's lock.
 */
#include "arena_impl.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define UNIT SW_HUGE
#define UNITS (SW_SPAN_MAX / UNIT)
#define EDGES 1000

static unsigned char open[UNITS];
/* Of both zones; each changes it under its own lock. */
static _Atomic int edges;

static bool edge(size_t unit)
{
    return unit && unit < UNITS && open[unit - 1] != open[unit];
}

static bool change(const sw_zone_t *z, size_t from, size_t to, bool in)
{
    char *at = sw_arena.range[0].start + from * UNIT;
    size_t size = (to - from) * UNIT;
    int saved = errno, before = 0;
    if (z->kind == SW_ZONE_SHARED)
        sw_os_dump(at, size, in);
    else if (in ? sw_os_open(at, size) : sw_os_close(at, size))
        return false;
    if (in && sw_arena_asks_huge && z->kind != SW_ZONE_SHARED)
        sw_os_huge_advice(at, size);
    for (size_t unit = from; unit <= to; unit++)
        before += edge(unit);
    memset(open + from, in, to - from);
    if (!in)
        sw_arena_said_closed(from * UNIT / SW_PAGE, to * UNIT / SW_PAGE);
    atomic_fetch_add(&edges, edge(from) + edge(to) - before);
    errno = saved;
    return true;
}

bool sw_arena_open(const sw_zone_t *z, uint32_t page, uint32_t pages)
{
    size_t from = (size_t)page * SW_PAGE / UNIT;
    size_t to = ((size_t)page + pages - 1) * SW_PAGE / UNIT + 1;
    if (sw_likely(!memchr(open + from, 0, to - from)) ||
        z->kind == SW_ZONE_GIVEN)
        return true;
    size_t least = (size_t)z->first * SW_PAGE / UNIT;
    while (atomic_load(&edges) + 2 > EDGES && from > least && !open[from - 1])
        from--;
    return change(z, from, to, true);
}

void sw_arena_close(const sw_zone_t *z, uint32_t page, uint32_t pages)
{
    size_t from = sw_round_up((size_t)page * SW_PAGE, UNIT) / UNIT;
    size_t to = ((size_t)page + pages) * SW_PAGE / UNIT;
    if (from < to && atomic_load(&edges) + 2 <= EDGES &&
        z->kind != SW_ZONE_GIVEN)
        change(z, from, to, false);
}
