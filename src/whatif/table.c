/*
 * table.c - see table.h. A table is a few hundred points, and what is found is
 * kept (plan.c): it is searched by plain bisection.
 */
#include "table.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    double waiting, leaving;
} times_t;

/* The first point at or behind this one. */
static size_t place(const sw_table_t *t, uint32_t ranks, uint64_t bytes)
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

bool sw_table_add(sw_table_t *t, const sw_table_point_t *point)
{
    size_t at = place(t, point->ranks, point->bytes);
    if (at < t->count && t->points[at].ranks == point->ranks &&
        t->points[at].bytes == point->bytes) {
        t->points[at] = *point;
        return true;
    }
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 64;
        sw_table_point_t *points = realloc(t->points, room * sizeof *points);
        if (!points)
            return false;
        t->points = points;
        t->room = room;
    }
    memmove(&t->points[at + 1], &t->points[at],
            (t->count - at) * sizeof *t->points);
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
static times_t row(const sw_table_t *t, size_t first, size_t end,
                   uint64_t bytes)
{
    size_t at = place(t, t->points[first].ranks, bytes);
    const sw_table_point_t *p = &t->points[at];
    if (at == first || (at < end && p->bytes == bytes))
        return (times_t){(double)p->waiting, (double)p->leaving};
    const sw_table_point_t *q = p - 1;
    if (at < end && !q->bytes)  /* the logarithm of nothing: as of 1 */
        q = bytes > 1 && p->bytes > 1 ? q : p;
    if (at < end && q == p)
        return (times_t){(double)p[-1].waiting, (double)p[-1].leaving};
    double x = (double)bytes, x0 = (double)q->bytes;
    if (at < end) {
        double x1 = log2((double)p->bytes);
        x0 = x0 > 1 ? log2(x0) : 0;
        x = log2(x);
        return (times_t){
            between(x, x0, x1, (double)q->waiting, (double)p->waiting),
            between(x, x0, x1, (double)q->leaving, (double)p->leaving)};
    }
    if (at - first == 1)
        return (times_t){(double)q->waiting, (double)q->leaving};
    p = q - 1;
    return (times_t){
        beyond(x, (double)p->bytes, x0, (double)p->waiting,
               (double)q->waiting),
        beyond(x, (double)p->bytes, x0, (double)p->leaving,
               (double)q->leaving)};
}

static double weight(bool blocks, uint32_t n)
{
    return blocks ? n - 1.0 : log2(n);
}

static sw_ps_t whole(double ps)
{
    return ps < (double)SW_PS_MOST ? (sw_ps_t)(ps + 0.5) : SW_PS_MOST;
}

void sw_table_at(const sw_table_t *t, bool blocks, uint32_t n, uint64_t bytes,
                 sw_ps_t *waiting, sw_ps_t *leaving)
{
    /* The row at or above n begins at `at`; the one below ends there. */
    size_t at = place(t, n, 0), end = at, first = at;
    while (end < t->count && t->points[end].ranks == t->points[at].ranks)
        end++;
    while (first > 0 && t->points[first - 1].ranks == t->points[at - 1].ranks)
        first--;
    times_t r;
    if (at < end && (t->points[at].ranks == n || first == at)) {
        r = row(t, at, end, bytes);
    } else if (at == end) {
        r = row(t, first, at, bytes);
        end = first + 1;
    } else {
        times_t low = row(t, first, at, bytes), high = row(t, at, end, bytes);
        double x = log2(n), x0 = log2(t->points[first].ranks);
        double x1 = log2(t->points[at].ranks);
        r.waiting = between(x, x0, x1, low.waiting, high.waiting);
        r.leaving = between(x, x0, x1, low.leaving, high.leaving);
        *waiting = whole(r.waiting);
        *leaving = whole(r.leaving);
        return;
    }
    uint32_t nearest = t->points[end - 1].ranks;
    double factor = weight(blocks, n) / weight(blocks, nearest);
    *waiting = whole(r.waiting * factor);
    *leaving = whole(r.leaving * factor);
}
