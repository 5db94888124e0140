/*
 * collective.c - members of a communicator meet in a collective.
 *
 * By cost, members exchange nothing. A member leaves some time after all the
 * members that it depends on have come. The n-th collectives of all members
 * belong together.
 *
 * By messages, each member has a strand that goes through the steps of the
 * algorithm. All must go through the same one, and each must know which as it
 * comes. So the sizes that choose it are those that all members know alike.
 * Two kinds are special. Of alltoallv and alltoallw no member knows the
 * others' sizes, but each waits for all: they begin together when the last has
 * come, with the sizes of the member that has the most. Of gatherv and scatterv
 * only the root knows them: their algorithm is that of empty blocks.
 *
 * Nonblocking ones whose parts were measured go on in calls (started.c).
 */
#include "collective.h"
#include "between.h"
#include "started.h"
#include "vtime/engine/base/agenda.h"
#include "vtime/engine/message/match.h"
#include "vtime/engine/message/wire.h"

#include "vtime/model/words.h"

#include <stdlib.h>

static bool sizes_differ(unsigned what)
{
    return what == SW_COLLECTIVE_ALLTOALLV || what == SW_COLLECTIVE_ALLTOALLW;
}

static void most(sw_vop_t *most, const sw_vop_t *op)
{
    if (op->bytes > most->bytes)
        most->bytes = op->bytes;
    if (op->sent > most->sent)
        most->sent = op->sent;
    if (op->received > most->received)
        most->received = op->received;
    most->time = sw_ps_max(most->time, op->time);
}

static uint32_t member_rank(const sw_context_t *c, uint32_t member)
{
    return c->members ? c->members[member] : member;
}

/* By messages, at its end: when the members that it depends on had come. They
 * have come, for no other member could have sent what they had. */
static sw_ps_t came_before(const sw_engine_t *engine, const sw_strand_t *s)
{
    sw_ps_t came;
    if (!s->meeting)
        return s->owner->came;
    bool all = sw_meeting_came(s->context, s->meeting, s->me, &came);
    sw_engine_must(engine, all);
    return came;
}

/* Each step is a message there, one here, or both, and what the member does
 * with what came. */
void sw_collective_run(sw_engine_t *engine, sw_strand_t *s)
{
    const sw_context_t *c = s->context;
    uint64_t context = 2 * (uint64_t)c->place + 1;
    while (s->pending == 0) {
        if (s->send) {
            s->clock = sw_ps_max(s->clock, s->send->complete);
            sw_request_free(engine, s->send);
        }
        if (s->receive) {
            s->clock = sw_ps_max(s->clock, s->receive->complete);
            sw_request_free(engine, s->receive);
        }
        s->send = s->receive = NULL;
        s->clock += sw_ps_whole((double)s->reduced * engine->model->reduce *
                                s->scale);
        if (sw_unlikely(s->clock > SW_PS_MOST)) {
            sw_engine_wrong(engine, s->rank, "virtual time is over");
            return;
        }
        sw_step_t step;
        if (!sw_algorithm_step(s->algorithm, &s->call, s->me, s->step++,
                               &step)) {
            s->owner->came = came_before(engine, s);
            sw_request_complete(engine, s->owner, s->clock);
            if (s->apart)
                engine->rank[s->rank].loose--;
            if (s->meeting && !--s->meeting->strands)
                sw_meetings_clear(engine, s->context);
            sw_pool_give(&engine->strands, s);
            return;
        }
        s->reduced = step.reduced;
        s->pending = 1; /* nothing done here wakes it */
        if (step.from != SW_STEP_NOBODY) {
            sw_request_t *r = sw_request_new(engine, SW_REQUEST_RECV, s->rank,
                                             0);
            r->posted = s->clock;
            r->peer = (int32_t)member_rank(c, step.from);
            r->tag = s->tag;
            r->context = context;
            r->waiter = s;
            s->receive = r;
            s->pending++;
            sw_match_receive(engine, r);
        }
        if (step.to != SW_STEP_NOBODY) {
            s->send = sw_request_new(engine, SW_REQUEST_SEND, s->rank, 0);
            s->send->waiter = s;
            s->pending++;
            sw_wire_send(engine, s, member_rank(c, step.to), s->tag, context,
                         step.sent, 0, s->scale, s->send, NULL);
        }
        s->pending--;
    }
}

/* `m`: others may come later; NULL: all have. */
static void strand_begin(sw_engine_t *engine, sw_context_t *c, uint32_t n,
                         const sw_vop_t *op, uint32_t me, const sw_plan_t *plan,
                         sw_ps_t come, sw_request_t *owner, sw_meeting_t *m)
{
    if (m)
        m->strands++;
    sw_strand_t *s = sw_pool_take(&engine->strands);
    *s = (sw_strand_t){
        .rank = owner->rank,
        .number = (uint32_t)owner->order,
        .clock = come,
        .algorithm = plan->algorithm,
        .context = c,
        .meeting = m,
        .call = {.what = op->what,
                 .n = c->n,
                 .bytes = op->bytes,
                 .root = sw_meeting_rooted(op->what) ? (uint32_t)op->peer : 0},
        .me = me,
        .tag = (int32_t)(n & INT32_MAX),
        .scale = plan->scale,
        .owner = owner,
        .apart = !owner->held,
    };
    sw_agenda_ready(engine, s);
}

