/*
 * plan.c - see plan.h.
 *
 * Formulas speak of Hockney's machine. alpha is what an empty message takes
 * between the two members farthest apart, o + L + o'. beta is the slowest of
 * what happens to a byte on the way, max(G, O, O'). Of a measured link, beta is
 * what a message of the call's block takes above an empty one, by its bytes.
 * All members that wait for others leave after the formula's time. A member
 * that waits for none (the root of a bcast, the others in a reduce) leaves when
 * its own sends are out. The plan goes through that member's steps: a send
 * takes max(o + O s, g, G s) and a step with a receive alpha + s beta.
 *
 * Offloaded, a collective takes its members `posting` each. The network then
 * needs, by itself, one round for each level of a tree and its bytes once:
 *
 *     barrier                          ROUND ceil(log2 n)
 *     bcast, reduce, allreduce, scans  ROUND ceil(log2 n) + B NS_A_BYTE
 *     with a block for each member     ROUND ceil(log2 n) +
 *                                          (n - 1) B NS_A_BYTE
 *
 * A member that waits for none leaves when the network has its data: after
 * B NS_A_BYTE, and the root of a scatter after (n - 1) times that.
 *
 * Where no rule fits, a call takes the formula of what libraries commonly do,
 * with the limits of Thakur, Rabenseifner, Gropp 2005 (MPICH's): see usual().
 *
 * Everything takes the factor of its line `scale`. A member by itself waits
 * for none, and takes no time.
 */
#include "algorithm_parts.h"
#include "rules.h"
#include "words.h"

#include <string.h>

/* Has it a block for each member? */
static bool has_blocks(sw_op_collective_t what)
{
    switch (what) {
    case SW_COLLECTIVE_BARRIER:
    case SW_COLLECTIVE_OTHER:
    case SW_COLLECTIVE_FENCE:
    case SW_COLLECTIVE_BCAST:
    case SW_COLLECTIVE_REDUCE:
    case SW_COLLECTIVE_ALLREDUCE:
    case SW_COLLECTIVE_SCAN:
    case SW_COLLECTIVE_EXSCAN: return false;
    default: return true;
    }
}

/*
 *     barrier          dissemination
 *     bcast            binomial; scatter_allgather from 12 KiB and 8 members
 *     reduce           binomial; rabenseifner above 2 KiB
 *     allreduce        recursive_doubling; rabenseifner above 2 KiB
 *     reduce_scatter   recursive_halving; pairwise from 512 KiB in all
 *     allgather        recursive_doubling (n a power of two) below 512 KiB in
 *                      all, bruck (others) below 80 KiB; else ring
 *     alltoall         bruck up to 256 bytes and from 8 members; else pairwise
 *     scan             recursive_doubling
 *     gather, scatter  binomial
 */
static const char *usual(const sw_call_t *call)
{
    uint32_t n = call->n;
    uint64_t bytes = call->bytes;
    double all = (double)bytes * n;
    switch (call->what) {
    case SW_COLLECTIVE_BARRIER:
    case SW_COLLECTIVE_OTHER:
    case SW_COLLECTIVE_FENCE: return "dissemination";
    case SW_COLLECTIVE_BCAST:
        return bytes < 12288 || n < 8 ? "binomial" : "scatter_allgather";
    case SW_COLLECTIVE_REDUCE:
        return bytes <= 2048 ? "binomial" : "rabenseifner";
    case SW_COLLECTIVE_ALLREDUCE:
        return bytes <= 2048 ? "recursive_doubling" : "rabenseifner";
    case SW_COLLECTIVE_REDUCE_SCATTER:
    case SW_COLLECTIVE_REDUCE_SCATTER_BLOCK:
        return all < 524288 ? "recursive_halving" : "pairwise";
    case SW_COLLECTIVE_ALLGATHER:
    case SW_COLLECTIVE_ALLGATHERV:
        if (n & (n - 1))
            return all < 81920 ? "bruck" : "ring";
        return all < 524288 ? "recursive_doubling" : "ring";
    case SW_COLLECTIVE_ALLTOALL:
    case SW_COLLECTIVE_ALLTOALLV:
    case SW_COLLECTIVE_ALLTOALLW:
        return bytes <= 256 && n >= 8 ? "bruck" : "pairwise";
    case SW_COLLECTIVE_SCAN:
    case SW_COLLECTIVE_EXSCAN: return "recursive_doubling";
    default: return "binomial";
    }
}

/* The two members that are farthest apart, and what a sender has computed.
 * Where ranks are placed in order,
 * nodes and domains are stretches of them: the lowest and the highest. Else
 * the first and the one farthest from it: whether all are on the same node, or
 * domain, may be asked of any. */
