/*
 * question.c - what a running program asks about virtual time.
 *
 * A rank asks whether a request is complete now, which of several is the first,
 * or whether there is a message. The answer depends on what other ranks may
 * still do. So an event at the time in question gives it, once those ranks can
 * do nothing before that time. What the engine does not find will not be there
 * before `until`: a program that polls need not ask each time.
 */
#include "question.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/message/match.h"

#include "node/base/grow.h"

#include <stdlib.h>

void sw_question_list(sw_engine_t *engine, sw_rank_t *rank, uint32_t number)
{
    if (!sw_grow(&rank->list, rank->listed, &rank->list_room,
                 sizeof *rank->list)) {
        engine->memory = true;
        return;
    }
    rank->list[rank->listed++] = number;
}

/* Those that the rank waited for came at `came`. */
static void tell(sw_engine_t *engine, sw_rank_t *rank, sw_op_answer_t *answer,
                 sw_ps_t came)
{
    sw_ps_t until = sw_ps_max(answer->clock, rank->main.clock);
    until = sw_ps_max(until, rank->hands);
    sw_rank_waited(rank, came, until);
    rank->time.messages += until - rank->main.clock;
    rank->main.clock = answer->clock = until;
    rank->state = SW_RANK_GOES;
    answer->thread = rank->thread;
    if (engine->source.answer)
        engine->source.answer(engine->source.of, rank->main.rank, answer);
}

static sw_ps_t bound(sw_engine_t *engine, sw_rank_t *rank)
{
    bool collective = false;
    for (uint32_t i = 0; i < rank->listed; i++) {
        sw_request_t *r = sw_request_find(engine, rank->main.rank,
                                          rank->list[i]);
        /* What completes a rendezvous is its receiver alone. */
        collective |= r && r->kind != SW_REQUEST_RECV;
    }
    return sw_agenda_bound(engine, rank, collective);
}

static void tell_nothing(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t until)
{
    sw_ps_t clock = rank->main.clock + engine->model->test;
    sw_op_answer_t answer = {
        .clock = clock,
        .until = sw_ps_max(until, rank->main.clock),
        .which = engine->which,
        .peer = -1,
        .tag = -1,
    };
    tell(engine, rank, &answer, 0);
}

/* When a listed request is complete: 0, there is none, or it was over. */
static sw_ps_t complete(sw_engine_t *engine, const sw_rank_t *rank, uint32_t i)
{
    sw_request_t *r = sw_request_find(engine, rank->main.rank, rank->list[i]);
    return !r ? 0 : r->known ? r->complete : SW_PS_NEVER;
}

/* No receive of its own can come before what it asks for. */
static bool is_alone(const sw_rank_t *rank)
{
    return !rank->open || rank->home->threaded;
}

static void relist(sw_engine_t *engine, sw_rank_t *rank, bool listed)
{
    for (uint32_t i = 0; i < rank->listed; i++) {
        sw_request_t *r = sw_request_find(engine, rank->main.rank,
                                          rank->list[i]);
        if (r)
            r->listed = listed;
    }
    if (!listed)
        rank->listed = 0;
}

typedef struct {
    sw_ps_t time;
    uint32_t place;
} done_t;

static int in_order(const void *a, const void *b)
{
    const done_t *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1)
                              : (x->place > y->place) - (x->place < y->place);
}

