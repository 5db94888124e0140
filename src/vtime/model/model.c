/*
 * model.c - see model.h.
 *
 * The engine asks for the cost of every message, so that is a few
 * multiplications: links by constants have nothing to look up, measured ones
 * have some dozens of points.
 */
#include "line.h"
#include "network.h"
#include "plan.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sw_model_init(sw_model_t *model, uint32_t ranks)
{
    *model = (sw_model_t){
        .ranks = ranks,
        .places = {.per_node = ranks ? ranks : 1},
        .state_count = 1,
        .cpu_speed = 1,
    };
    for (int i = 0; i < SW_CLASS_COUNT; i++)
        model->links[i].S = UINT64_MAX;
}

void sw_model_free(sw_model_t *model)
{
    free(model->places.node);
    free(model->places.domain);
    free(model->node_speed);
    for (int i = 0; i < SW_CLASS_COUNT; i++) {
        for (int k = 0; k < SW_STATES; k++)
            free(model->links[i].points[k]);
        free(model->links[i].given);
    }
    sw_accesses_free(&model->accesses);
    sw_network_free(model->network);
    if (model->rules)
        sw_rules_free(model->rules);
    memset(model, 0, sizeof *model);
}

uint32_t sw_model_node(const sw_model_t *model, uint32_t rank)
{
    const sw_model_places_t *places = &model->places;
    return places->node ? places->node[rank] : rank / places->per_node;
}

uint32_t sw_model_nodes(const sw_model_t *model)
{
    const sw_model_places_t *places = &model->places;
    if (!places->node)
        return model->ranks ? (model->ranks - 1) / places->per_node + 1 : 0;
    uint32_t nodes = 0;
    for (uint32_t rank = 0; rank < model->ranks; rank++)
        if (nodes <= places->node[rank])
            nodes = places->node[rank] + 1;
    return nodes;
}

static uint32_t domain(const sw_model_places_t *places, uint32_t rank)
{
    if (places->domain)
        return places->domain[rank];
    return places->per_domain ? rank % places->per_node / places->per_domain
                              : 0;
}

sw_class_t sw_model_class(const sw_model_t *model, uint32_t a, uint32_t b)
{
    if (a == b)
        return SW_CLASS_SELF;
    if (sw_model_node(model, a) != sw_model_node(model, b))
        return SW_CLASS_NETWORK;
    return domain(&model->places, a) == domain(&model->places, b)
               ? SW_CLASS_DOMAIN
               : SW_CLASS_NODE;
}

uint32_t sw_model_state(const sw_model_t *model, sw_ps_t computed,
                        uint64_t bytes)
{
    uint32_t k = model->state_count - 1, part = 0;
    double next = 0, time = 0;
    for (; k; k--, next = time) {
        const sw_state_t *s = &model->states[k];
        time = (double)s->after + s->after_byte * (double)bytes;
        if ((double)computed >= time)
            break;
    }
    if (k && time > 0 && next > time)
        part = (uint32_t)(SW_STATE_PARTS * log((double)computed / time) /
                          log(next / time));
    return SW_STATE_PARTS * k + part;
}

void sw_model_states(uint32_t state, uint32_t there, uint32_t *low,
                     uint32_t *high)
{
    uint32_t k = state / SW_STATE_PARTS;
    while (k && !(there >> k & 1))
        k--;
    *low = k;
    *high = k + (state > k * SW_STATE_PARTS && (there >> (k + 1) & 1));
}

sw_ps_t sw_model_between(uint32_t state, sw_ps_t low, sw_ps_t high)
{
    sw_ps_t part = state % SW_STATE_PARTS;
    return low + (high - low) / SW_STATE_PARTS * part;
}

bool sw_model_state_named(const sw_model_t *model, const char *text,
                          uint32_t *state)
{
    uint64_t number;
    if (!sw_words_integer(text, &number) || number >= model->state_count)
        return false;
    *state = (uint32_t)number;
    return true;
}

/* The point for so many bytes: between those that were measured, on the line;
 * beyond the last two, their rate goes on. */
static sw_link_point_t point_at(const sw_link_point_t *p, uint32_t n,
                                uint64_t bytes)
{
    uint32_t low = 0, high = n - 1;
    if (bytes <= p->bytes || !high)
        return *p;
    /* p[low] < bytes <= p[high], or behind the last two. */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (p[middle].bytes < bytes)
            low = middle;
        else
            high = middle;
    }
    const sw_link_point_t *a = &p[low], *b = &p[high];
