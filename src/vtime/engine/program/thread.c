/*
 * thread.c - threads of a rank that call MPI at once.
 *
 * Each has a strand and a clock of its own, and waits by itself. But the engine
 * matches messages for the whole rank, in the order of the rank's calls, which
 * is that of its operations. A thread that waits in virtual time has long gone
 * on in its host. So the rank's other threads come to their operations before
 * this thread comes to earlier ones. The engine therefore gives an operation
 * its place in an order as it takes it from the source: it matches sends and
 * receives, counts collectives, and looks up the numbers of requests. The
 * operation then stands in its thread's queue. The engine times it when the
 * thread comes to it: a message is `early` before it is sent in virtual time, a
 * receive before it is posted.
 *
 *     source --taken--> [ thread 0's queue ] --> its clock
 *              |        [ thread 1's queue ] --> its clock
 *         place in order
 *
 * The engine knows nothing of what threads do with each other outside of MPI,
 * except that one has waited for others (SW_THREAD_AFTER). That thread gets a
 * promise, a request that is complete when the other one comes to its place.
 */
#include "thread.h"
#include "section.h"
#include "node/base/grow.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/channel.h"
#include "vtime/engine/base/context.h"
#include "vtime/engine/message/match.h"
#include "vtime/engine/message/told.h"
#include "vtime/engine/window/window.h"

#include <stdlib.h>

/* So many operations of other threads the engine takes in search of a thread's
 * next one, from a whole file of them. */
enum { FAR = 1 << 16 };

/* In a queue: another thread has a promise. */
enum { PROMISE = UINT8_MAX };

static sw_queued_t *at(const sw_rank_t *t, uint32_t i)
{
    return &t->queue[(t->queue_at + i) & (t->queue_room - 1)];
}

/* Room for one more, behind the last. */
static sw_queued_t *push(sw_engine_t *engine, sw_rank_t *t)
{
    if (!sw_grow_ring(&t->queue, t->queued, &t->queue_room, sizeof *t->queue,
                      t->queue_at)) {
        engine->memory = true;
        return NULL;
    }
    return at(t, t->queued++);
}

static sw_rank_t *find(sw_rank_t *home, uint32_t number)
{
    sw_rank_t *t = home;
    while (t && t->thread != number)
        t = t->sibling;
    return t;
}

static sw_rank_t *find_or_make(sw_engine_t *engine, sw_rank_t *home,
                               uint32_t number)
{
    sw_rank_t *t = find(home, number);
    if (t)
        return t;
    /* The list of the late ones is for all there are. */
    size_t all = (size_t)engine->ranks + engine->threads + 1;
    sw_rank_t **late = realloc(engine->late, all * sizeof *late);
    if (late)
        engine->late = late;
    if (!late || !(t = calloc(1, sizeof *t))) {
        engine->memory = true;
        return NULL;
    }
    t->main = (sw_strand_t){
        .rank = home->main.rank, .main = true, .number = UINT32_MAX - number};
    t->home = home;
    t->thread = number;
    t->look = SW_PS_NEVER;
    t->state = SW_RANK_LATE;
    t->sibling = home->sibling;
    home->sibling = t;
    if (engine->model->noise.period > 0)
        sw_noise_begin(&engine->model->noise, home->main.rank, &t->noise);
    engine->threads++;
    return t;
}

void sw_thread_begin(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    rank->threaded = true;
    engine->threaded++;
    rank->current = find_or_make(engine, rank, op->request);
}

void sw_threads_free(sw_rank_t *home)
{
    for (sw_rank_t *t = home->sibling, *next; t; t = next) {
        next = t->sibling;
        free(t->queue);
        free(t->sections);
        free(t);
    }
    free(home->queue);
}

/* Taking ------------------------------------------------------------------- */

/* The thread at hand goes on no earlier than another comes to the operation
 * that is now the last of its queue but `before`. */
static void promise(sw_engine_t *engine, sw_rank_t *home, const sw_vop_t *op)
{
    sw_rank_t *other = find(home, op->request), *t = home->current;
    if (!other || other == t)
        return;
    sw_queued_t *mine = push(engine, t);
    sw_request_t *r = mine ? sw_request_new(engine, SW_REQUEST_THREAD,
                                            home->main.rank, 0)
                           : NULL;
    if (!mine || !push(engine, other))
        return;
    *mine = (sw_queued_t){
        .op = *op, .request = r, .section = home->taken_section};
    uint32_t place = other->queued - 1;
    int32_t before = op->tag;
    for (; before > 0 && place > 0; place--) {
        *at(other, place) = *at(other, place - 1);
        before -= at(other, place)->op.what != PROMISE ||
                  at(other, place)->op.kind != SW_OP_THREAD;
    }
    *at(other, place) = (sw_queued_t){
        .op = {.kind = SW_OP_THREAD, .what = PROMISE}, .request = r};
    if (other->state == SW_RANK_LATE)
        sw_agenda_ready(engine, &other->main);
    /* It has begun with what does not count, or has even done it. */
    if (before > 0) {
        other->queue_at = (other->queue_at + 1) & (other->queue_room - 1);
        other->queued--;
        sw_request_complete(engine, r, other->began);
    }
}

