/*
 * goal_order.c - a graph of operations as a sequence.
 *
 * Sends and receives become nonblocking, and calc computes. Before an operation
 * comes a wait for each message that it requires and that has had no wait yet.
 * An operation that can begin without waiting comes first, in the order of the
 * file. Where none can, the next operation may depend on which message is
 * earlier. Then a sequence would say more than the file does, and the rank's
 * operations become a partial order (ops/op.h). There are two exceptions: what
 * one operation waits for is part of what all others wait for, or the user asks
 * for the file's order. Ranks with several processors are always partial
 * orders.
 */
#include "goal_order.h"

#include "vtime/base/heap.h"

#include <stdlib.h>

#define NOBODY UINT32_MAX

typedef struct {
    const sw_goal_graph_t *of;
    sw_goal_node_t *nodes; /* of it */
    const sw_goal_edge_t *edges;
    sw_heap_t free;                   /* can begin at once; least first */
    uint32_t *waiting, waiting_count; /* could, but for messages */
    uint32_t *free_requests, free_request_count, requests;
    sw_vop_t held; /* a message not yet written */
    bool memory;   /* there was always some */
    bool tries;    /* it writes nothing yet */
} order_t;

static bool cannot_write(const order_t *o)
{
    return sw_convert_fail("%s: the operations cannot be written", o->of->path);
}

static void is_free(order_t *o, uint32_t node)
{
    o->memory &= sw_heap_push(&o->free, &(sw_heap_event_t){.key = node});
}

static void ready(order_t *o, uint32_t node)
{
    if (o->nodes[node].waits)
        o->waiting[o->waiting_count++] = node;
    else
        is_free(o, node);
}

/* A message that is waited for at once blocks. */
static bool flush(order_t *o)
{
    if (o->tries)
        return true;
    bool good = !o->held.kind ||
                sw_op_write(o->of->writer, o->of->rank, &o->held);
    o->of->done->operations += o->held.kind != 0;
    o->held.kind = 0;
    return good;
}

static bool put(order_t *o, const sw_vop_t *op)
{
    if (o->tries)
        return true;
    if (op->kind == SW_OP_WAIT && o->held.kind &&
        o->held.request == op->request) {
        o->held.request = 0;
        return flush(o);
    }
    if (!flush(o))
        return false;
    if (op->kind == SW_OP_SEND || op->kind == SW_OP_RECV) {
        o->held = *op;
        return true;
    }
    o->of->done->operations++;
    return sw_op_write(o->of->writer, o->of->rank, op);
}

/* It is over: those that require it wait for one less. */
static void over(order_t *o, uint32_t node)
{
    o->nodes[node].over = true;
    for (uint32_t i = o->nodes[node].successors; i; i = o->edges[i - 1].next) {
        const sw_goal_edge_t *edge = &o->edges[i - 1];
        sw_goal_node_t *to = &o->nodes[edge->to];
        if (!edge->over || --to->waits || to->unissued)
            continue;
        for (uint32_t k = 0; k < o->waiting_count; k++)
            if (o->waiting[k] == edge->to) {
                o->waiting[k] = o->waiting[--o->waiting_count];
                is_free(o, edge->to);
                break;
            }
    }
}

static bool wait_for(order_t *o, uint32_t node)
{
    sw_vop_t op = {.kind = SW_OP_WAIT, .request = o->nodes[node].request};
    if (o->nodes[node].over)
        return true;
    o->free_requests[o->free_request_count++] = op.request;
    over(o, node);
    return put(o, &op);
}

static bool issue(order_t *o, uint32_t which)
{
    sw_goal_node_t *node = &o->nodes[which];
    sw_vop_t op = {.kind = node->kind,
                   .peer = node->peer,
                   .tag = node->tag,
                   .bytes = node->size};
    node->issued = true;
    bool computes = node->kind == SW_OP_COMPUTE;
    if (computes) {
        op = (sw_vop_t){.kind = SW_OP_COMPUTE,
                        .time = (sw_ps_t)node->size * SW_PS_PER_NS};
    } else {
        op.request = node->request =
            o->free_request_count ? o->free_requests[--o->free_request_count]
                                  : ++o->requests;
    }
    if ((op.time || !computes) && !put(o, &op))
        return false;
    /* What only required that it has begun may be ready now. */
    for (uint32_t i = node->successors; i; i = o->edges[i - 1].next) {
        sw_goal_node_t *to = &o->nodes[o->edges[i - 1].to];
        if (computes && o->edges[i - 1].over)
            to->waits--;
        if (!--to->unissued)
            ready(o, o->edges[i - 1].to);
    }
    node->over |= computes;
    return true;
}

