/*
 * carries.h - what the messages of each algorithm carry, as the literature has
 * it: what a member has at first and must have at last, the sizes of the units,
 * and which of them go with which message (flow.h).
 */
#ifndef CARRIES_H
#define CARRIES_H

#include "flow.h"

static uint32_t floor_log2(uint32_t n)
{
    uint32_t log = 0;
    while (n >>= 1)
        log++;
    return log;
}

static uint32_t ceil_log2(uint32_t n)
{
    return floor_log2(n) + ((n & (n - 1)) != 0);
}

static uint32_t relative(const flow_t *f, uint32_t member)
{
    return (member + f->call.n - f->call.root) % f->call.n;
}

/* Sizes of units. */
static uint64_t nearly_equal(const flow_t *f, uint32_t unit)
{
    return f->call.bytes / f->units + (unit < f->call.bytes % f->units);
}

static uint64_t whole_block(const flow_t *f, uint32_t unit)
{
    return f->call.bytes;
}

static uint64_t segment(const flow_t *f, uint32_t unit)
{
    return unit + 1 < f->units ? 65536 : f->call.bytes - 65536ull * unit;
}

/* What messages carry. */
static bool everything(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                       uint32_t unit)
{
    return true;
}

static bool segment_k(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                      uint32_t unit)
{
    return unit == k - (from != f->call.root);
}

static bool segment_back(const flow_t *f, uint32_t from, uint32_t k,
                         uint32_t to, uint32_t unit)
{
    return unit == k - (relative(f, from) + 1 < f->call.n);
}

/* Units are those of members as numbered from the root. */
static bool below(const flow_t *f, uint32_t top, uint32_t unit)
{
    while (unit > top)
        unit &= unit - 1;
    return unit == top;
}

static bool to_subtree(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                       uint32_t unit)
{
    return below(f, relative(f, to), unit);
}

static bool from_subtree(const flow_t *f, uint32_t from, uint32_t k,
                         uint32_t to, uint32_t unit)
{
    return below(f, relative(f, from), unit);
}

static bool of_receiver(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                        uint32_t unit)
{
    return unit == relative(f, to);
}

static bool of_sender(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                      uint32_t unit)
{
    return unit == relative(f, from);
}

static uint32_t tree_steps(const flow_t *f, uint32_t r)
{
    uint32_t steps = r > 0;
    for (uint32_t other = 1; other < f->call.n; other++)
        steps += other != r && (other & (other - 1)) == r;
    return steps;
}

static bool van_de_geijn(const flow_t *f, uint32_t from, uint32_t k,
                         uint32_t to, uint32_t unit)
{
    uint32_t r = relative(f, from), steps = tree_steps(f, r);
    if (k < steps)
        return to_subtree(f, from, k, to, unit);
    return (unit + k - steps) % f->call.n == r;
}

static bool ring_gather(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                        uint32_t unit)
{
    return (unit + k) % f->call.n == from;
}

static bool ring_reduce(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                        uint32_t unit)
{
    return (unit + k + 1) % f->call.n == from;
}

static bool ring_both(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                      uint32_t unit)
{
    uint32_t rounds = f->call.n - 1;
    return k < rounds ? ring_reduce(f, from, k, to, unit)
                      : ring_gather(f, from, k - rounds, to, unit);
}

/* Each unit that the receiver lacks moves: in the steps as they are made,
 * members meet after the same number of steps. */
static bool lacking(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                    uint32_t unit)
{
    return f->has[from * f->units + unit] && !f->has[to * f->units + unit];
}

/* Folding: the first 2 rest members are pairs, of which one takes part. */
typedef struct {
    uint32_t p, levels, rest, number;
    bool paired, leaves;
} fold_t;

static fold_t fold(const flow_t *f, uint32_t place)
{
    fold_t fold = {.levels = floor_log2(f->call.n)};
    fold.p = 1u << fold.levels;
    fold.rest = f->call.n - fold.p;
    fold.paired = place < 2 * fold.rest;
    fold.leaves = fold.paired && place % 2 == 0;
    fold.number = fold.paired ? place / 2 : place - fold.rest;
    return fold;
}

static bool halving(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                    uint32_t unit)
{
    fold_t a = fold(f, from), b = fold(f, to), u = fold(f, unit);
    if (a.leaves)
        return true;
    if (b.leaves)
        return unit == to;
    uint32_t half = a.p >> (k - a.paired + 1);
    return u.number / half == b.number / half;
}

/* Is part `unit` of those a member has when `bits` are done? */
static bool rabenseifner_part(const fold_t *m, uint32_t bits, uint32_t unit)
{
    for (uint32_t i = 0; i < bits; i++)
        if ((unit >> (m->levels - 1 - i) & 1) != (m->number >> i & 1))
            return false;
    return true;
}

