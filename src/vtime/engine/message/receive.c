/*
 * receive.c - a rank's processor receives: what a model calls o' (model.h).
 *
 * A message that is there, and has its receive, takes the processor for a while
 * before the receive is complete. The processor takes one at a time, in the
 * order in which they become ready, and only while its rank waits in a call:
 * while the rank computes, they stand in line. So waiting overlaps with
 * anything, receiving with nothing. LogGOPSim and SMPI do so, and so does an
 * MPI without a thread of its own. A test takes all that is in line.
 *
 *     READY    a receive comes in line at this time
 *     HANDS    the processor is free: the first in line begins, for o'
 *     WAKE     what the rank waits for is complete, and it goes on
 *
 * Strands run ahead of the events, so nothing begins but at an event. And a
 * rank with open receives leaves a wait by an event, even if the engine knows
 * the time before: the rank would else have computed before its messages come.
 *
 * A nonblocking collective by messages goes on while its rank computes, and has
 * a processor of its own. So has each message of a rank with threads.
 */
#include "receive.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/message.h"
#include "vtime/engine/base/request.h"

/* Of a strand that goes on beside the main program. */
static bool is_apart(const sw_request_t *r)
{
    return r->waiter && !r->waiter->main && r->waiter->apart;
}

static bool is_select(const sw_rank_t *rank)
{
    return rank->state == SW_RANK_ASKS && rank->now.kind == SW_OP_SELECT;
}

/* It waits, and its processor receives meanwhile. A probe that names its sender
 * may be answered before its time: it takes nothing. */
static bool takes(const sw_rank_t *rank)
{
    unsigned kind = rank->now.kind;
    if (rank->state == SW_RANK_ASKS)
        return is_select(rank)
                   ? rank->now.what <= SW_SELECT_SOME
                   : rank->now.peer == SW_OP_ANY &&
                         (kind == SW_OP_PROBE || kind == SW_OP_CHOOSE);
    return rank->state == SW_RANK_WAITS || rank->state == SW_RANK_ENDED;
}

void sw_receive_taken(sw_engine_t *engine, sw_message_t *m, sw_ps_t at)
{
    sw_request_t *send = m->send;
    m->send = NULL;
    if (!send)
        return;
    send->came = at;
    sw_request_complete(engine, send, at);
}

static void begin(sw_engine_t *engine, sw_request_t *r, sw_ps_t *hands,
                  sw_ps_t at)
{
    /* It does not begin before it is ready, though its rank may be late. */
    at = sw_ps_max(sw_ps_max(at, r->complete), *hands);
    *hands = at + r->takes;
    r->arriving = false;
    if (sw_unlikely(r->message && r->message->synced))
        sw_receive_taken(engine, r->message, at);
    sw_request_complete(engine, r, *hands);
}

/* The first in line; NULL: there is none. */
static sw_request_t *first(sw_engine_t *engine, sw_rank_t *rank)
{
    for (sw_request_t *r; (r = rank->arrived);) {
        rank->arrived = r->next;
        r->next = NULL;
        if (!r->gone)
            return r;
        sw_request_free(engine, r);
    }
    return NULL;
}

static void put_in_line(sw_rank_t *rank, sw_request_t *r)
{
    r->next = NULL;
    *(rank->arrived ? &rank->arrived_last->next : &rank->arrived) = r;
    rank->arrived_last = r;
}

/* When the processor is free, but not before `time`. One event is enough for
 * all in line: it looks for the next. */
static void look_again(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    time = sw_ps_max(time, sw_ps_max(rank->hands, rank->main.clock));
    if (rank->looks && rank->looks_at <= time)
        return;
    rank->looks = true;
    rank->looks_at = time;
    sw_agenda_event(engine, time, SW_EVENT_HANDS, rank->main.rank, 0, rank);
}

void sw_receive_ready(sw_engine_t *engine, sw_request_t *r, sw_ps_t at,
                      sw_ps_t time)
{
    sw_rank_t *rank = &engine->rank[r->rank];
    if (sw_unlikely(r->node)) {
        engine->handlers->node_received(engine, r, at, time);
        return;
    }
    if (time <= 0 || rank->threaded) {
        if (sw_unlikely(r->message && r->message->synced))
            sw_receive_taken(engine, r->message, at);
        sw_request_complete(engine, r, at + sw_ps_max(time, 0));
        return;
    }
    r->takes = time;
    r->complete = at;
    /* The rank waits for this one alone: nothing comes between. */
    if (rank->open == 1 && r->held && !is_apart(r)) {
        begin(engine, r, &rank->hands, at);
        return;
    }
    r->arriving = true;
    sw_agenda_event(engine, at, SW_EVENT_READY, r->rank, r->order, r);
}

void sw_receive_come(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_request_t *r = event->of;
    sw_rank_t *rank = &engine->rank[r->rank];
    sw_ps_t time = event->time;
    if (r->gone) {
        sw_request_free(engine, r);
    } else if (is_apart(r)) {
        begin(engine, r, &rank->aside, time);
    } else if (!rank->arrived && takes(rank) && !rank->wakes &&
               rank->hands <= time && rank->main.clock <= time) {
        begin(engine, r, &rank->hands, time);
    } else {
        put_in_line(rank, r);
        if (takes(rank))
            look_again(engine, rank, time);
    }
}

void sw_receive_wake(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_rank_t *rank = event->of;
    rank->wakes = false;
    sw_agenda_ready(engine, &rank->main);
}

void sw_receive_hands(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_rank_t *rank = event->of;
    if (rank->looks_at == event->time)
        rank->looks = false;
    if (!takes(rank))
        return; /* its next call looks */
    if (rank->hands > event->time || rank->main.clock > event->time) {
        if (rank->arrived)
            look_again(engine, rank, event->time);
        return;
    }
    sw_request_t *r = first(engine, rank);
    if (r)
        begin(engine, r, &rank->hands, event->time);
    if (rank->arrived)
        look_again(engine, rank, rank->hands);
}

void sw_receive_in_call(sw_engine_t *engine, sw_rank_t *rank)
{
    if (rank->arrived && takes(rank))
        look_again(engine, rank, rank->main.clock);
}

bool sw_receive_tests(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    sw_ps_t before = rank->main.clock;
    if (!rank->arrived || !is_select(rank) || rank->now.what == SW_SELECT_ANY ||
        before > time)
        return false;
    for (sw_request_t *r; (r = first(engine, rank));)
        begin(engine, r, &rank->hands, time);
    rank->main.clock = sw_ps_max(before, rank->hands);
    rank->time.messages += rank->main.clock - before;
    sw_agenda_event(engine, rank->main.clock, SW_EVENT_DECIDE, rank->main.rank,
                    0, rank);
    return rank->main.clock > before;
}
