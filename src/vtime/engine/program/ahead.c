/*
 * ahead.c - a rank's operations, and a look at those that follow.
 *
 * A running program tells which message a receive with MPI_ANY_SOURCE has taken
 * once it has seen so itself, which is after its wait. A rank may wait for such
 * a receive, or for one whose message such a receive may take. Then the engine
 * looks at the rank's next operations:
 *
 *   - the rank may be silent, because it computes or is in the host's wait:
 *     the engine asks again later;
 *   - its next operation may be a question of its own: the rank tells nothing
 *     before it has the answer, so the engine decides.
 */
#include "ahead.h"
#include "thread.h"
#include "node/base/grow.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/base/channel.h"
#include "vtime/engine/message/match.h"
#include "vtime/engine/message/told.h"

#include <stdlib.h>

static bool put(sw_engine_t *engine, sw_ahead_t *a, const sw_vop_t *op)
{
    if (!sw_grow_ring(&a->ops, a->count, &a->room, sizeof *a->ops, a->at)) {
        engine->memory = true;
        return false;
    }
    a->ops[(a->at + a->count++) & (a->room - 1)] = *op;
    return true;
}

sw_source_state_t sw_ahead_next(sw_engine_t *engine, sw_rank_t *rank,
                                sw_vop_t *op)
{
    sw_ahead_t *a = rank->ahead;
    if (sw_unlikely(rank->home->threaded))
        return sw_thread_next(engine, rank, op);
    if (sw_likely(!a))
        return engine->source.next(engine->source.of, rank->main.rank, op);
    if (!a->count)
        return a->ended ? SW_SOURCE_END
                        : engine->source.next(engine->source.of,
                                              rank->main.rank, op);
    *op = a->ops[a->at];
    a->at = (a->at + 1) & (a->room - 1);
    a->count--;
    a->seen -= a->seen > 0;
    return SW_SOURCE_OP;
}

/* The rank waits for an unmatched receive; only the host knows its match. */
static bool depends(const sw_rank_t *rank)
{
    const sw_request_t *r = rank->waits;
    if (!r || r->known || r->kind != SW_REQUEST_RECV || r->message)
        return false;
    for (const sw_request_t *w = rank->any; w; w = w->next)
        if (w->live && w->context == r->context && w->order <= r->order)
            return true;
    return false;
}

/* `op` speaks of the request as it is now. No operation that the engine has
 * looked at before it posts another of that number. */
static bool speaks_of_now(const sw_ahead_t *a, uint32_t upto, uint32_t number)
{
    for (uint32_t i = 0; i < upto; i++) {
        const sw_vop_t *op = &a->ops[(a->at + i) & (a->room - 1)];
        if (op->request == number &&
            (op->kind == SW_OP_RECV || op->kind == SW_OP_SEND ||
             op->kind == SW_OP_COLLECTIVE || op->kind == SW_OP_WINDOW))
            return false;
    }
    return true;
}

typedef enum { LOOKED, LATER, CANNOT } looked_t;

/* Looks at one more operation. */
static looked_t look_at_next(sw_engine_t *engine, sw_rank_t *rank)
{
    if (!rank->ahead)
        rank->ahead = calloc(1, sizeof *rank->ahead);
    sw_ahead_t *a = rank->ahead;
    if (!a) {
        engine->memory = true;
        return LATER;
    }
    if (a->seen == a->count) {
        sw_vop_t next;
        sw_source_state_t state = a->ended
                                      ? SW_SOURCE_END
                                      : engine->source.next(engine->source.of,
                                                            rank->main.rank,
                                                            &next);
        if (state == SW_SOURCE_LATER)
            return LATER;
        a->ended = state == SW_SOURCE_END;
        if (a->ended)
            return CANNOT;
        if (!put(engine, a, &next))
            return LATER;
    }
    sw_vop_t *op = &a->ops[(a->at + a->seen) & (a->room - 1)];
    if (sw_op_asks(op->kind))
        return CANNOT;
    a->seen++;
    if (op->kind == SW_OP_MATCHED &&
        speaks_of_now(a, a->seen - 1, op->request)) {
        sw_vop_t told = *op;
        op->kind = SW_OP_NOTHING;
        sw_match_told(engine, rank, &told);
    }
    return LOOKED;
}

void sw_ahead_look(sw_engine_t *engine, sw_rank_t *rank)
{
    rank->looking = false;
    if (rank->threaded)
        return; /* thread.c has taken all there is */
    while (rank->any && depends(rank) && !engine->memory) {
        switch (look_at_next(engine, rank)) {
        case LOOKED: break;
        case LATER:
            rank->looking = true;
            sw_agenda_late(engine, rank);
            return;
        case CANNOT: sw_match_take_over(engine, rank); return;
        }
    }
}

