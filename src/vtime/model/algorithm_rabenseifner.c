/*
 * algorithm_rabenseifner.c - reductions of long vectors: Rabenseifner,
 * "Optimization of collective reduction operations", 2004.
 *
 * Halving: in round k, two members whose numbers differ in bit k still share a
 * part of the vector. They exchange halves of it, and each reduces the half
 * that it keeps. So neighbours exchange most. After log2 p rounds each member
 * has its part of the result. Then the same way back: allreduce exchanges parts
 * that double, reduce sends them up a binomial tree. Where n is no power of
 * two, it is folded (algorithm_parts.h). Members are numbered from the root,
 * and the root does not leave.
 *
 *     number   0     1     2     3
 *     before   ABCD  ABCD  ABCD  ABCD
 *     bit 0    AB    CD    AB    CD
 *     bit 1    A     C     B     D
 *
 *     allreduce    2 log2 n alpha + 2 (n-1)/n B beta + (n-1)/n B gamma
 *     reduce       the same
 *
 * and folded, with p for n in the above: alpha + B (beta + gamma) before, and,
 * for allreduce, alpha + B beta after. (Exact where p divides B; else the
 * largest parts count.)
 */
#include "algorithm_parts.h"

/* The bytes of the part that a member has after `bits` rounds. */
static uint64_t part(uint64_t bytes, const sw_fold_t *f, uint32_t number,
                     uint32_t bits)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < bits; i++)
        first |= (number >> i & 1) << (f->levels - 1 - i);
    return sw_part_bytes(bytes, f->p, first, first + (f->p >> bits));
}

static void halve(uint64_t bytes, const sw_fold_t *f, uint32_t number,
                  uint32_t bit, sw_step_t *s)
{
    uint32_t other = number ^ (1u << bit), partner = sw_fold_member(f, other);
    sw_step_send(s, partner, part(bytes, f, other, bit + 1));
    sw_step_receive(s, partner, part(bytes, f, number, bit + 1));
}

bool sw_rabenseifner_allreduce(const sw_call_t *call, uint32_t me, uint32_t k,
                               sw_step_t *s)
{
    sw_fold_t f = sw_fold(call->n);
    uint32_t round;
    sw_fold_at_t at = sw_fold_step(&f, me, k, 2 * f.levels, call->bytes,
                                   call->bytes, s, &round);
    bool reduces = at == SW_FOLD_STEP && k == 0;
    if (at == SW_FOLD_ROUND) {
        uint32_t number = sw_fold_number(&f, me);
        reduces = round < f.levels;
        halve(call->bytes, &f, number,
              reduces ? round : 2 * f.levels - 1 - round, s);
        if (!reduces) {
            uint64_t mine = s->received;
            s->received = s->sent;
            s->sent = mine;
        }
    }
    s->reduced = reduces ? s->received : 0;
    return at != SW_FOLD_OVER;
}

/* Up the tree: from the highest bit down, the upper half sends what it has. */
static bool up(uint64_t bytes, const sw_fold_t *f, uint32_t number,
               uint32_t round, sw_step_t *s)
{
    uint32_t bit = f->levels - 1 - round, other = number ^ (1u << bit);
    if (number >> bit > 1)
        return false;
    if (number >> bit)
        sw_step_send(s, sw_fold_member(f, other),
                     part(bytes, f, number, bit + 1));
    else
        sw_step_receive(s, sw_fold_member(f, other),
                        part(bytes, f, other, bit + 1));
    return true;
}

/* Within a pair that folds places are exchanged, for the root not to leave. */
static uint32_t swapped(const sw_fold_t *f, uint32_t place)
{
    return sw_fold_paired(f, place) ? place ^ 1 : place;
}

bool sw_rabenseifner_reduce(const sw_call_t *call, uint32_t me, uint32_t k,
                            sw_step_t *s)
{
    sw_fold_t f = sw_fold(call->n);
    uint32_t place = swapped(&f, sw_algorithm_from_root(call, me)), round;
    sw_fold_at_t at = sw_fold_step(&f, place, k, 2 * f.levels, call->bytes,
                                   SW_FOLD_NOTHING, s, &round);
    bool reduces = at == SW_FOLD_STEP;
    if (at == SW_FOLD_OVER)
        return false;
    if (at == SW_FOLD_ROUND) {
        uint32_t number = sw_fold_number(&f, place);
        reduces = round < f.levels;
        if (reduces)
            halve(call->bytes, &f, number, round, s);
        else if (!up(call->bytes, &f, number, round - f.levels, s))
            return false;
    }
    s->reduced = reduces ? s->received : 0;
    if (s->to != SW_STEP_NOBODY)
        s->to = sw_algorithm_to_member(call, swapped(&f, s->to));
    if (s->from != SW_STEP_NOBODY)
        s->from = sw_algorithm_to_member(call, swapped(&f, s->from));
    return true;
}

double sw_rabenseifner_reduce_takes(const sw_call_t *call, double alpha,
                                    double beta, double gamma)
{
    sw_fold_t f = sw_fold(call->n);
    double time = 0;
    for (uint32_t bits = 1; bits <= f.levels; bits++)
        time += 2 * alpha +
                (2 * beta + gamma) * (double)part(call->bytes, &f, 0, bits);
    if (f.rest)
        time += alpha + (beta + gamma) * (double)call->bytes;
    return time;
}

double sw_rabenseifner_allreduce_takes(const sw_call_t *call, double alpha,
                                       double beta, double gamma)
{
    double time = sw_rabenseifner_reduce_takes(call, alpha, beta, gamma);
    if (sw_fold(call->n).rest)
        time += alpha + beta * (double)call->bytes;
    return time;
}
