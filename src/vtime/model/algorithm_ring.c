/*
 * algorithm_ring.c - round the ring: each member sends to the next one and
 * receives from the one before, n - 1 times (Thakur, Rabenseifner, Gropp 2005;
 * for allreduce Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms
 * for clusters of workstations", 2009).
 *
 * Allgather: in step k a member passes on the block that it has got last, that
 * of the member k before it. Reduce-scatter: in step k it adds its own part to
 * the block that comes, and passes it on; block b sets out at member b + 1 and
 * is complete when it comes to member b. Allreduce is both, on n blocks of
 * nearly the same size.
 *
 *     allgather         (n - 1) (alpha + B beta)
 *     reduce_scatter    (n - 1) (alpha + B beta + B gamma)
 *     allreduce         2 (n - 1) alpha + 2 (n - 1)/n B beta
 *                           + (n - 1)/n B gamma
 *                           (exact where n divides B; else the largest block)
 */
#include "algorithm_parts.h"

void sw_ring_gather(uint64_t blocks, uint32_t n, uint32_t me, uint32_t k,
                    sw_step_t *s)
{
    uint32_t mine = sw_algorithm_before(n, me, k),
             coming = sw_algorithm_before(n, me, k + 1);
    sw_step_send(s, sw_algorithm_after(n, me, 1),
                 sw_part_bytes(blocks, n, mine, mine + 1));
    sw_step_receive(s, sw_algorithm_before(n, me, 1),
                    sw_part_bytes(blocks, n, coming, coming + 1));
}

/* Where block b sets out at b + 1, a member sends b = me - 1 - k in step k. */
static void ring_reduce(uint64_t blocks, uint32_t n, uint32_t me, uint32_t k,
                        sw_step_t *s)
{
    sw_ring_gather(blocks, n, sw_algorithm_before(n, me, 1), k, s);
    s->to = sw_algorithm_after(n, me, 1);
    s->from = sw_algorithm_before(n, me, 1);
    s->reduced = s->received;
}

bool sw_ring_allgather(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    if (k + 1 >= call->n)
        return false;
    sw_ring_gather(call->bytes * call->n, call->n, me, k, s);
    return true;
}

bool sw_ring_reduce_scatter(const sw_call_t *call, uint32_t me, uint32_t k,
                            sw_step_t *s)
{
    if (k + 1 >= call->n)
        return false;
    ring_reduce(call->bytes * call->n, call->n, me, k, s);
    return true;
}

bool sw_ring_allreduce(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    uint32_t rounds = call->n - 1;
    if (k < rounds)
        ring_reduce(call->bytes, call->n, me, k, s);
    else if (k - rounds < rounds)
        sw_ring_gather(call->bytes, call->n, me, k - rounds, s);
    else
        return false;
    return true;
}

double sw_ring_allreduce_takes(const sw_call_t *call, double alpha, double beta,
                               double gamma)
{
    double block = (double)sw_part_bytes(call->bytes, call->n, 0, 1);
    return (call->n - 1.0) * (2 * alpha + (2 * beta + gamma) * block);
}
