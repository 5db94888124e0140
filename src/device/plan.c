/*
 * plan.c - see plan.h.
 */
#include "plan.h"

#include <string.h>

#define MOST_NARROW INT32_MAX
/* Runs from which on 16 loose bytes are better than units of this size. An H200
 * packs runs of 257 bytes at 597 GB/s so and at 846 by the byte, those of 1,001
 * bytes at 1,073 and 855. */
#define LOOSE_RUN 512
#define LOOSE_BELOW 4

/* The largest power of two that divides `bits`, up to 16. */
static uint64_t divides(uint64_t bits)
{
    bits |= 16;
    return bits & (0 - bits);
}

/* Tables ----------------------------------------------------------------- */

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

void sw_table_describe(const int64_t *offset, const uint64_t *length,
                       uint64_t run, uint64_t n, bool wide, sw_table_t *t)
{
    uint64_t bits = length ? 0 : run;
    *t = (sw_table_t){.runs = n,
                      .run = length ? 0 : run,
                      .data = length ? 0 : n * run,
                      .wide = wide};
    for (uint64_t i = 0; i < n; i++) {
        bits |= (uint64_t)offset[i] | (length ? length[i] : 0);
        t->data += length ? length[i] : 0;
    }
    t->scale = (uint32_t)divides(bits);
    for (uint64_t i = 0; i < n && !t->wide; i++) {
        int64_t at = offset[i] / (int64_t)t->scale;
        t->wide = at > INT32_MAX || at < INT32_MIN;
    }
    if (t->data / t->scale > UINT32_MAX)
        t->wide = true;
    uint64_t entry = t->wide ? 8 : 4;
    t->bytes = t->before = up(n * entry, 16);
    if (!length)
        return;
    /* About as many stretches as runs. */
    while (t->data >> t->shift > n)
        t->shift++;
    t->first = up(t->before + (n + 1) * entry, 16);
    t->bytes = t->first + 4 * ((t->data >> t->shift) + 2);
}

static void put(const sw_table_t *t, void *block, uint64_t at, uint64_t i,
                int64_t value)
{
    char *to = (char *)block + at;
    if (t->wide)
        ((int64_t *)(void *)to)[i] = value;
    else
        ((uint32_t *)(void *)to)[i] = (uint32_t)value;
}

void sw_table_write(const sw_table_t *t, const int64_t *offset,
                    const uint64_t *length, void *block)
{
    for (uint64_t i = 0; i < t->runs; i++)
        put(t, block, 0, i, offset[i] / (int64_t)t->scale);
    if (!length)
        return;
    uint32_t *first = (uint32_t *)(void *)((char *)block + t->first);
    uint64_t before = 0, stretch = 0, stretches = (t->data >> t->shift) + 2;
    for (uint64_t i = 0; i < t->runs; i++) {
        put(t, block, t->before, i, (int64_t)(before / t->scale));
        before += length[i];
        while (stretch < stretches && stretch << t->shift < before)
            first[stretch++] = (uint32_t)i;
    }
    put(t, block, t->before, t->runs, (int64_t)(before / t->scale));
    while (stretch < stretches)
        first[stretch++] = (uint32_t)(t->runs ? t->runs - 1 : 0);
}

/* Sides ------------------------------------------------------------------- */

/* A shape without levels that do nothing: of count 1, or that continue the one
 * within. */
static sw_shape_t plain(const sw_shape_t *from)
{
    sw_shape_t s = *from;
    s.levels = 0;
    for (int d = 0; d < from->levels; d++) {
        int64_t count = from->level[d].count, stride = from->level[d].stride;
        if (count == 1)
            continue;
        if (s.kind == SW_SHAPE_NEST && s.levels == 0 &&
            stride == (int64_t)s.run) {
            s.run *= (uint64_t)count;
        } else if (s.levels && stride == s.level[s.levels - 1].count *
                                             s.level[s.levels - 1].stride) {
            s.level[s.levels - 1].count *= count;
        } else {
            s.level[s.levels].count = count;
            s.level[s.levels++].stride = stride;
        }
    }
    return s;
}

/* All bits of a shape that a unit must divide. */
static uint64_t bits_of(const sw_shape_t *s, uint64_t skip)
{
    uint64_t bits = s->base | skip;
    bits |= s->kind == SW_SHAPE_NEST ? s->run : s->table.scale;
    for (int d = 0; d < s->levels; d++)
        bits |= (uint64_t)s->level[d].stride;
    return bits;
}

/* Bytes of a run, on average. */
static uint64_t run_of(const sw_shape_t *s)
{
    if (s->kind == SW_SHAPE_NEST)
        return s->run;
    return s->table.runs ? s->table.data / s->table.runs : 0;
}

static bool is_narrow(const sw_shape_t *s, uint64_t skip, uint64_t bytes,
                      uint64_t unit)
{
    if ((skip + bytes) / unit > MOST_NARROW)
        return false;
    if (s->kind != SW_SHAPE_NEST && s->table.wide)
        return false;
    /* A run or an element may be longer than the message. */
    if ((s->kind == SW_SHAPE_NEST ? s->run : s->table.data) / unit >
        MOST_NARROW)
        return false;
    for (int d = 0; d < s->levels; d++)
        if (s->level[d].stride > INT32_MAX || s->level[d].stride < INT32_MIN ||
            s->level[d].count > INT32_MAX)
            return false;
    return true;
}