/* It waits in the meeting. */
static void wait_there(sw_meeting_t *m, sw_request_t *r)
{
    r->next = m->waiting;
    m->waiting = r;
}

/* All waiting members leave. */
static void all_leave(sw_engine_t *engine, sw_meeting_t *m, sw_ps_t come,
                      sw_ps_t waiting)
{
    for (sw_request_t *r = m->waiting, *next; r; r = next) {
        next = r->next;
        if (sizes_differ(r->what) && !r->held)
            engine->rank[r->rank].loose--;
        r->came = come;
        sw_request_complete(engine, r, sw_ps_max(r->posted, come) + waiting);
    }
    m->waiting = NULL;
}

/* The last has come: what is there together is the algorithm's. */
static void all_begin(sw_engine_t *engine, sw_context_t *c, uint32_t n,
                      sw_meeting_t *m, const sw_plan_t *plan)
{
    for (sw_request_t *r = m->waiting, *next; r; r = next) {
        next = r->next;
        r->came = m->latest;
        strand_begin(engine, c, n, &m->most, sw_context_member(c, r->rank),
                     plan, m->latest, r, NULL);
    }
    m->waiting = NULL;
}

static void scan_come(sw_engine_t *engine, sw_context_t *c, sw_meeting_t *m,
                      uint32_t me, sw_request_t *r, const sw_plan_t *plan)
{
    if (!m->comes) {
        m->comes = malloc(c->n * sizeof *m->comes);
        m->scans = calloc(c->n, sizeof *m->scans);
        if (!m->comes || !m->scans) {
            engine->memory = true;
            return;
        }
        for (uint32_t i = 0; i < c->n; i++)
            m->comes[i] = -1;
        m->latest = 0;
    }
    m->comes[me] = me == 0 ? plan->leaving : plan->waiting;
    m->scans[me] = r;
    for (; m->before < c->n && m->comes[m->before] >= 0; m->before++) {
        r = m->scans[m->before];
        r->came = m->latest = sw_ps_max(m->latest, r->posted);
        sw_request_complete(engine, r, m->latest + m->comes[m->before]);
    }
}

/* A member comes to a collective by cost. */
static void come(sw_engine_t *engine, sw_context_t *c, sw_meeting_t *m,
                 uint32_t me, uint32_t n, const sw_vop_t *op, sw_request_t *r,
                 const sw_plan_t *plan)
{
    sw_ps_t at = r->posted;
    bool root = sw_meeting_rooted(op->what) && me == (uint32_t)op->peer;
    bool last = m->come == c->n;
    switch (sw_collective_waits[op->what]) {
    case SW_WAITS_ALL:
        m->latest = sw_ps_max(m->latest, at);
        wait_there(m, r);
        if (!last)
            break;
        plan = sw_meeting_plan(engine, c, &m->most, false);
        if (plan->algorithm)
            all_begin(engine, c, n, m, plan);
        else
            all_leave(engine, m, m->latest, plan->waiting);
        break;
    case SW_WAITS_ROOT:
        if (root) {
            m->root_there = true;
            m->root_come = at;
            sw_request_complete(engine, r, at + plan->leaving);
            all_leave(engine, m, at, plan->waiting);
        } else if (m->root_there) {
            r->came = m->root_come;
            sw_request_complete(engine, r,
                                sw_ps_max(at, m->root_come) + plan->waiting);
        } else {
            wait_there(m, r);
        }
        break;
    case SW_WAITS_AT_ROOT:
        m->latest = sw_ps_max(m->latest, at);
        if (root)
            wait_there(m, r);
        else
            sw_request_complete(engine, r, at + plan->leaving);
        if (last) {
            plan = sw_meeting_plan(engine, c, &m->most, false);
            all_leave(engine, m, m->latest, plan->waiting);
        }
        break;
    case SW_WAITS_LOWER: scan_come(engine, c, m, me, r, plan); break;
    case SW_WAITS_NEIGHBOURS: /* messages, in virtual time */ break;
    }
}

/* False: members do not agree. */
static bool agrees(sw_engine_t *engine, sw_context_t *c, sw_meeting_t *m,
                   uint32_t rank, uint32_t n, const sw_vop_t *op)
{
    bool between = op->tag > 0; /* MPI_PROC_NULL names no root */
    if (between && m->call.peer < 0)
        m->call.peer = op->peer;
    if (op->what == m->call.what && op->tag == m->call.tag &&
        (!sw_meeting_rooted(op->what) || op->peer == m->call.peer ||
         (between && op->peer < 0)))
        return true;
    sw_engine_wrong(engine, rank,
                    "collective %u of context %u is %s (root %d) "
                    "here, %s (root %d) on rank %u",
                    n, c->number, sw_collective_names[op->what], op->peer,
                    sw_collective_names[m->call.what], m->call.peer, m->first);
    return false;
}

