/*
 * goal_write.c - operations as GOAL, the text that LogGOPSim and ATLAHS read
 * (Hoefler, Siebert, Lumsdaine, Group Operation Assembly Language, 2009).
 *
 * A rank is a list of send, recv and calc with labels. `requires` says what
 * must be over before an operation begins, `irequires` what must have begun.
 * A blocking operation requires all before it. One with a request leaves
 * behind only that it has begun; the wait for it makes the next operation
 * require it. Collectives become the messages of an algorithm; nonblocking
 * ones a chain of their own.
 *
 * A rank that is a partial order (ops/op.h) is one there, too.
 *
 * GOAL has one communicator and no wildcards beyond -1: tags of others get
 * numbers of their own. Calc is in ns. GOAL cannot say that a send is
 * synchronous or buffered, nor what reducing costs.
 */
#include "expand.h"

#include "node/base/grow.h"

#include <stdlib.h>

/* What the next operation of a chain requires. */
typedef struct {
    uint64_t *more; /* labels of what must be over */
    uint32_t n, room;
    uint64_t begun; /* label of what must have begun; 0: none */
} front_t;

typedef struct {
    FILE *to;
    sw_expand_t expand;
    sw_converted_t *done;
    uint64_t label;       /* the last one */
    sw_lookup_t requests; /* request -> its label */
    front_t front;
    sw_ps_t rest; /* of a ns, not yet told */
    bool graph;   /* the rank is a partial order: of the next */
    uint32_t cpu; /* operation its processor, and what it needs */
    sw_vop_t *needs;
    uint32_t need_count, need_room;
} goal_t;

static void must_be_over(goal_t *g, front_t *f, uint64_t label)
{
    if (sw_grow(&f->more, f->n, &f->room, sizeof *f->more))
        f->more[f->n++] = label;
    else
        g->expand.memory = false;
}

/* The label just written requires the front. */
static void put_front(goal_t *g, const front_t *f)
{
    unsigned long long label = g->label;
    for (size_t i = 0; i < f->n; i++)
        fprintf(g->to, "l%llu requires l%llu\n", label,
                (unsigned long long)f->more[i]);
    if (f->begun)
        fprintf(g->to, "l%llu irequires l%llu\n", label,
                (unsigned long long)f->begun);
}

/* The label just written blocks: it alone is the front. */
static void blocks(goal_t *g, front_t *f)
{
    f->n = 0;
    f->begun = 0;
    must_be_over(g, f, g->label);
}

static void put_message(goal_t *g, bool sends, uint64_t bytes, int64_t peer,
                        int64_t tag)
{
    g->done->operations++;
    fprintf(g->to, "l%llu: %s %llub %s %lld tag %lld\n",
            (unsigned long long)++g->label, sends ? "send" : "recv",
            (unsigned long long)bytes, sends ? "to" : "from", (long long)peer,
            (long long)tag);
}

/* The request ends with the label just written; `first` must have begun. */
static void begun(goal_t *g, const sw_vop_t *op, uint64_t first)
{
    g->front.begun = first;
    uint64_t *label = sw_lookup_put(&g->requests, op->request);
    g->expand.memory &= label != NULL;
    if (label)
        *label = g->label;
}

static void message(goal_t *g, const sw_vop_t *op)
{
    int64_t tag = op->tag < 0 ? -1
                              : (int64_t)sw_expand_tag(&g->expand, op->context,
                                                       (uint64_t)op->tag);
    g->done->flags += (op->flags & ~SW_SEND_GIVEN) != 0;
    put_message(g, op->kind == SW_OP_SEND, op->bytes, op->peer, tag);
    put_front(g, &g->front);
    if (!op->request) {
        blocks(g, &g->front);
        return;
    }
    begun(g, op, g->label);
}

/* Each step requires the one before, and both its messages are under way at
 * once. */
static void collective(goal_t *g, uint32_t rank, const sw_vop_t *op)
{
    sw_expanded_t call;
    sw_step_t step;
    sw_expand_call(&g->expand, rank, op, &call);
    uint32_t tag = sw_expand_tag(&g->expand, op->context,
                                 SW_EXPAND_COLLECTIVE | call.nth);
    front_t own = {.n = 0}, *f = op->request ? &own : &g->front;
    uint64_t first = 0;
    g->done->expanded++;
    for (size_t i = 0; op->request && i < g->front.n; i++)
        must_be_over(g, &own, g->front.more[i]);
    own.begun = op->request ? g->front.begun : 0;
    for (uint32_t k = 0; sw_expand_step(&g->expand, &call, k, &step); k++) {
        uint64_t received = 0, sent = 0;
        if (step.from != SW_STEP_NOBODY) {
            put_message(g, false, step.received, step.from, tag);
            put_front(g, f);
            received = g->label;
        }
        if (step.to != SW_STEP_NOBODY) {
            put_message(g, true, step.sent, step.to, tag);
            put_front(g, f);
            sent = g->label;
        }
        if (!received && !sent)
            continue;
        first = first ? first : g->label;
        f->n = 0;
        f->begun = 0;
        if (received)
            must_be_over(g, f, received);
        if (sent)
            must_be_over(g, f, sent);
    }
    if (op->request && first) {
        /* What ends it, as one label. */
        fprintf(g->to, "l%llu: calc 0\n", (unsigned long long)++g->label);
        put_front(g, f);
        begun(g, op, first);
    }
    free(own.more);
}

