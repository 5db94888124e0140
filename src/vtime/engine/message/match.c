/*
 * match.c - messages meet receives.
 *
 * The outcome of matching depends on two orders alone: the order in which a
 * rank posts its receives, and the order in which messages arrive. Messages of
 * one sender on one context arrive in the order in which they were sent. A
 * receive that names its sender needs only this sender's order: the engine
 * matches it at once, whatever the times. A receive with MPI_ANY_SOURCE waits
 * until the first of its messages is certain (an event at that time). Until
 * then it keeps every message that fits it from the receives posted later.
 *
 * With a running program, the host decides for nonblocking receives with
 * MPI_ANY_SOURCE, and tells the engine (MATCHED). The engine does not match
 * them before, unless their rank cannot tell (sw_match_take_over).
 */
#include "match.h"
#include "receive.h"
#include "wire.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/channel.h"

static bool fits(const sw_request_t *r, const sw_message_t *m)
{
    return r->tag == SW_OP_ANY || r->tag == m->tag;
}

static bool fits_any(const sw_request_t *r, const sw_message_t *m)
{
    return r->context == m->channel->context && fits(r, m) &&
           (r->peer == SW_OP_ANY || (uint32_t)r->peer == m->from);
}

/* The first receive with MPI_ANY_SOURCE that was posted before `order` and may
 * take the message. */
static sw_request_t *anybody(const sw_rank_t *rank, const sw_message_t *m,
                             uint64_t order)
{
    for (sw_request_t *w = rank->any; w && w->order < order; w = w->next)
        if (fits_any(w, m))
            return w;
    return NULL;
}

static sw_message_t *first_fitting(const sw_channel_t *c, int32_t tag)
{
    sw_message_t *m = c->first;
    while (m && tag != SW_OP_ANY && m->tag != tag)
        m = m->next;
    return m;
}

/* The first receive that names its sender and may take the message. */
static sw_request_t *named(const sw_message_t *m)
{
    sw_request_t *r = m->channel->posted;
    while (r && !fits(r, m))
        r = r->next;
    return r;
}

/* A receive that was posted before `order` may take it. */
static bool claimed(const sw_rank_t *rank, const sw_message_t *m,
                    uint64_t order)
{
    const sw_request_t *r = named(m);
    return (r && r->order < order) || anybody(rank, m, order);
}

static void keep(sw_rank_t *rank, sw_message_t *m)
{
    sw_channel_t *c = m->channel;
    m->previous = c->last;
    m->next = NULL;
    *(c->last ? &c->last->next : &c->first) = m;
    c->last = m;
    m->older = rank->unmatched_last;
    m->newer = NULL;
    *(rank->unmatched_last ? &rank->unmatched_last->newer
                           : &rank->unmatched) = m;
    rank->unmatched_last = m;
}

static void unkeep(sw_rank_t *rank, sw_message_t *m)
{
    sw_channel_t *c = m->channel;
    *(m->previous ? &m->previous->next : &c->first) = m->next;
    *(m->next ? &m->next->previous : &c->last) = m->previous;
    *(m->older ? &m->older->newer : &rank->unmatched) = m->newer;
    *(m->newer ? &m->newer->older : &rank->unmatched_last) = m->older;
}

static void unpost(sw_request_t **first, sw_request_t **last, sw_request_t *r)
{
    *(r->previous ? &r->previous->next : first) = r->next;
    *(r->next ? &r->next->previous : last) = r->previous;
}

/* In the order of posting; mostly it is the last. */
static void post(sw_request_t **first, sw_request_t **last, sw_request_t *r)
{
    sw_request_t *before = *last;
    while (before && before->order > r->order)
        before = before->previous;
    r->previous = before;
    r->next = before ? before->next : *first;
    *(before ? &before->next : first) = r;
    *(r->next ? &r->next->previous : last) = r;
}

static void end(sw_engine_t *engine, sw_message_t *m)
{
    sw_request_t *r = m->receive;
    r->bytes = m->bytes;
    r->came = m->began;
    sw_receive_ready(engine, r, sw_ps_max(r->posted, m->arrival),
                     m->receive_time);
}

/* Message and receive have met in time, too. */
static void met(sw_engine_t *engine, sw_message_t *m)
{
    if (m->rendezvous)
        sw_wire_meet(engine, m);
    else if (m->known)
        end(engine, m);
}

/* Both are in no list. */
static void match(sw_engine_t *engine, sw_message_t *m, sw_request_t *r)
{
    m->receive = r;
    m->matched = true;
    r->message = m;
    r->peer = (int32_t)m->from;
    r->tag = m->tag;
    if (r->channel) {
        r->channel->users--;
        r->channel = NULL;
    }
    if (!r->early && !m->early)
        met(engine, m);
}

