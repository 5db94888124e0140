/*
 * operations.c - the main program of a rank: operation by operation, as far as
 * it goes without waiting for another.
 */
#include "operations.h"
#include "ahead.h"
#include "compute.h"
#include "graph.h"
#include "section.h"
#include "thread.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/context.h"
#include "vtime/engine/collective/collective.h"
#include "vtime/engine/collective/started.h"
#include "vtime/engine/message/match.h"
#include "vtime/engine/message/receive.h"
#include "vtime/engine/message/told.h"
#include "vtime/engine/message/wire.h"
#include "vtime/engine/question/question.h"
#include "vtime/engine/window/window.h"

#include "vtime/model/words.h"

/* So many operations at a time, so that no rank runs far ahead of the others
 * and fills the memory with messages. */
enum { TURN = 64 };

static void spend(sw_rank_t *rank, sw_ps_t *part, sw_ps_t until)
{
    *part += until - rank->main.clock;
    rank->main.clock = until;
}

static void compute(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    if (time <= 0)
        return;
    sw_ps_t begin = rank->main.clock;
    sw_ps_t end = sw_rank_compute(engine, rank, begin, &time);
    rank->time.compute += time;
    rank->time.noise += end - begin - time;
    rank->main.clock = end;
}

/* Its request is complete, and over. */
static void finish(sw_engine_t *engine, sw_rank_t *rank, sw_request_t *r)
{
    sw_ps_t until = sw_ps_max(rank->main.clock, r->complete);
    if (rank->hands > until)
        until = rank->hands; /* it is receiving another */
    sw_rank_waited(rank, r->kind == SW_REQUEST_THREAD ? until : r->came, until);
    if (r->kind == SW_REQUEST_COLLECTIVE) {
        engine->result.time[r->what] += until - rank->main.clock;
        spend(rank, &rank->time.collectives, until);
    } else {
        spend(rank, &rank->time.messages, until);
    }
    if (r->kind != SW_REQUEST_SEND && r->kind != SW_REQUEST_WINDOW)
        sw_warmth_moved(&rank->warmth, r->bytes);
    sw_request_free(engine, r);
}

/* False: it sleeps. */
static bool await(sw_engine_t *engine, sw_rank_t *rank, sw_request_t *r,
                  const sw_vop_t *op)
{
    sw_started_attend(engine, rank);
    if (r->known && (!rank->open || r->complete <= rank->main.clock)) {
        finish(engine, rank, r);
        return true;
    }
    rank->now = *op;
    rank->state = SW_RANK_WAITS;
    rank->waits = r;
    rank->main.pending = !r->known;
    r->waiter = &rank->main;
    if (r->known)
        sw_agenda_wake(engine, &rank->main, r->complete);
    sw_receive_in_call(engine, rank);
    if (rank->any)
        sw_ahead_look(engine, rank);
    return false;
}

static bool send(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    uint64_t context;
    if (!sw_context_address(engine, rank, op, false, &context))
        return false;
    sw_request_t *r = rank->taken.request;
    if (!r)
        r = sw_request_new(engine, SW_REQUEST_SEND, rank->main.rank,
                           op->request);
    r->peer = op->peer;
    r->tag = op->tag;
    sw_ps_t begin = rank->main.clock;
    sw_wire_send(engine, &rank->main, (uint32_t)op->peer, op->tag, context,
                 op->bytes, op->flags, 1, r, rank->taken.message);
    rank->time.messages += rank->main.clock - begin;
    return op->request || await(engine, rank, r, op);
}

/* It has had its place before. */
static bool receive_early(sw_engine_t *engine, sw_rank_t *rank, sw_request_t *r,
                          const sw_vop_t *op)
{
    if (r->gone) {
        sw_request_free(engine, r);
        return true;
    }
    r->posted = sw_ps_max(r->posted, rank->main.clock);
    bool held = r->held;
    sw_match_posted(engine, r);
    return !held || await(engine, rank, r, op);
}

static bool receive(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    uint64_t context;
    sw_request_t *early = rank->taken.request;
    if (early)
        return receive_early(engine, rank, early, op);
    if (!sw_context_address(engine, rank, op, true, &context))
        return false;
    sw_request_t *r = sw_request_new(engine, SW_REQUEST_RECV, rank->main.rank,
                                     op->request);
    r->peer = op->peer;
    r->tag = op->tag;
    r->context = context;
    r->posted = rank->main.clock;
    r->live = op->peer == SW_OP_ANY && op->request && engine->source.answer;
    sw_match_receive(engine, r);
    return op->request || await(engine, rank, r, op);
}

static bool collective(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    sw_ps_t begin = rank->main.clock;
    sw_request_t *r = sw_collective_begin(engine, rank, op);
    if (!r)
        return false;
    engine->result.calls[op->what]++;
    engine->result.time[op->what] += rank->main.clock - begin;
    rank->time.collectives += rank->main.clock - begin;
    return op->request || await(engine, rank, r, op);
}

static bool ask(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    uint64_t context = 0;
    if (sw_op_has_context(op->kind) &&
        !sw_context_address(engine, rank, op, true, &context))
        return false;
    if (op->kind != SW_OP_CLOCK)
        sw_started_attend(engine, rank);
    rank->now = *op;
    rank->state = SW_RANK_ASKS;
    sw_receive_in_call(engine, rank);
    return sw_question_ask(engine, rank, context);
}

