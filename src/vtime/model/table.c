/*
 * table.c - see table.h. A table is a few hundred points, and what is found is
 * kept (plan.c): it is searched by plain bisection.
 */
#include "table.h"
#include "words.h"

#include "node/base/grow.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double waiting, leaving;
} times_t;

/* The first point at or behind this one. */
static size_t place(const sw_model_table_t *t, uint32_t ranks, uint64_t bytes)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const sw_table_point_t *p = &t->points[mid];
        if (p->ranks < ranks || (p->ranks == ranks && p->bytes < bytes))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool sw_table_add(sw_model_table_t *t, const sw_table_point_t *point)
{
    size_t at = place(t, point->ranks, point->bytes);
    if (at < t->count && t->points[at].ranks == point->ranks &&
        t->points[at].bytes == point->bytes) {
        t->points[at] = *point;
        return true;
    }
    if (!sw_grow_at(&t->points, t->count, &t->room, sizeof *t->points, at))
        return false;
    t->points[at] = *point;
    t->count++;
    return true;
}

static double between(double x, double x0, double x1, double y0, double y1)
{
    double part = (x - x0) / (x1 - x0);
    if (y0 > 0 && y1 > 0)
        return y0 * pow(y1 / y0, part);
    return y0 + part * (y1 - y0);
}

static double beyond(double x, double x0, double x1, double y0, double y1)
{
    double rate = (y1 - y0) / (x1 - x0);
    return y1 + (rate > 0 ? rate * (x - x1) : 0);
}

/* What points[first .. end), all of the same ranks, say about so many bytes. */
static times_t row(const sw_model_table_t *t, size_t first, size_t end,
                   uint64_t bytes)
{
    size_t at = place(t, t->points[first].ranks, bytes);
    const sw_table_point_t *p = &t->points[at];
    if (at == first || (at < end && p->bytes == bytes))
        return (times_t){(double)p->waiting, (double)p->leaving};
    const sw_table_point_t *q = p - 1;
    if (at < end) {
        double x = sw_table_logarithm(bytes);
        double x0 = sw_table_logarithm(q->bytes);
        double x1 = sw_table_logarithm(p->bytes);
        return (times_t){
            between(x, x0, x1, (double)q->waiting, (double)p->waiting),
            between(x, x0, x1, (double)q->leaving, (double)p->leaving)};
    }
    if (at - first == 1)
        return (times_t){(double)q->waiting, (double)q->leaving};
    p = q - 1;
    double x = (double)bytes, x0 = (double)p->bytes, x1 = (double)q->bytes;
    return (times_t){beyond(x, x0, x1, (double)p->waiting, (double)q->waiting),
                     beyond(x, x0, x1, (double)p->leaving, (double)q->leaving)};
}

static double weight(bool blocks, uint32_t n)
{
    return blocks ? n - 1.0 : log2(n);
}

void sw_table_at(const sw_model_table_t *t, bool blocks, uint32_t n,
                 uint64_t bytes, sw_ps_t *waiting, sw_ps_t *leaving)
{
    /* The rows below n, if any, and at or above it, if any. */
    size_t above = place(t, n, 0), below = above, end = above;
    while (end < t->count && t->points[end].ranks == t->points[above].ranks)
        end++;
    while (below > 0 &&
           t->points[below - 1].ranks == t->points[above - 1].ranks)
        below--;
    times_t r;
    if (below < above && above < end) {
        times_t low = row(t, below, above, bytes);
        times_t high = row(t, above, end, bytes);
        double x = log2(n), x0 = log2(t->points[below].ranks);
        double x1 = log2(t->points[above].ranks);
        r.waiting = between(x, x0, x1, low.waiting, high.waiting);
        r.leaving = between(x, x0, x1, low.leaving, high.leaving);
    } else {
        size_t nearest = above < end ? above : below;
        r = row(t, nearest, above < end ? end : above, bytes);
        double factor = weight(blocks, n) /
                        weight(blocks, t->points[nearest].ranks);
        r.waiting *= factor;
        r.leaving *= factor;
    }
    *waiting = sw_ps_whole(r.waiting);
    *leaving = sw_ps_whole(r.leaving);
}