/* Those that are complete at `by`, at most `most` of them, are over. */
static void tell_which(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t by,
                       uint32_t most)
{
    done_t *done = malloc((rank->listed + 1) * sizeof *done);
    uint32_t *which = rank->listed <= engine->which_room
                          ? engine->which
                          : realloc(engine->which,
                                    rank->listed * sizeof *which);
    if (which && rank->listed > engine->which_room)
        engine->which_room = rank->listed;
    if (which)
        engine->which = which;
    if (!done || (!which && rank->listed)) {
        engine->memory = true;
        free(done);
        return;
    }
    sw_op_answer_t answer = {.until = SW_PS_NEVER,
                             .found = true,
                             .which = which,
                             .clock = by,
                             .peer = -1,
                             .tag = -1};
    uint32_t n = 0;
    sw_ps_t came = 0;
    for (uint32_t i = 0; i < rank->listed; i++) {
        sw_ps_t at = complete(engine, rank, i);
        if (at <= by)
            done[n++] = (done_t){at, i};
    }
    qsort(done, n, sizeof *done, in_order);
    answer.count = n < most ? n : most;
    for (uint32_t i = 0; i < answer.count; i++) {
        which[i] = done[i].place;
        sw_request_t *r = sw_request_find(engine, rank->main.rank,
                                          rank->list[which[i]]);
        if (r && i == 0)
            came = r->came; /* the first has ended the wait */
        if (r)
            sw_request_free(engine, r);
    }
    free(done);
    relist(engine, rank, false);
    tell(engine, rank, &answer, came);
}

/* What is listed, at a time when all before it is decided. */
static bool choose(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    sw_ps_t clock = rank->main.clock, first = SW_PS_NEVER, last = 0;
    for (uint32_t i = 0; i < rank->listed; i++) {
        sw_ps_t at = complete(engine, rank, i);
        first = sw_ps_min(first, at);
        last = sw_ps_max(last, at);
    }
    sw_ps_t known = first;
    bool found = first <= clock;
    uint32_t most = UINT32_MAX;
    switch (rank->now.what) {
    case SW_SELECT_ANY:
        if (first > time)
            return false;
        tell_which(engine, rank, sw_ps_max(clock, first), 1);
        return true;
    case SW_SELECT_SOME:
        if (first > time || clock > time)
            return false;
        tell_which(engine, rank, sw_ps_max(clock, first), most);
        return true;
    case SW_TEST_ALL:
        found = last <= clock;
        known = last;
        if (known == SW_PS_NEVER) /* not before those that are known */
            for (uint32_t i = known = 0; i < rank->listed; i++) {
                sw_ps_t at = complete(engine, rank, i);
                known = sw_ps_max(known, at == SW_PS_NEVER ? 0 : at);
            }
        break;
    case SW_TEST_ANY: most = 1; break;
    }
    if (clock > time &&
        !(found && rank->now.what == SW_TEST_ALL && is_alone(rank)))
        return false;
    if (found) {
        tell_which(engine, rank, clock, most);
    } else if (rank->now.what == SW_TEST_ALL) {
        sw_ps_t until = last < SW_PS_NEVER
                            ? last
                            : sw_ps_max(known, bound(engine, rank));
        relist(engine, rank, false);
        tell_nothing(engine, rank, until);
    } else {
        sw_ps_t until = sw_ps_min(known, bound(engine, rank));
        relist(engine, rank, false);
        tell_nothing(engine, rank, until);
    }
    return true;
}

static void tell_message(sw_engine_t *engine, sw_rank_t *rank,
                         const sw_message_t *m)
{
    sw_op_answer_t answer = {
        .clock = m->arrival,
        .until = SW_PS_NEVER,
        .found = true,
        .which = engine->which,
        .peer = (int32_t)m->from,
        .tag = m->tag,
        .bytes = m->bytes,
    };
    tell(engine, rank, &answer, m->began);
}

static bool probe(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    const sw_vop_t *op = &rank->now;
    bool at_once = op->kind == SW_OP_IPROBE;
    sw_ps_t clock = rank->main.clock, after = SW_PS_NEVER;
    if (at_once && clock > time)
        return false;
    sw_message_t *m = sw_match_first(engine, rank, op->peer, op->tag,
                                     rank->asks_in, at_once ? clock : time,
                                     NULL, &after);
    if (m) {
        tell_message(engine, rank, m);
        return true;
    }
    if (at_once)
        tell_nothing(engine, rank, sw_ps_min(after, bound(engine, rank)));
    else
        sw_match_look(engine, rank, after);
    return at_once;
}

