/*
 * walk.c - packing, unpacking, and both at once; see layout.h.
 *
 * The walk is written once (way.h) and compiled for both directions.
 */
#include "pair.h"
#include "node/temporary.h"

#include <stdlib.h>
#include <string.h>

/* Rows of fewer runs do not drive each other's lines out of the nearest
 * cache. */
#define WOVEN_FROM 8

/* Rows `apart` bytes from each other, each of `count` runs that share no cache
 * line with the next: do those of several rows share them? */
static bool close_rows(int64_t apart, int64_t count, int64_t stride)
{
    return count >= WOVEN_FROM && llabs(stride) >= SW_LINE && apart != 0 &&
           llabs(apart) <= SW_LINE / 2;
}

/* How many rows, at most `rows`, share the line of the first. */
static int64_t rows_of_line(const char *at, int64_t apart, int64_t rows)
{
    int64_t before = (int64_t)((uintptr_t)at % SW_LINE);
    int64_t room = apart > 0 ? SW_LINE - 1 - before : before;
    int64_t n = room / llabs(apart) + 1;
    return n < rows ? n : rows;
}

/* The entry of a list in which byte `from` of its data is. */
static int64_t entry_at(const sw_layout_t *l, const sw_layout_node_t *n,
                        uint64_t from)
{
    const int64_t *entry = sw_layout_words(l) + n->child;
    int64_t low = 0, high = n->count - 1;
    while (low < high) { /* the last that begins at or before */
        int64_t middle = (low + high + 1) / 2;
        if ((uint64_t)entry[middle * SW_ENTRY_WORDS + SW_ENTRY_BEFORE] > from)
            high = middle - 1;
        else
            low = middle;
    }
    return low;
}

#define NAME(x) pack_##x
#define SW_MOVE(at, data, n) memcpy(data, at, n)
#include "way.h"
#undef NAME
#undef SW_MOVE

#define NAME(x) unpack_##x
#define SW_MOVE(at, data, n) memcpy(at, data, n)
#include "way.h"
#undef NAME
#undef SW_MOVE

/* The node of `count` elements, which is in no layout: its child is the root,
 * or what that repeats, if the elements go on where it ends. */
static sw_layout_node_t elements(const sw_layout_t *l, int64_t count)
{
    const sw_layout_node_t *root = &l->node[l->root];
    sw_layout_node_t n = {.kind = SW_NODE_REPEAT,
                          .child = l->root,
                          .count = count,
                          .stride = l->extent,
                          .unit = l->size,
                          .size = (uint64_t)count * l->size};
    if (count == 1)
        return *root;
    if (root->kind == SW_NODE_RUN && l->extent == (int64_t)root->unit)
        return (sw_layout_node_t){
            .kind = SW_NODE_RUN, .unit = n.size, .size = n.size};
    if (root->kind == SW_NODE_REPEAT &&
        l->extent == root->count * root->stride) {
        n.child = root->child;
        n.count = count * root->count;
        n.stride = root->stride;
        n.unit = root->unit;
    }
    return n;
}

void sw_layout_pack(const sw_layout_t *l, const void *base, int64_t count,
                    uint64_t from, uint64_t to, void *data)
{
    sw_layout_node_t n = elements(l, count);
    pack_part(l, &n, (char *)((intptr_t)base + l->at), from, to, data);
}

/* A node of a layout, and where it begins in memory. */
typedef struct {
    const sw_layout_t *l;
    const sw_layout_node_t *n;
    char *at;
} here_t;

/* Some rows of a large matrix; in the second cache. Without memory for that,
 * what a small stack holds. */
#define STEP 32768
#define STEP_LEAST 128

static __attribute__((noinline)) void by_buffer(here_t from, here_t to,
                                                uint64_t begin, uint64_t end)
{
    char least[STEP_LEAST], *large = sw_temporary_try(STEP);
    char *step = large ? large : least;
    uint64_t most = large ? STEP : sizeof least;
    for (uint64_t at = begin, next; at < end; at = next) {
        next = end - at < most ? end : at + most;
        pack_part(from.l, from.n, from.at, at, next, step);
        unpack_part(to.l, to.n, to.at, at, next, step);
    }
    sw_temporary_free(large);
}

static bool by_pair(here_t from, here_t to, uint64_t begin, uint64_t end)
{
    sw_nest_t out, in;
    if (!sw_nest(from.l, from.n, &out) || !sw_nest(to.l, to.n, &in) ||
        !sw_pair_suits(&out, &in))
        return false;
    sw_pair_copy(&out, from.at, &in, to.at, begin, end);
    return true;
}

/* Entries of lists from here on are worth a look at each. */
#define ENTRY 256

static here_t entry_of(here_t list, int64_t i, uint64_t *before)
{
    const int64_t *entry = sw_layout_words(list.l) + list.n->child +
                           i * SW_ENTRY_WORDS;
    *before = (uint64_t)entry[SW_ENTRY_BEFORE];
    return (here_t){list.l, &list.l->node[entry[SW_ENTRY_NODE]],
                    list.at + entry[SW_ENTRY_AT]};
}

static void transfer(here_t from, here_t to, uint64_t begin, uint64_t end);

/* Two lists, as far as their entries are of the same sizes: entry by entry.
 * Returns where that ends. */
static uint64_t by_entries(here_t from, here_t to, uint64_t begin, uint64_t end)
{
    if (from.n->kind != SW_NODE_LIST || to.n->kind != SW_NODE_LIST ||
        from.n->size < (uint64_t)from.n->count * ENTRY)
        return begin;
    int64_t i = entry_at(from.l, from.n, begin);
    for (; begin < end && i < from.n->count && i < to.n->count; i++) {
        uint64_t before, there;
        here_t out = entry_of(from, i, &before);
        here_t in = entry_of(to, i, &there);
        if (before != there || out.n->size != in.n->size)
            break;
        uint64_t next = sw_min(end, before + out.n->size);
        transfer(out, in, begin - before, next - before);
        begin = next;
    }
    return begin;
}

static void transfer(here_t from, here_t to, uint64_t begin, uint64_t end)
{
    if (by_pair(from, to, begin, end))
        return;
    begin = by_entries(from, to, begin, end);
    if (begin < end)
        by_buffer(from, to, begin, end);
}

void sw_layout_transfer(const sw_layout_t *from, const void *source,
                        int64_t source_count, const sw_layout_t *to,
                        void *target, int64_t target_count, uint64_t begin,
                        uint64_t end)
{
    sw_layout_node_t out = elements(from, source_count);
    sw_layout_node_t in = elements(to, target_count);
    transfer((here_t){from, &out, (char *)((intptr_t)source + from->at)},
             (here_t){to, &in, (char *)((intptr_t)target + to->at)}, begin,
             end);
}

void sw_layout_unpack(const sw_layout_t *l, void *base, int64_t count,
                      uint64_t from, uint64_t to, const void *data)
{
    sw_layout_node_t n = elements(l, count);
    unpack_part(l, &n, (char *)((intptr_t)base + l->at), from, to,
                (char *)(uintptr_t)data);
}
