/*
 * algorithm_bruck.c - Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient
 * algorithms for all-to-all communications in multiport message-passing
 * systems", 1997. A member sends ceil(log2 n) messages, whatever n is.
 *
 * Allgather: in round k a member sends all blocks that it has to the one 2^k
 * before it. In the last round it sends no more than are missing.
 *
 * Alltoall: a block that must go d places on does so by the bits of d: in
 * round k those with bit k move on by 2^k, together. Each block travels
 * log2(n)/2 times on the average, so libraries use it for short ones.
 *
 * A barrier by dissemination is that alltoall without data (Hensgen, Finkel,
 * Manber, "Two algorithms for barrier synchronization", 1988): in round k each
 * member tells the one 2^k after it about all that it has heard of.
 *
 *     barrier      ceil(log2 n) alpha
 *     allgather    ceil(log2 n) alpha + (n - 1) B beta
 *     alltoall     ceil(log2 n) alpha + sum over k of (how many d < n have
 *                      bit k) B beta; n a power of two: log2 n (n/2) B beta
 */
#include "algorithm_parts.h"

bool sw_bruck_allgather(const sw_call_t *call, uint32_t me, uint32_t k,
                        sw_step_t *s)
{
    uint32_t n = call->n;
    if (k >= sw_algorithm_log2_ceil(n))
        return false;
    uint32_t by = 1u << k;
    uint64_t bytes = call->bytes * (by < n - by ? by : n - by);
    sw_step_send(s, sw_algorithm_before(n, me, by), bytes);
    sw_step_receive(s, sw_algorithm_after(n, me, by), bytes);
    return true;
}

/* How many numbers below n have bit k. */
static uint64_t with_bit(uint64_t n, uint32_t k)
{
    uint64_t bit = (uint64_t)1 << k, whole = n >> (k + 1) << k;
    uint64_t left = n & (2 * bit - 1);
    return whole + (left > bit ? left - bit : 0);
}

bool sw_bruck_alltoall(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    uint32_t n = call->n;
    if (k >= sw_algorithm_log2_ceil(n))
        return false;
    uint64_t bytes = call->bytes * with_bit(n, k);
    sw_step_send(s, sw_algorithm_after(n, me, 1u << k), bytes);
    sw_step_receive(s, sw_algorithm_before(n, me, 1u << k), bytes);
    return true;
}

double sw_bruck_alltoall_takes(const sw_call_t *call, double alpha, double beta,
                               double gamma)
{
    double time = 0;
    for (uint32_t k = 0; k < sw_algorithm_log2_ceil(call->n); k++)
        time += alpha +
                beta * (double)call->bytes * (double)with_bit(call->n, k);
    return time;
}
