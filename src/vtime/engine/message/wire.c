/*
 * wire.c - messages on their way: out of the sender's port, through the
 * network, into the receiver's port. model.h has the formulas.
 *
 * A message of a late thread, which the others did not wait for, meets no
 * queue: the engine no longer knows what it would have met.
 *
 * A port or a link serves in the order of the times at which messages come to
 * it. Where only one strand can come (nothing of its rank is under way that
 * could be earlier: rank->loose is 0) it is served at once; else by events. A
 * link that costs nothing but its latency has nothing to be contended for. So
 * has LogGOPSim's rule: there a send waits for its port before it begins.
 */
#include "wire.h"
#include "match.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/channel.h"
#include "vtime/model/network.h"

#include "vtime/model/words.h"

/* Sums of two times never overflow. */
static sw_ps_t within(sw_engine_t *engine, const sw_message_t *m, sw_ps_t time)
{
    if (sw_likely(time <= SW_PS_MOST))
        return time;
    sw_engine_wrong(engine, m->from,
                    "virtual time is over: a message of %llu "
                    "bytes takes too long",
                    (unsigned long long)m->bytes);
    return SW_PS_MOST;
}

static void arrive(sw_engine_t *engine, sw_message_t *m, sw_ps_t at)
{
    sw_engine_must(engine, at >= m->ready);
    m->arrival = within(engine, m, at);
    if (sw_unlikely(engine->rank[m->to].graph && engine->model->loggopsim &&
                    !m->remote)) {
        engine->handlers->node_arrives(engine, m);
        return;
    }
    m->known = true;
    if (sw_unlikely(m->remote))
        engine->handlers->remote_arrived(engine, m);
    else
        sw_match_arrived(engine, m);
}

/* Its head is at the receiver's port at `head`, or will be. */
static void head(sw_engine_t *engine, sw_message_t *m, sw_ps_t head_at)
{
    sw_agenda_event(engine, head_at, SW_EVENT_IN, m->from, m->number, m);
}

static void cross(sw_engine_t *engine, sw_message_t *m, sw_ps_t enters)
{
    uint32_t from = engine->rank[m->from].node;
    uint32_t to = engine->rank[m->to].node;
    sw_ps_t there = sw_network_cross(engine->model->network, from, to, m->bytes,
                                     enters);
    sw_engine_must(engine, there >= enters);
    if (m->scale != 1)
        there = enters + sw_ps_scaled(there - enters, m->scale);
    /* The port adds the transfer again: it overlaps with the network's. */
    m->transfer = sw_ps_min(m->transfer, there - enters);
    head(engine, m, there - m->transfer);
}

/* `late`: others have been served that come after it. */
static void leave(sw_engine_t *engine, sw_message_t *m, bool late)
{
    sw_rank_t *from = &engine->rank[m->from];
    sw_ps_t *out = m->network ? &engine->node[from->node].out : &from->out;
    bool free_port = engine->free_port[m->network];
    sw_ps_t enters = free_port || late ? m->ready : sw_ps_max(m->ready, *out);
    if (m->loose)
        from->loose--;
    m->loose = false;
    if (!free_port && !late)
        *out = within(engine, m, enters + m->gap);
    if (m->send && !m->synced) {
        sw_request_t *send = m->send;
        m->send = NULL;
        sw_request_complete(engine, send, enters + m->transfer);
    }
    if (sw_unlikely(m->remote))
        engine->handlers->remote_left(engine, m, enters + m->transfer);
    if (m->network && engine->model->network)
        sw_agenda_event(engine, enters, SW_EVENT_ENTER, m->from, m->number, m);
    else if (free_port)
        arrive(engine, m, enters + m->latency);
    else
        head(engine, m, enters + m->latency);
}

static void come_to_port(sw_engine_t *engine, sw_message_t *m, bool alone)
{
    sw_rank_t *from = &engine->rank[m->from];
    if (engine->free_port[m->network] ||
        (alone && (!m->network || engine->node[from->node].ranks == 1))) {
        leave(engine, m, false);
        return;
    }
    if (!m->loose)
        from->loose++;
    m->loose = true;
    sw_agenda_event(engine, m->ready, SW_EVENT_OUT, m->from, m->number, m);
}

