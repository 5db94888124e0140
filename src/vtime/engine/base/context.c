/*
 * context.c - see context.h.
 */
#include "context.h"
#include "state.h"

#include "node/base/grow.h"

#include <stdlib.h>
#include <string.h>

sw_context_t *sw_context_find(sw_engine_t *engine, uint32_t number)
{
    if (number == 0)
        return engine->context[0];
    return sw_lookup_find(&engine->context_of, number);
}

typedef struct {
    uint32_t rank, number;
} member_t;

static int by_rank(const void *a, const void *b)
{
    const member_t *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* False: no memory, or a member twice. */
static bool sort(sw_context_t *c)
{
    bool ascends = true;
    for (uint32_t i = 1; i < c->n; i++)
        ascends &= c->members[i - 1] < c->members[i];
    if (ascends)
        return true;
    member_t *all = malloc(c->n * sizeof *all);
    c->sorted = malloc(c->n * sizeof *c->sorted);
    bool good = all && c->sorted;
    if (good) {
        for (uint32_t i = 0; i < c->n; i++)
            all[i] = (member_t){c->members[i], i};
        qsort(all, c->n, sizeof *all, by_rank);
        for (uint32_t i = 0; i < c->n; i++) {
            c->sorted[i] = all[i].number;
            good &= i == 0 || all[i - 1].rank != all[i].rank;
        }
    }
    free(all);
    return good;
}

uint32_t sw_context_member(const sw_context_t *c, uint32_t rank)
{
    if (!c->members)
        return rank;
    for (uint32_t low = 0, high = c->n; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        uint32_t number = c->sorted ? c->sorted[middle] : middle;
        if (c->members[number] == rank)
            return number;
        if (c->members[number] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return UINT32_MAX;
}

bool sw_context_address(sw_engine_t *engine, sw_rank_t *rank,
                        const sw_vop_t *op, bool anybody, uint64_t *context)
{
    sw_context_t *c = sw_context_find(engine, op->context);
    if (!c) {
        sw_engine_wrong(engine, rank->main.rank, "there is no context %u",
                        op->context);
        return false;
    }
    *context = 2 * (uint64_t)c->place;
    if (anybody && op->peer == SW_OP_ANY)
        return true;
    if (op->peer < 0 || (uint32_t)op->peer >= engine->ranks) {
        sw_engine_wrong(engine, rank->main.rank,
                        "a message to or from rank "
                        "%d, which there is not",
                        op->peer);
        return false;
    }
    return true;
}

static void forget(sw_context_t *c)
{
    if (!c)
        return;
    free(c->meetings);
    free(c->members);
    free(c->sorted);
    free(c->begun);
    free(c->window);
    free(c);
}

bool sw_context_make(sw_engine_t *engine, uint32_t number, uint32_t n,
                     const uint32_t *members)
{
    sw_context_t *old = engine->context_count ? sw_context_find(engine, number)
                                              : NULL;
    if (n == 0 || n > engine->ranks)
        return false;
    for (uint32_t i = 0; members && i < n; i++)
        if (members[i] >= engine->ranks)
            return false;
    if (old) {
        bool same = n == old->n;
        for (uint32_t i = 0; same && i < n; i++)
            same = (old->members ? old->members[i] : i) ==
                   (members ? members[i] : i);
        return same;
    }
    sw_context_t *c = calloc(1, sizeof *c);
    if (!c)
        return false;
    c->number = number;
    c->place = engine->context_count;
    c->n = n;
    c->begun = calloc(n, sizeof *c->begun);
    c->members = members ? malloc(n * sizeof *members) : NULL;
    if (c->members)
        memcpy(c->members, members, n * sizeof *members);
    if (!c->begun || (members && (!c->members || !sort(c)))) {
        forget(c);
        return false;
    }
    if (!sw_grow(&engine->context, engine->context_count, &engine->context_room,
                 sizeof *engine->context) ||
        (number && !sw_lookup_set(&engine->context_of, number, c))) {
        forget(c);
        return false;
    }
    engine->context[engine->context_count++] = c;
    return true;
}

void sw_contexts_free(sw_engine_t *engine)
{
    for (uint32_t i = 0; i < engine->context_count; i++)
        forget(engine->context[i]);
    free(engine->context);
    sw_lookup_free(&engine->context_of);
}
