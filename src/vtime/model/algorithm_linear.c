/*
 * algorithm_linear.c - the root talks to each other member in turn; scans go
 * from each member to the next. MPI libraries do so for few members, and where
 * they have nothing better (the "basic" algorithms of Open MPI).
 *
 *     barrier           2 (n - 1) alpha: member 0 hears of all, then tells all
 *     bcast             (n - 1) (alpha + B beta)
 *     reduce            (n - 1) (alpha + B beta + B gamma)
 *     gather, scatter   (n - 1) (alpha + B beta)
 *     scan              (n - 1) (alpha + B beta + B gamma)
 *     exscan            (n - 1) (alpha + B beta) + (n - 2) B gamma: the last
 *                           member's own part is added to nothing
 */
#include "algorithm_parts.h"

bool sw_linear_from_root(const sw_call_t *call, uint32_t me, uint32_t k,
                         sw_step_t *s)
{
    if (me != call->root) {
        sw_step_receive(s, call->root, call->bytes);
        return k == 0;
    }
    if (k + 1 >= call->n)
        return false;
    sw_step_send(s, sw_algorithm_to_member(call, k + 1), call->bytes);
    return true;
}

bool sw_linear_to_root(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    if (me != call->root) {
        sw_step_send(s, call->root, call->bytes);
        return k == 0;
    }
    if (k + 1 >= call->n)
        return false;
    sw_step_receive(s, sw_algorithm_to_member(call, k + 1), call->bytes);
    return true;
}

bool sw_linear_barrier(const sw_call_t *call, uint32_t me, uint32_t k,
                       sw_step_t *s)
{
    uint32_t heard = me ? 1 : call->n - 1;
    return k < heard ? sw_linear_to_root(call, me, k, s)
                     : sw_linear_from_root(call, me, k - heard, s);
}

bool sw_linear_scan(const sw_call_t *call, uint32_t me, uint32_t k,
                    sw_step_t *s)
{
    bool receives = me > 0, sends = me + 1 < call->n;
    if (receives && k == 0) {
        sw_step_receive(s, me - 1, call->bytes);
        if (sends || call->what != SW_COLLECTIVE_EXSCAN)
            s->reduced = call->bytes;
        return true;
    }
    sw_step_send(s, me + 1, call->bytes);
    return sends && k == receives;
}

double sw_linear_barrier_takes(const sw_call_t *call, double alpha, double beta,
                               double gamma)
{
    return (call->n - 1.0) * 2 * alpha;
}

double sw_linear_scan_takes(const sw_call_t *call, double alpha, double beta,
                            double gamma)
{
    double time = sw_takes_turns(call, alpha, beta + gamma, 0);
    if (call->what == SW_COLLECTIVE_EXSCAN && call->n > 1)
        time -= gamma * (double)call->bytes;
    return time;
}
