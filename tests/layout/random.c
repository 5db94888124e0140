/*
 * Random layouts, nested as datatypes are, against a plain list of where each
 * byte lies: packed and unpacked, whole and in parts that begin and end
 * anywhere; bytes between are left alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/build.h"

#define BYTES_MAX 6000          /* of data in an element */
#define SPAN_MAX (1 << 20)

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
    case 0:
        return span;
    case 1:
        return -(span + (int64_t)below(9));
    default:
        return span + (int64_t)below(40);
    }
}

static sw_place_t make(sw_build_t *b, int depth, map_t *m);

static sw_place_t make_run(sw_build_t *b, map_t *m)
{
    static const int usual[] = {1, 2, 4, 8, 12, 16, 24, 32, 64};
    int n = below(2) ? usual[below(9)] : (int)below(80);
    *m = map_new(n);
    for (int i = 0; i < n; i++)
        m->at[i] = i;
    return sw_build_run(b, (uint64_t)n);
}

static sw_place_t make_repeat(sw_build_t *b, int depth, map_t *m)
{
    map_t inner;
    sw_place_t p = make(b, depth - 1, &inner);
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
static sw_place_t make_list(sw_build_t *b, int depth, map_t *m)
{
    enum { MOST = 24 };
    sw_place_t place[MOST];
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
    sw_place_t first = n ? place[0] : (sw_place_t){0, 0};
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

static sw_place_t make(sw_build_t *b, int depth, map_t *m)
{
    if (depth == 0 || below(4) == 0)
        return make_run(b, m);
    sw_place_t p = below(2) ? make_repeat(b, depth, m)
                            : make_list(b, depth, m);
    if (below(4) == 0) {
        int64_t by = (int64_t)below(100) - 50;
        p = sw_place_moved(p, by);
        map_put(m, 0, m, by);
    }
    return p;
}

#define CHECK(what, ...)                                                \
    do                                                                  \
        if (!(what)) {                                                  \
            printf("seed %llu: ", (unsigned long long)seed);            \
            printf(__VA_ARGS__);                                        \
            puts("");                                                   \
            exit(1);                                                    \
        }                                                               \
    while (0)

static void check(uint64_t seed, const sw_layout_t *l, const map_t *m)
{
    int64_t low = 0, high = 0;
    for (int64_t i = 0; i < m->n; i++) {
        low = i && low < m->at[i] ? low : m->at[i];
        high = i && high > m->at[i] + 1 ? high : m->at[i] + 1;
    }
    CHECK(l->size == (uint64_t)m->n, "size %llu for %lld",
          (unsigned long long)l->size, (long long)m->n);
    CHECK(!m->n || (l->low == low && l->high == high), "bounds");
    int64_t count = (int64_t)below(5);
    int64_t span = high - low + count * (l->extent < 0 ? -l->extent
                                                       : l->extent);
    if (span > SPAN_MAX || !m->n)
        return;
    int64_t shift = -low + (l->extent < 0 ? -l->extent * count : 0);
    size_t total = (size_t)(count * m->n), room = (size_t)span + 1;
    char *memory = malloc(room), *want = malloc(room);
    char *data = malloc(total + 1), *got = malloc(total + 1);
    for (size_t i = 0; i < room; i++)
        memory[i] = (char)below(256);
    for (int64_t i = 0; i < count * m->n; i++)
        data[i] = memory[shift + i / m->n * l->extent + m->at[i % m->n]];
    char *base = memory + shift;
    for (int k = 0; k < 12; k++) {
        uint64_t a = k ? below(total + 1) : 0, b = k ? below(total + 1) : total;
        uint64_t from = a < b ? a : b, to = a < b ? b : a;
        memset(got, 0x5a, total + 1);
        sw_layout_pack(l, base, count, from, to, got);
        CHECK(!memcmp(got, data + from, to - from) &&
                  got[to - from] == 0x5a,
              "packed [%llu, %llu) of %zu", (unsigned long long)from,
              (unsigned long long)to, total);
        for (size_t i = 0; i < total; i++)
            got[i] = (char)below(256);
        memcpy(want, memory, room);
        for (uint64_t i = from; i < to; i++)
            want[shift + (int64_t)(i / (uint64_t)m->n) * l->extent +
                 m->at[i % (uint64_t)m->n]] = got[i - from];
        sw_layout_unpack(l, base, count, from, to, got);
        CHECK(!memcmp(memory, want, room), "unpacked [%llu, %llu) of %zu",
              (unsigned long long)from, (unsigned long long)to, total);
        for (int64_t i = 0; i < count * m->n; i++)
            data[i] = memory[shift + i / m->n * l->extent + m->at[i % m->n]];
    }
    free(memory);
    free(want);
    free(data);
    free(got);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t rounds = argc > 2 ? strtoull(argv[2], NULL, 0) : 3000;
    uint64_t nodes = 0, bytes = 0;
    for (uint64_t seed = first; seed < first + rounds; seed++) {
        state = seed * 0x9e3779b97f4a7c15u | 1;
        below(2);
        map_t m;
        sw_build_t *b = sw_build_new();
        sw_place_t p = make(b, 1 + (int)below(5), &m);
        int64_t extent = m.n ? some_stride(&m) : 0;
        sw_layout_t *l = sw_build_end(b, p, extent);
        CHECK(l, "not built");
        check(seed, l, &m);
        nodes += l->nodes;
        bytes += l->size;
        free(l);
        free(m.at);
    }
    printf("%llu layouts, %llu bytes, %llu nodes: ok\n",
           (unsigned long long)rounds, (unsigned long long)bytes,
           (unsigned long long)nodes);
    return bytes ? 0 : 1;
}
