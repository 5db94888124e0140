/*
 * window.c - one-sided operations: a rank reaches into a target's window, and
 * the target's processor takes no part.
 *
 * The terms are those of LogGPS (Ino, Fujiwara, Hagihara 2001; model.h). The
 * network carries the operations out by itself (Gerstenberger, Besta, Hoefler,
 * "Enabling highly-scalable remote memory access programming with MPI-3 One
 * Sided", 2013). With a put of s bytes at time t:
 *
 *     put, reduce   the origin is busy until t + o + O s, its memory may be
 *                   used when the bytes have left its port, they are there
 *                   when they have passed the target's, as those of any
 *                   message, at a; the origin knows at a + L. Reducing takes
 *                   the time of reducing s bytes, before that.
 *     get           a request, t + o + L, is answered by s bytes from the
 *                   target's port: there at t + o + 2 L + G s, if no rank
 *                   hinders them
 *     fetch         s bytes there, as a put, reduced, and s bytes back
 *     flush         waits until the origin knows of all it has begun; if
 *                   local, until its memory may be used. It takes no time
 *                   itself.
 *     lock          a request, o + L, an answer, L. The first request is first;
 *                   shared locks are held together, but none passes an
 *                   exclusive one that waits.
 *     unlock        o; the lock is free L later
 *
 * Where the model has measured times for them, and both ranks share a node,
 * they take those (vtime/model/accesses.h): no port or target hinders them.
 *
 * A member's port may be used by what others get, whenever that is: from when a
 * window is made, all that leaves its ranks' ports is put in the order of time
 * (rank->loose).
 */
#include "window.h"
#include "access.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/channel.h"
#include "vtime/engine/base/request.h"
#include "vtime/engine/message/wire.h"

#include "vtime/model/words.h"

#include <stdlib.h>

static sw_ps_t reducing(const sw_engine_t *engine, uint64_t bytes)
{
    return sw_ps_of(engine->model->reduce, bytes);
}

static uint32_t rank_of(const sw_context_t *c, uint32_t member)
{
    return c->members ? c->members[member] : member;
}

/* An empty message's. */
static sw_cost_t empty(const sw_engine_t *engine, uint32_t from, uint32_t to)
{
    sw_cost_t cost;
    sw_model_message(engine->model, from, to, 0, 0, &cost);
    return cost;
}

/* What is under way ------------------------------------------------------- */

static sw_access_t *access_of(sw_engine_t *engine, sw_context_t *c,
                              sw_window_of_t *origin, uint32_t from,
                              uint32_t to)
{
    sw_channel_t *channel = sw_channel_find(engine, to, from,
                                            2 * (uint64_t)c->place);
    if (!channel->access) {
        sw_access_t *a = channel->access = sw_pool_take(&engine->accesses);
        *a = (sw_access_t){
            .next = origin->accesses, .channel = channel, .origin = origin};
        origin->accesses = a;
        channel->users++;
    }
    return channel->access;
}

/* All is complete, and known to be. */
static void forget_accesses(sw_engine_t *engine, sw_window_of_t *origin)
{
    for (sw_access_t *a = origin->accesses, *next; a; a = next) {
        next = a->next;
        a->channel->access = NULL;
        a->channel->users--;
        sw_pool_give(&engine->accesses, a);
    }
    origin->accesses = NULL;
}

/* Flushes are over, if all that they wait for is. Of one target it is one with
 * its `channel`; local, with LOCAL as its `tag`. */
static void look_at_flushes(sw_engine_t *engine, sw_window_of_t *origin)
{
    bool all = false;
    for (sw_request_t **link = &origin->flushes, *r; (r = *link);) {
        const sw_under_way_t *at = r->channel ? &r->channel->access->at
                                              : &origin->all;
        bool local = r->tag == SW_WINDOW_LOCAL;
        if (local ? at->leaving : at->pending) {
            link = &r->next;
            continue;
        }
        all |= !r->channel && !local;
        *link = r->next;
        sw_request_complete(engine, r,
                            sw_ps_max(r->posted, local ? at->left : at->done));
    }
    if (all && !origin->flushes)
        forget_accesses(engine, origin);
}

static void has_left(sw_under_way_t *at, sw_ps_t time)
{
    at->leaving--;
    at->left = sw_ps_max(at->left, time);
}

static void is_done(sw_under_way_t *at, sw_ps_t time)
{
    at->pending--;
    at->done = sw_ps_max(at->done, time);
}

/* The origin's memory is free. */
static void left(sw_engine_t *engine, sw_access_t *a, sw_ps_t time)
{
    has_left(&a->at, time);
    has_left(&a->origin->all, time);
    look_at_flushes(engine, a->origin);
}

