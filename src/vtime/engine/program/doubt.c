/*
 * doubt.c - all ranks wait in virtual time: a deadlock, or an error of the
 * engine's about a running program.
 *
 * The operations of a file are exact, except for the order of threads among
 * themselves: there all ranks that wait are a deadlock. Of a running program
 * the engine can be wrong. The host may have matched messages in another way
 * than the engine. Or the host may have taken a message whose sender the model
 * holds. Then a rank that waits here goes on in the run. So the engine reports
 * no such rank as dead, but lets it go on:
 *
 *   - a thread that waits for another thread of its rank need not: in the run
 *     it has waited, but in virtual time something else may hold the other;
 *   - a rank that waits for a lock perhaps need not: many hosts grant a lock
 *     at its first use. Where the run is over, the host did so, unless the
 *     others have ended;
 *   - a rank that has put an operation from behind the wait is over the wait in
 *     the run;
 *   - where only the host knows which message a receive takes, the engine
 *     decides;
 *   - a rank that sleeps until the engine answers is woken, and asks its host
 *     itself;
 *   - a rank that asks which message it gets hears that it must ask the host.
 *
 * The engine counts each such step (`forced`). It takes one at a time, the
 * earliest first: most ranks wait only for another one. Where no step is left,
 * the ranks wait in their hosts, and the hosts know.
 */
#include "doubt.h"
#include "ahead.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/message/match.h"
#include "vtime/engine/question/question.h"

static bool waits_for_lock(const sw_rank_t *t)
{
    return t->state == SW_RANK_WAITS && t->waits->kind == SW_REQUEST_WINDOW &&
           t->waits->what == SW_WINDOW_LOCK;
}

static bool others_wait(const sw_engine_t *engine, const sw_rank_t *t)
{
    for (uint32_t i = 0; i < engine->ranks; i++)
        for (const sw_rank_t *o = &engine->rank[i]; o; o = o->sibling)
            if (o != t && o->state == SW_RANK_WAITS)
                return true;
    return false;
}

/* Its host has gone on. */
static bool gone_on(sw_engine_t *engine, sw_rank_t *t)
{
    if (t->graph)
        return false;
    if (t->waits->kind == SW_REQUEST_THREAD)
        return true;
    if (!engine->source.answer)
        return waits_for_lock(t) && others_wait(engine, t);
    if (!t->home->threaded)
        return sw_ahead_gone_on(engine, t);
    if (t->home->over)
        return true;
    for (uint32_t i = 0; i < t->queued; i++)
        if (sw_ahead_tells(
                &t->queue[(t->queue_at + i) & (t->queue_room - 1)].op))
            return true;
    return false;
}

/* A rank that waits for a thread comes last; else the earlier one first. */
static bool earlier(const sw_rank_t *a, const sw_rank_t *b)
{
    bool thread_a = a->waits->kind == SW_REQUEST_THREAD;
    bool thread_b = b->waits->kind == SW_REQUEST_THREAD;
    return thread_a != thread_b ? thread_b : a->main.clock < b->main.clock;
}

static bool release(sw_engine_t *engine)
{
    sw_rank_t *first = NULL;
    for (uint32_t i = 0; i < engine->ranks; i++)
        for (sw_rank_t *t = &engine->rank[i]; t; t = t->sibling)
            if (t->state == SW_RANK_WAITS && gone_on(engine, t) &&
                (!first || earlier(t, first)))
                first = t;
    if (!first)
        return false;
    sw_request_t *r = first->waits;
    r->waiter = NULL;
    first->waits = NULL;
    first->main.pending = 0;
    first->looking = false;
    first->state = SW_RANK_GOES;
    engine->result.forced++;
    sw_request_drop(engine, r);
    sw_agenda_ready(engine, &first->main);
    return true;
}

static bool take_over(sw_engine_t *engine)
{
    for (uint32_t i = 0; engine->threaded && i < engine->ranks; i++)
        for (const sw_request_t *w = engine->rank[i].any; w; w = w->next)
            if (w->live && engine->rank[i].threaded) {
                sw_match_take_over(engine, &engine->rank[i]);
                return true;
            }
    return false;
}

/* The engine wakes the ranks that sleep here: each sees what its host has. */
static bool wake(sw_engine_t *engine)
{
    bool any = false;
    for (uint32_t i = 0; i < engine->ranks; i++) {
        sw_rank_t *rank = &engine->rank[i];
        if (rank->threaded)
            continue;
        if (rank->state == SW_RANK_WAITS && sw_ahead_wake(engine, rank)) {
            any = true;
        } else if (rank->state == SW_RANK_ASKS) {
            sw_question_give_up(engine, rank);
            engine->result.forced++;
            any = true;
        }
    }
    return any;
}

bool sw_doubt(const sw_engine_t *engine)
{
    if (!engine->source.answer)
        return false;
    bool doubt = engine->live || engine->threaded || engine->result.undecided ||
                 engine->result.forced;
    for (uint32_t i = 0; i < engine->ranks && !doubt; i++)
        doubt = waits_for_lock(&engine->rank[i]) ||
                (engine->rank[i].state == SW_RANK_WAITS &&
                 engine->rank[i].waits->kind == SW_REQUEST_SEND);
    return doubt;
}

bool sw_doubt_resolve(sw_engine_t *engine)
{
    if (release(engine))
        return true;
    return engine->source.answer &&
           (take_over(engine) || (sw_doubt(engine) && wake(engine)));
}