typedef struct {
    uint32_t from, to;
    sw_ps_t computed;
} pair_t;

static pair_t farthest(const sw_model_t *model, uint32_t n,
                       const uint32_t *members)
{
    if (!members && !model->places.node && !model->places.domain)
        return (pair_t){0, n - 1, 0};
    uint32_t first = members ? members[0] : 0;
    pair_t pair = {first, first, 0};
    if (!model->places.node && !model->places.domain) {
        for (uint32_t i = 1; i < n; i++) {
            pair.from = members[i] < pair.from ? members[i] : pair.from;
            pair.to = members[i] > pair.to ? members[i] : pair.to;
        }
        return pair;
    }
    sw_class_t most = SW_CLASS_SELF;
    for (uint32_t i = n; i-- > 1 && most < SW_CLASS_NETWORK;) {
        uint32_t other = members ? members[i] : i;
        sw_class_t far = sw_model_class(model, first, other);
        if (far > most) {
            most = far;
            pair.to = other;
        }
    }
    return pair;
}

/* A link as Hockney's. */
typedef struct {
    const sw_model_t *model;
    pair_t pair;
    double alpha, beta;
} line_t;

static double message(const line_t *line, uint64_t bytes)
{
    sw_cost_t cost;
    sw_model_message(line->model, line->pair.from, line->pair.to, bytes,
                     line->pair.computed, &cost);
    return (double)cost.send + (double)cost.latency + (double)cost.transfer +
           (double)cost.receive;
}

static line_t line_of(const sw_model_t *model, pair_t pair, uint64_t bytes)
{
    line_t line = {.model = model, .pair = pair};
    const sw_model_link_t
        *link = &model->links[sw_model_class(model, pair.from, pair.to)];
    line.alpha = message(&line, 0);
    if (!link->point_count[0]) {
        line.beta = link->G > link->O_send ? link->G : link->O_send;
        if (line.beta < link->O_recv)
            line.beta = link->O_recv;
    } else if (bytes) {
        line.beta = (message(&line, bytes) - line.alpha) / (double)bytes;
        if (line.beta < 0)
            line.beta = 0;
    }
    return line;
}

/* How long a member that waits for none is at work. */
static double own_part(const line_t *line, const sw_algorithm_t *algorithm,
                       const sw_call_t *call)
{
    uint32_t me = 0;
    if (sw_collective_waits[call->what] == SW_WAITS_ALL)
        return 0;
    /* In a tree towards the root, the last member has none below it. */
    if (sw_collective_waits[call->what] == SW_WAITS_AT_ROOT)
        me = call->n - 1;
    double time = 0;
    sw_step_t step;
    for (uint32_t k = 0; sw_algorithm_step(algorithm, call, me, k, &step);
         k++) {
        if (step.from != SW_STEP_NOBODY) {
            time += line->alpha + line->model->reduce * (double)step.reduced +
                    line->beta * (double)(step.sent > step.received
                                              ? step.sent
                                              : step.received);
        } else {
            sw_cost_t cost;
            sw_model_message(line->model, line->pair.from, line->pair.to,
                             step.sent, line->pair.computed, &cost);
            time += (double)(cost.send > cost.gap ? cost.send : cost.gap);
        }
    }
    return time;
}

static void by_formula(const sw_model_t *model, const sw_call_t *call,
                       pair_t pair, const char *name, sw_plan_t *plan)
{
    const sw_algorithm_t *algorithm = sw_algorithm_named(call->what, name);
    line_t line = line_of(model, pair, call->bytes);
    plan->waiting = sw_ps_whole(plan->scale *
                                sw_algorithm_takes(algorithm, call, line.alpha,
                                                   line.beta, model->reduce));
    plan->leaving = sw_ps_whole(plan->scale * own_part(&line, algorithm, call));
}

void sw_plan_offloaded(const sw_rules_t *rules, const sw_model_rule_t *rule,
                       const sw_call_t *call, sw_plan_t *plan)
{
    *plan = (sw_plan_t){.scale = rules->scale[call->what]};
    double bytes = rule->byte * (double)call->bytes;
    double all = has_blocks(call->what) ? (call->n - 1.0) * bytes : bytes;
    bool scatters = call->what == SW_COLLECTIVE_SCATTER ||
                    call->what == SW_COLLECTIVE_SCATTERV;
    if (call->what == SW_COLLECTIVE_BARRIER || sw_op_bare(call->what))
        all = 0;
    plan->posting = sw_ps_scaled(rule->posting, plan->scale);
    plan->waiting = sw_ps_whole(
        plan->scale *
        (all + (double)rule->round * sw_algorithm_log2_ceil(call->n)));
    if (sw_collective_waits[call->what] != SW_WAITS_ALL)
        plan->leaving = sw_ps_whole(plan->scale * (scatters ? all : bytes));
}