static void take_send(sw_engine_t *engine, sw_rank_t *t, sw_queued_t *q)
{
    uint64_t context;
    if (!sw_context_address(engine, t, &q->op, false, &context))
        return;
    q->request = sw_request_new(engine, SW_REQUEST_SEND, t->main.rank,
                                q->op.request);
    sw_message_t *m = q->message = sw_pool_take(&engine->messages);
    uint32_t from = t->main.rank, to = (uint32_t)q->op.peer;
    *m = (sw_message_t){.channel = sw_channel_find(engine, to, from, context),
                        .from = from,
                        .to = to,
                        .tag = q->op.tag,
                        .bytes = q->op.bytes,
                        .early = true,
                        .scale = 1};
    sw_match_message(engine, m);
}

static void take_receive(sw_engine_t *engine, sw_rank_t *t, sw_queued_t *q)
{
    uint64_t context;
    if (!sw_context_address(engine, t, &q->op, true, &context))
        return;
    sw_request_t *r = q->request = sw_request_new(engine, SW_REQUEST_RECV,
                                                  t->main.rank, q->op.request);
    r->peer = q->op.peer;
    r->tag = q->op.tag;
    r->context = context;
    r->early = true;
    /* In a file, too, an operation says which message it has taken. */
    r->live = q->op.peer == SW_OP_ANY && q->op.request;
    sw_match_receive(engine, r);
}

static void take_collective(sw_engine_t *engine, sw_rank_t *t, sw_queued_t *q)
{
    sw_context_t *c = sw_context_find(engine, q->op.context);
    uint32_t me = c ? sw_context_member(c, t->main.rank) : UINT32_MAX;
    if (me == UINT32_MAX)
        return; /* it will be said that it is wrong */
    q->request = sw_request_new(engine, SW_REQUEST_COLLECTIVE, t->main.rank,
                                q->op.request);
    q->nth = c->begun[me]++;
}

/* The source may give its wait before its thread comes to it. */
static void take_window(sw_engine_t *engine, sw_rank_t *t, sw_queued_t *q)
{
    if (q->op.what == SW_WINDOW_MAKE)
        sw_window_taken(engine, t->main.rank, &q->op);
    if (q->op.request)
        q->request = sw_request_new(engine, SW_REQUEST_WINDOW, t->main.rank,
                                    q->op.request);
}

/* Its number may be used again from now on; that of a receive which the host
 * matches, when it has said how. */
static void take_wait(sw_engine_t *engine, sw_rank_t *t, sw_queued_t *q)
{
    sw_request_t *r = sw_request_find(engine, t->main.rank, q->op.request);
    q->request = r;
    if (!r)
        return;
    if (r->awaited) {
        q->request = NULL; /* twice */
        return;
    }
    r->awaited = true;
    if (!(r->any && r->live))
        sw_request_unnumber(engine, r);
}

static void take_drop(sw_engine_t *engine, sw_rank_t *t, const sw_vop_t *op)
{
    sw_request_t *r = sw_request_find(engine, t->main.rank, op->request);
    if (!r || r->awaited)
        return;
    if (op->flags & SW_DROP_CANCELLED)
        sw_match_cancel(engine, r);
    else
        sw_request_drop(engine, r);
}

static void take_matched(sw_engine_t *engine, sw_rank_t *home,
                         const sw_vop_t *op)
{
    sw_request_t *r = sw_request_find(engine, home->main.rank, op->request);
    sw_match_told(engine, home, op);
    if (r && r->awaited && r->number)
        sw_request_unnumber(engine, r);
}

/* Sections are the rank's: what any thread does from now on belongs to it. */
static void take_section(sw_engine_t *engine, sw_rank_t *home,
                         const sw_vop_t *op)
{
    if (op->bytes > SW_SECTION_MOST)
        sw_engine_wrong(engine, home->main.rank, "there is no section %llu",
                        (unsigned long long)op->bytes);
    else
        home->taken_section = (uint32_t)op->bytes;
}