/* The first message after `m` for a receive that the host must match. */
static const sw_message_t *could_match(const sw_rank_t *rank,
                                       const sw_message_t *m)
{
    for (m = m ? m->newer : rank->unmatched; m; m = m->newer)
        for (const sw_request_t *w = rank->any; w; w = w->next)
            if (w->live && m->channel->context == w->context &&
                (w->tag == SW_OP_ANY || w->tag == m->tag))
                return m;
    return NULL;
}

/* The rank does nothing, not even for its host, until it has an answer. */
static bool sleeps(sw_engine_t *engine, sw_rank_t *rank)
{
    looked_t looked = LOOKED;
    if (rank->threaded)
        return false;
    if (rank->state != SW_RANK_WAITS)
        return rank->state == SW_RANK_ASKS;
    while (looked == LOOKED)
        looked = look_at_next(engine, rank);
    return looked == CANNOT && !rank->ahead->ended;
}

/* A rank may wait for a message that the engine has given to a receive with
 * MPI_ANY_SOURCE. In the host that receive may have another: look whether the
 * rank says so. */
static bool told_otherwise(sw_engine_t *engine)
{
    bool moved = false;
    for (uint32_t i = 0; i < engine->ranks && !engine->memory; i++) {
        sw_rank_t *rank = &engine->rank[i];
        uint32_t untold = rank->untold;
        looked_t looked = LOOKED;
        if (rank->state != SW_RANK_WAITS || rank->threaded || !untold)
            continue;
        while (looked == LOOKED && rank->untold)
            looked = look_at_next(engine, rank);
        moved |= rank->untold != untold;
        if (!moved && looked == CANNOT)
            moved = sw_told_match_doubt(engine, rank);
        if (looked == LATER && !rank->looking) {
            rank->looking = true;
            sw_agenda_late(engine, rank);
        }
    }
    return moved;
}

/* A send may wait for a receive with MPI_ANY_SOURCE, whose rank waits for
 * something else: in the end for that sender. So look at what the rank says
 * after that. Where a rank is in the host's wait, its host may need the sender,
 * which sleeps. */
bool sw_ahead_still(sw_engine_t *engine)
{
    bool moved = false;
    for (uint32_t i = 0; i < engine->ranks && !engine->memory; i++) {
        sw_rank_t *rank = &engine->rank[i];
        if (rank->state != SW_RANK_WAITS || rank->threaded ||
            !could_match(rank, NULL))
            continue;
        looked_t looked = LOOKED;
        while (looked == LOOKED && could_match(rank, NULL)) {
            looked = look_at_next(engine, rank);
            moved |= looked == LOOKED;
        }
        if (looked == LOOKED)
            continue;
        bool decide = looked == CANNOT;
        for (const sw_message_t *m = NULL;
             !decide && (m = could_match(rank, m));)
            decide = sleeps(engine, &engine->rank[m->from]);
        if (decide) {
            sw_match_take_over(engine, rank);
            rank->looking = false;
            moved = true;
        } else if (!rank->looking) {
            rank->looking = true;
            sw_agenda_late(engine, rank);
        }
    }
    return moved || told_otherwise(engine);
}

bool sw_ahead_tells(const sw_vop_t *op)
{
    if (op->kind == SW_OP_CLOCK)
        return !(op->flags & SW_CLOCK_PAUSE);
    /* A call may put others, and wait on. */
    return sw_op_has_context(op->kind) || op->kind == SW_OP_SELECT ||
           op->kind == SW_OP_SECTION;
}

bool sw_ahead_gone_on(sw_engine_t *engine, sw_rank_t *rank)
{
    looked_t looked = LOOKED;
    while (looked == LOOKED)
        looked = look_at_next(engine, rank);
    const sw_ahead_t *a = rank->ahead;
    if (!a || a->ended)
        return a != NULL;
    for (uint32_t i = 0; i <= a->seen && i < a->count; i++)
        if (sw_ahead_tells(&a->ops[(a->at + i) & (a->room - 1)]))
            return true;
    return false;
}

bool sw_ahead_wake(sw_engine_t *engine, sw_rank_t *rank)
{
    sw_ahead_t *a = rank->ahead;
    if (!a || a->seen == a->count)
        return false;
    sw_vop_t *op = &a->ops[(a->at + a->seen) & (a->room - 1)];
    if (op->kind != SW_OP_CLOCK || !(op->flags & SW_CLOCK_PAUSE))
        return false;
    op->kind = SW_OP_NOTHING;
    sw_op_answer_t answer = {.clock = rank->main.clock,
                             .until = SW_PS_NEVER,
                             .which = engine->which,
                             .peer = -1,
                             .tag = -1};
    engine->source.answer(engine->source.of, rank->main.rank, &answer);
    return true;
}

void sw_ahead_free(sw_rank_t *rank)
{
    if (rank->ahead)
        free(rank->ahead->ops);
    free(rank->ahead);
}
