/*
 * context.c - communicators: their members, and the collectives to which some
 * members have not come yet.
 *
 * Members run ahead of each other (a reduce does not hold its leaves). So
 * several collectives of a context can be open at a time; they stand in a ring.
 */
#include "inside.h"

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

static void forget(sw_context_t *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->count; i++) {
        sw_meeting_t *m = c->meetings[(c->at + i) & (c->room - 1)];
        free(m->comes);
        free(m->scans);
    }
    free(c->meetings);
    free(c->members);
    free(c->sorted);
    free(c->begun);
    free(c->window);
    free(c);
}

bool sw_engine_context(sw_engine_t *engine, uint32_t number, uint32_t n,
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
    uint32_t count = engine->context_count;
    if ((count & (count - 1)) == 0) {
        sw_context_t **more = realloc(engine->context, (count ? 2 * count : 1) *
                                                       sizeof *more);
        if (!more) {
            forget(c);
            return false;
        }
        engine->context = more;
    }
    if (number && !sw_lookup_set(&engine->context_of, number, c)) {
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

const sw_plan_t *sw_context_plan(sw_engine_t *engine, sw_context_t *c,
                                 const sw_vop_t *call, bool second)
{
    /* Members are at different calls, but mostly of a few kinds. */
    uint32_t state = sw_model_state(engine->model, call->time, call->bytes);
    uint32_t first = (uint32_t)call->tag;
    uint64_t key = call->what ^ (uint64_t)second << 8 ^
                   (uint64_t)state << 16 ^
                   call->bytes * 0x9e3779b97f4a7c15u ^
                   call->sent * 0xd6e8feb86659fd93u ^ call->received << 32;
    struct sw_planned_call *p = &c->plans[sw_lookup_mix(key) >> 16 &
                                          (SW_CONTEXT_PLANS - 1)];
    if (p->known && p->what == call->what && p->state == state &&
        p->first == first && p->second == second && p->bytes == call->bytes &&
        p->sent == call->sent && p->received == call->received)
        return &p->plan;
    *p = (struct sw_planned_call){true, call->what, second, state, first,
                                  call->bytes, call->sent, call->received,
                                  {.scale = 1}};
    const uint32_t *all = c->members ? c->members : engine->everybody;
    const uint32_t *const members[2] = {all, all + first};
    const uint32_t n[2] = {first, c->n - first};
    if (first)
        sw_plan_between(engine->model, call, n, members, second, &p->plan);
    else
        sw_plan_make(engine->model, call, c->n, all, &p->plan);
    return &p->plan;
}

sw_meeting_t *sw_context_meeting(sw_engine_t *engine, sw_context_t *c,
                                 uint32_t n)
{
    while (n - c->base >= c->count) {
        if (c->count == c->room) {
            uint32_t room = c->room ? 2 * c->room : 4;
            sw_meeting_t **more = malloc(room * sizeof *more);
            if (!more) {
                engine->memory = true;
                return NULL;
            }
            for (uint32_t i = 0; i < c->count; i++)
                more[i] = c->meetings[(c->at + i) & (c->room - 1)];
            free(c->meetings);
            c->meetings = more;
            c->at = 0;
            c->room = room;
        }
        sw_meeting_t *m = sw_pool_take(&engine->meetings);
        *m = (sw_meeting_t){0};
        c->meetings[(c->at + c->count++) & (c->room - 1)] = m;
    }
    return c->meetings[(c->at + (n - c->base)) & (c->room - 1)];
}

void sw_context_clear(sw_engine_t *engine, sw_context_t *c)
{
    while (c->count && c->meetings[c->at]->come == c->n &&
           !c->meetings[c->at]->strands) {
        sw_meeting_t *m = c->meetings[c->at];
        free(m->comes);
        free(m->scans);
        sw_pool_give(&engine->meetings, m);
        c->at = (c->at + 1) & (c->room - 1);
        c->base++;
        c->count--;
    }
}
