/*
 * agenda.c - see agenda.h.
 */
#include "agenda.h"
#include "channel.h"
#include "message.h"
#include "request.h"

/* For a bound the engine looks at no more events than these. */
enum { MANY = 4096 };

void sw_agenda_event(sw_engine_t *engine, sw_ps_t time, sw_event_kind_t kind,
                     uint32_t rank, uint64_t number, void *of)
{
    sw_heap_event_t event = {time, (uint64_t)kind << 32 | rank, number, of};
    if (!sw_heap_push(&engine->events, &event))
        engine->memory = true;
}

void sw_agenda_ready(sw_engine_t *engine, sw_strand_t *strand)
{
    if (strand->ready)
        return;
    strand->ready = true;
    strand->queued = NULL;
    *(engine->ready ? &engine->ready_last->queued : &engine->ready) = strand;
    engine->ready_last = strand;
}

void sw_agenda_park(sw_engine_t *engine, sw_rank_t *rank)
{
    sw_heap_event_t event = {rank->main.clock, engine->turns++, 0, rank};
    if (!sw_heap_push(&engine->parked, &event))
        engine->memory = true;
}

void sw_agenda_wake(sw_engine_t *engine, sw_strand_t *waiter, sw_ps_t time)
{
    sw_rank_t *rank = (sw_rank_t *)waiter;
    if (!waiter->main || rank->home != rank || rank->threaded || !rank->open ||
        time <= waiter->clock) {
        sw_agenda_ready(engine, waiter);
        return;
    }
    rank->wakes = true;
    sw_agenda_event(engine, time, SW_EVENT_WAKE, waiter->rank, 0, rank);
}

/* The host's wait will end: another rank has sent what it waits for, and it
 * waits for nothing else. The engine lets the others wait, too, to keep the
 * order. */
static bool comes(const sw_rank_t *rank)
{
    const sw_request_t *r = rank->waits;
    if (!rank->looking || rank->ahead->count || !r->any || !r->live)
        return false;
    for (const sw_message_t *m = rank->unmatched; m; m = m->newer)
        if (m->channel->context == r->context &&
            (r->tag == SW_OP_ANY || r->tag == m->tag))
            return true;
    return false;
}

/* A late rank does nothing before this. */
static sw_ps_t late_until(const sw_rank_t *rank)
{
    bool will = rank->state == SW_RANK_LATE ? !rank->stuck : comes(rank);
    return will ? rank->main.clock : SW_PS_NEVER;
}

void sw_agenda_late(sw_engine_t *engine, sw_rank_t *rank)
{
    if (!rank->late)
        engine->late[engine->late_count++] = rank;
    rank->late = true;
    engine->bound = sw_ps_min(engine->bound, late_until(rank));
}

sw_ps_t sw_agenda_late_again(sw_engine_t *engine)
{
    engine->bound = SW_PS_NEVER;
    for (uint32_t i = 0; i < engine->late_count; i++)
        engine->bound = sw_ps_min(engine->bound, late_until(engine->late[i]));
    return engine->bound;
}

sw_ps_t sw_agenda_bound(const sw_engine_t *engine, const sw_rank_t *rank,
                        bool collective)
{
    /* What a rank does: others see it a message later. */
    sw_ps_t done = engine->bound, seen = SW_PS_NEVER;
    const sw_heap_t *events = &engine->events;
    if (engine->parked.count)
        done = sw_ps_min(done, engine->parked.events[0].time);
    for (const sw_strand_t *s = engine->ready; s; s = s->queued)
        done = sw_ps_min(done, s->clock);
    if (events->count > MANY)
        seen = events->events[0].time;
    for (size_t i = 0; i < events->count && events->count <= MANY; i++) {
        const sw_heap_event_t *e = &events->events[i];
        if (e->key >> 32 != SW_EVENT_DECIDE && e->key >> 32 != SW_EVENT_WAKE)
            seen = sw_ps_min(seen, e->time);
        else if (e->of != rank)
            done = sw_ps_min(done, e->time);
    }
    if (done < SW_PS_NEVER && !collective)
        done += engine->ahead;
    return sw_ps_min(done, seen);
}
