/*
 * Random layouts against a plain list of where each byte lies (make.h): packed
 * and unpacked, whole and in parts that begin and end anywhere; bytes between
 * are left alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make.h"

#define SPAN_MAX (1 << 20)

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
        map_t m;
        sw_layout_t *l = make_layout(seed, &m);
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
