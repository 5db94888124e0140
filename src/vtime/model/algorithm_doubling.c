/*
 * algorithm_doubling.c - recursive doubling: in round k members whose numbers
 * differ in bit k exchange what they have (Thakur, Rabenseifner, Gropp 2005).
 * Where n is no power of two, it is folded (algorithm_parts.h), which costs a
 * message before and one after.
 *
 * With p = 2^floor(log2 n), where n = p:
 *
 *     barrier           log2 n alpha
 *     allreduce         log2 n (alpha + B beta + B gamma)
 *     allgather         log2 n alpha + (n - 1) B beta
 *
 * and folded: barrier 2 alpha more; allreduce 2 alpha + 2 B beta + B gamma
 * more; allgather alpha + B beta, and alpha + (n - 1) B beta, and in each round
 * the largest group counts (at most).
 *
 * Scans need no folding: a member without a partner in a round leaves the round
 * out. A member combines what it receives with the sum of its group, and, if
 * the sender is below it, with its result. An exscan takes the first such part
 * as it is:
 *
 *     scan              ceil(log2 n) (alpha + B beta + 2 B gamma)
 *     exscan            B gamma less
 *                           (at most; exact where n is a power of two)
 */
#include "algorithm_parts.h"

bool sw_doubling_allreduce(const sw_call_t *call, uint32_t me, uint32_t k,
                           sw_step_t *s)
{
    sw_fold_t f = sw_fold(call->n);
    uint32_t round;
    sw_fold_at_t at = sw_fold_step(&f, me, k, f.levels, call->bytes,
                                   call->bytes, s, &round);
    if (at == SW_FOLD_ROUND) {
        uint32_t partner = sw_fold_member(&f, sw_fold_number(&f, me) ^
                                                  (1u << round));
        sw_step_send(s, partner, call->bytes);
        sw_step_receive(s, partner, call->bytes);
    }
    /* What comes at the end, to one that has left, is the result. */
    if (!sw_fold_leaves(&f, me))
        s->reduced = s->received;
    return at != SW_FOLD_OVER;
}

/* The blocks of the 2^round members whose numbers begin alike. */
static uint64_t group(const sw_fold_t *f, uint32_t number, uint32_t round)
{
    uint32_t first = number >> round << round;
    return sw_fold_blocks(f, first + (1u << round)) - sw_fold_blocks(f, first);
}

bool sw_doubling_allgather(const sw_call_t *call, uint32_t me, uint32_t k,
                           sw_step_t *s)
{
    sw_fold_t f = sw_fold(call->n);
    uint32_t round;
    sw_fold_at_t at = sw_fold_step(&f, me, k, f.levels, call->bytes,
                                   call->bytes * (call->n - 1), s, &round);
    if (at == SW_FOLD_ROUND) {
        uint32_t number = sw_fold_number(&f, me);
        uint32_t other = number ^ (1u << round);
        uint32_t partner = sw_fold_member(&f, other);
        sw_step_send(s, partner, call->bytes * group(&f, number, round));
        sw_step_receive(s, partner, call->bytes * group(&f, other, round));
    }
    return at != SW_FOLD_OVER;
}

bool sw_doubling_scan(const sw_call_t *call, uint32_t me, uint32_t k,
                      sw_step_t *s)
{
    uint32_t levels = sw_algorithm_log2_ceil(call->n);
    for (uint32_t level = 0; level < levels; level++) {
        uint32_t partner = me ^ (1u << level);
        if (partner >= call->n || k-- > 0)
            continue;
        sw_step_send(s, partner, call->bytes);
        sw_step_receive(s, partner, call->bytes);
        bool first = (me & -me) == 1u << level;
        bool below = partner < me &&
                     !(first && call->what == SW_COLLECTIVE_EXSCAN);
        s->reduced = call->bytes * (below ? 2 : 1);
        return true;
    }
    return false;
}

double sw_doubling_allreduce_takes(const sw_call_t *call, double alpha,
                                   double beta, double gamma)
{
    sw_fold_t f = sw_fold(call->n);
    double bytes = (double)call->bytes;
    double time = f.levels * (alpha + (beta + gamma) * bytes);
    return f.rest ? time + 2 * alpha + (2 * beta + gamma) * bytes : time;
}

double sw_doubling_allgather_takes(const sw_call_t *call, double alpha,
                                   double beta, double gamma)
{
    sw_fold_t f = sw_fold(call->n);
    double time = f.levels * alpha, blocks = 0;
    for (uint32_t level = 0; level < f.levels; level++)
        blocks += (double)group(&f, 0, level);
    if (f.rest) {
        time += 2 * alpha;
        blocks += call->n;
    }
    return time + blocks * beta * (double)call->bytes;
}

double sw_doubling_scan_takes(const sw_call_t *call, double alpha, double beta,
                              double gamma)
{
    double bytes = (double)call->bytes;
    double time = sw_algorithm_log2_ceil(call->n) *
                  (alpha + (beta + 2 * gamma) * bytes);
    if (call->what == SW_COLLECTIVE_EXSCAN && call->n > 1)
        time -= gamma * bytes;
    return time;
}
