/*
 * engine.c - see engine.h. Here is the order of everything: strands as far as
 * they can, then the earliest event.
 *
 * The engine's rooms, from the lowest on:
 *
 *     base/         what there is: ranks, requests, messages, contexts; which
 *                   strand and which event is next
 *     message/      messages travel, and meet receives
 *     collective/   members of a communicator meet
 *     window/       one-sided operations
 *     question/     what a running program asks
 *     program/      a rank's operations: one by one, looked at ahead, by
 *                   threads, as a graph; and what no rank can decide
 *
 * Each includes those above it in this list only, and collective/, window/ and
 * question/ know nothing of each other (src/arrows.txt). What a lower room has
 * for a higher one goes by the table of handlers here (base/handlers.h).
 */
#include "engine.h"
#include "base/agenda.h"
#include "base/channel.h"
#include "base/context.h"
#include "base/message.h"
#include "base/request.h"
#include "collective/collective.h"
#include "collective/meeting.h"
#include "collective/started.h"
#include "message/match.h"
#include "message/receive.h"
#include "message/wire.h"
#include "program/ahead.h"
#include "program/doubt.h"
#include "program/graph.h"
#include "program/operations.h"
#include "program/thread.h"
#include "question/question.h"
#include "window/access.h"
#include "window/window.h"

#include "vtime/model/network.h"
#include "vtime/model/words.h"

#include <stdio.h>
#include <stdlib.h>

/* From the call of a send to the first that another rank may see of it. */
static sw_ps_t least(const sw_model_t *model)
{
    sw_ps_t least = SW_PS_NEVER;
    for (int class = SW_CLASS_DOMAIN; class < SW_CLASS_COUNT; class++) {
        const sw_model_link_t *link = &model->links[class];
        sw_ps_t time = link->o_send + link->L;
        if (link->point_count[0])
            time = SW_PS_NEVER;
        for (int k = 0; k < SW_STATES; k++)
            for (uint32_t i = 0; i < link->point_count[k]; i++)
                time = sw_ps_min(time, link->points[k][i].send);
        least = sw_ps_min(least, time);
    }
    return least;
}

void sw_engine_why(const sw_engine_t *engine, char *text, size_t size)
{
    *text = 0;
    if (engine->wrong)
        snprintf(text, size, "the operations of rank %u cannot be: %s",
                 engine->wrong_rank, engine->wrong_text);
}

bool sw_engine_context(sw_engine_t *engine, uint32_t number, uint32_t n,
                       const uint32_t *members)
{
    return sw_context_make(engine, number, n, members);
}

static bool nothing_but_latency(const sw_model_link_t *link)
{
    return link->g == 0 && link->G == 0 && link->point_count[0] == 0;
}

static void decide(sw_engine_t *engine, const sw_heap_event_t *event)
{
    sw_rank_t *rank = event->of;
    sw_match_decide(engine, rank->home, event->time);
    if (rank->state == SW_RANK_ASKS &&
        !sw_receive_tests(engine, rank, event->time))
        sw_question_decide(engine, rank, event->time);
}

/* What happens at each kind of event, and what a lower room asks of a higher
 * one. */
static const sw_handlers_t handlers = {
    .event =
        {
            [SW_EVENT_OUT] = sw_wire_out,
            [SW_EVENT_ENTER] = sw_wire_enter,
            [SW_EVENT_IN] = sw_wire_in,
            [SW_EVENT_DECIDE] = decide,
            [SW_EVENT_UNLOCK] = sw_window_unlock,
            [SW_EVENT_LOCK] = sw_window_lock,
            [SW_EVENT_BEGIN] = sw_started_begin,
            [SW_EVENT_READY] = sw_receive_come,
            [SW_EVENT_WAKE] = sw_receive_wake,
            [SW_EVENT_HANDS] = sw_receive_hands,
            [SW_EVENT_READY_NODE] = sw_graph_ready_node,
            [SW_EVENT_READY_MESSAGE] = sw_graph_ready_message,
            [SW_EVENT_OVER_NODE] = sw_graph_over_node,
            [SW_EVENT_LOOK] = sw_graph_look,
        },
    .node_complete = sw_graph_complete,
    .node_received = sw_graph_received,
    .node_arrives = sw_graph_arrives,
    .remote_left = sw_window_left,
    .remote_arrived = sw_window_arrived,
};