/* Two groups: scans, `other` and fences know none, both have members, and a
 * root is itself or in the other group. */
static bool possible_between(const sw_context_t *c, uint32_t me,
                             const sw_vop_t *op)
{
    uint32_t first = (uint32_t)op->tag, root = (uint32_t)op->peer;
    sw_waits_t waits = sw_collective_waits[op->what];
    if (op->tag < 0 || first >= c->n || waits == SW_WAITS_LOWER ||
        sw_op_bare(op->what))
        return false;
    return waits == SW_WAITS_ALL || op->peer < 0 || root == me ||
           (root < c->n && (root < first) != (me < first));
}

/* How this member is to carry it out, as far as it knows itself. */
static sw_plan_t plan_of(sw_engine_t *engine, sw_context_t *c, uint32_t me,
                         const sw_vop_t *op)
{
    bool second = op->tag && me >= (uint32_t)op->tag;
    if (op->tag && sw_meeting_rooted(op->what) && op->peer < 0)
        return (sw_plan_t){.scale = 1};
    sw_vop_t alike = *op;
    if (!op->tag && (op->what == SW_COLLECTIVE_GATHERV ||
                     op->what == SW_COLLECTIVE_SCATTERV))
        alike.bytes = alike.sent = alike.received = 0;
    sw_plan_t plan = *sw_meeting_plan(engine, c, &alike, second);
    if (!plan.algorithm && alike.bytes != op->bytes) {
        const sw_plan_t *own = sw_meeting_plan(engine, c, op, false);
        if (!own->algorithm)
            plan = *own;
    }
    return plan;
}

sw_request_t *sw_collective_begin(sw_engine_t *engine, sw_rank_t *rank,
                                  const sw_vop_t *called)
{
    sw_vop_t here = *called, *op = &here;
    uint32_t number = rank->main.rank;
    here.time = sw_warmth(&rank->warmth, called->bytes);
    sw_context_t *c = sw_context_find(engine, op->context);
    uint32_t me = c ? sw_context_member(c, number) : UINT32_MAX;
    if (me == UINT32_MAX || op->what >= SW_COLLECTIVE_COUNT ||
        (op->tag ? !possible_between(c, me, op)
                 : sw_meeting_rooted(op->what) &&
                       (op->peer < 0 || (uint32_t)op->peer >= c->n))) {
        sw_engine_wrong(
            engine, number,
            !c ? "there is no context %u"
            : me == UINT32_MAX
                ? "it is no member of context %u"
                : "a collective on context %u is of no kind, or its "
                  "root no member",
            op->context);
        return NULL;
    }
    /* A thread's has its place already. */
    uint32_t n = rank->taken.request ? rank->taken.nth : c->begun[me]++;
    sw_meeting_t *m = sw_meeting_find(engine, c, n);
    if (!m)
        return NULL;
    bool first = m->come++ == 0;
    if (first) {
        m->call = m->most = *op;
        m->first = number;
    } else if (!agrees(engine, c, m, number, n, op)) {
        return NULL;
    }
    most(&m->most, op);
    sw_plan_t plan = plan_of(engine, c, me, op);
    if (first)
        m->in_calls = op->request && plan.has_started;
    bool differ = !op->tag && sizes_differ(op->what);
    /* It may begin by itself later, with a clock of its own. */
    if (differ && op->request && !m->in_calls)
        rank->home->loose++;
    rank->main.clock += m->in_calls ? plan.start : plan.posting;
    sw_request_t *r = rank->taken.request;
    if (!r)
        r = sw_request_new(engine, SW_REQUEST_COLLECTIVE, number, op->request);
    r->what = op->what;
    r->bytes = op->bytes;
    r->in_context = op->context;
    r->posted = rank->main.clock;
    r->order = ++rank->home->strands;
    if (op->tag) {
        sw_between_come(engine, c, m, me, op, r, &plan);
    } else if (m->in_calls) {
        if (!sw_meeting_come(engine, c, m, me, op, r->posted))
            return NULL;
        sw_started_come(engine, rank, c, m, op, r, &plan);
    } else if (plan.algorithm && !differ) {
        if (op->request)
            rank->home->loose++;
        if (!sw_meeting_come(engine, c, m, me, op, r->posted))
            return NULL;
        strand_begin(engine, c, n, op, me, &plan, r->posted, r, m);
    } else {
        come(engine, c, m, me, n, op, r, &plan);
    }
    sw_meetings_clear(engine, c);
    return r;
}