/* Messages that a node requires and that are not over. */
static bool requires(const order_t *o, uint32_t node, uint32_t message)
{
    for (uint32_t i = o->nodes[message].successors; i; i = o->edges[i - 1].next)
        if (o->edges[i - 1].to == node && o->edges[i - 1].over)
            return true;
    return false;
}

/* Does `a` wait for nothing that `b` does not wait for, too? Of sends that are
 * required it makes no matter which is first. */
static bool is_part(const order_t *o, uint32_t a, uint32_t b)
{
    for (uint32_t i = o->nodes[a].predecessors; i;
         i = o->edges[i - 1].next_in) {
        const sw_goal_edge_t *e = &o->edges[i - 1];
        if (e->over && !o->nodes[e->from].over &&
            o->nodes[e->from].kind != SW_OP_SEND && !requires(o, b, e->from))
            return false;
    }
    return true;
}

/* The first of those that wait. NOBODY: the file leaves it open. */
static uint32_t choose(order_t *o)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < o->waiting_count; i++) {
        const sw_goal_node_t *a = &o->nodes[o->waiting[i]];
        const sw_goal_node_t *b = &o->nodes[o->waiting[best]];
        bool fewer = a->waits < b->waits ||
                     (a->waits == b->waits && o->waiting[i] < o->waiting[best]);
        if (o->of->file_order ? o->waiting[i] < o->waiting[best] : fewer)
            best = i;
    }
    uint32_t found = o->waiting[best];
    for (uint32_t i = 0; i < o->waiting_count && !o->of->file_order; i++)
        if (i != best && !is_part(o, found, o->waiting[i]))
            return NOBODY;
    return found;
}

static bool wait_of(order_t *o, uint32_t node)
{
    for (uint32_t i = o->nodes[node].predecessors; i;
         i = o->edges[i - 1].next_in)
        if (o->edges[i - 1].over && !wait_for(o, o->edges[i - 1].from))
            return false;
    return true;
}

static bool in_a_circle(const order_t *o)
{
    for (uint32_t i = 0; i < o->of->node_count; i++)
        if (!o->nodes[i].issued) {
            sw_convert_fail_at(o->of->path, o->nodes[i].line, "%s",
                               "this requires what requires it, in a circle");
            break;
        }
    return false;
}

typedef enum { WRITTEN, OPEN, FAILED } outcome_t;

/* The functions that say why something fails return false; a try FAILED then.
 */
static outcome_t failed(bool said)
{
    return said ? WRITTEN : FAILED;
}

/* All of them, in an order. */
static outcome_t put_all(order_t *o)
{
    uint32_t n = o->of->node_count, issued = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!o->nodes[i].unissued)
            ready(o, i);
    for (; issued < n; issued++) {
        while (!o->free.count && o->waiting_count && o->memory) {
            uint32_t node = choose(o);
            if (node == NOBODY)
                return OPEN;
            if (!wait_of(o, node))
                return failed(cannot_write(o));
        }
        if (!o->memory)
            return failed(sw_goal_no_memory(o->of->path));
        if (!o->free.count)
            return failed(in_a_circle(o));
        if (!issue(o, (uint32_t)sw_heap_pop(&o->free).key))
            return failed(cannot_write(o));
    }
    for (uint32_t i = 0; i < n; i++)
        if (!wait_for(o, i))
            return failed(cannot_write(o));
    return flush(o) ? WRITTEN : failed(cannot_write(o));
}