static void compute(goal_t *g, sw_ps_t time)
{
    time += g->rest;
    g->rest = time % SW_PS_PER_NS;
    if (time < SW_PS_PER_NS)
        return;
    g->done->operations++;
    fprintf(g->to, "l%llu: calc %lld\n", (unsigned long long)++g->label,
            (long long)(time / SW_PS_PER_NS));
    put_front(g, &g->front);
    blocks(g, &g->front);
}

static void put_node(goal_t *g, const sw_vop_t *op)
{
    unsigned long long label = ++g->label;
    g->done->operations++;
    if (op->kind == SW_OP_COMPUTE)
        fprintf(g->to, "l%llu: calc %lld", label,
                (long long)(op->time / SW_PS_PER_NS));
    else
        fprintf(g->to, "l%llu: %s %llub %s %d tag %d", label,
                op->kind == SW_OP_SEND ? "send" : "recv",
                (unsigned long long)op->bytes,
                op->kind == SW_OP_SEND ? "to" : "from", op->peer, op->tag);
    if (g->cpu)
        fprintf(g->to, " cpu %u", g->cpu);
    fprintf(g->to, "\n");
    for (uint32_t i = 0; i < g->need_count; i++)
        fprintf(g->to, "l%llu %s l%llu\n", label,
                g->needs[i].request == SW_NEEDS_BEGUN ? "irequires"
                                                      : "requires",
                label - (unsigned long long)g->needs[i].tag);
    g->need_count = 0;
}

static void put_graph_op(goal_t *g, const sw_vop_t *op)
{
    if (op->kind != SW_OP_THREAD)
        put_node(g, op);
    else if (op->what == SW_THREAD_GOES)
        g->cpu = op->request;
    else if (sw_grow(&g->needs, g->need_count, &g->need_room, sizeof *g->needs))
        g->needs[g->need_count++] = *op;
    else
        g->expand.memory = false;
}

static void put_op(goal_t *g, uint32_t rank, const sw_vop_t *op)
{
    uint64_t *label;
    if (g->graph) {
        put_graph_op(g, op);
        return;
    }
    switch (op->kind) {
    case SW_OP_COMPUTE: compute(g, op->time); break;
    case SW_OP_SEND:
    case SW_OP_RECV: message(g, op); break;
    case SW_OP_COLLECTIVE: collective(g, rank, op); break;
    case SW_OP_WAIT:
    case SW_OP_DROP:
        label = sw_lookup_get(&g->requests, op->request);
        if (label && op->kind == SW_OP_WAIT)
            must_be_over(g, &g->front, *label);
        sw_lookup_remove(&g->requests, op->request);
        break;
    case SW_OP_WINDOW: g->done->unmodelled++; break;
    case SW_OP_SECTION: g->done->sections++; break;
    case SW_OP_THREAD: g->graph = op->what == SW_THREAD_GRAPH; break;
    default: break;
    }
}

static void put_ranks(goal_t *g, sw_op_file_t *ops)
{
    sw_op_source_t source;
    sw_vop_t op;
    sw_op_source(ops, &source);
    fprintf(g->to, "num_ranks %u\n", sw_op_ranks(ops));
    for (uint32_t rank = 0; rank < sw_op_ranks(ops); rank++) {
        fprintf(g->to, "\nrank %u {\n", rank);
        g->label = 0;
        g->rest = 0;
        g->front.n = 0;
        g->front.begun = 0;
        g->graph = false;
        g->cpu = g->need_count = 0;
        sw_lookup_clear(&g->requests);
        while (g->expand.memory && !ferror(g->to) &&
               source.next(source.of, rank, &op) == SW_SOURCE_OP)
            put_op(g, rank, &op);
        fprintf(g->to, "}\n");
    }
}

bool sw_ops_to_goal(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done)
{
    char why[1024];
    goal_t g = {.done = done};
    sw_op_file_t *ops = sw_op_open(in, why, sizeof why);
    if (!ops)
        return sw_convert_fail("%s", why);
    bool good = sw_expand_begin(&g.expand, ops, how, in) &&
                (g.to = sw_convert_open_text(out));
    if (good) {
        put_ranks(&g, ops);
        good = sw_convert_close_text(g.to, g.expand.memory, out);
    }
    done->damaged = sw_op_damaged(ops);
    free(g.front.more);
    free(g.needs);
    sw_lookup_free(&g.requests);
    sw_expand_end(&g.expand);
    sw_op_close(ops);
    return good;
}