/* False: it cannot go on now. */
static bool operation(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op)
{
    uint32_t me = rank->main.rank;
    sw_request_t *r;
    switch (op->kind) {
    case SW_OP_COMPUTE:
        if (op->flags)
            spend(rank,
                  op->flags & SW_COMPUTE_ASLEEP ? &rank->time.compute
                                                : &rank->time.messages,
                  rank->main.clock + sw_ps_min(op->time, SW_PS_MOST));
        else
            compute(engine, rank, op->time);
        return true;
    case SW_OP_SEND: return send(engine, rank, op);
    case SW_OP_RECV: return receive(engine, rank, op);
    case SW_OP_COLLECTIVE: return collective(engine, rank, op);
    case SW_OP_WAIT:
        r = rank->home->threaded ? rank->taken.request
                                 : sw_request_find(engine, me, op->request);
        return !r || await(engine, rank, r, op);
    case SW_OP_DROP:
        if (rank->home->threaded)
            return true; /* was done as it was taken */
        r = sw_request_find(engine, me, op->request);
        if (r && (op->flags & SW_DROP_CANCELLED))
            sw_match_cancel(engine, r);
        else if (r)
            sw_request_drop(engine, r);
        return true;
    case SW_OP_NOTHING: return true;
    case SW_OP_SECTION:
        if (op->bytes > SW_SECTION_MOST) {
            sw_engine_wrong(engine, me, "there is no section %llu",
                            (unsigned long long)op->bytes);
            return false;
        }
        sw_section_enter(engine, rank, (uint32_t)op->bytes);
        return true;
    case SW_OP_LIST: sw_question_list(engine, rank, op->request); return true;
    case SW_OP_CLOCK:
    case SW_OP_SELECT:
    case SW_OP_PROBE:
    case SW_OP_IPROBE:
    case SW_OP_CHOOSE: return ask(engine, rank, op);
    case SW_OP_MATCHED: sw_match_told(engine, rank, op); return true;
    case SW_OP_THREAD:
        if (op->what == SW_THREAD_GRAPH && rank->operations == 1)
            return sw_graph_begin(engine, rank);
        if (rank->home->threaded && op->what == SW_THREAD_AFTER) {
            r = rank->taken.request;
            return !r || await(engine, rank, r, op);
        }
        if (rank->home->threaded) {
            sw_thread_run(engine, rank, op);
            return true;
        }
        if (rank->operations == 1 && op->what == SW_THREAD_GOES) {
            sw_thread_begin(engine, rank, op);
            return true;
        }
        sw_engine_wrong(engine, me, "it has threads all at once");
        return false;
    case SW_OP_WINDOW:
        r = NULL;
        return sw_window_do(engine, rank, op, &r) &&
               (!r || await(engine, rank, r, op));
    case SW_OP_STUCK:
        if (op->flags & SW_STUCK_PERHAPS)
            return true;
        rank->stuck = true;
        engine->result.forced += !(op->flags & SW_STUCK_POLLS);
        return true;
    }
    sw_engine_wrong(engine, me, "there is no operation %u", op->kind);
    return false;
}

void sw_operations_run(sw_engine_t *engine, sw_rank_t *rank)
{
    if (rank->state == SW_RANK_WAITS) {
        if (!rank->waits->known) {
            sw_ahead_look(engine, rank);
            return;
        }
        if (rank->wakes)
            return;
        sw_request_t *r = rank->waits;
        rank->waits = NULL;
        rank->looking = false;
        finish(engine, rank, r);
    } else if (rank->state == SW_RANK_ASKS || rank->state == SW_RANK_ENDED) {
        return;
    }
    rank->state = SW_RANK_GOES;
    if (sw_unlikely(rank->graph != NULL) && !sw_graph_read(engine, rank))
        return;
    for (int i = 0; i < TURN; i++) {
        sw_vop_t op;
        sw_source_state_t state = sw_ahead_next(engine, rank, &op);
        if (state == SW_SOURCE_LATER) {
            rank->state = SW_RANK_LATE;
            sw_agenda_late(engine, rank);
            return;
        }
        if (state == SW_SOURCE_END) {
            sw_started_attend(engine, rank);
            rank->state = SW_RANK_ENDED;
            sw_receive_in_call(engine, rank);
            rank->time.end = rank->main.clock;
            engine->ended++;
            return;
        }
        rank->operations++;
        /* A rank that sleeps again does nothing else. */
        if (op.kind != SW_OP_COMPUTE || !(op.flags & SW_COMPUTE_ASLEEP))
            rank->stuck = rank->left = false;
        if (!operation(engine, rank, &op) || engine->memory || engine->wrong)
            return;
        if (sw_unlikely(rank->main.clock > SW_PS_MOST)) {
            sw_engine_wrong(engine, rank->main.rank,
                            "virtual time is over: "
                            "more than %lld ps",
                            (long long)SW_PS_MOST);
            return;
        }
    }
    sw_agenda_park(engine, rank);
}
