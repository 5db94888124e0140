/*
 * flow.h - an algorithm of a collective carried out step by step, with what
 * the messages carry.
 *
 * Members hold units: parts of a vector, blocks, or pairs (from, to). For each
 * unit a member has the set of members whose contributions are in it. With an
 * empty set the member does not have the unit. The test says what a message
 * carries, from the literature. The algorithm tells only the bytes. If the two
 * agree, that proves that the steps can do what they must.
 *
 * No message is buffered: it passes when its sender and its receiver are both
 * at that step (an eager one would only be easier). From then on it takes both
 * of them alpha + s beta (Hockney). A step ends with its messages and what it
 * reduces.
 */
#ifndef FLOW_H
#define FLOW_H

#include "must.h"
#include "vtime/model/algorithm.h"

#include <string.h>

typedef unsigned __int128 set_t; /* of members, at most 128 */

#define ONE(member) ((set_t)1 << (member))
#define BELOW(n) ((n) < 128 ? ONE(n) - 1 : ~(set_t)0)

typedef struct flow flow_t;

struct flow {
    sw_call_t call;
    const sw_algorithm_t *algorithm;
    uint32_t units;
    set_t *has; /* [member * units + unit] */
    /* Does a message of `from` (at its step k) to `to` carry the unit? */
    bool (*carries)(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                    uint32_t unit);
    uint64_t (*size)(const flow_t *f, uint32_t unit);
    /* NULL: what is reduced is joined to what was there, and must be disjoint
     * from it; what is not replaces it, and must be at least as much. */
    void (*take)(flow_t *f, uint32_t me, const sw_step_t *step,
                 const set_t *units);
    bool moves; /* a sender loses the unit it sends */
    double alpha, beta, gamma;
    /* What came of it. */
    double time;
    uint64_t messages, bytes;
};

typedef struct {
    uint32_t k;
    bool over, sent, received;
    double from, until; /* the step's beginning, its messages' end */
    sw_step_t step;
    set_t *out, *in; /* units as the step began; as they came */
} flow_member_t;

static void flow_step(flow_t *f, flow_member_t *m, uint32_t me, double now)
{
    m->over = !sw_algorithm_step(f->algorithm, &f->call, me, m->k, &m->step);
    if (m->over) {
        f->time = f->time < now ? now : f->time;
        /* Nor is there anything after it. */
        MUST(
            !sw_algorithm_step(f->algorithm, &f->call, me, m->k + 1, &m->step));
        return;
    }
    m->sent = m->step.to == SW_STEP_NOBODY;
    m->received = m->step.from == SW_STEP_NOBODY;
    MUST(!m->sent || !m->received);
    MUST(m->sent || (m->step.to < f->call.n && m->step.to != me));
    MUST(m->received || (m->step.from < f->call.n && m->step.from != me));
    MUST(!m->sent || m->step.sent == 0);
    MUST(!m->received || (m->step.received == 0 && m->step.reduced == 0));
    m->from = m->until = now;
    memcpy(m->out, &f->has[me * f->units], f->units * sizeof *m->out);
    memset(m->in, 0, f->units * sizeof *m->in);
}

static void flow_pass(flow_t *f, flow_member_t *a, uint32_t from,
                      flow_member_t *b, uint32_t to)
{
    uint64_t bytes = 0;
    for (uint32_t u = 0; u < f->units; u++)
        if (f->carries(f, from, a->k, to, u)) {
            MUST(a->out[u]);
            bytes += f->size(f, u);
            b->in[u] = a->out[u];
            if (f->moves)
                f->has[from * f->units + u] = 0;
        }
    MUST(a->step.sent == b->step.received);
    MUST(a->step.sent == bytes);
    double end = (a->from > b->from ? a->from : b->from) + f->alpha +
                 f->beta * (double)bytes;
    a->until = a->until > end ? a->until : end;
    b->until = b->until > end ? b->until : end;
    a->sent = b->received = true;
    f->messages++;
    f->bytes += bytes;
}

static void flow_take(flow_t *f, uint32_t me, const sw_step_t *step,
                      const set_t *in)
{
    MUST(!step->reduced || step->reduced == step->received);
    for (uint32_t u = 0; u < f->units; u++) {
        set_t *has = &f->has[me * f->units + u];
        if (!in[u])
            continue;
        if (step->reduced)
            MUST(!(*has & in[u]));
        else
            MUST(!(*has & ~in[u]));
        *has |= in[u];
    }
}

/* Until all members are done; else they wait for each other for ever. */
static void flow_run(flow_t *f)
{
    uint32_t n = f->call.n, left = n;
    flow_member_t *members = calloc(n, sizeof *members);
    f->time = 0;
    f->messages = f->bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        members[i].out = calloc(f->units, sizeof(set_t));
        members[i].in = calloc(f->units, sizeof(set_t));
        flow_step(f, &members[i], i, 0);
        left -= members[i].over;
    }
    bool moved = true;
    while (left && moved) {
        moved = false;
        for (uint32_t i = 0; i < n; i++) {
            flow_member_t *a = &members[i];
            if (a->over || a->sent)
                continue;
            flow_member_t *b = &members[a->step.to];
            if (!b->over && !b->received && b->step.from == i) {
                flow_pass(f, a, i, b, a->step.to);
                moved = true;
            }
        }
        for (uint32_t i = 0; i < n; i++) {
            flow_member_t *m = &members[i];
            if (m->over || !m->sent || !m->received)
                continue;
            (f->take ? f->take : flow_take)(f, i, &m->step, m->in);
            m->k++;
            flow_step(f, m, i, m->until + f->gamma * (double)m->step.reduced);
            left -= m->over;
            moved = true;
        }
    }
    MUST(!left);
    for (uint32_t i = 0; i < n; i++) {
        free(members[i].out);
        free(members[i].in);
    }
    free(members);
}

#endif
