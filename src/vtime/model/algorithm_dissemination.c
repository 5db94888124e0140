/*
 * algorithm_dissemination.c - the barrier of Hensgen, Finkel and Manber ("Two
 * algorithms for barrier synchronization", 1988).
 *
 * In round k each member tells the one 2^k after it that it, and all whom it
 * has heard of, are there. After ceil(log2 n) rounds everybody has heard of
 * everybody; n may be any number.
 *
 *     ceil(log2 n) alpha
 */
#include "algorithm_parts.h"

static bool step(const sw_call_t *call, uint32_t me, uint32_t k,
                 sw_step_t *s)
{
    if (k >= sw_log2_ceil(call->n))
        return false;
    sw_step_idle(s);
    sw_step_send(s, sw_after(call->n, me, 1u << k), 0);
    sw_step_receive(s, sw_before(call->n, me, 1u << k), 0);
    return true;
}

static double formula(const sw_call_t *call, double round, double byte,
                      double reduce)
{
    return sw_log2_ceil(call->n) * round;
}

const sw_algorithm_t sw_barrier_dissemination = {
    "dissemination", step, formula};
