/*
 * algorithm_halving.c - reduce-scatter by recursive halving (Thakur,
 * Rabenseifner, Gropp 2005). In the first round each member exchanges with the
 * member half of all away. It sends that half of the vector whose blocks the
 * partner's half of the members gets in the end. In the next round it exchanges
 * a quarter with a member a quarter away, and so on. Where n is no power of
 * two, it is folded (algorithm_parts.h): a member that has taken another's part
 * in also works out its block, and hands it back.
 *
 *     log2 n alpha + (n - 1) B (beta + gamma)
 *
 * and folded: alpha + n B (beta + gamma) before, alpha + B beta after, and in
 * each round the largest group counts (at most).
 */
#include "algorithm_parts.h"

/* The blocks of the `size` members whose numbers begin alike; size: a power
 * of two. */
static uint64_t group(const sw_fold_t *f, uint32_t number, uint32_t size)
{
    uint32_t first = number & ~(size - 1);
    return sw_fold_blocks(f, first + size) - sw_fold_blocks(f, first);
}

bool sw_halving_reduce_scatter(const sw_call_t *call, uint32_t me, uint32_t k,
                               sw_step_t *s)
{
    sw_fold_t f = sw_fold(call->n);
    uint32_t round;
    sw_fold_at_t at = sw_fold_step(&f, me, k, f.levels, call->bytes * call->n,
                                   call->bytes, s, &round);
    if (at == SW_FOLD_ROUND) {
        uint32_t half = f.p >> (round + 1);
        uint32_t number = sw_fold_number(&f, me), other = number ^ half;
        uint32_t partner = sw_fold_member(&f, other);
        sw_step_send(s, partner, call->bytes * group(&f, other, half));
        sw_step_receive(s, partner, call->bytes * group(&f, number, half));
    }
    /* What comes at the end, to one that has left, is the result. */
    if (!sw_fold_leaves(&f, me))
        s->reduced = s->received;
    return at != SW_FOLD_OVER;
}

double sw_halving_reduce_scatter_takes(const sw_call_t *call, double alpha,
                                       double beta, double gamma)
{
    sw_fold_t f = sw_fold(call->n);
    double time = f.levels * alpha, block = (double)call->bytes, blocks = 0;
    for (uint32_t level = 1; level <= f.levels; level++)
        blocks += (double)group(&f, 0, f.p >> level);
    if (f.rest) {
        time += 2 * alpha + beta * block;
        blocks += call->n;
    }
    return time + blocks * block * (beta + gamma);
}
