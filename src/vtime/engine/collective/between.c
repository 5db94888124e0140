/*
 * between.c - members of two groups meet in a collective, by cost
 * (plan_between.c).
 *
 * Without a root, all members wait for all: one member of a group passes on
 * what the group gets. With a root, it waits for all of the other group, or
 * they wait for it; the members of its own group wait for none.
 */
#include "between.h"

/* All waiting members leave. */
static void leave(sw_engine_t *engine, sw_meeting_t *m, sw_ps_t come)
{
    for (sw_request_t *r = m->waiting, *next; r; r = next) {
        next = r->next;
        r->came = come;
        sw_request_complete(engine, r,
                            sw_ps_max(r->posted, come) + r->complete);
    }
    m->waiting = NULL;
}

/* A member leaves `takes` after the others come, or waits until they do. */
static void await(sw_engine_t *engine, sw_meeting_t *m, sw_request_t *r,
                  bool there, sw_ps_t come, sw_ps_t takes)
{
    r->complete = takes;
    r->next = m->waiting;
    m->waiting = r;
    if (there)
        leave(engine, m, come);
}

void sw_between_come(sw_engine_t *engine, sw_context_t *c, sw_meeting_t *m,
                     uint32_t me, const sw_vop_t *op, sw_request_t *r,
                     const sw_plan_t *plan)
{
    sw_waits_t waits = sw_collective_waits[op->what];
    bool root = op->peer >= 0 && me == (uint32_t)op->peer;
    if (waits == SW_WAITS_ALL) {
        m->latest = sw_ps_max(m->latest, r->posted);
        await(engine, m, r, m->come == c->n, m->latest, plan->waiting);
    } else if (op->peer < 0) {
        sw_request_complete(engine, r, r->posted); /* no part in it */
    } else if (waits == SW_WAITS_ROOT && root) {
        m->root_there = true;
        m->root_come = r->posted;
        sw_request_complete(engine, r, r->posted + plan->leaving);
        leave(engine, m, r->posted);
    } else if (waits == SW_WAITS_ROOT) {
        await(engine, m, r, m->root_there, m->root_come, plan->waiting);
    } else {
        uint32_t first = (uint32_t)op->tag;
        uint32_t all = (uint32_t)op->peer < first ? c->n - first : first;
        m->givers += !root;
        if (!root) {
            m->latest = sw_ps_max(m->latest, r->posted);
            sw_request_complete(engine, r, r->posted + plan->leaving);
        }
        if (root)
            await(engine, m, r, m->givers == all, m->latest, plan->waiting);
        else if (m->givers == all)
            leave(engine, m, m->latest);
    }
}
