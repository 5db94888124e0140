/*
 * Random layouts against a plain list of where each byte lies (make.h): packed
 * and unpacked, whole and in parts that begin and end anywhere; bytes between
 * are left alone. Their pieces, one after another, are the packed data.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/pieces.h"
#include "make.h"
#include "rounds.h"

#define SPAN_MAX (1 << 20)

typedef struct {
    uint64_t seed;
    char *data;
    int calls, most; /* after `most` calls it wants no more */
} taker_t;

static int take(void *context, const sw_os_piece_t *piece, int n)
{
    taker_t *t = context;
    uint64_t seed = t->seed;
    CHECK(n > 0 && n <= SW_PIECES, "%d pieces", n);
    for (int i = 0; i < n; i++) {
        CHECK(piece[i].bytes > 0, "an empty piece");
        CHECK(!i || piece[i - 1].at + piece[i - 1].bytes != piece[i].at,
              "two pieces that touch");
        memcpy(t->data, (const void *)(uintptr_t)piece[i].at, piece[i].bytes);
        t->data += piece[i].bytes;
    }
    return ++t->calls == t->most ? 7 : 0;
}

static void check_pieces(uint64_t seed, const sw_layout_t *l, const char *base,
                         int64_t count, const char *data, size_t total)
{
    size_t some = below(total + 1);
    char *got = malloc(total + 1);
    taker_t t = {seed, got, 0, 0}, once = {seed, got, 0, 1};
    CHECK(!sw_layout_pieces(l, (uintptr_t)base, count, some, take, &t),
          "an error");
    CHECK(t.data == got + some && !memcmp(got, data, some),
          "pieces of %zu of %zu bytes", some, total);
    int result = sw_layout_pieces(l, (uintptr_t)base, count, total, take,
                                  &once);
    CHECK(total ? result == 7 && once.calls == 1 : !result,
          "an end that is not heeded: %d, %d calls", result, once.calls);
    free(got);
}

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
    int64_t span = high - low +
                   count * (l->extent < 0 ? -l->extent : l->extent);
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
        CHECK(!memcmp(got, data + from, to - from) && got[to - from] == 0x5a,
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
    check_pieces(seed, l, base, count, data, total);
    free(memory);
    free(want);
    free(data);
    free(got);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t many = argc > 2 ? strtoull(argv[2], NULL, 0)
                             : (uint64_t)rounds(3000);
    uint64_t nodes = 0, bytes = 0;
    for (uint64_t seed = first; seed < first + many; seed++) {
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
           (unsigned long long)many, (unsigned long long)bytes,
           (unsigned long long)nodes);
    return bytes ? 0 : 1;
}
