/*
 * started.c - see started.h. A table has a few points, and plan.c keeps what it
 * finds.
 */
#include "started.h"

#include "node/base/grow.h"

#include <math.h>
#include <string.h>

/* The first point at or behind so many bytes. */
static uint32_t place(const sw_started_table_t *t, uint64_t bytes)
{
    uint32_t at = 0;
    while (at < t->count && t->points[at].bytes < bytes)
        at++;
    return at;
}

bool sw_started_add(sw_started_table_t *t, const sw_started_point_t *point)
{
    uint32_t at = place(t, point->bytes);
    if (at == t->count || t->points[at].bytes != point->bytes) {
        if (!sw_grow(&t->points, t->count, &t->room, sizeof *t->points))
            return false;
        memmove(&t->points[at + 1], &t->points[at],
                (t->count - at) * sizeof *t->points);
        t->count++;
    }
    t->points[at] = *point;
    return true;
}

static double logarithm(uint64_t bytes)
{
    return bytes > 1 ? log2((double)bytes) : 0;
}

sw_started_point_t sw_started_at(const sw_started_table_t *t, uint64_t bytes)
{
    uint32_t at = place(t, bytes);
    if (at == t->count)
        return t->points[at - 1];
    if (at == 0 || t->points[at].bytes == bytes)
        return t->points[at];
    const sw_started_point_t *p = &t->points[at - 1], *q = p + 1;
    double x0 = logarithm(p->bytes), x1 = logarithm(q->bytes);
    double part = x1 > x0 ? (logarithm(bytes) - x0) / (x1 - x0) : 1;
    return (sw_started_point_t){
        .bytes = bytes,
        .start = p->start + part * (q->start - p->start),
        .shared = p->shared + part * (q->shared - p->shared),
        .own = p->own + part * (q->own - p->own),
        .aside = p->aside + part * (q->aside - p->aside),
        .held = p->held + part * (q->held - p->held)};
}