/* Forget a try: no operation has been written yet. */
static void again(order_t *o)
{
    for (uint32_t i = 0; i < o->of->node_count; i++) {
        sw_goal_node_t *node = &o->nodes[i];
        node->issued = node->over = false;
        node->unissued = node->waits = node->request = 0;
        for (uint32_t k = node->predecessors; k; k = o->edges[k - 1].next_in) {
            node->unissued++;
            node->waits += o->edges[k - 1].over;
        }
    }
    o->free.count = 0;
    o->waiting_count = o->free_request_count = o->requests = 0;
}

static bool put_thread(order_t *o, sw_thread_op_t what, uint32_t request,
                       int32_t tag)
{
    sw_vop_t op = {.kind = SW_OP_THREAD,
                   .what = (uint8_t)what,
                   .request = request,
                   .tag = tag};
    return sw_op_write(o->of->writer, o->of->rank, &op);
}

/* With what it requires; `request` is its place from now on. */
static bool put_node(order_t *o, uint32_t which, uint32_t place, uint32_t *cpu)
{
    sw_goal_node_t *node = &o->nodes[which];
    bool good = node->cpu == *cpu ||
                put_thread(o, SW_THREAD_GOES, node->cpu, 0);
    *cpu = node->cpu;
    node->issued = true;
    node->request = place;
    for (uint32_t i = node->predecessors; good && i;
         i = o->edges[i - 1].next_in) {
        const sw_goal_edge_t *e = &o->edges[i - 1];
        uint32_t back = place - o->nodes[e->from].request;
        good = back <= INT32_MAX &&
               put_thread(o, SW_THREAD_NEEDS,
                          e->over ? SW_NEEDS_OVER : SW_NEEDS_BEGUN,
                          (int32_t)back);
    }
    bool computes = node->kind == SW_OP_COMPUTE;
    sw_vop_t op = {.kind = node->kind,
                   .peer = node->peer,
                   .tag = node->tag,
                   .bytes = computes ? 0 : node->size,
                   .time = computes ? (sw_ps_t)node->size * SW_PS_PER_NS : 0};
    o->of->done->operations++;
    return good && sw_op_write(o->of->writer, o->of->rank, &op);
}

/* As a partial order: what is required stands before what requires it, else as
 * in the file. */
static bool put_graph(order_t *o)
{
    uint32_t n = o->of->node_count, issued = 0, cpu = 0;
    if (!put_thread(o, SW_THREAD_GRAPH, 0, 0))
        return cannot_write(o);
    for (uint32_t i = 0; i < n; i++)
        if (!o->nodes[i].unissued)
            is_free(o, i);
    for (; issued < n && o->free.count; issued++) {
        uint32_t which = (uint32_t)sw_heap_pop(&o->free).key;
        if (!put_node(o, which, issued, &cpu))
            return cannot_write(o);
        for (uint32_t i = o->nodes[which].successors; i;
             i = o->edges[i - 1].next)
            if (!--o->nodes[o->edges[i - 1].to].unissued)
                is_free(o, o->edges[i - 1].to);
        if (!o->memory)
            return sw_goal_no_memory(o->of->path);
    }
    return issued == n || in_a_circle(o);
}

/* First it is tried whether there is one order. */
static bool put_one_or_graph(order_t *o)
{
    if (o->of->file_order && !o->of->cpus)
        return put_all(o) == WRITTEN;
    outcome_t outcome = OPEN;
    if (!o->of->cpus && !o->of->graph) {
        o->tries = true;
        outcome = put_all(o);
        o->tries = false;
        if (outcome == FAILED)
            return false;
        again(o);
    }
    return outcome == OPEN ? put_graph(o) : put_all(o) == WRITTEN;
}

bool sw_goal_put_rank(const sw_goal_graph_t *graph)
{
    order_t o = {.of = graph,
                 .nodes = graph->nodes,
                 .edges = graph->edges,
                 .memory = true};
    size_t room = ((size_t)graph->node_count + 1) * sizeof *o.waiting;
    o.waiting = malloc(room);
    o.free_requests = malloc(room);
    bool good = o.waiting && o.free_requests ? put_one_or_graph(&o)
                                             : sw_goal_no_memory(graph->path);
    sw_heap_free(&o.free);
    free(o.waiting);
    free(o.free_requests);
    return good;
}
