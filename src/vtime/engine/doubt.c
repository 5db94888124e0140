/*
 * doubt.c - nobody goes on in virtual time, and nobody is late.
 *
 * If all that is known is exact, that is a deadlock; of a file always, but for
 * what threads do among themselves. But a running program is right about
 * itself. Where its host has matched in another way than the engine thought, or
 * has taken a message that the model would have kept its sender for, a rank
 * goes on that waits here. So nobody is declared dead who may live:
 *
 *   - who waits for another thread of its rank need not: it has in the run, but
 *     in virtual time that one may be kept by something else;
 *   - who waits for a lock need not, perhaps: many hosts grant it when it is
 *     first made use of. Where the run is over that was so, if the others have
 *     not ended;
 *   - who has put what it does only after the wait, has waited for nothing;
 *   - what only the host can tell is decided here;
 *   - who sleeps until the engine says so is woken up, and sees for itself what
 *     the host has; who asks which message it gets is told to ask the host.
 *
 * Each is counted (`forced`), and done one by one, that of the earliest time
 * first: most of what waits does so for another. If nothing is left to be done,
 * ranks wait in their hosts, and it is they who know.
 */
#include "inside.h"

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
    if (t->waits->kind == SW_REQUEST_THREAD)
        return true;
    if (!engine->source.answer)
        return waits_for_lock(t) && others_wait(engine, t);
    if (!t->home->threaded)
        return sw_ahead_gone_on(engine, t);
    if (t->home->over)
        return true;
    for (uint32_t i = 0; i < t->queued; i++)
        if (sw_ahead_tells(&t->queue[(t->queue_at + i) &
                                     (t->queue_room - 1)].op))
            return true;
    return false;
}

/* Others first; then whom another waits for. */
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
    sw_engine_ready(engine, &first->main);
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

/* Who sleeps here sees what its host has. */
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
