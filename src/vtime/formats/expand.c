/*
 * expand.c - see expand.h.
 */
#include "expand.h"

#include <stdlib.h>

/* Collectives of one context that may be under way at once have different
 * tags. */
#define TAGS 1024

static uint64_t pair(uint32_t a, uint64_t b)
{
    return (uint64_t)a << 32 ^ b;
}

static bool put(sw_expand_t *e, sw_lookup_t *to, uint64_t key, uint64_t value)
{
    uint64_t *at = sw_lookup_put(to, key);
    if (at)
        *at = value;
    return e->memory &= at != NULL;
}

static bool read_contexts(sw_expand_t *e, const sw_op_file_t *ops)
{
    e->count = sw_op_context_count(ops);
    size_t n = (size_t)e->count + 1;
    e->numbers = calloc(n, sizeof *e->numbers);
    e->sizes = calloc(n, sizeof *e->sizes);
    e->members = calloc(n, sizeof *e->members);
    e->memory = e->numbers && e->sizes && e->members;
    for (uint32_t i = 0; e->memory && i < e->count; i++) {
        e->members[i] = sw_op_context(ops, i, &e->numbers[i], &e->sizes[i]);
        e->memory = e->members[i] != NULL;
        for (uint32_t k = 0; e->memory && k < e->sizes[i]; k++)
            put(e, &e->places, pair(e->members[i][k], e->numbers[i]), k + 1);
    }
    return e->memory;
}

/* By number, as they are sorted. `count`: it is the world. */
static uint32_t place_of(const sw_expand_t *e, uint32_t context)
{
    uint32_t low = 0, high = context ? e->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (e->numbers[middle] < context)
            low = middle + 1;
        else
            high = middle;
    }
    return context && low < e->count && e->numbers[low] == context ? low
                                                                   : e->count;
}

/* Which collective of its context this is, from 0. */
static uint64_t next_of(sw_expand_t *e, uint32_t rank, uint32_t context)
{
    uint64_t *n = sw_lookup_put(&e->begun, pair(rank, context));
    e->memory &= n != NULL;
    return n ? (*n)++ : 0;
}

/* Does no rank have several threads? */
static bool count_blocks(sw_expand_t *e, sw_op_file_t *ops)
{
    sw_op_source_t source;
    sw_vop_t op;
    bool threads = false;
    sw_op_rewind(ops);
    sw_op_source(ops, &source);
    for (uint32_t rank = 0; e->memory && rank < e->ranks; rank++) {
        bool graph = false;
        while (e->memory && source.next(source.of, rank, &op) == SW_SOURCE_OP) {
            if (op.kind == SW_OP_THREAD && op.what == SW_THREAD_GRAPH)
                e->graph = graph = true;
            threads |= op.kind == SW_OP_THREAD && op.request && !graph;
            if (op.kind != SW_OP_COLLECTIVE)
                continue;
            uint64_t *most = sw_lookup_put(
                &e->bytes, pair(op.context, next_of(e, rank, op.context)));
            e->memory &= most != NULL;
            if (most && *most < op.bytes)
                *most = op.bytes;
        }
    }
    sw_lookup_clear(&e->begun);
    sw_op_rewind(ops);
    return !threads;
}

bool sw_expand_begin(sw_expand_t *e, sw_op_file_t *ops, const sw_convert_t *how,
                     const char *in)
{
    *e = (sw_expand_t){.how = how, .ranks = sw_op_ranks(ops)};
    if (read_contexts(e, ops) && !count_blocks(e, ops))
        return sw_convert_fail("%s has ranks of several threads that call MPI "
                               "at once, which only a file of operations can "
                               "tell",
                               in);
    return e->memory || sw_convert_fail("%s: no memory", in);
}

void sw_expand_end(sw_expand_t *e)
{
    for (uint32_t i = 0; e->members && i < e->count; i++)
        free(e->members[i]);
    free(e->numbers);
    free(e->sizes);
    free(e->members);
    sw_lookup_free(&e->places);
    sw_lookup_free(&e->begun);
    sw_lookup_free(&e->bytes);
    sw_lookup_free(&e->tags);
    *e = (sw_expand_t){0};
}

bool sw_expand_world(const sw_expand_t *e, uint32_t context)
{
    uint32_t place = place_of(e, context);
    if (place == e->count)
        return true;
    bool whole = e->sizes[place] == e->ranks;
    for (uint32_t i = 0; whole && i < e->ranks; i++)
        whole = e->members[place][i] == i;
    return whole;
}

void sw_expand_call(sw_expand_t *e, uint32_t rank, const sw_vop_t *op,
                    sw_expanded_t *to)
{
    sw_op_collective_t what = (sw_op_collective_t)op->what;
    uint64_t nth = next_of(e, rank, op->context);
    const uint64_t *most = sw_lookup_get(&e->bytes, pair(op->context, nth));
    const uint64_t *place = sw_lookup_get(&e->places, pair(rank, op->context));
    *to = (sw_expanded_t){.place = place_of(e, op->context),
                          .nth = nth,
                          .me = place ? (uint32_t)*place - 1 : rank};
    const char *name = op->tag ? NULL : e->how->algorithms[what];
    if (!name && !op->tag)
        name = sw_algorithm_names(what)[0];
    if (name)
        to->algorithm = sw_algorithm_named(what, name);
    if (op->tag)
        to->algorithm = &sw_between_linear;
    /* Without one it is as a barrier. */
    if (!to->algorithm) {
        what = SW_COLLECTIVE_BARRIER;
        name = sw_algorithm_names(what)[0];
        to->algorithm = name ? sw_algorithm_named(what, name) : NULL;
    }
    to->call = (sw_call_t){.what = what,
                           .first = (uint32_t)op->tag,
                           .root = op->peer >= 0 ? (uint32_t)op->peer
                                   : op->tag     ? SW_STEP_NOBODY
                                                 : 0,
                           .n = to->place == e->count ? e->ranks
                                                      : e->sizes[to->place],
                           .bytes = most ? *most : op->bytes};
}

bool sw_expand_step(const sw_expand_t *e, const sw_expanded_t *call, uint32_t k,
                    sw_step_t *step)
{
    if (!call->algorithm || call->call.n < 2 ||
        !sw_algorithm_step(call->algorithm, &call->call, call->me, k, step))
        return false;
    if (call->place < e->count) {
        const uint32_t *members = e->members[call->place];
        if (step->to != SW_STEP_NOBODY)
            step->to = members[step->to];
        if (step->from != SW_STEP_NOBODY)
            step->from = members[step->from];
    }
    return true;
}

uint32_t sw_expand_tag(sw_expand_t *e, uint32_t context, uint64_t tag)
{
    if (!context && tag < SW_EXPAND_TAG_SMALL)
        return (uint32_t)tag;
    if (tag & SW_EXPAND_COLLECTIVE)
        tag = SW_EXPAND_COLLECTIVE | (tag % TAGS);
    /* Both in one key: contexts in the upper bits, which a product spreads. */
    uint64_t key = ((uint64_t)context << 41 | tag) + 1;
    uint64_t *number = sw_lookup_put(&e->tags, key);
    e->memory &= number != NULL;
    if (number && !*number)
        *number = SW_EXPAND_TAG_SMALL + e->tags.used;
    return number ? (uint32_t)*number : 0;
}
