/*
 * meeting.c - see meeting.h. Several collectives of a context can be open at a
 * time. They stand in a ring.
 */
#include "meeting.h"

#include "node/base/grow.h"

#include <stdlib.h>

const sw_plan_t *sw_meeting_plan(sw_engine_t *engine, sw_context_t *c,
                                 const sw_vop_t *call, bool second)
{
    /* Members are at different calls, but mostly of a few kinds. */
    uint32_t state = sw_model_state(engine->model, call->time, call->bytes);
    uint32_t first = (uint32_t)call->tag;
    uint64_t key = call->what ^ (uint64_t)second << 8 ^ (uint64_t)state << 16 ^
                   call->bytes * 0x9e3779b97f4a7c15u ^
                   call->sent * 0xd6e8feb86659fd93u ^ call->received << 32;
    struct sw_planned_call
        *p = &c->plans[sw_lookup_mix(key) >> 16 & (SW_CONTEXT_PLANS - 1)];
    if (p->known && p->what == call->what && p->state == state &&
        p->first == first && p->second == second && p->bytes == call->bytes &&
        p->sent == call->sent && p->received == call->received)
        return &p->plan;
    *p = (struct sw_planned_call){true,       call->what,     second,
                                  state,      first,          call->bytes,
                                  call->sent, call->received, {.scale = 1}};
    const uint32_t *all = c->members ? c->members : engine->everybody;
    const uint32_t *const members[2] = {all, all + first};
    const uint32_t n[2] = {first, c->n - first};
    if (first)
        sw_plan_between(engine->model, call, n, members, second, &p->plan);
    else
        sw_plan_make(engine->model, call, c->n, all, &p->plan);
    return &p->plan;
}

sw_meeting_t *sw_meeting_find(sw_engine_t *engine, sw_context_t *c, uint32_t n)
{
    while (n - c->base >= c->count) {
        if (!sw_grow_ring(&c->meetings, c->count, &c->room, sizeof *c->meetings,
                          c->at)) {
            engine->memory = true;
            return NULL;
        }
        sw_meeting_t *m = sw_pool_take(&engine->meetings);
        *m = (sw_meeting_t){0};
        c->meetings[(c->at + c->count++) & (c->room - 1)] = m;
    }
    return c->meetings[(c->at + (n - c->base)) & (c->room - 1)];
}

void sw_meetings_clear(sw_engine_t *engine, sw_context_t *c)
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

void sw_meetings_free(sw_engine_t *engine)
{
    for (uint32_t k = 0; k < engine->context_count; k++) {
        sw_context_t *c = engine->context[k];
        for (uint32_t i = 0; i < c->count; i++) {
            sw_meeting_t *m = c->meetings[(c->at + i) & (c->room - 1)];
            free(m->comes);
            free(m->scans);
        }
    }
}

bool sw_meeting_rooted(unsigned what)
{
    return sw_collective_waits[what] == SW_WAITS_ROOT ||
           sw_collective_waits[what] == SW_WAITS_AT_ROOT;
}

bool sw_meeting_come(sw_engine_t *engine, sw_context_t *c, sw_meeting_t *m,
                     uint32_t me, const sw_vop_t *op, sw_ps_t at)
{
    m->latest = sw_ps_max(m->latest, at);
    if (sw_meeting_rooted(op->what) && me == (uint32_t)op->peer) {
        m->root_there = true;
        m->root_come = at;
    }
    if (sw_collective_waits[op->what] != SW_WAITS_LOWER)
        return true;
    if (!m->comes) {
        m->comes = malloc(c->n * sizeof *m->comes);
        if (!m->comes) {
            engine->memory = true;
            return false;
        }
        for (uint32_t i = 0; i < c->n; i++)
            m->comes[i] = -1;
    }
    m->comes[me] = at;
    for (; m->before < c->n && m->comes[m->before] >= 0; m->before++)
        if (m->before)
            m->comes[m->before] = sw_ps_max(m->comes[m->before],
                                            m->comes[m->before - 1]);
    return true;
}

bool sw_meeting_came(const sw_context_t *c, const sw_meeting_t *m, uint32_t me,
                     sw_ps_t *came)
{
    bool root = sw_meeting_rooted(m->call.what) && me == (uint32_t)m->call.peer;
    *came = 0;
    switch (sw_collective_waits[m->call.what]) {
    case SW_WAITS_ALL: *came = m->latest; return m->come == c->n;
    case SW_WAITS_ROOT:
        *came = root ? 0 : m->root_come;
        return root || m->root_there;
    case SW_WAITS_AT_ROOT:
        *came = root ? m->latest : 0;
        return !root || m->come == c->n;
    case SW_WAITS_LOWER:
        *came = m->before > me ? m->comes[me] : 0;
        return m->before > me;
    case SW_WAITS_NEIGHBOURS: break;
    }
    return true;
}