#define ON_LINE(what) sw_line_at(bytes, a->bytes, a->what, b->bytes, b->what)
    return (sw_link_point_t){bytes, ON_LINE(send), ON_LINE(wire), ON_LINE(gap),
                             ON_LINE(receive)};
#undef ON_LINE
}

static void at_point(const sw_link_point_t *p, const sw_link_point_t *first,
                     sw_cost_t *cost)
{
    cost->send = p->send, cost->gap = p->gap, cost->receive = p->receive;
    cost->answer = first->send + first->wire;
    /* An empty message's is latency; what more bytes add is transfer. */
    cost->latency = p->wire < first->wire ? p->wire : first->wire;
    cost->transfer = p->wire - cost->latency;
    cost->taking = cost->receive + cost->transfer;
}

static void measured(const sw_model_link_t *link, uint32_t state,
                     uint64_t bytes, sw_cost_t *cost)
{
    uint32_t there = 0, low, high;
    for (uint32_t k = 0; k < SW_STATES; k++)
        there |= (uint32_t)(link->point_count[k] > 0) << k;
    sw_model_states(state, there, &low, &high);
    const sw_link_point_t *first = link->points[low];
    sw_link_point_t p = point_at(first, link->point_count[low], bytes);
    if (high > low) {
        sw_link_point_t q = point_at(link->points[high],
                                     link->point_count[high], bytes);
        p.send = sw_model_between(state, p.send, q.send);
        p.wire = sw_model_between(state, p.wire, q.wire);
        p.gap = sw_model_between(state, p.gap, q.gap);
        p.receive = sw_model_between(state, p.receive, q.receive);
    }
    at_point(&p, first, cost);
}

static void constant(const sw_model_link_t *link, uint64_t bytes,
                     sw_cost_t *cost)
{
    cost->send = link->o_send + sw_ps_of(link->O_send, bytes);
    cost->receive = link->o_recv + sw_ps_of(link->O_recv, bytes);
    cost->latency = link->L;
    cost->transfer = sw_ps_of(link->G, bytes);
    cost->gap = link->g > cost->transfer ? link->g : cost->transfer;
    cost->answer = link->o_send + link->L;
}

/* As LogGOPSim has it: the first byte is free. */
static void loggopsim(const sw_model_link_t *link, uint64_t bytes,
                      sw_cost_t *cost)
{
    constant(link, bytes ? bytes - 1 : 0, cost);
    cost->gap = link->g + cost->transfer;
    cost->taking = sw_ps_max(cost->receive, link->o_recv + cost->transfer);
}

bool sw_model_given(const sw_model_t *model, uint32_t from, uint32_t to,
                    uint64_t bytes, sw_cost_t *cost)
{
    sw_class_t class = sw_model_class(model, from, to);
    const sw_model_link_t *link = &model->links[class];
    if (class == SW_CLASS_NETWORK || !link->given_count ||
        bytes < link->given->bytes)
        return false;
    sw_link_point_t p = point_at(link->given, link->given_count, bytes);
    *cost = (sw_cost_t){.rendezvous = false};
    at_point(&p, link->given, cost);
    return true;
}

void sw_model_message(const sw_model_t *model, uint32_t from, uint32_t to,
                      uint64_t bytes, sw_ps_t computed, sw_cost_t *cost)
{
    sw_class_t class = sw_model_class(model, from, to);
    const sw_model_link_t *link = &model->links[class];
    if (link->point_count[0])
        measured(link, sw_model_state(model, computed, bytes), bytes, cost);
    else if (sw_unlikely(model->loggopsim))
        loggopsim(link, bytes, cost);
    else
        constant(link, bytes, cost);
    cost->rendezvous = bytes > link->S;
    cost->network = class == SW_CLASS_NETWORK;
    if (!cost->network || !model->network)
        return;
    /* The network's latency includes the link's; its first link is the one
     * that a message must leave before the next can. */
    sw_ps_t latency = sw_network_latency(
        model->network, sw_model_node(model, from), sw_model_node(model, to));
    sw_ps_t transfer = sw_network_transfer(model->network, bytes);
    cost->answer += latency - cost->latency;
    cost->latency = latency;
    if (cost->transfer < transfer)
        cost->transfer = transfer;
    if (cost->gap < transfer)
        cost->gap = transfer;
}
