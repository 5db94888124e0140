/*
 * cases.h - messages between two layouts at random, and what a plain walk over
 * their runs makes of them. The kernels are compared with that.
 *
 * All lengths, strides and offsets of a case are multiples of its grain. No
 * byte of a side lies twice in memory.
 */
#ifndef CASES_H
#define CASES_H

#include <string.h>

#include "device/plan.h"
#include "must.h"

typedef struct {
    sw_shape_t shape;          /* its base is relative to low */
    int64_t *offset;           /* of a list */
    uint64_t *length, *before; /* of RUNS */
    uint64_t data;             /* bytes of data in all */
    uint64_t span;             /* bytes of memory */
} case_side_t;

typedef struct {
    case_side_t source, target;
    uint64_t source_skip, target_skip, bytes, grain;
    int wish;
} case_t;

static uint64_t case_state = 88172645463325252u;

static uint64_t case_below(uint64_t n)
{
    return random_from(&case_state) % n;
}

/* The wanted bytes of a run, mostly short. */
static uint64_t case_run(uint64_t grain)
{
    static const uint64_t usual[] = {1,  2,  3,  4,  5,   8,   12,   16,  24,
                                     32, 33, 48, 64, 100, 256, 1000, 4096};
    uint64_t run = usual[case_below(sizeof usual / sizeof *usual)];
    return (run + grain - 1) / grain * grain;
}

/* A nest of at least `bytes` bytes: first in memory order, then the levels are
 * shuffled, some turned around. */
static void case_nest(case_side_t *s, uint64_t bytes, uint64_t grain)
{
    sw_shape_t *h = &s->shape;
    h->kind = SW_SHAPE_NEST;
    h->run = case_run(grain);
    h->levels = (int)case_below(SW_SHAPE_LEVELS + 1);
    if (h->levels == 0)
        h->run = bytes + grain * case_below(3) + grain;
    uint64_t span = h->run, data = h->run;
    for (int d = 0; d < h->levels; d++) {
        uint64_t stride = span + grain * case_below(2) * case_below(9);
        uint64_t need = bytes / data + 1;
        uint64_t count = d + 1 == h->levels ? need : 1 + case_below(9);
        h->level[d].count = (int64_t)count;
        h->level[d].stride = (int64_t)stride;
        span = stride * (count - 1) + span;
        data *= count;
    }
    for (int d = h->levels - 1; d > 0 && case_below(2); d--) {
        uint64_t e = case_below((uint64_t)d + 1);
        int64_t count = h->level[d].count, stride = h->level[d].stride;
        h->level[d] = h->level[e];
        h->level[e].count = count;
        h->level[e].stride = stride;
    }
    for (int d = 0; d < h->levels; d++)
        if (case_below(6) == 0) {
            h->base += (uint64_t)(h->level[d].stride * (h->level[d].count - 1));
            h->level[d].stride = -h->level[d].stride;
        }
    s->data = data;
    s->span = span;
}

/* A list in memory order, then shuffled, or as it is. */
static void case_list(case_side_t *s, bool equal, uint64_t bytes,
                      uint64_t grain, bool wide)
{
    sw_shape_t *h = &s->shape;
    uint64_t elements = case_below(2) ? 1 : 1 + case_below(5);
    uint64_t run = case_run(grain), n = 1 + bytes / elements / run;
    if (n > 200000) {
        run *= 1 + n / 200000;
        n = 1 + bytes / elements / run;
    }
    s->offset = malloc(n * sizeof *s->offset);
    s->length = malloc(n * sizeof *s->length);
    s->before = malloc((n + 1) * sizeof *s->before);
    MUST(s->offset && s->length && s->before);
    uint64_t span = 0, data = 0;
    for (uint64_t i = 0; i < n; i++) {
        span += grain * case_below(4);
        s->length[i] = equal ? run : grain * (1 + case_below(2 * run / grain));
        s->offset[i] = (int64_t)span;
        span += s->length[i];
    }
    for (uint64_t i = n - 1, shuffled = case_below(2); shuffled && i; i--) {
        uint64_t j = case_below(i + 1), length = s->length[i];
        int64_t offset = s->offset[i];
        s->offset[i] = s->offset[j];
        s->length[i] = s->length[j];
        s->offset[j] = offset;
        s->length[j] = length;
    }
    for (uint64_t i = 0; i < n; i++) {
        s->before[i] = data;
        data += s->length[i];
    }
    s->before[n] = data;
    sw_table_describe(s->offset, equal ? NULL : s->length, run, n, wide,
                      &h->table);
    if (!equal)
        elements = bytes / data + 1;
    h->kind = equal ? SW_SHAPE_LIST : SW_SHAPE_RUNS;
    uint64_t extent = span + grain * case_below(3);
    h->levels = elements > 1 || case_below(2);
    h->level[0].count = (int64_t)elements;
    h->level[0].stride = (int64_t)extent;
    s->data = data * elements;
    s->span = extent * (elements - 1) + span;
}

