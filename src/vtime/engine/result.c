/*
 * result.c - what the engine has found, and what a rank that does not go on
 * waits for.
 */
#include "engine.h"
#include "base/context.h"
#include "base/request.h"
#include "base/state.h"
#include "program/graph.h"

#include <stdio.h>
#include <stdlib.h>

void sw_engine_result(const sw_engine_t *engine, sw_engine_result_t *result)
{
    *result = engine->result;
    result->end = 0;
    result->operations = 0;
    for (uint32_t i = 0; i < engine->ranks; i++) {
        sw_rank_t *rank = &engine->rank[i];
        for (sw_rank_t *t = rank; t; t = t->sibling)
            result->operations += t->operations;
        rank = sw_rank_last(rank);
        rank->time.end = rank->main.clock;
        engine->times[i] = rank->time;
        result->end = sw_ps_max(result->end, rank->main.clock);
        sw_engine_must(engine, rank->time.end == rank->time.compute +
                                                     rank->time.noise +
                                                     rank->time.messages +
                                                     rank->time.collectives);
        sw_engine_must(engine,
                       rank->time.waiting <=
                           rank->time.messages + rank->time.collectives);
    }
    result->ranks = engine->times;
}

static void say_tag(char *text, size_t size, int32_t tag)
{
    if (tag == SW_OP_ANY)
        snprintf(text, size, "any tag");
    else
        snprintf(text, size, "tag %d", tag);
}

static void say_peer(char *text, size_t size, int32_t peer)
{
    if (peer == SW_OP_ANY)
        snprintf(text, size, "anybody");
    else
        snprintf(text, size, "%d", peer);
}

static void say_request(const sw_engine_t *engine, const sw_request_t *r,
                        const sw_vop_t *op, char *text, size_t size)
{
    char peer[16], tag[16];
    const sw_context_t *c = r->kind == SW_REQUEST_RECV
                                ? engine->context[r->context / 2]
                                : NULL;
    say_peer(peer, sizeof peer, r->peer);
    say_tag(tag, sizeof tag, r->tag);
    if (r->kind == SW_REQUEST_THREAD)
        snprintf(text, size, "another of its threads");
    else if (r->kind == SW_REQUEST_COLLECTIVE)
        snprintf(text, size, "%s%s on context %u",
                 op->request ? "wait for " : "", sw_collective_names[r->what],
                 op->kind == SW_OP_COLLECTIVE ? op->context : r->in_context);
    else if (r->kind == SW_REQUEST_WINDOW)
        snprintf(text, size, "%s of the window of %s", sw_window_names[r->what],
                 r->peer < 0 ? "all" : peer);
    else if (c && c->window)
        snprintf(text, size, "%s of a window by %s",
                 r->tag == SW_WINDOW_POSTED ? "post" : "complete", peer);
    else
        snprintf(text, size, "%s%s %s, %s", op->request ? "wait for " : "",
                 r->kind == SW_REQUEST_SEND ? "send to" : "receive from", peer,
                 tag);
}

void sw_engine_stuck(const sw_engine_t *engine, uint32_t number, char *text,
                     size_t size)
{
    static const char *const select[] = {
        [SW_SELECT_ANY] = "wait for any", [SW_SELECT_SOME] = "wait for some",
        [SW_TEST_ALL] = "test all",       [SW_TEST_ANY] = "test any",
        [SW_TEST_SOME] = "test some",
    };
    if (size)
        *text = 0;
    if (number >= engine->ranks)
        return;
    const sw_rank_t *rank = &engine->rank[number];
    for (const sw_rank_t *t = rank; t; t = t->sibling)
        if (t->state == SW_RANK_WAITS && rank->state != SW_RANK_WAITS)
            rank = t;
    const sw_vop_t *op = &rank->now;
    char peer[16], tag[16];
    if (engine->wrong && number == engine->wrong_rank) {
        snprintf(text, size, "%s", engine->wrong_text);
    } else if (rank->state == SW_RANK_WAITS) {
        say_request(engine, rank->graph ? sw_graph_stuck(rank) : rank->waits,
                    op, text, size);
    } else if (rank->state == SW_RANK_ASKS && op->kind == SW_OP_SELECT) {
        snprintf(text, size, "%s of %u requests",
                 op->what <= SW_TEST_SOME ? select[op->what] : "choose",
                 rank->listed);
    } else if (rank->state == SW_RANK_ASKS) {
        say_peer(peer, sizeof peer, op->peer);
        say_tag(tag, sizeof tag, op->tag);
        snprintf(text, size, "%s from %s, %s",
                 op->kind == SW_OP_CHOOSE ? "receive" : "probe", peer, tag);
    } else if (rank->state == SW_RANK_LATE) {
        snprintf(text, size, "its next operation");
    }
}