/* A probe that names its sender asks for the first message that fits. Once
 * that is known, no other rank's future makes a difference. */
static bool probe_named(sw_engine_t *engine, sw_rank_t *rank)
{
    const sw_vop_t *op = &rank->now;
    sw_ps_t after = SW_PS_NEVER;
    sw_message_t *m = op->peer == SW_OP_ANY
                          ? NULL
                          : sw_match_first(engine, rank, op->peer, op->tag,
                                           rank->asks_in, SW_PS_NEVER, NULL,
                                           &after);
    if (!m)
        return false;
    if (op->kind == SW_OP_IPROBE && m->arrival > rank->main.clock)
        tell_nothing(engine, rank, m->arrival);
    else
        tell_message(engine, rank, m);
    return true;
}

bool sw_question_ask(sw_engine_t *engine, sw_rank_t *rank, uint64_t context)
{
    const sw_vop_t *op = &rank->now;
    sw_ps_t clock = rank->main.clock;
    rank->asks_in = context;
    if (op->kind == SW_OP_CLOCK) {
        sw_op_answer_t answer = {.clock = clock,
                                 .until = SW_PS_NEVER,
                                 .found = true,
                                 .which = engine->which,
                                 .peer = -1,
                                 .tag = -1};
        tell(engine, rank, &answer, 0);
        return true;
    }
    if (op->peer == SW_OP_ANY && op->kind != SW_OP_SELECT)
        engine->result.wildcards++;
    if (rank->any)
        sw_match_take_over(engine, rank);
    if (op->kind != SW_OP_SELECT) {
        if (probe_named(engine, rank))
            return true;
        if (op->kind == SW_OP_IPROBE)
            sw_agenda_event(engine, clock, SW_EVENT_DECIDE, rank->main.rank, 0,
                            rank);
        else
            probe(engine, rank, -1);
        return false;
    }
    if (!rank->listed) {
        tell_which(engine, rank, clock, 0);
        return true;
    }
    relist(engine, rank, true);
    sw_ps_t first = SW_PS_NEVER;
    for (uint32_t i = 0; i < rank->listed; i++)
        first = sw_ps_min(first, complete(engine, rank, i));
    /* Where there is no choice, the engine has nothing to decide. With open
     * receives others may come before. */
    bool alone = is_alone(rank);
    if (alone && rank->listed == 1 && first < SW_PS_NEVER &&
        (op->what <= SW_SELECT_SOME || first <= clock))
        return choose(engine, rank, sw_ps_max(clock, first));
    if (alone && op->what == SW_TEST_ALL && choose(engine, rank, -1))
        return true;
    if (op->what == SW_SELECT_SOME && !alone)
        sw_agenda_event(engine, clock, SW_EVENT_DECIDE, rank->main.rank, 0,
                        rank); /* see sw_receive_tests */
    if (op->what > SW_SELECT_SOME)
        first = clock;
    else if (op->what == SW_SELECT_SOME && first < SW_PS_NEVER)
        first = sw_ps_max(first, clock);
    if (first < SW_PS_NEVER)
        sw_agenda_event(engine, first, SW_EVENT_DECIDE, rank->main.rank, 0,
                        rank);
    return false;
}

void sw_question_give_up(sw_engine_t *engine, sw_rank_t *rank)
{
    sw_op_answer_t answer = {.clock = rank->main.clock,
                             .until = SW_PS_NEVER,
                             .which = engine->which,
                             .peer = -1,
                             .tag = -1};
    relist(engine, rank, false);
    tell(engine, rank, &answer, 0);
    sw_agenda_ready(engine, &rank->main);
}

void sw_question_decide(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time)
{
    bool answered = rank->now.kind == SW_OP_SELECT ? choose(engine, rank, time)
                                                   : probe(engine, rank, time);
    if (answered)
        sw_agenda_ready(engine, &rank->main);
}
