/*
 * started.c - nonblocking collectives that members carry out in their calls.
 *
 * A member attends from its first call on that may wait or tests: in any such
 * call a host makes progress with all that is under way, and so do we. (Whether
 * a call waits may depend on what strands have not done yet.)
 * The plan has the work in parts (vtime/model/started.h):
 *
 *     begun   when the first member attends
 *     there   when all members that this one depends on have come
 *     done    = max(there + shared, max(there, begun) + (1 - aside) shared)
 *     leaves  = max(attends, done) + own
 *
 * A member of one that is `held` leaves no earlier than own after the last
 * member attends.
 *
 * Strands run ahead of each other, so the first member that attends here need
 * not be the first in virtual time. The engine knows `begun` when the event at
 * that time comes up.
 */
#include "started.h"
#include "vtime/engine/base/agenda.h"

#include "vtime/model/words.h"

/* Where all wait for all, the member with the most says how long it takes. */
static const sw_started_plan_t *plan_of(const sw_meeting_t *m,
                                        const sw_request_t *r)
{
    return sw_collective_waits[r->what] == SW_WAITS_ALL ? &m->started
                                                        : &r->started;
}

static void leave(sw_engine_t *engine, sw_meeting_t *m, sw_request_t *r,
                  sw_ps_t there)
{
    const sw_started_plan_t *p = plan_of(m, r);
    sw_ps_t begun = sw_ps_max(there, m->begun);
    sw_ps_t done = sw_ps_max(there + p->shared,
                             begun + sw_ps_scaled(p->shared, 1 - p->aside));
    sw_ps_t from = sw_ps_max(r->attends, done);
    if (p->held)
        from = sw_ps_max(from, m->last_attends);
    r->came = there;
    m->strands--;
    sw_request_complete(engine, r, from + p->own);
}

/* Whether the engine knows when it leaves. */
static bool decided(const sw_context_t *c, const sw_meeting_t *m,
                    const sw_request_t *r, sw_ps_t *there)
{
    if (!m->has_begun ||
        !sw_meeting_came(c, m, sw_context_member(c, r->rank), there) ||
        (plan_of(m, r)->held && m->attending < c->n))
        return false;
    *there = sw_ps_max(*there, r->posted);
    return true;
}

static void leave_decided(sw_engine_t *engine, const sw_context_t *c,
                          sw_meeting_t *m)
{
    for (sw_request_t **at = &m->waiting, *r; (r = *at);) {
        sw_ps_t there;
        if (!decided(c, m, r, &there)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        leave(engine, m, r, there);
    }
}

static void attend(sw_engine_t *engine, sw_context_t *c, sw_request_t *r,
                   sw_ps_t at)
{
    sw_meeting_t *m = r->meeting;
    r->attends = at;
    m->attending++;
    m->last_attends = sw_ps_max(m->last_attends, at);
    if (!m->has_begun && (m->attending == 1 || at < m->begun)) {
        m->begun = at;
        m->strands++;
        sw_agenda_event(engine, at, SW_EVENT_BEGIN, r->rank, 0, m);
    }
    sw_ps_t there;
    if (decided(c, m, r, &there)) {
        leave(engine, m, r, there);
    } else {
        r->next = m->waiting;
        m->waiting = r;
    }
    if (m->attending == c->n)
        leave_decided(engine, c, m); /* those that were held */
}

void sw_started_come(sw_engine_t *engine, sw_rank_t *rank, sw_context_t *c,
                     sw_meeting_t *m, const sw_vop_t *op, sw_request_t *r,
                     const sw_plan_t *plan)
{
    r->started = plan->started;
    r->meeting = m;
    m->strands++;
    if (m->come == c->n)
        m->started = sw_meeting_plan(engine, c, &m->most, false)->started;
    if (rank->home->threaded) {
        attend(engine, c, r, r->posted); /* another thread is in calls */
    } else {
        r->previous = rank->absent;
        rank->absent = r;
    }
    /* Others may have waited for this one. */
    sw_waits_t waits = sw_collective_waits[op->what];
    if (m->come == c->n || waits == SW_WAITS_ROOT || waits == SW_WAITS_LOWER)
        leave_decided(engine, c, m);
}

void sw_started_attend(sw_engine_t *engine, sw_rank_t *rank)
{
    for (sw_request_t *r; (r = rank->absent);) {
        rank->absent = r->previous;
        r->previous = NULL;
        sw_context_t *c = sw_context_find(engine, r->in_context);
        attend(engine, c, r, rank->main.clock);
        sw_meetings_clear(engine, c);
    }
}

void sw_started_begin(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_meeting_t *m = event->of;
    sw_context_t *c = sw_context_find(engine, m->call.context);
    m->strands--;
    m->has_begun = true;
    leave_decided(engine, c, m);
    sw_meetings_clear(engine, c);
}
