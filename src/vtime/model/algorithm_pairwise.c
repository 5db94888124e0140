/*
 * algorithm_pairwise.c - everybody with everybody, a partner at a time
 * (Thakur, Rabenseifner, Gropp 2005), for long blocks.
 *
 * In step k, from 1, a member sends to the one k after it and receives from
 * the one k before it; in alltoall of a power of two it exchanges with the one
 * whose number differs by the bits of k. In a reduce-scatter what comes is a
 * part of the own block.
 *
 * `linear` alltoalls post everything at once, in that order, and then wait.
 * A processor that does one thing after the other, and a port that carries one
 * message after the other, spread them over time: so it is the same without
 * the exchange.
 *
 *     alltoall          (n - 1) (alpha + B beta)
 *     reduce_scatter    (n - 1) (alpha + B beta + B gamma)
 */
#include "algorithm_parts.h"

static bool linear(const sw_call_t *call, uint32_t me, uint32_t k,
                   sw_step_t *s)
{
    if (k + 1 >= call->n)
        return false;
    sw_step_idle(s);
    sw_step_send(s, sw_after(call->n, me, k + 1), call->bytes);
    sw_step_receive(s, sw_before(call->n, me, k + 1), call->bytes);
    return true;
}

static bool alltoall(const sw_call_t *call, uint32_t me, uint32_t k,
                     sw_step_t *s)
{
    if (!linear(call, me, k, s))
        return false;
    if (!(call->n & (call->n - 1)))
        s->to = s->from = me ^ (k + 1);
    return true;
}

static bool reduce_scatter(const sw_call_t *call, uint32_t me, uint32_t k,
                           sw_step_t *s)
{
    if (!linear(call, me, k, s))
        return false;
    s->reduced = s->received;
    return true;
}

static double formula(const sw_call_t *call, double round, double byte,
                      double gamma)
{
    return (call->n - 1.0) * (round + byte * (double)call->bytes);
}

static double reduce_formula(const sw_call_t *call, double round, double byte,
                             double gamma)
{
    return formula(call, round, byte + gamma, 0);
}

const sw_algorithm_t sw_alltoall_pairwise = {"pairwise", alltoall, formula};
const sw_algorithm_t sw_alltoall_linear = {"linear", linear, formula};
const sw_algorithm_t sw_reduce_scatter_pairwise = {
    "pairwise", reduce_scatter, reduce_formula};