static void take(sw_engine_t *engine, sw_rank_t *home, const sw_vop_t *op)
{
    if (op->kind == SW_OP_THREAD) {
        sw_rank_t *t;
        if (op->what == SW_THREAD_GOES &&
            (t = find_or_make(engine, home, op->request)))
            home->current = t;
        else if (op->what == SW_THREAD_AFTER)
            promise(engine, home, op);
        if (op->what != SW_THREAD_ENDS)
            return;
    }
    sw_rank_t *t = home->current;
    void (*place)(sw_engine_t *, sw_rank_t *, sw_queued_t *) = NULL;
    switch (op->kind) {
    case SW_OP_DROP: take_drop(engine, t, op); return;
    case SW_OP_MATCHED: take_matched(engine, home, op); return;
    case SW_OP_SECTION: take_section(engine, home, op); return;
    case SW_OP_LIST:
    case SW_OP_SELECT:
    case SW_OP_PROBE:
    case SW_OP_IPROBE:
    case SW_OP_CHOOSE:
        sw_engine_wrong(engine, home->main.rank,
                        "it has threads, and asks what threads cannot ask");
        return;
    case SW_OP_SEND: place = take_send; break;
    case SW_OP_RECV: place = take_receive; break;
    case SW_OP_COLLECTIVE: place = take_collective; break;
    case SW_OP_WINDOW: place = take_window; break;
    case SW_OP_WAIT: place = take_wait; break;
    }
    sw_queued_t *q = push(engine, t);
    if (!q)
        return;
    *q = (sw_queued_t){.op = *op, .section = home->taken_section};
    if (place)
        place(engine, t, q);
    if (t->state == SW_RANK_LATE)
        sw_agenda_ready(engine, &t->main);
}

static sw_source_state_t take_one(sw_engine_t *engine, sw_rank_t *home)
{
    sw_vop_t op;
    sw_source_state_t state = engine->source.next(engine->source.of,
                                                  home->main.rank, &op);
    if (state == SW_SOURCE_OP)
        take(engine, home, &op);
    home->over |= state == SW_SOURCE_END;
    for (sw_rank_t *t = home; home->over && t; t = t->sibling)
        if (t->state == SW_RANK_LATE)
            sw_agenda_ready(engine, &t->main);
    return state;
}

void sw_thread_pump(sw_engine_t *engine, sw_rank_t *home)
{
    if (!engine->source.answer)
        return;
    while (!home->over && !engine->memory && !engine->wrong &&
           take_one(engine, home) == SW_SOURCE_OP)
        ;
}

/* Timing ------------------------------------------------------------------- */

sw_source_state_t sw_thread_next(sw_engine_t *engine, sw_rank_t *t,
                                 sw_vop_t *op)
{
    sw_rank_t *home = t->home;
    for (int far = 0; !t->queued && !home->over; far++) {
        /* It may have none before the end: the engine does not wait for it. */
        t->stuck |= far == FAR;
        if (engine->memory || engine->wrong || far == FAR)
            return SW_SOURCE_LATER;
        if (take_one(engine, home) == SW_SOURCE_LATER)
            return SW_SOURCE_LATER;
    }
    if (!t->queued)
        return SW_SOURCE_END;
    t->taken = *at(t, 0);
    t->queue_at = (t->queue_at + 1) & (t->queue_room - 1);
    t->queued--;
    *op = t->taken.op;
    /* A promise takes no time. What is before a thread's beginning belongs to
     * no thread. */
    if (op->kind != SW_OP_THREAD || (op->what != PROMISE && t->operations > 0))
        sw_section_enter(engine, t, t->taken.section);
    if (op->kind == SW_OP_WAIT ||
        (!op->request && op->kind != SW_OP_COMPUTE && op->kind != SW_OP_THREAD))
        t->began = t->main.clock;
    return SW_SOURCE_OP;
}

static bool waits_for_host(const sw_rank_t *home)
{
    for (const sw_request_t *w = home->any; w; w = w->next)
        if (w->live)
            return true;
    return false;
}

bool sw_thread_read_on(sw_engine_t *engine)
{
    bool any = false;
    for (uint32_t i = 0; i < engine->ranks; i++) {
        sw_rank_t *home = &engine->rank[i];
        bool more = home->threaded && !home->over;
        if (more)
            take_one(engine, home);
        else if (home->threaded && waits_for_host(home))
            sw_match_take_over(engine, home);
        else
            continue;
        any = true;
        for (sw_rank_t *t = home; t; t = t->sibling)
            if (t->state == SW_RANK_LATE)
                sw_agenda_ready(engine, &t->main);
    }
    return any;
}

void sw_thread_run(sw_engine_t *engine, sw_rank_t *t, const sw_vop_t *op)
{
    if (op->what == PROMISE)
        sw_request_complete(engine, t->taken.request, t->main.clock);
    else if (op->what == SW_THREAD_ENDS)
        t->left = t->stuck = true;
}
