/*
 * Two layouts at once: what goes from the one to the other in one call is what
 * packing and unpacking would have brought, for random parts of the data. Half
 * of the pairs are nests of repeats of which each side has its own, and lists
 * of them, the others any two layouts (make.h).
 */
#include <stdio.h>
#include <string.h>

#include "layout/pair.h"
#include "node/base/settings.h"
#include "make.h"
#include "rounds.h"

#define SPAN_MAX (1 << 20)
#define PARTS 6

/* `bytes` bytes as runs, repeated as often as it takes, one way of many; how
 * many bytes of memory. */
static sw_layout_place_t nest(sw_build_t *b, uint64_t bytes, int64_t *span_of)
{
    static const uint64_t runs[] = {1,  2,  4,  8,   12,  16,  24, 40,
                                    48, 64, 96, 128, 192, 320, 960};
    uint64_t run = runs[below(sizeof runs / sizeof *runs)];
    if (bytes % run)
        run = 1;
    sw_layout_place_t p = sw_build_run(b, run);
    int64_t span = (int64_t)run;
    for (uint64_t left = bytes / run, n; left > 1; left /= n) {
        n = left;
        for (uint64_t k = 2 + below(40); k < left; k++)
            if (left % k == 0 && below(3)) {
                n = k;
                break;
            }
        int64_t stride = span + (int64_t)below(3) * (int64_t)below(100);
        bool back = below(8) == 0;
        p = sw_build_repeat(b, (int64_t)n, back ? -stride : stride, p);
        if (back)
            p = sw_place_moved(p, stride * (int64_t)(n - 1));
        span = stride * (int64_t)n;
    }
    *span_of = span;
    return p;
}

/* Nests of those bytes, one behind another. */
static sw_layout_t *nests(const uint64_t *bytes, int n)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t place[PARTS];
    int64_t at = 0, span;
    for (int i = 0; i < n; i++) {
        place[i] = sw_place_moved(nest(b, bytes[i], &span), at);
        at += span + (int64_t)below(50);
    }
    return sw_build_end(b, sw_build_list(b, n, place), at);
}

typedef struct {
    sw_layout_t *l;
    int64_t count;
    size_t room;
    char *memory, *at;
} side_t;

static side_t side(sw_layout_t *l)
{
    side_t s = {.l = l, .count = 1 + (int64_t)below(4)};
    int64_t low, high;
    sw_layout_span(l, s.count, &low, &high);
    s.room = (size_t)(high - low);
    s.memory = malloc(s.room + 1);
    s.at = s.memory - low;
    for (size_t i = 0; i < s.room; i++)
        s.memory[i] = (char)below(256);
    return s;
}

static void end(side_t *s)
{
    free(s->memory);
    free(s->l);
}

static bool regular(const side_t *s)
{
    sw_nest_t n;
    return sw_nest(s->l, &s->l->node[s->l->root], &n);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t many = argc > 2 ? strtoull(argv[2], NULL, 0)
                             : (uint64_t)rounds(1500);
    int both = 0;
    sw_settings_load();
    for (uint64_t seed = first; seed < first + many; seed++) {
        map_t m[2];
        bool regular_ones = seed % 2;
        state = seed * 0x9e3779b97f4a7c15u;
        uint64_t bytes[PARTS];
        int n = below(2) ? 1 : 1 + (int)below(PARTS);
        for (int i = 0; i < PARTS; i++)
            bytes[i] = 960 * (1 + below(20));
        sw_layout_t *a = regular_ones ? nests(bytes, n)
                                      : make_layout(seed, &m[0]);
        if (below(4) == 0)
            bytes[n - 1] += 960; /* from there on they differ */
        sw_layout_t *b = regular_ones ? nests(bytes, n)
                                      : make_layout(seed + 1000000, &m[1]);
        CHECK(a && b, "not built");
        side_t from = side(a), to = side(b);
        uint64_t all = sw_min(a->size * (uint64_t)from.count,
                              b->size * (uint64_t)to.count);
        if (!regular_ones) {
            free(m[0].at);
            free(m[1].at);
        }
        if (from.room < SPAN_MAX && to.room < SPAN_MAX && all) {
            both += regular(&from) && regular(&to);
            char *data = malloc(all), *before = malloc(to.room + 1);
            char *want = malloc(to.room + 1);
            memcpy(before, to.memory, to.room);
            for (int k = 0; k < 8; k++) {
                uint64_t x = k ? below(all + 1) : 0;
                uint64_t y = k ? below(all + 1) : all;
                uint64_t low = sw_min(x, y), high = sw_max(x, y);
                memcpy(to.memory, before, to.room);
                sw_layout_pack(a, from.at, from.count, low, high, data);
                sw_layout_unpack(b, to.at, to.count, low, high, data);
                memcpy(want, to.memory, to.room);
                memcpy(to.memory, before, to.room);
                sw_layout_transfer(a, from.at, from.count, b, to.at, to.count,
                                   low, high);
                CHECK(!memcmp(to.memory, want, to.room), "[%llu, %llu) of %llu",
                      (unsigned long long)low, (unsigned long long)high,
                      (unsigned long long)all);
            }
            free(data);
            free(before);
            free(want);
        }
        end(&from);
        end(&to);
    }
    printf("%llu pairs, %d of them regular: ok\n", (unsigned long long)many,
           both);
    if (many > 100 && both < (int)many / 8) {
        puts("too few are regular");
        return 1;
    }
    return 0;
}
