/*
 * way.h - the walk in one direction; included twice, by walk.c.
 *
 * `at` is where a node begins in memory; of its data, the bytes [from, to) go
 * to or come from `data`. Only the path to the first and to the last byte
 * needs to know of parts: what lies between is whole.
 */
#include "kernels.h"

static void NAME(whole)(const sw_layout_t *l, const sw_layout_node_t *n,
                        char *at, char *data);

/* `count` of the children. */
static void NAME(children)(const sw_layout_t *l, const sw_layout_node_t *n,
                           char *at, int64_t count, char *data)
{
    const sw_layout_node_t *c = &l->node[n->child];
    if (c->kind == SW_NODE_RUN) {
        NAME(strided)(at, count, n->stride, c->unit, data);
        return;
    }
    const sw_layout_node_t *g = &l->node[c->child];
    bool rows = c->kind == SW_NODE_REPEAT && g->kind == SW_NODE_RUN;
    bool woven = rows && close_rows(n->stride, c->count, c->stride);
    for (int64_t some; woven && count > 0; count -= some) {
        some = rows_of_line(at, n->stride, count);
        NAME(woven)(at, some, n->stride, n->unit, c->count, c->stride, g->unit,
                    data);
        at += some * n->stride;
        data += (size_t)some * n->unit;
    }
    for (int64_t i = 0; i < count; i++) {
        if (rows)
            NAME(strided)(at, c->count, c->stride, g->unit, data);
        else
            NAME(whole)(l, c, at, data);
        at += n->stride;
        data += n->unit;
    }
}

static void NAME(whole)(const sw_layout_t *l, const sw_layout_node_t *n,
                        char *at, char *data)
{
    switch (n->kind) {
    case SW_NODE_RUN: NAME(one)(at, data, n->unit); break;
    case SW_NODE_REPEAT: NAME(children)(l, n, at, n->count, data); break;
    case SW_NODE_BLOCKS:
        NAME(indexed)(at, n->count, sw_layout_words(l) + n->child, n->unit,
                      data);
        break;
    case SW_NODE_LIST: {
        const int64_t *entry = sw_layout_words(l) + n->child;
        for (int64_t i = 0; i < n->count; i++, entry += SW_ENTRY_WORDS) {
            const sw_layout_node_t *c = &l->node[entry[SW_ENTRY_NODE]];
            char *place = at + entry[SW_ENTRY_AT];
            if (c->kind == SW_NODE_RUN)
                NAME(one)(place, data + entry[SW_ENTRY_BEFORE], c->unit);
            else
                NAME(whole)(l, c, place, data + entry[SW_ENTRY_BEFORE]);
        }
        break;
    }
    }
}

static void NAME(part)(const sw_layout_t *l, const sw_layout_node_t *n,
                       char *at, uint64_t from, uint64_t to, char *data);

/* Of child i, which has `unit` bytes of data: what of [from, to) it holds. */
static void NAME(child)(const sw_layout_t *l, const sw_layout_node_t *n,
                        char *at, int64_t i, uint64_t from, uint64_t to,
                        char *data)
{
    uint64_t begin = (uint64_t)i * n->unit;
    uint64_t first = from > begin ? from - begin : 0;
    uint64_t end = to - begin < n->unit ? to - begin : n->unit;
    data += begin + first - from;
    if (n->kind == SW_NODE_BLOCKS)
        NAME(one)(at + sw_layout_words(l)[n->child + (uint64_t)i] + first, data,
                  end - first);
    else
        NAME(part)(l, &l->node[n->child], at + i * n->stride, first, end, data);
}

/* REPEAT and BLOCKS. */
static void NAME(some)(const sw_layout_t *l, const sw_layout_node_t *n,
                       char *at, uint64_t from, uint64_t to, char *data)
{
    int64_t i = (int64_t)(from / n->unit), last = (int64_t)(to / n->unit);
    if (from % n->unit)
        NAME(child)(l, n, at, i++, from, to, data);
    if (i < last) {
        char *place = data + ((uint64_t)i * n->unit - from);
        if (n->kind == SW_NODE_BLOCKS)
            NAME(indexed)(at, last - i,
                          sw_layout_words(l) + n->child + (uint64_t)i, n->unit,
                          place);
        else
            NAME(children)(l, n, at + i * n->stride, last - i, place);
        i = last;
    }
    if (i == last && to % n->unit)
        NAME(child)(l, n, at, i, from, to, data);
}

static void NAME(entries)(const sw_layout_t *l, const sw_layout_node_t *n,
                          char *at, uint64_t from, uint64_t to, char *data)
{
    int64_t low = entry_at(l, n, from);
    const int64_t *entry = sw_layout_words(l) + n->child + low * SW_ENTRY_WORDS;
    for (; low < n->count && (uint64_t)entry[SW_ENTRY_BEFORE] < to;
         low++, entry += SW_ENTRY_WORDS) {
        const sw_layout_node_t *c = &l->node[entry[SW_ENTRY_NODE]];
        uint64_t begin = (uint64_t)entry[SW_ENTRY_BEFORE];
        uint64_t first = from > begin ? from - begin : 0;
        uint64_t end = to - begin < c->size ? to - begin : c->size;
        NAME(part)(l, c, at + entry[SW_ENTRY_AT], first, end,
                   data + (begin + first - from));
    }
}

static void NAME(part)(const sw_layout_t *l, const sw_layout_node_t *n,
                       char *at, uint64_t from, uint64_t to, char *data)
{
    if (from >= to)
        return;
    if (from == 0 && to == n->size)
        NAME(whole)(l, n, at, data);
    else if (n->kind == SW_NODE_RUN)
        NAME(one)(at + from, data, to - from);
    else if (n->kind == SW_NODE_LIST)
        NAME(entries)(l, n, at, from, to, data);
    else
        NAME(some)(l, n, at, from, to, data);
}