static void by_span(const sw_model_rule_t *rule, const sw_call_t *call,
                    sw_plan_t *plan)
{
    sw_table_at(&rule->table, has_blocks(call->what), call->n, call->bytes,
                &plan->waiting, &plan->leaving);
    plan->waiting = sw_ps_scaled(plan->waiting, plan->scale);
    plan->leaving = sw_ps_scaled(plan->leaving, plan->scale);
}

/* The cheaper of the usual formula over all members, and the leaders' way. */
static void by_leaders(const sw_model_t *model, const sw_call_t *call,
                       pair_t pair, const sw_spread_t *spread, sw_plan_t *plan)
{
    sw_plan_t led;
    by_formula(model, call, pair, usual(call), plan);
    sw_plan_leaders(model, call, spread, pair.computed, &led);
    led.waiting = sw_ps_scaled(led.waiting, plan->scale);
    led.leaving = sw_ps_scaled(led.leaving, plan->scale);
    if (led.waiting < plan->waiting) {
        plan->waiting = led.waiting;
        plan->leaving = led.leaving;
    }
}

/* By the tables of the state, or of the nearest below it that was measured. */
static void by_table(const sw_model_t *model, const sw_call_t *call,
                     sw_ps_t computed, sw_plan_t *plan)
{
    sw_model_table_t(*tables)[SW_COLLECTIVE_COUNT] = model->rules->tables;
    uint32_t state = sw_model_state(model, computed, call->bytes);
    uint32_t there = 0, low, high;
    bool blocks = has_blocks(call->what);
    for (uint32_t k = 0; k < SW_STATES; k++)
        there |= (uint32_t)(tables[k][call->what].count > 0) << k;
    sw_model_states(state, there, &low, &high);
    sw_table_at(&tables[low][call->what], blocks, call->n, call->bytes,
                &plan->waiting, &plan->leaving);
    if (high > low) {
        sw_ps_t waiting, leaving;
        sw_table_at(&tables[high][call->what], blocks, call->n, call->bytes,
                    &waiting, &leaving);
        plan->waiting = sw_model_between(state, plan->waiting, waiting);
        plan->leaving = sw_model_between(state, plan->leaving, leaving);
    }
    plan->waiting = sw_ps_scaled(plan->waiting, plan->scale);
    plan->leaving = sw_ps_scaled(plan->leaving, plan->scale);
}

/* A nonblocking one takes its parts of the time that the rule gives. */
static void by_parts(const sw_rules_t *rules, const sw_call_t *call,
                     sw_plan_t *plan)
{
    const sw_started_table_t *table = &rules->started[call->what];
    if (!table->count || call->nodes != 1)
        return;
    sw_started_point_t p = sw_started_at(table, call->bytes);
    plan->has_started = true;
    plan->start = sw_ps_scaled(plan->waiting, p.start);
    plan->started = (sw_started_plan_t){
        .shared = sw_ps_scaled(plan->waiting, p.shared),
        .own = sw_ps_scaled(plan->waiting, p.own),
        .aside = (float)p.aside,
        .held = p.held > 0.5};
}

static void plan_make(const sw_model_t *model, const sw_call_t *call,
                      pair_t pair, const sw_spread_t *spread, sw_plan_t *plan)
{
    const sw_rules_t *rules = model->rules;
    const sw_model_rule_t *rule = rules ? sw_rules_find(rules, call) : NULL;
    *plan = (sw_plan_t){.scale = rules ? rules->scale[call->what] : 1};
    if (!rule) {
        by_formula(model, call, pair, usual(call), plan);
        if (rules)
            by_parts(rules, call, plan);
        return;
    }
    switch (rule->kind) {
    case SW_RULE_FORMULA:
        by_formula(model, call, pair, rule->algorithm, plan);
        break;
    case SW_RULE_MESSAGES:
        plan->algorithm = sw_algorithm_named(call->what, rule->algorithm);
        return;
    case SW_RULE_MEASURED: by_table(model, call, pair.computed, plan); break;
    case SW_RULE_SPAN: by_span(rule, call, plan); break;
    case SW_RULE_LEADERS: by_leaders(model, call, pair, spread, plan); break;
    case SW_RULE_OFFLOAD: sw_plan_offloaded(rules, rule, call, plan); return;
    case SW_RULE_FREE: return;
    }
    by_parts(rules, call, plan);
}