static void done(sw_engine_t *engine, sw_message_t *m, sw_ps_t time)
{
    sw_access_t *a = m->access;
    is_done(&a->at, time);
    is_done(&a->origin->all, time);
    m->channel->users--;
    sw_pool_give(&engine->messages, m);
    look_at_flushes(engine, a->origin);
}

void sw_window_left(sw_engine_t *engine, sw_message_t *m, sw_ps_t time)
{
    if (m->remote == SW_REMOTE_PUT || m->remote == SW_REMOTE_REDUCE)
        left(engine, m->access, time);
}

void sw_window_arrived(sw_engine_t *engine, sw_message_t *m)
{
    sw_channel_t *c = m->channel;
    sw_ps_t at = m->arrival;
    if (m->remote == SW_REMOTE_REDUCE || m->remote == SW_REMOTE_FETCH)
        at += reducing(engine, m->bytes);
    if (m->remote == SW_REMOTE_FETCH) {
        engine->result.bytes += m->bytes;
        sw_wire_turn(engine, m, at);
    } else if (m->remote == SW_REMOTE_ANSWER) {
        if (m->receive)
            sw_request_complete(engine, m->receive, at);
        left(engine, m->access, at);
        done(engine, m, at);
    } else {
        done(engine, m, at + empty(engine, c->to, c->from).latency);
    }
}

static sw_memory_t memory_of(const sw_window_of_t *w)
{
    return w->allocated ? SW_MEMORY_ALLOCATED : SW_MEMORY_CREATED;
}

static bool in_a_node(const sw_engine_t *engine, uint32_t a, uint32_t b)
{
    return sw_model_class(engine->model, a, b) != SW_CLASS_NETWORK;
}

/* It is known at once when it is complete. */
static void move_as_measured(sw_engine_t *engine, sw_rank_t *rank,
                             sw_access_t *a, const sw_vop_t *op, sw_ps_t call,
                             sw_ps_t rest, sw_request_t *request)
{
    bool fetches = op->what == SW_WINDOW_FETCH;
    bool gets = fetches || op->what == SW_WINDOW_GET;
    sw_under_way_t *both[] = {&a->at, &a->origin->all};
    if (request)
        request->posted = rank->main.clock;
    rank->main.clock += call;
    rank->time.messages += call;
    engine->result.messages++;
    engine->result.bytes += op->bytes << fetches;
    sw_ps_t done = rank->main.clock + rest;
    sw_ps_t free_at = gets ? done : rank->main.clock;
    for (int i = 0; i < 2; i++) {
        both[i]->left = sw_ps_max(both[i]->left, free_at);
        both[i]->done = sw_ps_max(both[i]->done, done);
    }
    if (request)
        sw_request_complete(engine, request, free_at);
}

static void move(sw_engine_t *engine, sw_context_t *c, sw_rank_t *rank,
                 uint32_t me, const sw_vop_t *op)
{
    static const sw_remote_t kinds[] = {
        [SW_WINDOW_PUT] = SW_REMOTE_PUT,
        [SW_WINDOW_REDUCE] = SW_REMOTE_REDUCE,
        [SW_WINDOW_GET] = SW_REMOTE_ANSWER,
        [SW_WINDOW_FETCH] = SW_REMOTE_FETCH,
    };
    sw_window_of_t *origin = &c->window[me];
    sw_access_t *a = access_of(engine, c, origin, rank->main.rank,
                               (uint32_t)op->peer);
    sw_request_t *r = rank->taken.request;
    if (!r && op->request && !rank->home->threaded)
        r = sw_request_new(engine, SW_REQUEST_WINDOW, rank->main.rank,
                           op->request);
    if (r) {
        r->what = op->what;
        r->peer = op->peer;
    }
    sw_ps_t call, rest;
    if (in_a_node(engine, rank->main.rank, (uint32_t)op->peer) &&
        sw_accesses_at(&engine->model->accesses, memory_of(origin), op->what,
                       op->bytes, &call, &rest)) {
        move_as_measured(engine, rank, a, op, call, rest, r);
        return;
    }
    a->at.pending++;
    a->at.leaving++;
    origin->all.pending++;
    origin->all.leaving++;
    sw_wire_remote(engine, rank, a->channel, kinds[op->what], op->bytes, r);
}

static sw_request_t *flush(sw_engine_t *engine, sw_context_t *c,
                           sw_rank_t *rank, uint32_t me, const sw_vop_t *op)
{
    sw_window_of_t *origin = &c->window[me];
    uint32_t from = rank->main.rank;
    sw_channel_t *channel = NULL;
    if (op->peer >= 0)
        channel = sw_channel_find(engine, (uint32_t)op->peer, from,
                                  2 * (uint64_t)c->place);
    if (channel && !channel->access)
        return NULL;
    sw_request_t *r = sw_request_new(engine, SW_REQUEST_WINDOW, from, 0);
    r->what = op->what;
    r->peer = op->peer;
    r->posted = rank->main.clock;
    r->channel = channel;
    r->tag = op->flags & SW_WINDOW_LOCAL ? SW_WINDOW_LOCAL : 0;
    r->next = origin->flushes;
    origin->flushes = r;
    look_at_flushes(engine, origin);
    return r;
}

