/*
 * arena_open.c - which parts of a zone may be touched, and dumped.
 *
 * What nobody has handed out yet must cost nothing. Private memory is closed to
 * all access: neither mlockall nor a core dump takes it then. Shared memory
 * cannot be closed, for the peers' sake. But the kernel allocates each page of
 * it that it writes into a dump, even where nobody ever touched the page. Such
 * a dump could take more memory than the machine has, so shared memory that is
 * not handed out stays out of dumps.
 *
 * What is handed out is opened, and what is given back to the system is closed
 * again. All this in units of 2 MiB, so that growth costs a system call per 2
 * MiB at most, and no huge page is split. Freed blocks that are kept for reuse
 * stay open, as they do with libc's heap.
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
    atomic_fetch_add(&edges, edge(from) + edge(to) - before);
    errno = saved;
    return true;
}

bool sw_open(const sw_zone_t *z, uint32_t page, uint32_t pages)
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

void sw_close(const sw_zone_t *z, uint32_t page, uint32_t pages)
{
    size_t from = sw_round_up((size_t)page * SW_PAGE, UNIT) / UNIT;
    size_t to = ((size_t)page + pages) * SW_PAGE / UNIT;
    if (from < to && atomic_load(&edges) + 2 <= EDGES &&
        z->kind != SW_ZONE_GIVEN)
        change(z, from, to, false);
}