void sw_match_posted(sw_engine_t *engine, sw_request_t *r)
{
    r->early = false;
    if (r->message && !r->message->early)
        met(engine, r->message);
}

/* The rank has a receive from any source, or a question, which any arrival may
 * concern. */
static bool interested(const sw_rank_t *rank)
{
    return rank->any || rank->state == SW_RANK_ASKS;
}

static void tell_arrival(sw_engine_t *engine, const sw_message_t *m)
{
    sw_rank_t *rank = &engine->rank[m->to];
    if (interested(rank))
        sw_agenda_event(engine, m->arrival, SW_EVENT_DECIDE, m->to, 0, rank);
}

void sw_match_sent(sw_engine_t *engine, sw_message_t *m)
{
    m->early = false;
    if (!m->receive && m->known)
        tell_arrival(engine, m);
    else if (m->receive && !m->receive->early)
        met(engine, m);
}

void sw_match_look(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    if (time >= rank->look)
        return;
    rank->look = time;
    sw_agenda_event(engine, time, SW_EVENT_DECIDE, rank->main.rank, 0, rank);
}

/* A kept message may have become free for a receive that names its sender,
 * now. */
static bool match_kept(sw_engine_t *engine, sw_rank_t *rank, sw_message_t *m,
                       sw_ps_t now)
{
    sw_channel_t *c = m->channel;
    sw_request_t *r = named(m);
    /* An earlier message may be this receive's; another receive keeps it. */
    if (!r || first_fitting(c, r->tag) != m || anybody(rank, m, r->order))
        return false;
    unpost(&c->posted, &c->posted_last, r);
    unkeep(rank, m);
    r->posted = sw_ps_max(r->posted, now);
    match(engine, m, r);
    return true;
}

/* Matches what a receive, decided now, has kept from other receives. */
static void release(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t now)
{
    for (sw_message_t *m = rank->unmatched, *next; m; m = next) {
        next = m->newer;
        match_kept(engine, rank, m, now);
    }
}

void sw_match_message(sw_engine_t *engine, sw_message_t *m)
{
    sw_channel_t *c = m->channel;
    sw_rank_t *rank = &engine->rank[c->to];
    c->users++;
    sw_request_t *r = named(m);
    if (r && !(rank->any &&
               (anybody(rank, m, r->order) || first_fitting(c, r->tag)))) {
        sw_engine_must(engine, first_fitting(c, r->tag) == NULL);
        unpost(&c->posted, &c->posted_last, r);
        match(engine, m, r);
        return;
    }
    keep(rank, m);
    if (sw_unlikely(rank->looking))
        sw_agenda_late(engine, rank); /* it may hold others now */
    if (m->known)
        tell_arrival(engine, m);
}

void sw_match_receive(sw_engine_t *engine, sw_request_t *r)
{
    sw_rank_t *rank = &engine->rank[r->rank];
    r->order = rank->receives++;
    rank->open++;
    if (r->peer == SW_OP_ANY) {
        r->any = true;
        engine->result.wildcards++;
        engine->live |= r->live;
        post(&rank->any, &rank->any_last, r);
        if (!r->live) {
            sw_ps_t after = SW_PS_NEVER;
            sw_match_first(engine, rank, SW_OP_ANY, r->tag, r->context, -1, r,
                           &after);
            sw_match_look(engine, rank, after);
        }
        return;
    }
    sw_channel_t *c = sw_channel_find(engine, r->rank, (uint32_t)r->peer,
                                      r->context);
    sw_message_t *m = first_fitting(c, r->tag);
    if (m && !(rank->any && claimed(rank, m, r->order))) {
        sw_engine_must(engine, !claimed(rank, m, r->order));
        unkeep(rank, m);
        match(engine, m, r);
        return;
    }
    r->channel = c;
    c->users++;
    post(&c->posted, &c->posted_last, r);
}

void sw_match_name(sw_engine_t *engine, sw_request_t *r, int32_t peer,
                   int32_t tag)
{
    sw_rank_t *rank = &engine->rank[r->rank];
    unpost(&rank->any, &rank->any_last, r);
    r->any = false;
    r->peer = peer;
    r->tag = tag;
    r->channel = sw_channel_find(engine, r->rank, (uint32_t)peer, r->context);
    r->channel->users++;
    post(&r->channel->posted, &r->channel->posted_last, r);
    release(engine, rank, 0);
    if (rank->any)
        sw_match_look(engine, rank, engine->now);
}

