/*
 * algorithm_between.c - collectives between two groups, as messages: no member
 * leads; each talks to all of the other group that it has to do with.
 *
 * Without a root, groups of n and m take max(n, m) rounds. In round k two
 * members exchange their parts: member i of the first group, and member
 * (i + k) mod max(n, m) of the second, where both exist.
 */
#include "algorithm_parts.h"

static bool with_root(const sw_call_t *call, uint32_t me, uint32_t k,
                      bool from_root, sw_step_t *s)
{
    bool mine = me < call->first;
    uint32_t others = mine ? call->n - call->first : call->first;
    if (call->root == SW_STEP_NOBODY)
        return false;
    uint32_t partner = me == call->root ? k + (mine ? call->first : 0)
                                        : call->root;
    if (k >= (me == call->root ? others : 1))
        return false;
    if (from_root == (me == call->root))
        sw_step_send(s, partner, call->bytes);
    else
        sw_step_receive(s, partner, call->bytes);
    return true;
}

static bool step(const sw_call_t *call, uint32_t me, uint32_t k, sw_step_t *s)
{
    uint32_t n = call->first, m = call->n - n, rounds = n > m ? n : m;
    switch (sw_collective_waits[call->what]) {
    case SW_WAITS_ROOT: return with_root(call, me, k, true, s);
    case SW_WAITS_AT_ROOT: return with_root(call, me, k, false, s);
    default: break;
    }
    if (k >= rounds)
        return false;
    bool mine = me < n;
    uint32_t partner = mine ? (me + k) % rounds
                            : (me - n + rounds - k) % rounds;
    if (partner < (mine ? m : n)) {
        partner += mine ? n : 0;
        sw_step_send(s, partner, call->bytes);
        sw_step_receive(s, partner, call->bytes);
    }
    return true;
}

const sw_algorithm_t sw_between_linear = {.name = "linear", .step = step};