/* Locks ------------------------------------------------------------------- */

/* Of a request for a lock, or of its release, from one member to another. */
typedef struct {
    sw_ps_t send, latency;
} way_t;

static bool locks_as_measured(const sw_engine_t *engine, const sw_context_t *c,
                              uint32_t origin, uint32_t target)
{
    return engine->model->accesses.has_locks[memory_of(&c->window[origin])] &&
           in_a_node(engine, rank_of(c, origin), rank_of(c, target));
}

static way_t way(sw_engine_t *engine, const sw_context_t *c, uint32_t origin,
                 uint32_t target, sw_event_kind_t kind)
{
    const sw_accesses_t *accesses = &engine->model->accesses;
    sw_memory_t memory = memory_of(&c->window[origin]);
    if (!locks_as_measured(engine, c, origin, target)) {
        sw_cost_t cost = empty(engine, rank_of(c, origin), rank_of(c, target));
        return (way_t){cost.send, cost.latency};
    }
    return kind == SW_EVENT_LOCK ? (way_t){0, accesses->lock[memory] / 2}
                                 : (way_t){accesses->unlock[memory], 0};
}

/* Of the answer that it is granted. */
static sw_ps_t way_back(sw_engine_t *engine, const sw_context_t *c,
                        const sw_lock_t *lock)
{
    sw_ps_t all = engine->model->accesses
                      .lock[memory_of(&c->window[lock->origin])];
    return locks_as_measured(engine, c, lock->origin, lock->target)
               ? all - all / 2
               : empty(engine, rank_of(c, lock->target),
                       rank_of(c, lock->origin))
                     .latency;
}

/* To each of the targets an event, when the rank's request is there. */
static void to_targets(sw_engine_t *engine, sw_context_t *c, sw_rank_t *rank,
                       uint32_t me, const sw_vop_t *op, sw_event_kind_t kind,
                       sw_request_t *r)
{
    uint32_t first = 0, end = c->n, from = rank->main.rank;
    if (op->peer >= 0) {
        first = sw_context_member(c, (uint32_t)op->peer);
        end = first + 1;
    }
    sw_ps_t send = way(engine, c, me, first, kind).send;
    rank->time.messages += send;
    rank->main.clock += send;
    if (r)
        r->order = end - first;
    for (uint32_t i = first; i < end; i++) {
        uint32_t to = rank_of(c, i);
        sw_lock_t *lock = sw_pool_take(&engine->locks);
        *lock = (sw_lock_t){.context = c,
                            .target = i,
                            .origin = me,
                            .request = r,
                            .exclusive = op->flags & SW_WINDOW_EXCLUSIVE};
        sw_agenda_event(
            engine, rank->main.clock + way(engine, c, me, i, kind).latency,
            kind, to, (uint64_t)from << 32 | c->window[me].begun++, lock);
    }
}

static void grant(sw_engine_t *engine, sw_lock_t *lock, sw_ps_t time)
{
    sw_context_t *c = lock->context;
    sw_request_t *r = lock->request;
    sw_window_of_t *target = &c->window[lock->target];
    if (lock->exclusive)
        target->writer = true;
    else
        target->readers++;
    engine->seen++;
    sw_ps_t there = way(engine, c, lock->origin, lock->target, SW_EVENT_LOCK)
                        .latency;
    sw_ps_t known = time + way_back(engine, c, lock);
    /* Granted at once, it would have been as long on its way there. */
    r->came = sw_ps_max(r->came, time - there);
    r->complete = sw_ps_max(sw_ps_max(r->complete, known), r->posted);
    if (--r->order == 0)
        sw_request_complete(engine, r, r->complete);
    sw_pool_give(&engine->locks, lock);
}

static bool is_free(const sw_window_of_t *target, const sw_lock_t *lock)
{
    return !target->writer && (!lock->exclusive || !target->readers);
}

/* Takes a queued lock out: its origin gives it back without having waited for
 * it (doubt.c). */
static bool take_back(sw_engine_t *engine, sw_window_of_t *target,
                      const sw_lock_t *given, sw_ps_t time)
{
    sw_lock_t *before = NULL, *lock = target->first;
    for (; lock && lock->origin != given->origin; lock = lock->next)
        before = lock;
    if (!lock)
        return false;
    *(before ? &before->next : &target->first) = lock->next;
    if (target->last == lock)
        target->last = before;
    sw_request_t *r = lock->request;
    r->complete = sw_ps_max(sw_ps_max(r->complete, time), r->posted);
    if (--r->order == 0)
        sw_request_complete(engine, r, r->complete);
    sw_pool_give(&engine->locks, lock);
    return true;
}

