/*
 * graph.c - a rank whose operations are a partial order, as in GOAL.
 *
 * An operation begins when what it needs is over (or has begun), and its
 * processor is free. A receive needs no processor to begin; its message takes
 * one when it is there, as in receive.c. Each processor does one thing at a
 * time: what was ready first comes first, whatever the file's order.
 *
 *     READY_NODE     a receive's message is there: in line
 *     READY_MESSAGE  LogGOPSim's rule: a message is there, matched or not
 *     OVER_NODE      an operation is over: those that need it may begin
 *     LOOK           a processor may be free
 *
 * All begins at events, in the order of time, so the line is exact. The rank's
 * main strand waits for one request meanwhile, which is complete when all is
 * over. Then the rank's time is that of its busiest processor, and the rest is
 * waiting.
 *
 * By LogGOPSim's rule a send that is ready waits for the port, too, and lets
 * others pass. What counts as first there is what was begun first: a message
 * with its send, an operation with what it needed last.
 */
#include "graph.h"
#include "compute.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/context.h"
#include "vtime/engine/message/match.h"
#include "vtime/engine/message/receive.h"
#include "vtime/engine/message/wire.h"

#include "node/base/grow.h"
#include "vtime/model/words.h"

#include <stdlib.h>

typedef struct {
    uint8_t kind; /* COMPUTE, SEND, RECV */
    bool ready, begun, over;
    uint16_t flags;
    uint32_t cpu, context;
    int32_t peer, tag;
    uint32_t unmet; /* of what it needs */
    uint32_t edges; /* the first, and 1 */
    /* of met(): whose edge led here, and 1; the next one to look at, and 1 */
    uint32_t above, edge;
    uint64_t size; /* bytes, or ps */
    sw_ps_t since; /* its place in line */
    sw_ps_t began;
    sw_request_t *request;
} node_t;

typedef struct {
    uint32_t to, next;
    bool begun; /* it needs no more than the beginning */
} edge_t;

typedef enum { MESSAGES, SENDS, OTHERS, LINES } line_t;

typedef struct {
    /* time: since; number: node, and of: NULL, or of: a message */
    sw_heap_t line[LINES];
    sw_ps_t free;
    sw_ps_t looks; /* an event comes then */
    sw_ps_t compute, noise, own;
} cpu_t;

struct sw_graph {
    sw_strand_t strand; /* whose messages they are */
    node_t *nodes;
    uint32_t count, room, over;
    edge_t *edges;
    uint32_t edge_count, edge_room;
    cpu_t *cpus; /* the first is number 0 */
    uint32_t cpu_count, cpu_room;
    sw_lookup_t cpu_of;  /* number -> its place, and 1 */
    bool read;           /* to its end */
    uint32_t cpu, unmet; /* of the next that is read */
    sw_ps_t in;          /* loggopsim: of its port */
};

void sw_graph_free(sw_graph_t *g)
{
    for (uint32_t i = 0; g && i < g->cpu_count; i++)
        for (int line = 0; line < LINES; line++)
            sw_heap_free(&g->cpus[i].line[line]);
    if (g) {
        free(g->nodes);
        free(g->edges);
        free(g->cpus);
        sw_lookup_free(&g->cpu_of);
    }
    free(g);
}

/* Reading ------------------------------------------------------------------ */

static bool wrong(sw_engine_t *engine, const sw_rank_t *rank, const char *why)
{
    sw_engine_wrong(engine, rank->main.rank, "%s", why);
    return false;
}

static bool no_memory(sw_engine_t *engine)
{
    engine->memory = true;
    return false;
}

/* Of the next operation. */
static bool needs(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    sw_graph_t *g = rank->graph;
    if (op->tag <= 0 || (uint32_t)op->tag > g->count)
        return wrong(engine, rank, "it needs an operation that is not there");
    if (!sw_grow(&g->edges, g->edge_count, &g->edge_room, sizeof *g->edges))
        return no_memory(engine);
    node_t *from = &g->nodes[g->count - (uint32_t)op->tag];
    g->edges[g->edge_count++] = (edge_t){.to = g->count,
                                         .next = from->edges,
                                         .begun = op->request ==
                                                  SW_NEEDS_BEGUN};
    from->edges = g->edge_count;
    g->unmet++;
    return true;
}

