/*
 * algorithm_binomial.c - binomial trees: Thakur, Rabenseifner, Gropp,
 * "Optimization of collective communication operations in MPICH", 2005.
 *
 * Members are numbered from the root, r = 0. The parent of r is r without its
 * lowest bit that is set. The children of r are r + 1, r + 2, r + 4, ...: each
 * added bit is below r's lowest, and each sum is below n. The subtree below r
 * has min(its lowest bit, n - r) members.
 *
 *     0 -+- 1                 up: from the nearest child to the farthest, then
 *        +- 2 --- 3               to the parent
 *        +- 4 -+- 5           down: from the parent, then to the farthest
 *              +- 6 --- 7         child first, which has the most to pass on
 *
 *     bcast             ceil(log2 n) (alpha + B beta)
 *     reduce            ceil(log2 n) (alpha + B beta + B gamma)
 *     gather, scatter   ceil(log2 n) alpha + (n - 1) B beta
 *                           (at most; exact where n is a power of two)
 *     barrier           2 ceil(log2 n) alpha: up and down with nothing
 *     allreduce (reduce_bcast): reduce to member 0, bcast from there
 */
#include "algorithm_parts.h"

static uint32_t children(uint32_t n, uint32_t r)
{
    uint32_t below = sw_algorithm_log2_ceil(n - r);
    if (!r)
        return below;
    uint32_t bit = (uint32_t)__builtin_ctz(r);
    return bit < below ? bit : below;
}

/* The members of r's subtree. */
static uint32_t subtree(uint32_t n, uint32_t r)
{
    uint32_t low = r & -r;
    return low < n - r ? low : n - r;
}

uint32_t sw_binomial_steps(uint32_t n, uint32_t relative)
{
    return children(n, relative) + (relative > 0);
}

static uint64_t carried(const sw_call_t *call, uint32_t r, bool blocks)
{
    if (!blocks)
        return call->bytes;
    return sw_part_bytes(call->bytes, call->n, r, r + subtree(call->n, r));
}

/* `blocks`: each member has a part of call->bytes, and the parts of a subtree
 * travel together; else all of it does. */
static bool up(const sw_call_t *call, uint32_t me, uint32_t k, bool blocks,
               sw_step_t *s)
{
    uint32_t r = sw_algorithm_from_root(call, me), n = call->n;
    if (k >= sw_binomial_steps(n, r))
        return false;
    if (k < children(n, r)) {
        uint32_t child = r + (1u << k);
        sw_step_receive(s, sw_algorithm_to_member(call, child),
                        carried(call, child, blocks));
    } else {
        sw_step_send(s, sw_algorithm_to_member(call, r & (r - 1)),
                     carried(call, r, blocks));
    }
    return true;
}

static bool down(const sw_call_t *call, uint32_t me, uint32_t k, bool blocks,
                 sw_step_t *s)
{
    sw_step_t back = *s;
    uint32_t steps = sw_binomial_steps(call->n,
                                       sw_algorithm_from_root(call, me));
    if (k >= steps || !up(call, me, steps - 1 - k, blocks, &back))
        return false;
    *s = (sw_step_t){.to = back.from,
                     .from = back.to,
                     .sent = back.received,
                     .received = back.sent};
    return true;
}

bool sw_binomial_bcast(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    return down(call, me, k, false, s);
}

bool sw_binomial_reduce(const sw_call_t *call, uint32_t me, uint32_t k,
                        sw_step_t *s)
{
    return up(call, me, k, false, s);
}

bool sw_binomial_gather(const sw_call_t *call, uint32_t me, uint32_t k,
                        sw_step_t *s)
{
    sw_call_t all = *call;
    all.bytes *= call->n;
    return up(&all, me, k, true, s);
}

bool sw_binomial_scatter_parts(const sw_call_t *call, uint32_t me, uint32_t k,
                               sw_step_t *s)
{
    return down(call, me, k, true, s);
}

bool sw_binomial_scatter(const sw_call_t *call, uint32_t me, uint32_t k,
                         sw_step_t *s)
{
    sw_call_t all = *call;
    all.bytes *= call->n;
    return down(&all, me, k, true, s);
}

bool sw_binomial_reduce_bcast(const sw_call_t *call, uint32_t me, uint32_t k,
                              sw_step_t *s)
{
    sw_call_t at_0 = *call;
    at_0.root = 0;
    uint32_t steps = sw_binomial_steps(call->n, me);
    if (k >= steps)
        return down(&at_0, me, k - steps, false, s);
    up(&at_0, me, k, false, s);
    s->reduced = s->received;
    return true;
}

double sw_binomial_reduce_bcast_takes(const sw_call_t *call, double alpha,
                                      double beta, double gamma)
{
    return sw_takes_tree(call, alpha, beta + gamma, 0) +
           sw_takes_tree(call, alpha, beta, 0);
}
