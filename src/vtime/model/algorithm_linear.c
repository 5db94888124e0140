/*
 * algorithm_linear.c - the root talks to everybody in turn; scans go from each
 * member to the next. What libraries do for few members, and where they have
 * nothing better (the "basic" algorithms of Open MPI).
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

static bool from_root(const sw_call_t *call, uint32_t me, uint32_t k,
                      sw_step_t *s)
{
    sw_step_idle(s);
    if (me != call->root) {
        sw_step_receive(s, call->root, call->bytes);
        return k == 0;
    }
    if (k + 1 >= call->n)
        return false;
    sw_step_send(s, sw_to_member(call, k + 1), call->bytes);
    return true;
}

static bool to_root(const sw_call_t *call, uint32_t me, uint32_t k,
                    sw_step_t *s)
{
    sw_step_idle(s);
    if (me != call->root) {
        sw_step_send(s, call->root, call->bytes);
        return k == 0;
    }
    if (k + 1 >= call->n)
        return false;
    sw_step_receive(s, sw_to_member(call, k + 1), call->bytes);
    return true;
}

static bool reduce(const sw_call_t *call, uint32_t me, uint32_t k,
                   sw_step_t *s)
{
    if (!to_root(call, me, k, s))
        return false;
    s->reduced = s->received;
    return true;
}

static bool barrier(const sw_call_t *call, uint32_t me, uint32_t k,
                    sw_step_t *s)
{
    sw_call_t empty = {.what = call->what, .n = call->n};
    uint32_t heard = me ? 1 : call->n - 1;
    return k < heard ? to_root(&empty, me, k, s)
                     : from_root(&empty, me, k - heard, s);
}

static bool scan(const sw_call_t *call, uint32_t me, uint32_t k,
                 sw_step_t *s)
{
    bool receives = me > 0, sends = me + 1 < call->n;
    sw_step_idle(s);
    if (receives && k == 0) {
        sw_step_receive(s, me - 1, call->bytes);
        if (sends || call->what != SW_COLLECTIVE_EXSCAN)
            s->reduced = call->bytes;
        return true;
    }
    sw_step_send(s, me + 1, call->bytes);
    return sends && k == receives;
}

static double formula(const sw_call_t *call, double round, double byte,
                      double gamma)
{
    return (call->n - 1.0) * (round + byte * (double)call->bytes);
}

static double barrier_formula(const sw_call_t *call, double round, double byte,
                              double gamma)
{
    return (call->n - 1.0) * 2 * round;
}

static double reduce_formula(const sw_call_t *call, double round, double byte,
                             double gamma)
{
    return formula(call, round, byte + gamma, 0);
}

static double scan_formula(const sw_call_t *call, double round, double byte,
                           double gamma)
{
    double time = reduce_formula(call, round, byte, gamma);
    if (call->what == SW_COLLECTIVE_EXSCAN && call->n > 1)
        time -= gamma * (double)call->bytes;
    return time;
}

const sw_algorithm_t sw_barrier_linear = {"linear", barrier, barrier_formula};
const sw_algorithm_t sw_bcast_linear = {"linear", from_root, formula};
const sw_algorithm_t sw_scatter_linear = {"linear", from_root, formula};
const sw_algorithm_t sw_gather_linear = {"linear", to_root, formula};
const sw_algorithm_t sw_reduce_linear = {"linear", reduce, reduce_formula};
const sw_algorithm_t sw_scan_linear = {"linear", scan, scan_formula};