/* The next operations are those of a processor. */
static bool goes_to(sw_engine_t *engine, sw_graph_t *g, uint32_t number)
{
    uint64_t *place = sw_lookup_put(&g->cpu_of, number);
    if (!place || (!*place && !sw_grow(&g->cpus, g->cpu_count, &g->cpu_room,
                                       sizeof *g->cpus)))
        return no_memory(engine);
    if (!*place) {
        g->cpus[g->cpu_count++] = (cpu_t){.free = 0};
        *place = g->cpu_count;
    }
    g->cpu = (uint32_t)*place - 1;
    return true;
}

static bool add(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    sw_graph_t *g = rank->graph;
    if (!sw_grow(&g->nodes, g->count, &g->room, sizeof *g->nodes))
        return no_memory(engine);
    g->nodes[g->count++] = (node_t){
        .kind = op->kind,
        .flags = op->flags,
        .cpu = g->cpu,
        .context = op->context,
        .peer = op->peer,
        .tag = op->tag,
        .unmet = g->unmet,
        .size = op->kind == SW_OP_COMPUTE ? (uint64_t)op->time : op->bytes};
    g->unmet = 0;
    return true;
}

static bool read_one(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    rank->operations++;
    if (op->kind == SW_OP_THREAD && op->what == SW_THREAD_GOES)
        return goes_to(engine, rank->graph, op->request);
    if (op->kind == SW_OP_THREAD && op->what == SW_THREAD_NEEDS)
        return needs(engine, rank, op);
    if (op->kind != SW_OP_COMPUTE && op->kind != SW_OP_SEND &&
        op->kind != SW_OP_RECV)
        return wrong(engine, rank,
                     "a partial order has nothing but "
                     "computation, sends and receives");
    return add(engine, rank, op);
}

/* Going on ----------------------------------------------------------------- */

static void event(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time,
                  sw_event_kind_t kind, uint32_t number)
{
    sw_agenda_event(engine, time, kind, rank->main.rank, number, rank);
}

static void look_at(sw_engine_t *engine, sw_rank_t *rank, uint32_t number,
                    sw_ps_t time)
{
    cpu_t *cpu = &rank->graph->cpus[number];
    if (cpu->looks > engine->now && cpu->looks <= time)
        return;
    cpu->looks = time;
    event(engine, rank, time, SW_EVENT_LOOK, number);
}

static void in_line(sw_engine_t *engine, sw_rank_t *rank, uint32_t number,
                    line_t line, sw_ps_t since, uint32_t node, sw_message_t *m,
                    sw_ps_t now)
{
    cpu_t *cpu = &rank->graph->cpus[number];
    sw_heap_event_t one = {.time = since,
                           .number = m ? m->number : node,
                           .of = m,
                           .key = (uint64_t)line << 32 | (m ? m->from : 0)};
    if (!sw_heap_push(&cpu->line[line], &one))
        engine->memory = true;
    look_at(engine, rank, number, sw_ps_max(now, cpu->free));
}

static bool context_of(sw_engine_t *engine, sw_rank_t *rank, const node_t *node,
                       uint64_t *context)
{
    sw_vop_t op = {.kind = node->kind,
                   .peer = node->peer,
                   .tag = node->tag,
                   .context = node->context};
    return sw_context_address(engine, rank, &op, node->kind == SW_OP_RECV,
                              context);
}

static sw_request_t *request_of(sw_engine_t *engine, sw_rank_t *rank,
                                uint32_t number, sw_request_kind_t kind)
{
    node_t *node = &rank->graph->nodes[number];
    sw_request_t *r = sw_request_new(engine, kind, rank->main.rank, 0);
    r->node = number + 1;
    r->peer = node->peer;
    r->tag = node->tag;
    node->request = r;
    return r;
}

