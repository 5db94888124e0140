/*
 * started.c - see started.h. A table has a few points, and plan.c keeps what it
 * finds.
 */
#include "started.h"
#include "table.h"

#include "node/base/grow.h"

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
        if (!sw_grow_at(&t->points, t->count, &t->room, sizeof *t->points, at))
            return false;
        t->count++;
    }
    t->points[at] = *point;
    return true;
}

sw_started_point_t sw_started_at(const sw_started_table_t *t, uint64_t bytes)
{
    uint32_t at = place(t, bytes);
    if (at == t->count)
        return t->points[at - 1];
    if (at == 0 || t->points[at].bytes == bytes)
        return t->points[at];
    const sw_started_point_t *p = &t->points[at - 1], *q = p + 1;
    double x0 = sw_table_logarithm(p->bytes);
    double x1 = sw_table_logarithm(q->bytes), x = sw_table_logarithm(bytes);
    double part = x1 > x0 ? (x - x0) / (x1 - x0) : 1;
    return (sw_started_point_t){
        .bytes = bytes,
        .start = p->start + part * (q->start - p->start),
        .shared = p->shared + part * (q->shared - p->shared),
        .own = p->own + part * (q->own - p->own),
        .aside = p->aside + part * (q->aside - p->aside),
        .held = p->held + part * (q->held - p->held)};
}
