/*
 * plan_between.c - collectives between two groups; see plan.h.
 *
 * In the manner of libraries (MPICH's, Open MPI's): what a group gives is
 * gathered or reduced there, travels from its first member to the other
 * group's as one message (X: o + O s + L + G s + o' + O' s), and is spread
 * there. For a member of a group of n, opposite to one of m, with blocks of B
 * bytes, all that it waits for takes
 *
 *     barrier          barrier(m) + X(0) + bcast(n, 0)
 *     allreduce        reduce(m, B) + X(B) + bcast(n, B)
 *     reduce_scatter   reduce(m, all) + X(all) + scatter(n, all / n)
 *     allgather        gather(m, B) + X(m B) + bcast(n, m B)
 *     alltoall         alltoall(max(n, m) + 1, B)
 *     bcast            X(B) + bcast(n, B)
 *     scatter          X(n B) + scatter(n, B)
 *     reduce, root     reduce(m, B) + X(B)
 *     gather, root     gather(m, B) + X(m B)
 *
 * A bcast's or scatter's root leaves when its message is out, max(o + O s, g,
 * G s); members of a group that gives to a root, when they leave the part that
 * the group has. Members beside a root have no part, and take no time.
 *
 * The parts are as the rules say of them, message by message by their formula;
 * whether the whole is free, offloaded (as among n + m members) or scaled, its
 * own rules say.
 */
#include "rules.h"
#include "words.h"

typedef struct {
    const sw_model_t *model;
    const uint32_t *n;
    const uint32_t *const *members;
    unsigned mine, other;
    sw_ps_t computed;
} between_t;

static sw_plan_t part(const between_t *b, unsigned group, unsigned what,
                      uint64_t bytes)
{
    sw_call_t call = {
        .what = (sw_op_collective_t)what, .n = b->n[group], .bytes = bytes};
    sw_plan_t plan;
    sw_plan_part(b->model, &call, call.n, b->members[group], b->computed,
                 &plan);
    return plan;
}

static sw_cost_t message(const between_t *b, unsigned from, uint64_t bytes)
{
    sw_cost_t cost;
    sw_model_message(b->model, b->members[from][0], b->members[!from][0], bytes,
                     b->computed, &cost);
    return cost;
}

static sw_ps_t travels(const between_t *b, unsigned from, uint64_t bytes)
{
    sw_cost_t c = message(b, from, bytes);
    return c.send + c.latency + c.transfer + c.receive;
}

static sw_ps_t sends(const between_t *b, uint64_t bytes)
{
    sw_cost_t c = message(b, b->mine, bytes);
    return c.send > c.gap ? c.send : c.gap;
}

/* A member by itself sends what it has. */
static sw_ps_t gives(const between_t *b, unsigned what, uint64_t bytes)
{
    return b->n[b->mine] > 1 ? part(b, b->mine, what, bytes).leaving
                             : sends(b, bytes);
}

/* Each member with all opposite: as among one more than the larger group. */
static sw_ps_t alltoall(const between_t *b, const sw_vop_t *op)
{
    uint32_t n = b->n[b->mine], m = b->n[b->other];
    uint64_t most = (op->sent > op->received ? op->sent : op->received) / m;
    sw_call_t call = {.what = (sw_op_collective_t)op->what,
                      .n = (n > m ? n : m) + 1,
                      .bytes = most > op->bytes ? most : op->bytes};
    const uint32_t pair[2] = {b->members[0][0], b->members[1][0]};
    sw_plan_t plan;
    sw_plan_part(b->model, &call, 2, pair, b->computed, &plan);
    return plan.waiting;
}

/* What a member waits for: what the other group does there, a message across,
 * what its own group does here. */
typedef struct {
    unsigned there, here;          /* sw_op_collective_t, or NOTHING */
    uint64_t block, across, share; /* bytes, in that order */
} way_t;

enum { NOTHING = SW_COLLECTIVE_COUNT };

