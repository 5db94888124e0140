/*
 * algorithm_van_de_geijn.c - broadcast of long messages. The root cuts the
 * message into n parts and scatters them down a binomial tree; all members
 * gather them round the ring. It moves about 2 B a member, where a binomial
 * tree moves B log2 n from the root.
 *
 * Barnett, Gupta, Payne, Shuler, van de Geijn, Watts, "Interprocessor
 * collective communication library", 1994; Thakur, Rabenseifner, Gropp 2005.
 *
 *     (ceil(log2 n) + n - 1) alpha + 2 (n - 1)/n B beta
 *         (at most, with the largest part; exact where n divides B and is a
 *         power of two)
 */
#include "algorithm_parts.h"

bool sw_van_de_geijn_bcast(const sw_call_t *call, uint32_t me, uint32_t k,
                           sw_step_t *s)
{
    uint32_t n = call->n, r = sw_algorithm_from_root(call, me);
    uint32_t steps = sw_binomial_steps(n, r);
    if (k < steps)
        return sw_binomial_scatter_parts(call, me, k, s);
    if (k - steps + 1 >= n)
        return false;
    sw_ring_gather(call->bytes, n, r, k - steps, s);
    s->to = sw_algorithm_to_member(call, s->to);
    s->from = sw_algorithm_to_member(call, s->from);
    return true;
}

double sw_van_de_geijn_bcast_takes(const sw_call_t *call, double alpha,
                                   double beta, double gamma)
{
    double part = (double)sw_part_bytes(call->bytes, call->n, 0, 1);
    double others = call->n - 1.0;
    return (sw_algorithm_log2_ceil(call->n) + others) * alpha +
           2 * others * part * beta;
}
