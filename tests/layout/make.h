/*
 * make.h - random layouts, nested as datatypes are, with a plain list of where
 * each byte lies.
 */
#ifndef TESTS_LAYOUT_MAKE_H
#define TESTS_LAYOUT_MAKE_H

#include <stdio.h>
#include <stdlib.h>

#include "layout/build.h"

#define BYTES_MAX 6000 /* of data in an element */

/* Or say which seed it was, and end. */
#define CHECK(what, ...)                                     \
    do                                                       \
        if (!(what)) {                                       \
            printf("seed %llu: ", (unsigned long long)seed); \
            printf(__VA_ARGS__);                             \
            puts("");                                        \
            exit(1);                                         \
        }                                                    \
    while (0)

static uint64_t state;

static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

/* Offsets of the bytes in order. */
typedef struct {
    int64_t *at;
    int64_t n;
} map_t;

static map_t map_new(int64_t n)
{
    return (map_t){malloc((size_t)(n ? n : 1) * sizeof(int64_t)), n};
}

static void map_put(map_t *to, int64_t from, const map_t *m, int64_t by)
{
    for (int64_t i = 0; i < m->n; i++)
        to->at[from + i] = m->at[i] + by;
}

static int64_t some_stride(const map_t *m)
{
    int64_t low = 0, high = 0;
    for (int64_t i = 0; i < m->n; i++) {
        low = m->at[i] < low ? m->at[i] : low;
        high = m->at[i] + 1 > high ? m->at[i] + 1 : high;
    }
    int64_t span = high - low;
    switch (below(4)) {
    case 0: return span;
    case 1: return -(span + (int64_t)below(9));
    default: return span + (int64_t)below(40);
    }
}

static sw_layout_place_t make(sw_build_t *b, int depth, map_t *m);

static sw_layout_place_t make_run(sw_build_t *b, map_t *m)
{
    static const int usual[] = {1, 2, 4, 8, 12, 16, 24, 32, 64};
    int n = below(2) ? usual[below(9)] : (int)below(80);
    *m = map_new(n);
    for (int i = 0; i < n; i++)
        m->at[i] = i;
    return sw_build_run(b, (uint64_t)n);
}

static sw_layout_place_t make_repeat(sw_build_t *b, int depth, map_t *m)
{
    map_t inner;
    sw_layout_place_t p = make(b, depth - 1, &inner);
    int64_t most = inner.n ? BYTES_MAX / inner.n : 10;
    int64_t n = (int64_t)below((uint64_t)(most < 12 ? most : 12) + 1);
    int64_t stride = some_stride(&inner);
    *m = map_new(n * inner.n);
    for (int64_t i = 0; i < n; i++)
        map_put(m, i * inner.n, &inner, i * stride);
    free(inner.at);
    return sw_build_repeat(b, n, stride, p);
}

/* Blocks or children; in order or not, with equal steps or not. */
static sw_layout_place_t make_list(sw_build_t *b, int depth, map_t *m)
{
    enum { MOST = 24 };
    sw_layout_place_t place[MOST];
    map_t inner[MOST];
    int n = (int)below(MOST) + 1;
    bool same = below(2), even = below(3) == 0, back = below(4) == 0;
    int64_t at = 0, bytes = 0, step = (int64_t)below(50);
    for (int i = 0; i < n; i++) {
        if (i && same) {
            inner[i] = inner[0];
            place[i] = sw_place_moved(place[0], -place[0].at);
            place[i].at = place[0].at;
        } else {
            place[i] = make(b, depth - 1, &inner[i]);
        }
        bytes += inner[i].n;
        if (bytes > BYTES_MAX) {
            n = i;
            if (!(i && same))
                free(inner[i].at);
            bytes -= inner[i].n;
            break;
        }
    }
    *m = map_new(bytes);
    sw_layout_place_t first = n ? place[0] : (sw_layout_place_t){0, 0};
    for (int64_t i = 0, from = 0; i < n; i++) {
        int64_t wide = some_stride(&inner[i]);
        wide = wide < 0 ? -wide : wide;
        place[i] = sw_place_moved(same ? first : place[i], at);
        map_put(m, from, &inner[i], at);
        from += inner[i].n;
        at += (back ? -1 : 1) *
              (wide + (even ? step : (int64_t)below(50)) * (below(3) > 0));
    }
    for (int i = 0; i < (same && n ? 1 : n); i++)
        free(inner[i].at);
    return sw_build_list(b, n, place);
}

static sw_layout_place_t make(sw_build_t *b, int depth, map_t *m)
{
    if (depth == 0 || below(4) == 0)
        return make_run(b, m);
    sw_layout_place_t p = below(2) ? make_repeat(b, depth, m)
                                   : make_list(b, depth, m);
    if (below(4) == 0) {
        int64_t by = (int64_t)below(100) - 50;
        p = sw_place_moved(p, by);
        map_put(m, 0, m, by);
    }
    return p;
}

static sw_layout_t *make_layout(uint64_t seed, map_t *m)
{
    state = seed * 0x9e3779b97f4a7c15u | 1;
    below(2);
    sw_build_t *b = sw_build_new();
    sw_layout_place_t p = make(b, 1 + (int)below(5), m);
    return sw_build_end(b, p, m->n ? some_stride(m) : 0);
}

#endif
