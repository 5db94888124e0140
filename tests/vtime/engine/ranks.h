/*
 * ranks.h - ranks whose operations are in memory, for the engine's tests. They
 * hand their operations in at once, or hesitantly, and keep the answers.
 */
#ifndef RANKS_H
#define RANKS_H

#include "vtime/say.h"
#include "vtime/engine/engine.h"

#include <string.h>

enum { RANKS_ANSWERS = 64, RANKS_WHICH = 24 };

typedef struct {
    sw_vop_t *ops;
    uint32_t count, room, at;
    sw_op_answer_t answers[RANKS_ANSWERS];
    uint32_t which[RANKS_ANSWERS][RANKS_WHICH];
    uint32_t answered, asked;
} script_t;

typedef struct {
    uint32_t n;
    script_t *rank;
    uint64_t hesitates; /* a state of random_from; 0: never */
    bool asks;          /* the engine can answer the ranks */
    sw_model_t model;
    sw_engine_t *engine;
    sw_engine_result_t result;
    sw_rank_time_t *times;
    uint32_t contexts;
    struct {
        uint32_t number, n, members[64];
    } context[8];
} ranks_t;

static inline sw_source_state_t ranks_next(void *of, uint32_t rank,
                                           sw_vop_t *op)
{
    ranks_t *r = of;
    script_t *s = &r->rank[rank];
    if (r->hesitates && random_from(&r->hesitates) % 3 == 0)
        return SW_SOURCE_LATER;
    if (s->at == s->count)
        return SW_SOURCE_END;
    *op = s->ops[s->at++];
    return SW_SOURCE_OP;
}

static inline void ranks_answer(void *of, uint32_t rank,
                                const sw_op_answer_t *answer)
{
    ranks_t *r = of;
    script_t *s = &r->rank[rank];
    MUST(s->answered < RANKS_ANSWERS && answer->count <= RANKS_WHICH);
    memcpy(s->which[s->answered], answer->which,
           answer->count * sizeof *answer->which);
    s->answers[s->answered++] = *answer;
}

static inline ranks_t *ranks_new(uint32_t n)
{
    ranks_t *r = calloc(1, sizeof *r);
    MUST(r);
    r->n = n;
    r->rank = calloc(n, sizeof *r->rank);
    r->times = calloc(n, sizeof *r->times);
    MUST(r->rank && r->times);
    sw_model_init(&r->model, n);
    return r;
}

static inline void ranks_free(ranks_t *r)
{
    sw_engine_free(r->engine);
    sw_model_free(&r->model);
    for (uint32_t i = 0; i < r->n; i++)
        free(r->rank[i].ops);
    free(r->rank);
    free(r->times);
    free(r);
}

/* o = 10, o' = 20, L = 100, g = 5, G = 1 ps a byte, S = 1000, everywhere. */
static inline ranks_t *ranks_linked(uint32_t n)
{
    ranks_t *r = ranks_new(n);
    for (int class = 0; class < SW_CLASS_COUNT; class ++)
        r->model.links[class] = (sw_model_link_t){
            .o_send = 10, .o_recv = 20, .L = 100, .g = 5, .G = 1, .S = 1000};
    return r;
}

static inline void put(ranks_t *r, uint32_t rank, sw_vop_t op)
{
    script_t *s = &r->rank[rank];
    if (s->count == s->room) {
        s->room = s->room ? 2 * s->room : 16;
        s->ops = realloc(s->ops, s->room * sizeof *s->ops);
        MUST(s->ops);
    }
    s->ops[s->count++] = op;
}

static inline void compute(ranks_t *r, uint32_t rank, sw_ps_t time)
{
    put(r, rank, (sw_vop_t){.kind = SW_OP_COMPUTE, .time = time});
}

static inline void isend(ranks_t *r, uint32_t from, uint32_t to, int tag,
                         uint64_t bytes, uint32_t request)
{
    put(r, from,
        (sw_vop_t){.kind = SW_OP_SEND,
                   .peer = (int32_t)to,
                   .tag = tag,
                   .bytes = bytes,
                   .request = request});
}

static inline void irecv(ranks_t *r, uint32_t rank, int from, int tag,
                         uint32_t request)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_RECV,
                   .peer = from,
                   .tag = tag,
                   .bytes = 1 << 20,
                   .request = request});
}

#define send(r, from, to, tag, bytes) isend(r, from, to, tag, bytes, 0)
#define recv(r, rank, from, tag) irecv(r, rank, from, tag, 0)

static inline void with_request(ranks_t *r, uint32_t rank, unsigned kind,
                                uint32_t request)
{
    put(r, rank, (sw_vop_t){.kind = (uint8_t)kind, .request = request});
}

#define wait_for(r, rank, request) with_request(r, rank, SW_OP_WAIT, request)
#define list(r, rank, request) with_request(r, rank, SW_OP_LIST, request)