/* What it needs is there. True: it begins. */
static bool start(sw_engine_t *engine, sw_rank_t *rank, uint32_t number,
                  sw_ps_t time)
{
    node_t *node = &rank->graph->nodes[number];
    uint64_t context;
    node->ready = true;
    if (node->kind != SW_OP_RECV) {
        in_line(engine, rank, node->cpu,
                node->kind == SW_OP_SEND ? SENDS : OTHERS, node->since, number,
                NULL, time);
        return false;
    }
    if (!context_of(engine, rank, node, &context))
        return false;
    sw_request_t *r = request_of(engine, rank, number, SW_REQUEST_RECV);
    r->context = context;
    r->posted = time;
    node->begun = true;
    node->began = time;
    sw_match_receive(engine, r);
    return true;
}

/* It has begun, or is over: what needs that may begin. A receive begins at
 * once, and what needs its beginning comes next, before its neighbours. A file
 * may have a chain of any length, so the way back stands in the nodes. */
static void met(sw_engine_t *engine, sw_rank_t *rank, uint32_t number,
                bool begun, sw_ps_t time)
{
    sw_graph_t *g = rank->graph;
    uint32_t at = number;
    g->nodes[at].above = 0;
    g->nodes[at].edge = g->nodes[at].edges;
    for (;;) {
        uint32_t i = g->nodes[at].edge;
        if (!i && !g->nodes[at].above)
            return;
        if (!i) {
            at = g->nodes[at].above - 1;
            continue;
        }
        const edge_t *edge = &g->edges[i - 1];
        node_t *to = &g->nodes[edge->to];
        g->nodes[at].edge = edge->next;
        if (edge->begun != (begun || at != number))
            continue;
        to->since = sw_ps_max(
            to->since, engine->model->loggopsim ? g->nodes[at].began : time);
        if (!--to->unmet && start(engine, rank, edge->to, time)) {
            to->above = at + 1;
            to->edge = to->edges;
            at = edge->to;
        }
    }
}

static void begins(sw_engine_t *engine, sw_rank_t *rank, uint32_t number,
                   sw_ps_t time)
{
    node_t *node = &rank->graph->nodes[number];
    node->begun = true;
    node->began = time;
    met(engine, rank, number, true, time);
}

/* The rank's time is its busiest processor's. */
static void all_over(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    const sw_graph_t *g = rank->graph;
    const cpu_t *most = g->cpus;
    for (uint32_t i = 1; i < g->cpu_count; i++) {
        const cpu_t *c = &g->cpus[i];
        if (c->compute + c->noise + c->own >
            most->compute + most->noise + most->own)
            most = c;
    }
    rank->time.compute += most->compute;
    rank->time.noise += most->noise;
    rank->time.messages += most->own;
    rank->main.clock += most->compute + most->noise + most->own;
    sw_request_complete(engine, rank->waits, time);
}

static void is_over(sw_engine_t *engine, sw_rank_t *rank, uint32_t number,
                    sw_ps_t time)
{
    sw_graph_t *g = rank->graph;
    node_t *node = &g->nodes[number];
    node->over = true;
    if (node->request) {
        if (node->kind == SW_OP_RECV)
            sw_warmth_moved(&rank->warmth, node->request->bytes);
        sw_request_free(engine, node->request);
    }
    node->request = NULL;
    met(engine, rank, number, false, time);
    if (++g->over == g->count)
        all_over(engine, rank, time);
}

/* A processor ---------------------------------------------------------------
 */

static void compute(sw_engine_t *engine, sw_rank_t *rank, cpu_t *cpu,
                    uint32_t number, sw_ps_t now)
{
    sw_ps_t time = (sw_ps_t)rank->graph->nodes[number].size;
    cpu->free = sw_rank_compute(engine, rank, now, &time);
    cpu->compute += time;
    cpu->noise += cpu->free - now - time;
    event(engine, rank, cpu->free, SW_EVENT_OVER_NODE, number);
    begins(engine, rank, number, now);
}