void sw_plan_piece(const sw_model_t *model, const sw_call_t *call,
                   uint32_t from, uint32_t to, sw_ps_t computed,
                   sw_plan_t *plan)
{
    *plan = (sw_plan_t){.scale = 1};
    if (call->n < 2)
        return;
    pair_t pair = {from, to, computed};
    const sw_model_rule_t *rule = model->rules
                                      ? sw_rules_find_part(model->rules, call)
                                      : NULL;
    if (rule && rule->kind == SW_RULE_MEASURED)
        by_table(model, call, computed, plan);
    else if (rule && rule->kind == SW_RULE_SPAN)
        by_span(rule, call, plan);
    else
        by_formula(model, call, pair, rule ? rule->algorithm : usual(call),
                   plan);
}

/* Where the members are, if a rule asks; the call gets the shape. */
static void find_spread(const sw_model_t *model, uint32_t n,
                        const uint32_t *members, sw_call_t *call,
                        sw_spread_t *spread)
{
    *spread = (sw_spread_t){0};
    if (model->rules && model->rules->spread)
        sw_spread_find(model, n, members, spread);
    call->nodes = spread->nodes;
    call->most = spread->most;
}

void sw_plan_part(const sw_model_t *model, const sw_call_t *call, uint32_t n,
                  const uint32_t *members, sw_ps_t computed, sw_plan_t *plan)
{
    sw_call_t part = *call;
    sw_spread_t spread;
    pair_t pair = farthest(model, n, members);
    find_spread(model, n, members, &part, &spread);
    sw_plan_piece(model, &part, pair.from, pair.to, computed, plan);
}

/* The members of an alltoallv may have more to send than the mean: the one
 * with the most is what the others wait for. */
static uint64_t block(const sw_vop_t *op, uint32_t n)
{
    uint64_t most = op->sent > op->received ? op->sent : op->received;
    if ((op->what == SW_COLLECTIVE_ALLTOALLV ||
         op->what == SW_COLLECTIVE_ALLTOALLW) &&
        most / n > op->bytes)
        return most / n;
    return op->bytes;
}

static bool same(const sw_planned_t *p, const sw_model_t *model,
                 const sw_call_t *call, sw_class_t far, sw_class_t inside,
                 uint32_t state)
{
    const sw_model_link_t *a = &p->link, *b = &model->links[far];
    return p->known && p->state == state && p->call.what == call->what &&
           p->call.n == call->n && p->call.bytes == call->bytes &&
           p->call.nodes == call->nodes && p->call.most == call->most &&
           p->farthest == far && p->inside == inside &&
           p->reduce == model->reduce && a->o_send == b->o_send &&
           a->o_recv == b->o_recv && a->L == b->L && a->g == b->g &&
           a->O_send == b->O_send && a->O_recv == b->O_recv && a->G == b->G &&
           !memcmp(a->points, b->points, sizeof a->points) &&
           !memcmp(a->point_count, b->point_count, sizeof a->point_count);
}

void sw_plan_make(const sw_model_t *model, const sw_vop_t *op, uint32_t n,
                  const uint32_t *members, sw_plan_t *plan)
{
    sw_call_t call = {
        .what = (sw_op_collective_t)op->what, .n = n, .bytes = block(op, n)};
    if (n < 2) {
        *plan = (sw_plan_t){.scale = 1};
        return;
    }
    pair_t pair = farthest(model, n, members);
    pair.computed = op->time;
    if (!model->rules) {
        plan_make(model, &call, pair, NULL, plan);
        return;
    }
    sw_spread_t spread;
    find_spread(model, n, members, &call, &spread);
    sw_class_t inside = sw_model_class(model, spread.inside[0],
                                       spread.inside[1]);
    sw_class_t far = sw_model_class(model, pair.from, pair.to);
    uint32_t state = sw_model_state(model, pair.computed, call.bytes);
    uint64_t key = sw_words_mix(
        call.bytes ^ (uint64_t)n << 40 ^ (uint64_t)state << 61 ^
        (uint64_t)call.what << 34 ^ (uint64_t)far << 32);
    sw_planned_t *planned = &model->rules->planned[key % SW_PLANNED];
    if (!same(planned, model, &call, far, inside, state)) {
        planned->known = true;
        planned->state = state;
        planned->call = call;
        planned->farthest = far;
        planned->inside = inside;
        planned->link = model->links[far];
        planned->reduce = model->reduce;
        plan_make(model, &call, pair, &spread, &planned->plan);
    }
    *plan = planned->plan;
}
