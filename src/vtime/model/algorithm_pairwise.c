/*
 * algorithm_pairwise.c - each member with each other, a partner at a time
 * (Thakur, Rabenseifner, Gropp 2005), for long blocks.
 *
 * In step k, from 1, a member sends to the one k after it and receives from
 * the one k before it. In an alltoall of a power of two it exchanges with the
 * member whose number differs by the bits of k. In a reduce-scatter a member
 * receives a part of its own block.
 *
 * `linear` alltoalls post everything at once, in that order, and then wait.
 * A processor does one thing after the other, and a port carries one message
 * after the other, which spreads them over time: so linear is the same without
 * the exchange.
 *
 *     alltoall          (n - 1) (alpha + B beta)
 *     reduce_scatter    (n - 1) (alpha + B beta + B gamma)
 */
#include "algorithm_parts.h"

bool sw_pairwise_shift(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    if (k + 1 >= call->n)
        return false;
    sw_step_send(s, sw_algorithm_after(call->n, me, k + 1), call->bytes);
    sw_step_receive(s, sw_algorithm_before(call->n, me, k + 1), call->bytes);
    return true;
}

bool sw_pairwise_alltoall(const sw_call_t *call, uint32_t me, uint32_t k,
                          sw_step_t *s)
{
    if (!sw_pairwise_shift(call, me, k, s))
        return false;
    if (!(call->n & (call->n - 1)))
        s->to = s->from = me ^ (k + 1);
    return true;
}