static void send(sw_engine_t *engine, sw_rank_t *rank, cpu_t *cpu,
                 uint32_t number, sw_ps_t now)
{
    sw_graph_t *g = rank->graph;
    node_t *node = &g->nodes[number];
    uint64_t context;
    if (!context_of(engine, rank, node, &context))
        return;
    sw_request_t *r = request_of(engine, rank, number, SW_REQUEST_SEND);
    g->strand.clock = now;
    begins(engine, rank, number, now);
    sw_wire_send(engine, &g->strand, (uint32_t)node->peer, node->tag, context,
                 node->size, node->flags, 1, r, NULL);
    cpu->free = g->strand.clock;
    cpu->own += cpu->free - now;
}

/* By LogGOPSim's rule. */
static void take(sw_engine_t *engine, sw_rank_t *rank, cpu_t *cpu,
                 sw_message_t *m, sw_ps_t now)
{
    rank->graph->in = now + m->gap;
    cpu->free = now + m->receive_time;
    cpu->own += m->receive_time;
    m->ready = now;
    m->arrival = cpu->free;
    m->receive_time = 0;
    m->known = true;
    sw_match_arrived(engine, m);
}

static void receive(sw_engine_t *engine, sw_rank_t *rank, cpu_t *cpu,
                    uint32_t number, sw_ps_t now)
{
    sw_request_t *r = rank->graph->nodes[number].request;
    cpu->free = now + r->takes;
    cpu->own += r->takes;
    r->arriving = false;
    sw_request_complete(engine, r, cpu->free);
}

static bool is_before(const sw_heap_event_t *a, const sw_heap_event_t *b)
{
    return a->time != b->time ? a->time < b->time
           : a->key != b->key ? a->key < b->key
                              : a->number < b->number;
}

/* The first in line that may begin; else when one may. */
static sw_heap_t *choose(const sw_engine_t *engine, const sw_graph_t *g,
                         cpu_t *cpu, sw_ps_t now, sw_ps_t *later)
{
    sw_heap_t *found = NULL;
    for (int line = 0; line < LINES; line++) {
        sw_heap_t *h = &cpu->line[line];
        sw_ps_t port = line == SENDS      ? g->strand.port
                       : line == MESSAGES ? g->in
                                          : 0;
        if (!h->count)
            continue;
        if (engine->model->loggopsim && port > now)
            *later = sw_ps_min(*later, port);
        else if (!found || is_before(h->events, found->events))
            found = h;
    }
    return found;
}

static void look(sw_engine_t *engine, sw_rank_t *rank, uint32_t number,
                 sw_ps_t now)
{
    sw_graph_t *g = rank->graph;
    cpu_t *cpu = &g->cpus[number];
    sw_ps_t later = SW_PS_NEVER;
    sw_heap_t *line = NULL;
    while (cpu->free <= now && !engine->wrong && !engine->memory &&
           (line = choose(engine, g, cpu, now, &later))) {
        sw_heap_event_t first = sw_heap_pop(line);
        uint32_t node = (uint32_t)first.number;
        if (line == &cpu->line[SENDS])
            send(engine, rank, cpu, node, now);
        else if (first.of)
            take(engine, rank, cpu, first.of, now);
        else if (line == &cpu->line[MESSAGES])
            receive(engine, rank, cpu, node, now);
        else
            compute(engine, rank, cpu, node, now);
        later = SW_PS_NEVER;
    }
    bool more = false;
    for (int i = 0; i < LINES; i++)
        more |= cpu->line[i].count > 0;
    if (more)
        look_at(engine, rank, number,
                line ? cpu->free
                     : sw_ps_max(cpu->free, later == SW_PS_NEVER ? 0 : later));
}

/* From outside ---------------------------------------------------------------
 */

void sw_graph_received(sw_engine_t *engine, sw_request_t *r, sw_ps_t at,
                       sw_ps_t time)
{
    sw_rank_t *rank = &engine->rank[r->rank];
    node_t *node = &rank->graph->nodes[r->node - 1];
    if (time > 0) {
        r->takes = time;
        r->complete = at;
        r->arriving = true;
        event(engine, rank, at, SW_EVENT_READY_NODE, r->node - 1);
        return;
    }
    node->began = at;
    if (r->message && r->message->synced) {
        node->began = sw_ps_max(r->posted, r->message->ready);
        sw_receive_taken(engine, r->message, node->began);
    } else if (r->message && engine->model->loggopsim) {
        node->began = sw_ps_max(r->posted, r->message->ready);
    }
    sw_request_complete(engine, r, at);
}