void sw_wire_send(sw_engine_t *engine, sw_strand_t *strand, uint32_t to,
                  int32_t tag, uint64_t context, uint64_t bytes, unsigned flags,
                  double scale, sw_request_t *send, sw_message_t *early)
{
    sw_cost_t cost;
    if (!(flags & SW_SEND_GIVEN) ||
        !sw_model_given(engine->model, strand->rank, to, bytes, &cost))
        sw_model_message(engine->model, strand->rank, to, bytes,
                         sw_warmth(&engine->rank[strand->rank].warmth, bytes),
                         &cost);
    if (sw_unlikely(scale != 1)) {
        cost.send = sw_ps_scaled(cost.send, scale);
        cost.latency = sw_ps_scaled(cost.latency, scale);
        cost.transfer = sw_ps_scaled(cost.transfer, scale);
        cost.gap = sw_ps_scaled(cost.gap, scale);
        cost.receive = sw_ps_scaled(cost.receive, scale);
        cost.answer = sw_ps_scaled(cost.answer, scale);
        cost.taking = sw_ps_scaled(cost.taking, scale);
    }
    bool loggopsim = engine->model->loggopsim;
    if (sw_unlikely(loggopsim)) {
        strand->clock = sw_ps_max(strand->clock, strand->port);
        strand->port = strand->clock + cost.gap;
    }
    sw_ps_t begin = strand->clock, end = begin + cost.send;
    bool rendezvous = cost.rendezvous || (flags & SW_SEND_SYNCHRONOUS);
    sw_message_t *m = early;
    if (!early) {
        m = sw_pool_take(&engine->messages);
        *m = (sw_message_t){
            .channel = sw_channel_find(engine, to, strand->rank, context),
            .from = strand->rank,
            .to = to,
            .tag = tag,
            .bytes = bytes};
    }
    bool synced = rendezvous && sw_unlikely(loggopsim);
    rendezvous &= !synced;
    m->rendezvous = m->known = rendezvous;
    m->synced = synced;
    m->network = cost.network;
    m->number = (uint64_t)strand->number << 32 | strand->sends++;
    m->began = begin;
    m->ready = end;
    m->arrival = begin + cost.answer;
    m->latency = cost.latency;
    m->transfer = cost.transfer;
    m->gap = cost.gap;
    m->receive_time = cost.receive;
    m->answer = cost.answer;
    m->scale = scale;
    if (sw_unlikely(loggopsim)) {
        m->ready = begin;
        m->latency = cost.answer;
        m->transfer = 0;
        m->receive_time = cost.taking;
    }
    strand->clock = end;
    engine->result.messages++;
    engine->result.bytes += bytes;
    if (send)
        send->posted = begin;
    if ((rendezvous || synced) && !(flags & SW_SEND_BUFFERED))
        m->send = send;
    else if (send)
        sw_request_complete(engine, send, end);
    bool alone = engine->rank[strand->rank].loose == 0 &&
                 !engine->rank[strand->rank].threaded &&
                 !engine->rank[strand->rank].graph;
    if (rendezvous) {
        m->loose = true;
        engine->rank[strand->rank].loose++;
    }
    if (early)
        sw_match_sent(engine, m);
    else
        sw_match_message(engine, m);
    if (!rendezvous)
        come_to_port(engine, m, alone);
}

static void costs(sw_message_t *m, const sw_cost_t *cost)
{
    m->network = cost->network;
    m->latency = cost->latency;
    m->transfer = cost->transfer;
    m->gap = cost->gap;
}

void sw_wire_remote(sw_engine_t *engine, sw_rank_t *rank, sw_channel_t *channel,
                    sw_remote_t kind, uint64_t bytes, sw_request_t *request)
{
    sw_strand_t *strand = &rank->main;
    bool asks = kind == SW_REMOTE_ANSWER;
    sw_cost_t cost;
    sw_model_message(
        engine->model, channel->from, channel->to, asks ? 0 : bytes,
        asks ? 0 : sw_warmth(&engine->rank[strand->rank].warmth, bytes), &cost);
    sw_message_t *m = sw_pool_take(&engine->messages);
    *m = (sw_message_t){
        .channel = channel,
        .from = channel->from,
        .to = channel->to,
        .access = channel->access,
        .remote = (uint8_t)kind,
        .bytes = bytes,
        .scale = 1,
        .number = (uint64_t)strand->number << 32 | strand->sends++,
        .ready = strand->clock + cost.send,
    };
    costs(m, &cost);
    channel->users++;
    *(kind == SW_REMOTE_PUT || kind == SW_REMOTE_REDUCE
          ? &m->send
          : &m->receive) = request;
    if (request)
        request->posted = strand->clock;
    rank->time.messages += cost.send;
    strand->clock += cost.send;
    engine->result.messages++;
    engine->result.bytes += bytes;
    if (asks)
        sw_wire_turn(engine, m, m->ready + cost.latency + cost.transfer);
    else
        come_to_port(engine, m,
                     rank->home->loose == 0 && !rank->home->threaded);
}

void sw_wire_turn(sw_engine_t *engine, sw_message_t *m, sw_ps_t time)
{
    sw_channel_t *c = m->channel;
    sw_cost_t cost;
    /* No processor of the target's has to do with it. */
    sw_model_message(engine->model, c->to, c->from, m->bytes, 0, &cost);
    costs(m, &cost);
    m->channel = sw_channel_find(engine, c->from, c->to, c->context);
    m->from = c->to;
    m->to = c->from;
    m->channel->users++;
    c->users--;
    m->remote = SW_REMOTE_ANSWER;
    m->known = false;
    m->ready = within(engine, m, time);
    /* Beside the messages of the target's own. */
    m->number = (uint64_t)1 << 63 | (uint64_t)c->from << 32 |
                (uint32_t)m->number;
    come_to_port(engine, m, false);
}

void sw_wire_meet(sw_engine_t *engine, sw_message_t *m)
{
    sw_ps_t meet = sw_ps_max(m->receive->posted, m->arrival);
    if (m->send)
        m->send->came = m->receive->posted;
    m->rendezvous = m->known = false;
    m->ready = sw_ps_max(m->ready, meet + m->answer);
    come_to_port(engine, m, false);
}

void sw_wire_out(sw_engine_t *engine, const sw_heap_event_t *event)
{
    leave(engine, event->of, event->time < engine->now);
}

void sw_wire_enter(sw_engine_t *engine, const sw_heap_event_t *event)
{
    cross(engine, event->of, event->time);
}

void sw_wire_in(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_message_t *m = event->of;
    bool late = event->time < engine->now;
    sw_rank_t *to = &engine->rank[m->to];
    sw_ps_t *in = m->network ? &engine->node[to->node].in : &to->in;
    sw_ps_t before = late ? 0 : *in;
    sw_ps_t at = sw_ps_max(event->time, before) + m->transfer;
    if (!late)
        *in = sw_ps_max(at, before + m->gap);
    arrive(engine, m, at);
}