static void grant_free(sw_engine_t *engine, sw_window_of_t *target,
                       sw_ps_t time)
{
    sw_lock_t *lock;
    while ((lock = target->first) && is_free(target, lock)) {
        target->first = lock->next;
        grant(engine, lock, time);
    }
}

void sw_window_lock(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_lock_t *lock = event->of;
    sw_window_of_t *target = &lock->context->window[lock->target];
    lock->next = NULL;
    *(target->first ? &target->last->next : &target->first) = lock;
    target->last = lock;
    grant_free(engine, target, event->time);
}

void sw_window_unlock(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_lock_t *lock = event->of;
    sw_window_of_t *target = &lock->context->window[lock->target];
    bool held = !take_back(engine, target, lock, event->time) &&
                (lock->exclusive ? target->writer : target->readers > 0);
    engine->seen -= held;
    if (held && lock->exclusive)
        target->writer = false;
    else if (held)
        target->readers--;
    sw_pool_give(&engine->locks, lock);
    grant_free(engine, target, event->time);
}

static sw_request_t *take_lock(sw_engine_t *engine, sw_context_t *c,
                               sw_rank_t *rank, uint32_t me, const sw_vop_t *op)
{
    sw_request_t *r = sw_request_new(engine, SW_REQUEST_WINDOW, rank->main.rank,
                                     0);
    r->what = op->what;
    r->peer = op->peer;
    r->posted = rank->main.clock;
    r->complete = 0;
    to_targets(engine, c, rank, me, op, SW_EVENT_LOCK, r);
    return r;
}

/* ------------------------------------------------------------------------ */

static bool there_is(sw_engine_t *engine, sw_context_t *c, uint32_t me)
{
    if (!c->window)
        c->window = calloc(c->n, sizeof *c->window);
    if (c->window)
        c->window[me].made = true;
    else
        engine->memory = true;
    return c->window;
}

void sw_window_taken(sw_engine_t *engine, uint32_t rank, const sw_vop_t *op)
{
    sw_context_t *c = sw_context_find(engine, op->context);
    uint32_t me = c ? sw_context_member(c, rank) : UINT32_MAX;
    if (me != UINT32_MAX)
        there_is(engine, c, me);
}

static bool make(sw_engine_t *engine, sw_context_t *c, sw_rank_t *rank,
                 uint32_t me, unsigned flags)
{
    bool seen = flags & SW_WINDOW_SEEN;
    if (!there_is(engine, c, me))
        return false;
    sw_window_of_t *mine = &c->window[me];
    if (!mine->open) {
        mine->open = true;
        mine->allocated = flags & SW_WINDOW_ALLOCATED;
        mine->seen = seen;
        engine->seen += seen;
        rank->home->loose++;
        rank->home->windows++;
    }
    return true;
}

/* Other threads may not be so far in virtual time that they have no use for it
 * any more. */
static void unmake(sw_engine_t *engine, sw_rank_t *rank, sw_window_of_t *mine)
{
    mine->made = rank->home->threaded;
    if (!mine->open)
        return;
    mine->open = false;
    engine->seen -= mine->seen;
    rank->home->loose--;
    rank->home->windows--;
}

bool sw_window_do(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op,
                  sw_request_t **wait)
{
    sw_context_t *c = sw_context_find(engine, op->context);
    uint32_t me = c ? sw_context_member(c, rank->main.rank) : UINT32_MAX;
    bool moves = op->what >= SW_WINDOW_PUT && op->what <= SW_WINDOW_FETCH;
    if (me == UINT32_MAX || op->what >= SW_WINDOW_COUNT ||
        (op->what != SW_WINDOW_MAKE && (!c->window || !c->window[me].made)) ||
        (op->peer < 0 && moves) ||
        (op->peer >= 0 && op->what >= SW_WINDOW_PUT &&
         sw_context_member(c, (uint32_t)op->peer) == UINT32_MAX)) {
        sw_engine_wrong(engine, rank->main.rank,
                        "a one-sided operation on "
                        "context %u, which is no window of this rank's, or "
                        "has not the target",
                        op->context);
        return false;
    }
    switch (op->what) {
    case SW_WINDOW_MAKE: return make(engine, c, rank, me, op->flags);
    case SW_WINDOW_FREE: unmake(engine, rank, &c->window[me]); return true;
    case SW_WINDOW_FLUSH: *wait = flush(engine, c, rank, me, op); return true;
    case SW_WINDOW_LOCK:
        *wait = take_lock(engine, c, rank, me, op);
        return true;
    case SW_WINDOW_UNLOCK:
        to_targets(engine, c, rank, me, op, SW_EVENT_UNLOCK, NULL);
        return true;
    default: move(engine, c, rank, me, op); return true;
    }
}