static inline void choose(ranks_t *r, uint32_t rank, unsigned what)
{
    put(r, rank, (sw_vop_t){.kind = SW_OP_SELECT, .what = (uint8_t)what});
}

static inline void collective(ranks_t *r, uint32_t rank, unsigned what,
                              int root, uint64_t bytes, uint32_t request)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_COLLECTIVE,
                   .what = (uint8_t)what,
                   .peer = root,
                   .bytes = bytes,
                   .sent = bytes,
                   .received = bytes,
                   .request = request});
}

/* A context of these ranks. */
static inline void context(ranks_t *r, uint32_t number, uint32_t n,
                           const uint32_t *members)
{
    MUST(r->contexts < 8 && n <= 64);
    r->context[r->contexts].number = number;
    r->context[r->contexts].n = n;
    memcpy(r->context[r->contexts++].members, members, n * sizeof *members);
}

#define MEMBERS(...)   \
    (const uint32_t[]) \
    {                  \
        __VA_ARGS__    \
    }

static inline const sw_op_answer_t *answer(const ranks_t *r, uint32_t rank,
                                           uint32_t i)
{
    MUST(i < r->rank[rank].answered);
    return &r->rank[rank].answers[i];
}

/* From the beginning; `seed` 0: without hesitating. */
static inline sw_engine_state_t ranks_try(ranks_t *r, uint64_t seed)
{
    sw_op_source_t source = {
        .of = r, .next = ranks_next, .answer = r->asks ? ranks_answer : NULL};
    sw_engine_options_t options = {.check = true};
    r->hesitates = seed;
    for (uint32_t i = 0; i < r->n; i++)
        r->rank[i].at = r->rank[i].answered = 0;
    sw_engine_free(r->engine);
    r->engine = sw_engine_new(&r->model, &source, &options);
    MUST(r->engine);
    for (uint32_t i = 0; i < r->contexts; i++)
        MUST(sw_engine_context(r->engine, r->context[i].number, r->context[i].n,
                               r->context[i].members));
    sw_engine_state_t state;
    do {
        state = sw_engine_run(r->engine);
        MUST(state != SW_ENGINE_WAITS || seed || r->asks);
    } while (state == SW_ENGINE_WAITS);
    sw_engine_result(r->engine, &r->result);
    return state;
}

/* But for `until`, which is what happens to be known. */
static inline void ranks_same_answers(const script_t *a, const script_t *b)
{
    MUST(a->answered == b->answered);
    for (uint32_t i = 0; i < a->answered; i++) {
        const sw_op_answer_t *x = &a->answers[i], *y = &b->answers[i];
        MUST(x->clock == y->clock && x->found == y->found &&
             x->count == y->count && x->peer == y->peer && x->tag == y->tag &&
             x->bytes == y->bytes);
        MUST(!memcmp(a->which[i], b->which[i], x->count * sizeof *a->which[i]));
        /* Where the next thing was to wait, and to ask when it was over. */
        if (!y->found && i + 1 < b->answered && b->answers[i + 1].found)
            MUST(y->until <= b->answers[i + 1].clock);
    }
}

/* To the end, with the same times however it is handed in. */
static inline void ranks_run(ranks_t *r)
{
    MUST(ranks_try(r, 0) == SW_ENGINE_DONE);
    sw_engine_result_t once = r->result;
    memcpy(r->times, once.ranks, r->n * sizeof *r->times);
    script_t *first = calloc(r->n, sizeof *first);
    MUST(first);
    memcpy(first, r->rank, r->n * sizeof *first);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        MUST(ranks_try(r, seed * 0x9e3779b97f4a7c15u) == SW_ENGINE_DONE);
        MUST(!memcmp(r->times, r->result.ranks, r->n * sizeof *r->times));
        MUST(once.end == r->result.end && once.bytes == r->result.bytes &&
             once.messages == r->result.messages &&
             once.operations == r->result.operations);
        MUST(!memcmp(once.time, r->result.time, sizeof once.time));
        for (uint32_t i = 0; i < r->n; i++)
            ranks_same_answers(&first[i], &r->rank[i]);
    }
    free(first);
    for (uint32_t i = 0; i < r->n; i++) {
        const sw_rank_time_t *t = &r->times[i];
        MUST(t->end == t->compute + t->noise + t->messages + t->collectives);
    }
}

static inline void ends(ranks_t *r, uint32_t rank, sw_ps_t time,
                        const char *file, int line)
{
    sw_ps_t end = r->result.ranks[rank].end;
    if (end == time)
        return;
    fprintf(stderr, "%s:%d: rank %u ends at %lld, not %lld\n", file, line, rank,
            (long long)end, (long long)time);
    exit(1);
}
#define ENDS(r, rank, time) ends(r, rank, time, __FILE__, __LINE__)

#endif