sw_engine_t *sw_engine_new(sw_model_t *model, const sw_op_source_t *source,
                           const sw_engine_options_t *options)
{
    sw_engine_t *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    e->handlers = &handlers;
    e->model = model;
    e->source = *source;
    if (options)
        e->check = options->check;
    e->ranks = model->ranks;
    e->bound = SW_PS_NEVER;
    uint32_t nodes = sw_model_nodes(model);
    e->rank = sw_pool_array(e->ranks, sizeof *e->rank);
    e->node = calloc(nodes, sizeof *e->node);
    e->late = calloc(e->ranks, sizeof *e->late);
    e->everybody = calloc(e->ranks, sizeof *e->everybody);
    e->which_room = 8;
    e->which = calloc(e->which_room, sizeof *e->which);
    e->times = calloc(e->ranks, sizeof *e->times);
    bool *bad = &e->memory;
    if (!e->which || !e->times || !e->rank || !e->node || !e->late ||
        !e->everybody ||
        !sw_pool_init(&e->requests, sizeof(sw_request_t), bad) ||
        !sw_pool_init(&e->messages, sizeof(sw_message_t), bad) ||
        !sw_pool_init(&e->strands, sizeof(sw_strand_t), bad) ||
        !sw_pool_init(&e->meetings, sizeof(sw_meeting_t), bad) ||
        !sw_pool_init(&e->channels, sizeof(sw_channel_t), bad) ||
        !sw_pool_init(&e->decisions, sizeof(sw_decided_t), bad) ||
        !sw_pool_init(&e->accesses, sizeof(sw_access_t), bad) ||
        !sw_pool_init(&e->locks, sizeof(sw_lock_t), bad) ||
        !sw_context_make(e, 0, e->ranks, NULL)) {
        sw_engine_free(e);
        return NULL;
    }
    e->free_port[0] = true;
    for (int class = 0; class < SW_CLASS_NETWORK; class++)
        e->free_port[0] &= model->loggopsim ||
                           nothing_but_latency(&model->links[class]);
    e->free_port[1] = !model->network &&
                      (model->loggopsim ||
                       nothing_but_latency(&model->links[SW_CLASS_NETWORK]));
    for (uint32_t i = 0; i < e->ranks; i++) {
        sw_rank_t *rank = &e->rank[i];
        e->everybody[i] = i;
        rank->main.rank = i;
        rank->main.main = true;
        rank->home = rank->current = rank;
        rank->look = SW_PS_NEVER;
        rank->node = sw_model_node(model, i);
        e->node[rank->node].ranks++;
        if (model->noise.period > 0)
            sw_noise_begin(&model->noise, i, &rank->noise);
        sw_agenda_ready(e, &rank->main);
    }
    e->ahead = least(model);
    if (model->network)
        sw_network_reset(model->network);
    return e;
}

void sw_engine_free(sw_engine_t *e)
{
    if (!e)
        return;
    for (uint32_t i = 0; e->rank && i < e->ranks; i++) {
        free(e->rank[i].list);
        free(e->rank[i].sections);
        sw_threads_free(&e->rank[i]);
        sw_ahead_free(&e->rank[i]);
        sw_graph_free(e->rank[i].graph);
    }
    sw_channels_free(e);
    sw_meetings_free(e);
    sw_contexts_free(e);
    sw_pool_free(&e->requests);
    sw_pool_free(&e->messages);
    sw_pool_free(&e->strands);
    sw_pool_free(&e->meetings);
    sw_pool_free(&e->channels);
    sw_pool_free(&e->decisions);
    sw_pool_free(&e->accesses);
    sw_pool_free(&e->locks);
    sw_lookup_free(&e->numbers);
    sw_lookup_free(&e->decided);
    sw_heap_free(&e->parked);
    sw_heap_free(&e->events);
    free(e->times);
    free(e->which);
    free(e->everybody);
    free(e->late);
    free(e->node);
    free(e->rank);
    free(e);
}

/* Those that were late may not be any more. */
static void wake_late(sw_engine_t *engine)
{
    uint32_t count = engine->late_count;
    engine->late_count = 0;
    engine->bound = SW_PS_NEVER;
    for (uint32_t i = 0; i < count; i++) {
        sw_rank_t *rank = engine->late[i];
        rank->late = false;
        if (rank->state == SW_RANK_LATE || rank->looking)
            sw_agenda_ready(engine, &rank->main);
    }
    for (uint32_t i = 0; engine->threaded && i < engine->ranks; i++)
        if (engine->rank[i].threaded)
            sw_thread_pump(engine, &engine->rank[i]);
}

