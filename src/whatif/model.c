/*
 * model.c - see model.h.
 *
 * What a message costs is asked for every message there is, so it is a few
 * multiplications: links by constants have nothing to look up, measured ones
 * have some dozens of points.
 */
#include "network.h"
#include "plan.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

void sw_model_init(sw_model_t *model, uint32_t ranks)
{
    *model = (sw_model_t){
        .ranks = ranks,
        .places = {.per_node = ranks ? ranks : 1},
        .cpu_speed = 1,
    };
    for (int i = 0; i < SW_CLASS_COUNT; i++)
        model->links[i].S = UINT64_MAX;
}

void sw_model_free(sw_model_t *model)
{
    free(model->places.node);
    free(model->places.domain);
    for (int i = 0; i < SW_CLASS_COUNT; i++)
        free(model->links[i].points);
    sw_network_free(model->network);
    if (model->rules)
        sw_rules_free(model->rules);
    memset(model, 0, sizeof *model);
}

uint32_t sw_model_node(const sw_model_t *model, uint32_t rank)
{
    const sw_places_t *places = &model->places;
    return places->node ? places->node[rank] : rank / places->per_node;
}

uint32_t sw_model_nodes(const sw_model_t *model)
{
    const sw_places_t *places = &model->places;
    if (!places->node)
        return model->ranks ? (model->ranks - 1) / places->per_node + 1 : 0;
    uint32_t nodes = 0;
    for (uint32_t rank = 0; rank < model->ranks; rank++)
        if (nodes <= places->node[rank])
            nodes = places->node[rank] + 1;
    return nodes;
}

static uint32_t domain(const sw_places_t *places, uint32_t rank)
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
        ? SW_CLASS_DOMAIN : SW_CLASS_NODE;
}

/* Between two points, on the line; behind the last, as far on as the bytes are
 * behind it, but never less. */
static sw_ps_t on_line(uint64_t bytes, uint64_t x0, sw_ps_t y0, uint64_t x1,
                       sw_ps_t y1)
{
    double slope = (double)(y1 - y0) / (double)(x1 - x0);
    if (bytes > x1) {
        sw_ps_t more = slope > 0 ? sw_ps_of(slope, bytes - x1) : 0;
        return more < SW_PS_MOST - y1 ? y1 + more : SW_PS_MOST;
    }
    double y = (double)y0 + slope * (double)(bytes - x0);
    return (sw_ps_t)(y + 0.5);
}

static void measured(const sw_link_t *link, uint64_t bytes, sw_cost_t *cost)
{
    const sw_link_point_t *p = link->points;
    sw_ps_t latency = p->wire, wire;
    uint32_t low = 0, high = link->point_count - 1;
    cost->answer = p->send + latency;
    if (bytes <= p->bytes || !high) {
        cost->send = p->send, cost->gap = p->gap, cost->receive = p->receive;
        wire = p->wire;
    } else {
        /* p[low] < bytes <= p[high], or behind the last two. */
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            if (p[middle].bytes < bytes)
                low = middle;
            else
                high = middle;
        }
        const sw_link_point_t *a = &p[low], *b = &p[high];
#define ON_LINE(what) on_line(bytes, a->bytes, a->what, b->bytes, b->what)
        cost->send = ON_LINE(send);
        cost->gap = ON_LINE(gap);
        cost->receive = ON_LINE(receive);
        wire = ON_LINE(wire);
#undef ON_LINE
    }
    /* An empty message's is latency; what more bytes add is transfer. */
    cost->latency = wire < latency ? wire : latency;
    cost->transfer = wire - cost->latency;
}

static void constant(const sw_link_t *link, uint64_t bytes, sw_cost_t *cost)
{
    cost->send = link->o_send + sw_ps_of(link->O_send, bytes);
    cost->receive = link->o_recv + sw_ps_of(link->O_recv, bytes);
    cost->latency = link->L;
    cost->transfer = sw_ps_of(link->G, bytes);
    cost->gap = link->g > cost->transfer ? link->g : cost->transfer;
    cost->answer = link->o_send + link->L;
}

void sw_model_message(const sw_model_t *model, uint32_t from, uint32_t to,
                      uint64_t bytes, sw_cost_t *cost)
{
    sw_class_t class = sw_model_class(model, from, to);
    const sw_link_t *link = &model->links[class];
    if (link->points)
        measured(link, bytes, cost);
    else
        constant(link, bytes, cost);
    cost->rendezvous = bytes > link->S;
    cost->network = class == SW_CLASS_NETWORK;
    if (!cost->network || !model->network)
        return;
    /* The network's latency includes the link's; its first link is the one
     * that a message must leave before the next can. */
    sw_ps_t latency = sw_network_latency(model->network,
                                         sw_model_node(model, from),
                                         sw_model_node(model, to));
    sw_ps_t transfer = sw_network_transfer(model->network, bytes);
    cost->answer += latency - cost->latency;
    cost->latency = latency;
    if (cost->transfer < transfer)
        cost->transfer = transfer;
    if (cost->gap < transfer)
        cost->gap = transfer;
}
