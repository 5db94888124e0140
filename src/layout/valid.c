/*
 * valid.c - sw_layout_valid; see layout.h.
 *
 * Children have smaller numbers than their parents, so one pass over the nodes
 * sees each after its children: sizes must add up, and what it covers is
 * computed, not believed.
 */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#define BEYOND ((int64_t)1 << 62)

typedef struct {
    int64_t low, high;
} span_t;

/* Widen by [low, high) moved by `by`; false: out of all bounds. */
static bool widen(span_t *s, span_t child, int64_t by)
{
    int64_t low, high;
    if (__builtin_add_overflow(child.low, by, &low) ||
        __builtin_add_overflow(child.high, by, &high) || low < -BEYOND ||
        high > BEYOND)
        return false;
    s->low = low < s->low ? low : s->low;
    s->high = high > s->high ? high : s->high;
    return true;
}

static bool repeat(const sw_layout_t *l, uint32_t i, const span_t *span,
                   span_t *s)
{
    const sw_layout_node_t *n = &l->node[i];
    int64_t last;
    uint64_t size;
    return n->child > 0 && n->child < i && n->count > 0 &&
           n->unit == l->node[n->child].size &&
           !__builtin_mul_overflow(n->unit, (uint64_t)n->count, &size) &&
           size == n->size &&
           !__builtin_mul_overflow(n->count - 1, n->stride, &last) &&
           widen(s, span[n->child], 0) && widen(s, span[n->child], last);
}

static bool words_fit(const sw_layout_t *l, const sw_layout_node_t *n,
                      uint64_t each)
{
    return n->count > 0 && n->child <= l->words &&
           (uint64_t)n->count <= (l->words - n->child) / each;
}

static bool blocks(const sw_layout_t *l, const sw_layout_node_t *n, span_t *s)
{
    uint64_t size;
    if (!words_fit(l, n, 1) || !n->unit || n->unit >= (uint64_t)BEYOND ||
        __builtin_mul_overflow(n->unit, (uint64_t)n->count, &size) ||
        size != n->size)
        return false;
    span_t run = {0, (int64_t)n->unit};
    int64_t low, high;
    sw_layout_offsets_span(sw_layout_words(l) + n->child, n->count, &low,
                           &high);
    return widen(s, run, low) && widen(s, run, high);
}

static bool list(const sw_layout_t *l, uint32_t i, const span_t *span,
                 span_t *s)
{
    const sw_layout_node_t *n = &l->node[i];
    uint64_t before = 0;
    if (!words_fit(l, n, SW_ENTRY_WORDS))
        return false;
    const int64_t *entry = sw_layout_words(l) + n->child;
    for (int64_t k = 0; k < n->count; k++, entry += SW_ENTRY_WORDS) {
        int64_t child = entry[SW_ENTRY_NODE];
        if (child <= 0 || child >= (int64_t)i ||
            (uint64_t)entry[SW_ENTRY_BEFORE] != before ||
            !widen(s, span[child], entry[SW_ENTRY_AT]) ||
            __builtin_add_overflow(before, l->node[child].size, &before))
            return false;
    }
    return before == n->size;
}

static bool node(const sw_layout_t *l, uint32_t i, const span_t *span,
                 span_t *s)
{
    const sw_layout_node_t *n = &l->node[i];
    *s = (span_t){0, 0};
    if (n->size >= (uint64_t)BEYOND)
        return false;
    switch (n->kind) {
    case SW_NODE_EMPTY: return i == 0 && n->size == 0;
    case SW_NODE_RUN:
        s->high = (int64_t)n->unit;
        return n->unit && n->size == n->unit;
    case SW_NODE_REPEAT: return repeat(l, i, span, s);
    case SW_NODE_BLOCKS: return blocks(l, n, s);
    case SW_NODE_LIST: return list(l, i, span, s);
    default: return false;
    }
}

bool sw_layout_valid(const sw_layout_t *l, uint64_t bytes)
{
    uint64_t room = bytes - sizeof *l;
    if (bytes < sizeof *l || l->bytes != bytes || l->root >= l->nodes ||
        l->nodes > room / sizeof *l->node)
        return false;
    room -= l->nodes * sizeof *l->node;
    if (l->words > room / sizeof(int64_t))
        return false;
    span_t *span = malloc(l->nodes * sizeof *span), root = {0, 0};
    bool valid = span;
    for (uint32_t i = 0; i < l->nodes && valid; i++)
        valid = node(l, i, span, &span[i]);
    if (valid)
        root = span[l->root];
    free(span);
    int64_t low, high;
    return valid && l->size == l->node[l->root].size &&
           !__builtin_add_overflow(root.low, l->at, &low) &&
           !__builtin_add_overflow(root.high, l->at, &high) && low == l->low &&
           high == l->high && l->extent < BEYOND && l->extent > -BEYOND;
}