/* Divides n: narrow below 2^31, wide below 2^63. Let l be the number of bits of
 * count - 1, and 2^b the bound of n. The multiplier is 2^(b + l) / count,
 * rounded up. The product is too large by less than n / 2^b, so the quotient is
 * exact. The high half of the product is the product over 2^(b + 1), so l - 1
 * bits remain. */
static sw_level_t divided(uint64_t count, int64_t stride, bool narrow)
{
    sw_level_t level = {.count = count, .stride = stride};
    if (count <= 1)
        return level;
    int bits = narrow ? 31 : 63, l = 64 - __builtin_clzll(count - 1);
    unsigned __int128 one = (unsigned __int128)1 << (bits + l);
    level.multiplier = (uint64_t)((one + count - 1) / count);
    level.shift = (unsigned)(l - 1);
    return level;
}

static void nest_side(const sw_shape_t *s, uint64_t unit, bool narrow,
                      sw_side_t *to)
{
    int64_t count[SW_SHAPE_LEVELS + 1], stride[SW_SHAPE_LEVELS + 1];
    int n = 0;
    if (s->run != unit || s->levels == 0) {
        count[n] = (int64_t)(s->run / unit);
        stride[n++] = (int64_t)unit;
    }
    for (int d = 0; d < s->levels; d++) {
        count[n] = s->level[d].count;
        stride[n++] = s->level[d].stride;
    }
    for (int d = 0; d < n - 1; d++)
        to->level[d] = divided((uint64_t)count[d], stride[d], narrow);
    to->divided = (unsigned)(n - 1);
    to->stride = stride[n - 1];
}

static void list_side(const sw_shape_t *s, uint64_t unit, bool narrow,
                      sw_side_t *to)
{
    bool many = s->levels > 0;
    to->scale = s->table.scale;
    to->at = s->block;
    if (s->kind == SW_SHAPE_LIST) {
        to->level[0] = divided(s->table.run / unit, 0, narrow);
        to->level[1] = divided(s->table.runs, 0, narrow);
        to->divided = many ? 2 : 1;
    } else {
        to->before = s->block + s->table.before;
        to->first = s->block + s->table.first;
        to->shift = s->table.shift;
        to->level[0] = divided(s->table.data / unit, 0, narrow);
        to->divided = many;
    }
    to->stride = many ? s->level[0].stride : 0;
}

/* Fill a side; which shape it has. */
static int side(const sw_shape_t *s, uint64_t skip, uint64_t unit, bool narrow,
                sw_side_t *to)
{
    *to = (sw_side_t){.base = s->base, .skip = skip / unit};
    if (s->kind != SW_SHAPE_NEST) {
        list_side(s, unit, narrow, to);
        return s->kind == SW_SHAPE_LIST ? SW_LIST : SW_RUNS;
    }
    nest_side(s, unit, narrow, to);
    return !narrow || to->divided > 1 ? SW_BOX
           : to->divided              ? SW_PLANE
                                      : SW_ROW;
}

/* The kernel's place in SW_KERNELS. */
static int number(bool narrow, int source, int target, int unit)
{
    int u = __builtin_ctz((unsigned)unit);
    return narrow ? (source * SW_SHAPES + target) * 6 + u
                  : 150 + ((source - SW_BOX) * 3 + target - SW_BOX) * 6 + u;
}

/* May a loose kernel serve a side? Its runs must be contiguous bytes. */
static bool may_be_loose(const sw_shape_t *s)
{
    return s->kind != SW_SHAPE_NEST || s->levels == 0 || s->run > 1;
}

bool sw_plan(const sw_shape_t *source, uint64_t source_skip,
             const sw_shape_t *target, uint64_t target_skip, uint64_t bytes,
             int wish, int unroll, sw_plan_t *plan)
{
    int unit = wish & ~SW_WISH_WIDE;
    sw_shape_t s = plain(source), t = plain(target);
    uint64_t u = divides(bits_of(&s, source_skip) | bits_of(&t, target_skip) |
                         bytes);
    bool can = may_be_loose(&s) && may_be_loose(&t);
    bool loose = unit == SW_LOOSE ||
                 (!unit && can && u < LOOSE_BELOW && run_of(&s) >= LOOSE_RUN &&
                  run_of(&t) >= LOOSE_RUN);
    if (loose && !can)
        return false;
    if (unit && unit < (int)u)
        u = (uint64_t)unit;
    if (loose)
        u = 1;
    bool narrow = !(wish & SW_WISH_WIDE) &&
                  is_narrow(&s, source_skip, bytes, u) &&
                  is_narrow(&t, target_skip, bytes, u);
    if (!narrow && ((s.kind != SW_SHAPE_NEST && !s.table.wide) ||
                    (t.kind != SW_SHAPE_NEST && !t.table.wide)))
        return false;
    int from = side(&s, source_skip, u, narrow, &plan->move.source);
    int to = side(&t, target_skip, u, narrow, &plan->move.target);
    uint64_t tile = loose ? SW_THREADS * 16
                          : (uint64_t)SW_THREADS * (uint64_t)unroll;
    plan->move.units = bytes / u;
    plan->unit = loose ? SW_LOOSE : (int)u;
    plan->kernel = number(narrow, from, to, plan->unit);
    plan->tiles = (plan->move.units + tile - 1) / tile;
    return true;
}

const char *sw_plan_kernel(const sw_plan_t *plan)
{
#define NAME(width, source, target, unit) \
    "sw_move_" #width "_" #source "_" #target "_" #unit,
    static const char *const name[] = {SW_KERNELS(NAME)};
    return name[plan->kernel];
}
