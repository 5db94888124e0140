/*
 * walk.c - packing, unpacking, and both at once; see layout.h.
 *
 * The walk is written once (way.h) and compiled for both directions.
 */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

/* Rows of fewer runs do not drive each other's lines out of the nearest cache. */
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
static sw_node_t elements(const sw_layout_t *l, int64_t count)
{
    const sw_node_t *root = &l->node[l->root];
    sw_node_t n = {.kind = SW_NODE_REPEAT, .child = l->root, .count = count,
                   .stride = l->extent, .unit = l->size,
                   .size = (uint64_t)count * l->size};
    if (count == 1)
        return *root;
    if (root->kind == SW_NODE_RUN && l->extent == (int64_t)root->unit)
        return (sw_node_t){.kind = SW_NODE_RUN, .unit = n.size,
                           .size = n.size};
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
    sw_node_t n = elements(l, count);
    pack_part(l, &n, (char *)((intptr_t)base + l->at), from, to, data);
}

/* Some rows of a large matrix; in the second cache. */
#define STEP 32768

void sw_layout_transfer(const sw_layout_t *from, const void *source,
                        int64_t source_count, const sw_layout_t *to,
                        void *target, int64_t target_count, uint64_t begin,
                        uint64_t end)
{
    sw_node_t out = elements(from, source_count);
    sw_node_t in = elements(to, target_count);
    char *source_at = (char *)((intptr_t)source + from->at);
    char *target_at = (char *)((intptr_t)target + to->at);
    _Alignas(SW_LINE) char step[STEP];
    for (uint64_t at = begin, next; at < end; at = next) {
        next = end - at < STEP ? end : at + STEP;
        pack_part(from, &out, source_at, at, next, step);
        unpack_part(to, &in, target_at, at, next, step);
    }
}

void sw_layout_unpack(const sw_layout_t *l, void *base, int64_t count,
                      uint64_t from, uint64_t to, const void *data)
{
    sw_node_t n = elements(l, count);
    unpack_part(l, &n, (char *)((intptr_t)base + l->at), from, to,
                (char *)(uintptr_t)data);
}
