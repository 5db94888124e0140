/*
 * algorithm_binomial.c - binomial trees: Thakur, Rabenseifner, Gropp,
 * "Optimization of collective communication operations in MPICH", 2005.
 *
 * Members are numbered from the root, r = 0. The parent of r is r without its
 * lowest bit that is set; the children of r are r + 1, r + 2, r + 4, ..., as
 * far as these bits are below r's lowest and the sum is below n; the subtree
 * below r has min(its lowest bit, n - r) members.
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
    uint32_t below = sw_log2_ceil(n - r);
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

void sw_binomial_up(const sw_call_t *call, uint32_t me, uint32_t k,
                    bool blocks, sw_step_t *s)
{
    uint32_t r = sw_from_root(call, me), n = call->n;
    sw_step_idle(s);
    if (k < children(n, r)) {
        uint32_t child = r + (1u << k);
        sw_step_receive(s, sw_to_member(call, child),
                        carried(call, child, blocks));
    } else {
        sw_step_send(s, sw_to_member(call, r & (r - 1)),
                     carried(call, r, blocks));
    }
}

void sw_binomial_down(const sw_call_t *call, uint32_t me, uint32_t k,
                      bool blocks, sw_step_t *s)
{
    sw_step_t up;
    uint32_t steps = sw_binomial_steps(call->n, sw_from_root(call, me));
    sw_binomial_up(call, me, steps - 1 - k, blocks, &up);
    *s = (sw_step_t){.to = up.from, .from = up.to,
                     .sent = up.received, .received = up.sent};
}

static bool up(const sw_call_t *call, uint32_t me, uint32_t k, bool blocks,
               sw_step_t *s)
{
    if (k >= sw_binomial_steps(call->n, sw_from_root(call, me)))
        return false;
    sw_binomial_up(call, me, k, blocks, s);
    return true;
}

static bool down(const sw_call_t *call, uint32_t me, uint32_t k, bool blocks,
                 sw_step_t *s)
{
    if (k >= sw_binomial_steps(call->n, sw_from_root(call, me)))
        return false;
    sw_binomial_down(call, me, k, blocks, s);
    return true;
}

static bool bcast(const sw_call_t *call, uint32_t me, uint32_t k,
                  sw_step_t *s)
{
    return down(call, me, k, false, s);
}

static bool reduce(const sw_call_t *call, uint32_t me, uint32_t k,
                   sw_step_t *s)
{
    if (!up(call, me, k, false, s))
        return false;
    s->reduced = s->received;
    return true;
}

static bool gather(const sw_call_t *call, uint32_t me, uint32_t k,
                   sw_step_t *s)
{
    sw_call_t all = *call;
    all.bytes *= call->n;
    return up(&all, me, k, true, s);
}

static bool scatter(const sw_call_t *call, uint32_t me, uint32_t k,
                    sw_step_t *s)
{
    sw_call_t all = *call;
    all.bytes *= call->n;
    return down(&all, me, k, true, s);
}

static bool reduce_bcast(const sw_call_t *call, uint32_t me, uint32_t k,
                         sw_step_t *s)
{
    sw_call_t at_0 = *call;
    at_0.root = 0;
    uint32_t steps = sw_binomial_steps(call->n, me);
    return k < steps ? reduce(&at_0, me, k, s) : bcast(&at_0, me, k - steps, s);
}

static bool barrier(const sw_call_t *call, uint32_t me, uint32_t k,
                    sw_step_t *s)
{
    sw_call_t empty = {.what = call->what, .n = call->n};
    return reduce_bcast(&empty, me, k, s);
}

static double bcast_formula(const sw_call_t *call, double round, double byte,
                            double gamma)
{
    return sw_log2_ceil(call->n) * (round + byte * (double)call->bytes);
}

static double reduce_formula(const sw_call_t *call, double round, double byte,
                             double gamma)
{
    return bcast_formula(call, round, byte + gamma, 0);
}

static double blocks_formula(const sw_call_t *call, double round, double byte,
                             double gamma)
{
    return sw_log2_ceil(call->n) * round +
           (call->n - 1.0) * byte * (double)call->bytes;
}

static double reduce_bcast_formula(const sw_call_t *call, double round,
                                   double byte, double gamma)
{
    return reduce_formula(call, round, byte, gamma) +
           bcast_formula(call, round, byte, gamma);
}

static double barrier_formula(const sw_call_t *call, double round, double byte,
                              double gamma)
{
    return 2.0 * sw_log2_ceil(call->n) * round;
}

const sw_algorithm_t sw_bcast_binomial = {"binomial", bcast, bcast_formula};
const sw_algorithm_t sw_reduce_binomial = {"binomial", reduce, reduce_formula};
const sw_algorithm_t sw_gather_binomial = {"binomial", gather, blocks_formula};
const sw_algorithm_t sw_scatter_binomial = {
    "binomial", scatter, blocks_formula};
const sw_algorithm_t sw_barrier_binomial = {
    "binomial", barrier, barrier_formula};
const sw_algorithm_t sw_allreduce_reduce_bcast = {
    "reduce_bcast", reduce_bcast, reduce_bcast_formula};
