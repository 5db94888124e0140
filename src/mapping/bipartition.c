/*
 * bipartition.c - see bipartition.h.
 *
 * vertex[] has the vertices in the order of their seats. A stretch of it is the
 * half at work: `place` tells whether a vertex is in the stretch.
 */
#include "bipartition.h"

#include "node/base/array.h"

#include <stdlib.h>

/* A vertex that may come next. Its gain may have grown since: then another
 * entry says so. */
typedef struct {
    int64_t gain;
    int vertex;
} next_t;

typedef struct {
    const sw_web_t *web;
    const sw_seats_t *seats;
    int *vertex, *place;        /* place[v]: where v stands in vertex[]     */
    int64_t *gain;              /* of each vertex                           */
    bool *taken;
    next_t *heap;
    size_t heaped;
} work_t;

static bool before(next_t a, next_t b)
{
    return a.gain != b.gain ? a.gain > b.gain : a.vertex < b.vertex;
}

static void push(work_t *w, int vertex)
{
    next_t one = {w->gain[vertex], vertex};
    size_t i = w->heaped++;
    for (; i > 0 && before(one, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
        w->heap[i] = w->heap[(i - 1) / 2];
    w->heap[i] = one;
}

static next_t pop(work_t *w)
{
    next_t first = w->heap[0], last = w->heap[--w->heaped];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < w->heaped) {
        if (child + 1 < w->heaped && before(w->heap[child + 1],
                                            w->heap[child]))
            child++;
        if (!before(w->heap[child], last))
            break;
        w->heap[i] = w->heap[child];
        i = child;
    }
    w->heap[i] = last;
    return first;
}

static void stand(work_t *w, int at, int vertex)
{
    w->vertex[at] = vertex;
    w->place[vertex] = at;
}

static void exchange(work_t *w, int a, int b)
{
    int at_a = w->vertex[a], at_b = w->vertex[b];
    stand(w, a, at_b);
    stand(w, b, at_a);
}

/* The vertex next in the stretch: the best neighbour of those taken, else the
 * first that is left. */
static int next(work_t *w, int at)
{
    while (w->heaped) {
        next_t one = pop(w);
        if (!w->taken[one.vertex] && one.gain == w->gain[one.vertex])
            return one.vertex;
    }
    return w->vertex[at];
}

/* Bring `count` vertices that hang together to the front of the stretch, and
 * return the last of them. */
static int grow(work_t *w, int begin, int end, int count)
{
    const sw_web_t *web = w->web;
    w->heaped = 0;
    for (int i = begin; i < end; i++) {
        int v = w->vertex[i];
        w->taken[v] = false;
        w->gain[v] = 0;
        for (size_t k = web->first[v]; k < web->first[v + 1]; k++) {
            int at = w->place[web->to[k]];
            if (at >= begin && at < end)
                w->gain[v] -= sw_web_amount(web, k);
        }
    }
    for (int i = begin; i < begin + count; i++) {
        int v = i == begin ? w->vertex[i] : next(w, i);
        w->taken[v] = true;
        exchange(w, i, w->place[v]);
        for (size_t k = web->first[v]; k < web->first[v + 1]; k++) {
            int other = web->to[k], at = w->place[other];
            if (at < begin || at >= end || w->taken[other])
                continue;
            w->gain[other] += 2 * (int64_t)sw_web_amount(web, k);
            push(w, other);
        }
    }
    return w->vertex[begin + count - 1];
}

/* The bound between two parts that is nearest the middle of the stretch; `end`:
 * there is none. */
static int bound(const sw_seats_t *seats, int begin, int end)
{
    int level = sw_seats_level(seats, begin, end - 1), best = end;
    for (int i = begin + 1; level < SW_SEAT_LEVELS && i < end; i++)
        if (seats->part[i][level] == i &&
            abs(2 * i - begin - end) < abs(2 * best - begin - end))
            best = i;
    return best;
}

static void halve(work_t *w, int begin, int end)
{
    int middle = bound(w->seats, begin, end);
    if (middle == end)
        return;
    /* Once through: what comes last lies at the rim. */
    exchange(w, begin, w->place[grow(w, begin, end, end - begin)]);
    grow(w, begin, end, middle - begin);
    halve(w, begin, middle);
    halve(w, middle, end);
}

void sw_bipartition(const sw_web_t *web, const sw_seats_t *seats, int *at)
{
    size_t n = (size_t)web->n, links = web->first[n];
    work_t w = {.web = web, .seats = seats};
    w.vertex = sw_array_zeroed(n, sizeof *w.vertex);
    w.place = sw_array_zeroed(n, sizeof *w.place);
    w.gain = sw_array_zeroed(n, sizeof *w.gain);
    w.taken = sw_array_zeroed(n, sizeof *w.taken);
    w.heap = sw_array_zeroed(links + 1, sizeof *w.heap);
    for (int v = 0; v < web->n; v++)
        stand(&w, v, v);
    halve(&w, 0, web->n);
    for (int v = 0; v < web->n; v++)
        at[v] = w.place[v];
    free(w.vertex);
    free(w.place);
    free(w.gain);
    free(w.taken);
    free(w.heap);
}
