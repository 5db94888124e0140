/*
 * algorithm_neighbor.c - allgather by neighbour exchange: Chen, Zhang, Zhang,
 * Yuan, "Performance evaluation of allgather algorithms on terascale Linux
 * cluster with Fast Ethernet", 2005.
 *
 * Half as many messages as round the ring, all with the two neighbours. First
 * each pair (0 1), (2 3), ... exchanges its blocks. Then a member turns from
 * the one neighbour to the other and back, and passes on the two blocks that it
 * got last. It needs an even number of members; with an odd one it is the ring
 * (as in Open MPI).
 *
 *     n/2 alpha + (n - 1) B beta
 */
#include "algorithm_parts.h"

bool sw_neighbor_allgather(const sw_call_t *call, uint32_t me, uint32_t k,
                           sw_step_t *s)
{
    uint32_t n = call->n;
    if (n % 2) {
        if (k + 1 >= n)
            return false;
        sw_ring_gather(call->bytes * n, n, me, k, s);
        return true;
    }
    if (k >= n / 2)
        return false;
    uint32_t partner = (me + k) % 2 ? sw_algorithm_before(n, me, 1)
                                    : sw_algorithm_after(n, me, 1);
    uint64_t bytes = call->bytes * (k ? 2 : 1);
    sw_step_send(s, partner, bytes);
    sw_step_receive(s, partner, bytes);
    return true;
}

double sw_neighbor_allgather_takes(const sw_call_t *call, double alpha,
                                   double beta, double gamma)
{
    return (call->n % 2 ? call->n - 1 : call->n / 2) * alpha +
           (call->n - 1.0) * beta * (double)call->bytes;
}