static void run_strands(sw_engine_t *engine)
{
    while (engine->ready && !engine->wrong && !engine->memory) {
        sw_strand_t *strand = engine->ready;
        engine->ready = strand->queued;
        strand->ready = false;
        if (strand->main)
            sw_operations_run(engine, (sw_rank_t *)strand);
        else
            sw_collective_run(engine, strand);
    }
}

/* With many ranks, what is next is in no cache. Prefetch the five events that
 * may be next, and the rank that the first of them concerns. */
static void look_forward(const sw_engine_t *engine)
{
    const sw_heap_event_t *next = engine->events.events;
    size_t count = engine->events.count;
    for (size_t i = 0; i < 5 && i < count; i++)
        sw_prefetch(next[i].of, offsetof(sw_message_t, scale));
    if (count && next->key >> 32 == SW_EVENT_OUT) {
        sw_prefetch(&engine->rank[(uint32_t)next->key].out, 1);
    } else if (count && next->key >> 32 == SW_EVENT_IN) {
        const sw_message_t *m = next->of;
        sw_prefetch(&engine->rank[m->to], offsetof(sw_rank_t, taken));
        if (m->receive)
            sw_prefetch(m->receive, sizeof *m->receive);
    }
}

static void happen(sw_engine_t *engine)
{
    sw_heap_event_t event = sw_heap_pop(&engine->events);
    look_forward(engine);
    /* What the host decides comes late, and so does a rank that went on
     * without a lock; all else comes in the order of time. */
    sw_engine_must(engine, event.time >= engine->now || engine->source.answer ||
                               engine->threaded || engine->result.forced ||
                               event.key >> 32 == SW_EVENT_DECIDE);
    engine->now = sw_ps_max(engine->now, event.time);
    handlers.event[event.key >> 32](engine, &event);
}

/* One of the late ranks may still go on. */
static bool anybody_late(const sw_engine_t *engine)
{
    for (uint32_t i = 0; i < engine->late_count; i++) {
        const sw_rank_t *rank = engine->late[i];
        if (rank->state == SW_RANK_LATE ? !rank->left : rank->looking)
            return true;
    }
    return false;
}

bool sw_engine_suspects(const sw_engine_t *engine)
{
    return engine->suspects;
}

bool sw_engine_leave_behind(sw_engine_t *engine,
                            bool (*asleep)(void *of, uint32_t rank,
                                           uint32_t thread, bool looks),
                            void *of)
{
    bool any = false;
    /* Without an event that waits for them no rank gains by it. */
    uint32_t count = engine->events.count ? engine->late_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        sw_rank_t *rank = engine->late[i];
        if (rank->state != SW_RANK_LATE || rank->stuck || rank->left ||
            !asleep(of, rank->main.rank, rank->thread,
                    engine->seen && rank->home->windows))
            continue;
        rank->stuck = any = true;
        engine->result.forced++;
    }
    return any;
}

sw_engine_state_t sw_engine_run(sw_engine_t *engine)
{
    wake_late(engine);
    for (;;) {
        run_strands(engine);
        if (engine->memory)
            return SW_ENGINE_MEMORY;
        if (engine->wrong)
            return SW_ENGINE_WRONG;
        if (engine->ended == engine->ranks + engine->threads)
            return SW_ENGINE_DONE;
        const sw_heap_event_t *parked = engine->parked.events;
        const sw_heap_event_t *next = engine->events.events;
        bool any_parked = engine->parked.count > 0;
        bool any = engine->events.count > 0;
        if (any && !(any_parked && parked->time <= next->time) &&
            (next->time < engine->bound ||
             next->time < sw_agenda_late_again(engine))) {
            happen(engine);
        } else if (any_parked) {
            sw_rank_t *rank = sw_heap_pop(&engine->parked).of;
            sw_agenda_ready(engine, &rank->main);
        } else if (engine->live && sw_ahead_still(engine)) {
            continue;
        } else if (engine->threaded && !engine->source.answer &&
                   sw_thread_read_on(engine)) {
            continue;
        } else if (anybody_late(engine)) {
            engine->suspects = false;
            return SW_ENGINE_WAITS;
        } else if (!sw_doubt_resolve(engine)) {
            engine->suspects = true;
            return sw_doubt(engine) ? SW_ENGINE_WAITS : SW_ENGINE_DEADLOCK;
        }
    }
}