void sw_match_return(sw_engine_t *engine, sw_message_t *m)
{
    sw_channel_t *c = m->channel;
    sw_rank_t *rank = &engine->rank[c->to];
    sw_message_t *after = c->first;
    while (after && after->number < m->number)
        after = after->next;
    m->next = after;
    m->previous = after ? after->previous : c->last;
    *(m->previous ? &m->previous->next : &c->first) = m;
    *(after ? &after->previous : &c->last) = m;
    /* In the list of all, before those that were sent later, too. */
    m->newer = after;
    m->older = after ? after->older : rank->unmatched_last;
    *(m->older ? &m->older->newer : &rank->unmatched) = m;
    *(after ? &after->older : &rank->unmatched_last) = m;
    m->receive = NULL;
    m->matched = false;
    if (!match_kept(engine, rank, m, 0) && m->known)
        tell_arrival(engine, m);
}

void sw_match_arrived(sw_engine_t *engine, sw_message_t *m)
{
    if (!m->receive)
        tell_arrival(engine, m);
    else if (!m->receive->early)
        end(engine, m);
}

sw_message_t *sw_match_first(sw_engine_t *engine, sw_rank_t *rank, int32_t peer,
                             int32_t tag, uint64_t context, sw_ps_t by,
                             const sw_request_t *upto, sw_ps_t *after)
{
    sw_message_t *best = NULL;
    uint64_t order = upto ? upto->order : UINT64_MAX;
    sw_request_t like = {.peer = peer, .tag = tag, .context = context};
    for (sw_message_t *m = rank->unmatched; m; m = m->newer) {
        if (!m->known || !fits_any(&like, m) ||
            first_fitting(m->channel, tag) != m || claimed(rank, m, order))
            continue;
        if (m->arrival > by)
            *after = sw_ps_min(*after, m->arrival);
        else if (!best || m->arrival < best->arrival ||
                 (m->arrival == best->arrival && m->from < best->from))
            best = m;
    }
    return best;
}

static void remember(sw_engine_t *engine, const sw_request_t *r,
                     const sw_message_t *m)
{
    if (!r->number)
        return;
    uint64_t key = sw_request_key(r->rank, r->number);
    sw_decided_t *d = sw_lookup_find(&engine->decided, key);
    if (!d) {
        d = sw_pool_take(&engine->decisions);
        engine->rank[r->rank].untold++;
        if (!sw_lookup_set(&engine->decided, key, d))
            engine->memory = true;
    }
    *d = (sw_decided_t){m->channel->context,
                        m->bytes,
                        (int32_t)m->from,
                        m->tag,
                        m->began,
                        m->arrival,
                        m->receive_time,
                        false};
}

void sw_match_decide(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    sw_ps_t after = SW_PS_NEVER;
    if (time >= rank->look)
        rank->look = SW_PS_NEVER;
    for (sw_request_t *w = rank->any; w;) {
        sw_request_t *next = w->next;
        sw_message_t *m = w->live
                              ? NULL
                              : sw_match_first(engine, rank, SW_OP_ANY, w->tag,
                                               w->context, time, w, &after);
        if (m) {
            sw_engine_must(engine, m->arrival <= time);
            unpost(&rank->any, &rank->any_last, w);
            unkeep(rank, m);
            w->any = false;
            w->posted = sw_ps_max(w->posted, time);
            remember(engine, w, m);
            match(engine, m, w);
            release(engine, rank, time);
            next = rank->any;
            after = SW_PS_NEVER;
        }
        w = next;
    }
    sw_match_look(engine, rank, after);
}

void sw_match_withdraw(sw_engine_t *engine, sw_request_t *r)
{
    sw_rank_t *rank = &engine->rank[r->rank];
    if (r->any) {
        unpost(&rank->any, &rank->any_last, r);
        r->any = false;
    } else if (r->channel) {
        unpost(&r->channel->posted, &r->channel->posted_last, r);
        r->channel->users--;
        r->channel = NULL;
    }
    release(engine, rank, 0);
    if (rank->any)
        sw_match_look(engine, rank, engine->now);
}

void sw_match_take_over(sw_engine_t *engine, sw_rank_t *rank)
{
    bool any = false;
    for (sw_request_t *w = rank->any; w; w = w->next) {
        any |= w->live;
        w->live = false;
    }
    sw_ps_t after = SW_PS_NEVER;
    for (sw_request_t *w = rank->any; any && w; w = w->next)
        sw_match_first(engine, rank, SW_OP_ANY, w->tag, w->context, -1, w,
                       &after);
    sw_match_look(engine, rank, after);
}

/* The message goes to the next receive that fits it, if it has one. */
void sw_match_cancel(sw_engine_t *engine, sw_request_t *request)
{
    if (request->kind != SW_REQUEST_RECV) {
        sw_request_drop(engine, request);
        return;
    }
    sw_message_t *message = request->message;
    request->message = NULL;
    engine->rank[request->rank].open -= !request->known;
    sw_request_unnumber(engine, request);
    if (message)
        sw_match_return(engine, message);
    else
        sw_match_withdraw(engine, request);
    if (request->early || request->arriving)
        request->gone = true; /* until its thread, or an event, comes to it */
    else
        sw_request_forget(engine, request);
}