static bool rabenseifner(const flow_t *f, uint32_t from, uint32_t k,
                         uint32_t to, uint32_t unit)
{
    /* Numbered from the root, which must not leave. */
    uint32_t i = relative(f, from), j = relative(f, to);
    bool rooted = f->call.what == SW_COLLECTIVE_REDUCE;
    fold_t a = fold(f, i), b = fold(f, j);
    if (rooted && a.paired)
        a = fold(f, i ^ 1);
    if (rooted && b.paired)
        b = fold(f, j ^ 1);
    if (a.leaves || b.leaves)
        return true;
    uint32_t round = k - a.paired;
    if (round < a.levels)
        return rabenseifner_part(&b, round + 1, unit);
    return rabenseifner_part(&a, 2 * a.levels - round, unit);
}

/* Units (source, destination): source * n + destination. */
static bool pair(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                 uint32_t unit)
{
    return unit == from * f->call.n + to;
}

static bool bruck_alltoall(const flow_t *f, uint32_t from, uint32_t k,
                           uint32_t to, uint32_t unit)
{
    uint32_t n = f->call.n, source = unit / n;
    uint32_t distance = (unit % n + n - source) % n;
    return (source + (distance & ((1u << k) - 1))) % n == from &&
           (distance >> k & 1);
}

/* Scans: unit 0 is what is passed on, unit 1 the result. */
static bool passed_on(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                      uint32_t unit)
{
    return unit == 0;
}

static uint64_t only_first(const flow_t *f, uint32_t unit)
{
    return unit ? 0 : f->call.bytes;
}

static void scan_take(flow_t *f, uint32_t me, const sw_step_t *step,
                      const set_t *in)
{
    set_t *passed = &f->has[2 * me], *result = passed + 1;
    uint64_t reduced = 0;
    if (!in[0])
        return;
    bool linear = !strcmp(f->algorithm->name, "linear");
    if (step->from < me) {
        MUST(!(*result & in[0]));
        reduced += *result && !linear ? f->call.bytes : 0;
        *result |= in[0];
    }
    MUST(!(*passed & in[0]));
    *passed |= in[0];
    if (!linear || f->call.what == SW_COLLECTIVE_SCAN || me + 1 < f->call.n)
        reduced += f->call.bytes;
    MUST(step->reduced == reduced);
}

/* Adds to the members that this one has heard of, some of them repeatedly. */
static void hear(flow_t *f, uint32_t me, const sw_step_t *step, const set_t *in)
{
    f->has[me] |= in[0];
    MUST(!step->reduced);
}

/* What there is in the beginning, and must be in the end. */
typedef enum { ALL, PARTS, BLOCKS, PAIRS, SEGMENTS, TWO } shape_t;

static set_t at_first(const flow_t *f, uint32_t me, uint32_t u)
{
    uint32_t n = f->call.n;
    switch (f->call.what) {
    case SW_COLLECTIVE_BCAST:
    case SW_COLLECTIVE_SCATTER: return me == f->call.root ? ONE(me) : 0;
    case SW_COLLECTIVE_GATHER:
    case SW_COLLECTIVE_ALLGATHER: return u == relative(f, me) ? ONE(me) : 0;
    case SW_COLLECTIVE_ALLTOALL: return u / n == me ? ONE(me) : 0;
    case SW_COLLECTIVE_EXSCAN: return u ? 0 : ONE(me);
    default: return ONE(me);
    }
}

static bool at_last(const flow_t *f, uint32_t me, uint32_t u, set_t has)
{
    uint32_t n = f->call.n, root = f->call.root;
    switch (f->call.what) {
    case SW_COLLECTIVE_BCAST: return has == ONE(root);
    case SW_COLLECTIVE_SCATTER: return u != relative(f, me) || has == ONE(root);
    case SW_COLLECTIVE_REDUCE: return me != root || has == BELOW(n);
    case SW_COLLECTIVE_GATHER: return me != root || has == ONE((u + root) % n);
    case SW_COLLECTIVE_ALLGATHER: return has == ONE(u);
    case SW_COLLECTIVE_REDUCE_SCATTER: return u != me || has == BELOW(n);
    case SW_COLLECTIVE_ALLTOALL: return u % n != me || has == ONE(u / n);
    case SW_COLLECTIVE_SCAN: return u == 0 || has == BELOW(me + 1);
    case SW_COLLECTIVE_EXSCAN: return u == 0 || has == BELOW(me);
    default: /* barrier, allreduce */ return has == BELOW(n);
    }
}

#endif