void sw_graph_arrives(sw_engine_t *engine, sw_message_t *m)
{
    sw_agenda_event(engine, m->arrival, SW_EVENT_READY_MESSAGE, m->to,
                    (uint64_t)m->from << 32 | (uint32_t)m->number, m);
}

void sw_graph_complete(sw_engine_t *engine, sw_request_t *r, sw_ps_t time)
{
    event(engine, &engine->rank[r->rank], time, SW_EVENT_OVER_NODE,
          r->node - 1);
}

void sw_graph_ready_node(sw_engine_t *engine, const sw_heap_event_t *e)
{
    sw_rank_t *rank = e->of;
    uint32_t number = (uint32_t)e->number;
    in_line(engine, rank, rank->graph->nodes[number].cpu, MESSAGES, e->time,
            number, NULL, e->time);
}

void sw_graph_ready_message(sw_engine_t *engine, const sw_heap_event_t *e)
{
    sw_message_t *m = e->of;
    sw_rank_t *rank = &engine->rank[m->to];
    uint32_t cpu = m->receive && m->receive->node
                       ? rank->graph->nodes[m->receive->node - 1].cpu
                       : 0;
    in_line(engine, rank, cpu, MESSAGES, m->began, 0, m, e->time);
}

void sw_graph_over_node(sw_engine_t *engine, const sw_heap_event_t *e)
{
    is_over(engine, e->of, (uint32_t)e->number, e->time);
}

void sw_graph_look(sw_engine_t *engine, const sw_heap_event_t *e)
{
    look(engine, e->of, (uint32_t)e->number, e->time);
}

const sw_request_t *sw_graph_stuck(const sw_rank_t *rank)
{
    const sw_graph_t *g = rank->graph;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->nodes[i].request && !g->nodes[i].request->known)
            return g->nodes[i].request;
    return rank->waits;
}

static void wait_for_all(sw_engine_t *engine, sw_rank_t *rank)
{
    sw_graph_t *g = rank->graph;
    rank->now = (sw_vop_t){.kind = SW_OP_THREAD, .what = SW_THREAD_GRAPH};
    rank->state = SW_RANK_WAITS;
    rank->waits = sw_request_new(engine, SW_REQUEST_THREAD, rank->main.rank, 0);
    rank->waits->waiter = &rank->main;
    rank->main.pending = 1;
    for (uint32_t i = 0; i < g->count && !engine->wrong; i++)
        if (!g->nodes[i].unmet && !g->nodes[i].begun && !g->nodes[i].ready &&
            start(engine, rank, i, 0))
            met(engine, rank, i, true, 0);
}

bool sw_graph_read(sw_engine_t *engine, sw_rank_t *rank)
{
    sw_graph_t *g = rank->graph;
    sw_vop_t op;
    if (g->read)
        return true;
    for (;;) {
        sw_source_state_t state = engine->source.next(engine->source.of,
                                                      rank->main.rank, &op);
        if (state == SW_SOURCE_LATER) {
            rank->state = SW_RANK_LATE;
            sw_agenda_late(engine, rank);
            return false;
        }
        if (state == SW_SOURCE_END)
            break;
        if (!read_one(engine, rank, &op))
            return false;
    }
    g->read = true;
    if (g->count)
        wait_for_all(engine, rank);
    return !g->count;
}

bool sw_graph_begin(sw_engine_t *engine, sw_rank_t *rank)
{
    sw_graph_t *g = rank->graph = calloc(1, sizeof *g);
    if (!g)
        return no_memory(engine);
    g->strand = (sw_strand_t){.rank = rank->main.rank};
    return goes_to(engine, g, 0) && sw_graph_read(engine, rank);
}