static sw_ps_t waiting(const between_t *b, way_t way)
{
    sw_ps_t time = travels(b, b->other, way.across);
    if (way.there != NOTHING)
        time += part(b, b->other, way.there, way.block).waiting;
    if (way.here != NOTHING)
        time += part(b, b->mine, way.here, way.share).waiting;
    return time;
}

static void make(const between_t *b, const sw_vop_t *op, sw_plan_t *plan)
{
    uint64_t bytes = op->bytes, n = b->n[b->mine], m = b->n[b->other];
    way_t way;
    switch (op->what) {
    case SW_COLLECTIVE_BARRIER:
        way = (way_t){SW_COLLECTIVE_BARRIER, SW_COLLECTIVE_BCAST, 0, 0, 0};
        break;
    case SW_COLLECTIVE_ALLREDUCE:
        way = (way_t){SW_COLLECTIVE_REDUCE, SW_COLLECTIVE_BCAST, bytes, bytes,
                      bytes};
        break;
    case SW_COLLECTIVE_REDUCE_SCATTER:
    case SW_COLLECTIVE_REDUCE_SCATTER_BLOCK:
        way = (way_t){SW_COLLECTIVE_REDUCE, SW_COLLECTIVE_SCATTER, op->sent,
                      op->sent, op->sent / n};
        break;
    case SW_COLLECTIVE_ALLGATHER:
    case SW_COLLECTIVE_ALLGATHERV:
        way = (way_t){SW_COLLECTIVE_GATHER, SW_COLLECTIVE_BCAST,
                      op->received / m, op->received, op->received};
        break;
    case SW_COLLECTIVE_BCAST:
        way = (way_t){NOTHING, SW_COLLECTIVE_BCAST, 0, bytes, bytes};
        plan->leaving = sends(b, bytes);
        break;
    case SW_COLLECTIVE_SCATTER:
    case SW_COLLECTIVE_SCATTERV:
        way = (way_t){NOTHING, SW_COLLECTIVE_SCATTER, 0, bytes * n, bytes};
        plan->leaving = sends(b, op->sent);
        break;
    case SW_COLLECTIVE_REDUCE:
        way = (way_t){SW_COLLECTIVE_REDUCE, NOTHING, bytes, bytes, 0};
        plan->leaving = gives(b, SW_COLLECTIVE_REDUCE, bytes);
        break;
    case SW_COLLECTIVE_GATHER:
    case SW_COLLECTIVE_GATHERV:
        way = (way_t){SW_COLLECTIVE_GATHER, NOTHING, bytes, op->received, 0};
        plan->leaving = gives(b, SW_COLLECTIVE_GATHER, bytes);
        break;
    default: /* an alltoall */ plan->waiting = alltoall(b, op); return;
    }
    plan->waiting = waiting(b, way);
}

void sw_plan_between(const sw_model_t *model, const sw_vop_t *op,
                     const uint32_t n[2], const uint32_t *const members[2],
                     unsigned mine, sw_plan_t *plan)
{
    between_t b = {.model = model,
                   .n = n,
                   .members = members,
                   .mine = mine,
                   .other = !mine,
                   .computed = op->time};
    sw_call_t whole = {.what = (sw_op_collective_t)op->what,
                       .n = n[0] + n[1],
                       .bytes = op->bytes};
    const sw_rules_t *rules = model->rules;
    const sw_model_rule_t *rule = rules ? sw_rules_find(rules, &whole) : NULL;
    *plan = (sw_plan_t){.scale = rules ? rules->scale[op->what] : 1};
    if (rule && rule->kind == SW_RULE_FREE)
        return;
    if (rule && rule->kind == SW_RULE_OFFLOAD) {
        sw_plan_offloaded(rules, rule, &whole, plan);
        return;
    }
    make(&b, op, plan);
    plan->waiting = sw_ps_scaled(plan->waiting, plan->scale);
    plan->leaving = sw_ps_scaled(plan->leaving, plan->scale);
}
