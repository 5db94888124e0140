/*
 * accesses.c - see accesses.h. A table has a few points.
 */
#include "accesses.h"
#include "line.h"

#include "node/base/grow.h"

#include <stdlib.h>

const char *const sw_memory_names[SW_MEMORY_COUNT] = {
    [SW_MEMORY_CREATED] = "created", [SW_MEMORY_ALLOCATED] = "allocated"};

const char *sw_accesses_add(sw_accesses_t *accesses, sw_memory_t memory,
                            sw_window_t what, const sw_access_point_t *point)
{
    sw_access_table_t *t = &accesses->tables[memory][what - SW_WINDOW_PUT];
    if (t->count && t->points[t->count - 1].bytes >= point->bytes)
        return "accesses must come by their bytes, each once";
    if (!sw_grow(&t->points, t->count, &t->room, sizeof *t->points))
        return "there is no memory left";
    t->points[t->count++] = *point;
    return NULL;
}

bool sw_accesses_at(const sw_accesses_t *accesses, sw_memory_t memory,
                    sw_window_t what, uint64_t bytes, sw_ps_t *call,
                    sw_ps_t *rest)
{
    const sw_access_table_t *t = &accesses
                                      ->tables[memory][what - SW_WINDOW_PUT];
    if (!t->count)
        return false;
    const sw_access_point_t *p = t->points, *last = p + t->count - 1;
    *call = p->call;
    *rest = p->rest;
    if (bytes <= p->bytes || p == last)
        return true;
    while (p + 1 < last && p[1].bytes < bytes)
        p++;
    *call = sw_line_at(bytes, p->bytes, p->call, p[1].bytes, p[1].call);
    *rest = sw_line_at(bytes, p->bytes, p->rest, p[1].bytes, p[1].rest);
    return true;
}

void sw_accesses_free(sw_accesses_t *accesses)
{
    for (int m = 0; m < SW_MEMORY_COUNT; m++)
        for (int i = 0; i < SW_ACCESSES; i++)
            free(accesses->tables[m][i].points);
}