static void case_side(case_side_t *s, uint64_t bytes, uint64_t grain, bool wide)
{
    *s = (case_side_t){.data = 0};
    uint64_t kind = case_below(8);
    if (kind < 5)
        case_nest(s, bytes, grain);
    else
        case_list(s, kind < 7, bytes, grain, wide);
    uint64_t shift = grain * case_below(17);
    s->shape.base += shift;
    s->span += shift + case_below(40);
}

/* A message of up to `most` bytes. */
static void case_make(case_t *c, uint64_t most)
{
    static const uint64_t grains[] = {1, 1, 2, 4, 8, 8, 16, 16};
    uint64_t size = case_below(16), grain;
    *c = (case_t){.grain = grains[case_below(8)]};
    grain = c->grain;
    c->bytes = size < 1    ? 0
               : size < 9  ? case_below(5000)
               : size < 15 ? case_below(most / 16 + 1)
                           : case_below(most + 1);
    c->bytes = c->bytes / grain * grain;
    c->source_skip = case_below(2) * case_below(3000) / grain * grain;
    c->target_skip = case_below(2) * case_below(3000) / grain * grain;
    bool wide = case_below(8) == 0;
    c->wish = wide ? SW_WISH_WIDE : 0;
    if (case_below(4) == 0)
        c->wish |= 1 << case_below(6);
    case_side(&c->source, c->source_skip + c->bytes, grain, wide);
    case_side(&c->target, c->target_skip + c->bytes, grain, wide);
}

static void case_end(case_t *c)
{
    for (int i = 0; i < 2; i++) {
        case_side_t *s = i ? &c->target : &c->source;
        free(s->offset);
        free(s->length);
        free(s->before);
    }
}

/* Where a byte of the data lies, and how many follow it in its run. */
static uint64_t case_place(const case_side_t *s, uint64_t byte, uint64_t *left)
{
    const sw_shape_t *h = &s->shape;
    uint64_t at = h->base;
    if (h->kind == SW_SHAPE_NEST) {
        *left = h->run - byte % h->run;
        at += byte % h->run;
        byte /= h->run;
        for (int d = 0; d < h->levels; d++) {
            uint64_t count = (uint64_t)h->level[d].count;
            at += byte % count * (uint64_t)h->level[d].stride;
            byte /= count;
        }
        return at;
    }
    uint64_t element = byte / h->table.data, low = 0, high = h->table.runs;
    byte %= h->table.data;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (s->before[middle] <= byte)
            low = middle;
        else
            high = middle;
    }
    *left = s->before[low + 1] - byte;
    return at + element * (uint64_t)h->level[0].stride +
           (uint64_t)s->offset[low] + byte - s->before[low];
}

/* What the message makes of the target's memory. */
static void case_copy(const case_t *c, const char *source, char *target)
{
    for (uint64_t i = 0, n, a, b; i < c->bytes; i += n) {
        uint64_t from = case_place(&c->source, c->source_skip + i, &a);
        uint64_t to = case_place(&c->target, c->target_skip + i, &b);
        n = c->bytes - i;
        n = n < a ? n : a;
        n = n < b ? n : b;
        memcpy(target + to, source + from, n);
    }
}

/* Plan the case for memory at these addresses, whose tables lie at those. */
static bool case_plan(const case_t *c, uint64_t source, uint64_t source_table,
                      uint64_t target, uint64_t target_table, int unroll,
                      sw_plan_t *plan)
{
    sw_shape_t s = c->source.shape, t = c->target.shape;
    s.base += source;
    s.block = source_table;
    t.base += target;
    t.block = target_table;
    if (sw_plan(&s, c->source_skip, &t, c->target_skip, c->bytes, c->wish,
                unroll, plan))
        return true;
    return sw_plan(&s, c->source_skip, &t, c->target_skip, c->bytes,
                   c->wish & SW_WISH_WIDE, unroll, plan);
}

/* The side's table, as the device is to have it; NULL: it has none. */
static void *case_table(const case_side_t *s)
{
    if (!s->shape.table.bytes)
        return NULL;
    void *block = calloc(1, s->shape.table.bytes);
    MUST(block);
    sw_table_write(&s->shape.table, s->offset,
                   s->shape.kind == SW_SHAPE_RUNS ? s->length : NULL, block);
    return block;
}

static void case_print(const case_t *c, const sw_plan_t *plan, FILE *to)
{
    fprintf(to, "%s: %llu bytes, skips %llu %llu, grain %llu, wish %d\n",
            sw_plan_kernel(plan), (unsigned long long)c->bytes,
            (unsigned long long)c->source_skip,
            (unsigned long long)c->target_skip, (unsigned long long)c->grain,
            c->wish);
}

#endif
