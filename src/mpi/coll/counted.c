/*
 * counted.c - see counted.h.
 */
#include "counted.h"

#include "mpi/base/guard.h"

#include <ctype.h>
#include <stdio.h>

static _Atomic int64_t counts[SW_COUNTED_ROWS][SW_COUNTED_ROW];

void sw_count_slow(int row, int column, int64_t by)
{
    if (sw_guard_from_user())
        atomic_fetch_add_explicit(&counts[row][column], by,
                                  memory_order_relaxed);
}

int sw_counted_reported(int i)
{
    static const uint8_t reported[SW_COLL_COUNT] = {
#define SW_COLLECTIVE(NUMBER, ...) NUMBER,
#include "collectives.inc"
    };
    return i - i % SW_COLL_COUNT + reported[i % SW_COLL_COUNT];
}

void sw_counted_name(int row, char *to, size_t bytes)
{
    const char *name = sw_collective_title(
        (sw_collective_t)(row % SW_COLL_COUNT));
    int form = row / SW_COLL_COUNT;
    bool started = form == SW_CALL_NONBLOCKING;
    snprintf(to, bytes, "%s%c%s%s", started ? "I" : "",
             started ? tolower(*name) : *name, name + 1,
             form == SW_CALL_PERSISTENT ? "_init" : "");
}

void sw_counted(int64_t rows[SW_COUNTED_ROWS][SW_COUNTED_ROW])
{
    for (int i = 0; i < SW_COUNTED_ROWS; i++)
        for (int j = 0; j < SW_COUNTED_ROW; j++)
            rows[i][j] = atomic_load(&counts[i][j]);
}
