/*
 * program.h - programs at random that come to their end, on any machine and in
 * any form: the engine's scripts, a file, a feed.
 *
 * A program is rounds. In a round all ranks meet in a collective, perhaps, and
 * then exchange messages: each posts its receives before it sends, and waits
 * for all in the end. A round has its own tags, so that a receive from any
 * source takes no message of another round. The same `chance` makes the same
 * program.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "must.h"
#include "vtime/ops/op.h"

enum { PROGRAM_RANKS = 16, PROGRAM_MESSAGES = 20, PROGRAM_ASKS = 60 };

typedef struct {
    uint32_t n, rounds;
    uint64_t chance; /* a state of random_from */
    void (*put)(void *of, uint32_t rank, sw_vop_t op);
    void *of;
    bool asks;          /* a rank that asks is answered */
    bool messages_only; /* and such as GOAL and SMPI can tell */
    uint32_t odd;       /* the context of the odd ranks; 0: none */
    uint32_t window;    /* the context of a window of all; 0: none */
    uint32_t asked[PROGRAM_RANKS], numbers[PROGRAM_RANKS];
} program_t;

static inline uint64_t program_chance(program_t *p, uint64_t below)
{
    return random_from(&p->chance) % below;
}

static inline void program_put(program_t *p, uint32_t rank, sw_vop_t op)
{
    p->put(p->of, rank, op);
}

static inline void program_compute(program_t *p, uint32_t rank, uint64_t most)
{
    sw_ps_t time = (sw_ps_t)program_chance(p, most);
    program_put(p, rank,
                (sw_vop_t){/* GOAL has whole ns */
                           .kind = SW_OP_COMPUTE,
                           .time = p->messages_only ? 1000 * time : time});
}

static inline void program_request(program_t *p, uint32_t rank, unsigned kind,
                                   uint32_t request)
{
    program_put(p, rank, (sw_vop_t){.kind = (uint8_t)kind, .request = request});
}

static inline void program_send(program_t *p, uint32_t from, uint32_t to,
                                uint32_t context, int tag)
{
    sw_vop_t op = {.kind = SW_OP_SEND,
                   .peer = (int32_t)to,
                   .tag = tag,
                   .context = context,
                   .bytes = program_chance(p, 4) ? program_chance(p, 900)
                                                 : program_chance(p, 9000)};
    if (!p->messages_only && program_chance(p, 4) == 0)
        op.flags = program_chance(p, 2) ? SW_SEND_BUFFERED
                                        : SW_SEND_SYNCHRONOUS;
    if (program_chance(p, 2))
        op.request = ++p->numbers[from];
    program_put(p, from, op);
    if (program_chance(p, 3) == 0)
        program_compute(p, from, 3000);
}

/* Which of all its requests are complete? True: it has asked. */
static inline bool program_select(program_t *p, uint32_t rank)
{
    uint32_t n = p->numbers[rank];
    if (!p->asks || !n || n >= 8 || program_chance(p, 2) ||
        p->asked[rank] + 2 > PROGRAM_ASKS)
        return false;
    for (uint32_t k = 1; k <= n; k++)
        program_request(p, rank, SW_OP_LIST, k);
    program_put(p, rank,
                (sw_vop_t){.kind = SW_OP_SELECT,
                           .what = (uint8_t)program_chance(p, 5)});
    p->asked[rank] += 2;
    return true;
}

static inline void program_messages(program_t *p, int tag)
{
    uint32_t count = (uint32_t)program_chance(p, PROGRAM_MESSAGES) + 1;
    bool anybody = !p->asks && !p->messages_only && program_chance(p, 3) == 0;
    struct {
        uint32_t from, to, context;
    } m[PROGRAM_MESSAGES];
    for (uint32_t i = 0; i < count; i++) {
        m[i].from = (uint32_t)program_chance(p, p->n);
        m[i].to = (uint32_t)program_chance(p, p->n);
        bool odd = m[i].from % 2 && m[i].to % 2 && program_chance(p, 2);
        m[i].context = odd ? p->odd : 0;
        bool any_tag = !anybody && !p->messages_only && program_chance(p, 2);
        program_put(p, m[i].to,
                    (sw_vop_t){.kind = SW_OP_RECV,
                               .context = m[i].context,
                               .bytes = 1 << 20,
                               .peer = anybody ? SW_OP_ANY : (int32_t)m[i].from,
                               .tag = any_tag ? SW_OP_ANY : tag,
                               .request = ++p->numbers[m[i].to]});
        if (program_chance(p, 3) == 0)
            program_compute(p, m[i].to, 3000);
    }
    for (uint32_t i = 0; i < count; i++)
        program_send(p, m[i].from, m[i].to, m[i].context, tag);
    for (uint32_t i = 0; i < p->n; i++) {
        bool asked = program_select(p, i);
        for (; p->numbers[i]; p->numbers[i]--)
            program_request(p, i, SW_OP_WAIT, p->numbers[i]);
        if (asked)
            program_put(p, i, (sw_vop_t){.kind = SW_OP_CLOCK});
    }
}

/* Perhaps nonblocking; the request of that is returned. */
static inline uint32_t program_collective(program_t *p)
{
    static const uint8_t kinds[] = {
        SW_COLLECTIVE_BARRIER,   SW_COLLECTIVE_BCAST, SW_COLLECTIVE_REDUCE,
        SW_COLLECTIVE_ALLREDUCE, SW_COLLECTIVE_SCAN,  SW_COLLECTIVE_GATHERV,
        SW_COLLECTIVE_ALLTOALLV};
    sw_vop_t op = {.kind = SW_OP_COLLECTIVE,
                   .what = kinds[program_chance(p, sizeof kinds)],
                   .peer = (int32_t)program_chance(p, p->n),
                   .request = program_chance(p, 2) ? 99 : 0};
    uint64_t bytes = program_chance(p, 3000);
    for (uint32_t i = 0; i < p->n; i++) {
        bool differ = op.what == SW_COLLECTIVE_ALLTOALLV;
        op.bytes = op.sent = op.received = bytes + (differ ? 100 * i : 0);
        program_compute(p, i, 200000);
        program_put(p, i, op);
    }
    return op.request;
}

static inline void program_window(program_t *p, uint32_t rank, unsigned what,
                                  int peer, uint64_t bytes, unsigned flags,
                                  uint32_t request)
{
    program_put(p, rank,
                (sw_vop_t){.kind = SW_OP_WINDOW,
                           .what = (uint8_t)what,
                           .peer = peer,
                           .context = p->window,
                           .bytes = bytes,
                           .flags = (uint16_t)flags,
                           .request = request});
}

/* One lock at a time, so that no ranks wait for each other in a ring. */
static inline void program_one_sided(program_t *p, uint32_t rank)
{
    for (uint32_t k = 100; k < 104; k++) {
        int peer = (int)program_chance(p, p->n);
        uint64_t bytes = program_chance(p, 3) ? 8 : program_chance(p, 3000);
        bool locked = program_chance(p, 4) == 0;
        bool exclusive = program_chance(p, 2);
        int at = exclusive || program_chance(p, 2) ? peer : -1;
        if (locked)
            program_window(p, rank, SW_WINDOW_LOCK, at, 0, exclusive, 0);
        program_compute(p, rank, 300);
        uint32_t request = program_chance(p, 3) ? 0 : k;
        program_window(p, rank, SW_WINDOW_PUT + program_chance(p, 4), peer,
                       bytes, 0, request);
        if (request && program_chance(p, 2))
            program_request(p, rank, SW_OP_WAIT, request);
        if (program_chance(p, 3) == 0)
            program_window(p, rank, SW_WINDOW_FLUSH,
                           program_chance(p, 2) ? peer : -1, 0,
                           (unsigned)program_chance(p, 2), 0);
        if (locked)
            program_window(p, rank, SW_WINDOW_UNLOCK, at, 0, exclusive, 0);
        /* It uses the port, and no rank receives it. */
        if (program_chance(p, 4) == 0)
            program_put(p, rank,
                        (sw_vop_t){.kind = SW_OP_SEND,
                                   .peer = peer,
                                   .context = p->window,
                                   .bytes = bytes % 900,
                                   .flags = SW_SEND_BUFFERED});
    }
}

static inline void program_make(program_t *p)
{
    for (uint32_t i = 0; p->window && i < p->n; i++)
        program_window(p, i, SW_WINDOW_MAKE, -1, 0, 0, 0);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t request = 0;
        if (!p->messages_only && program_chance(p, 3))
            request = program_collective(p);
        for (uint32_t i = 0; p->window && i < p->n; i++)
            program_one_sided(p, i);
        program_messages(p, (int)round);
        for (uint32_t i = 0; request && i < p->n; i++)
            program_request(p, i, SW_OP_WAIT, request);
    }
    for (uint32_t i = 0; p->window && i < p->n; i++) {
        program_window(p, i, SW_WINDOW_FLUSH, -1, 0, 0, 0);
        program_put(p, i,
                    (sw_vop_t){.kind = SW_OP_COLLECTIVE,
                               .what = SW_COLLECTIVE_OTHER,
                               .peer = -1});
        program_window(p, i, SW_WINDOW_FREE, -1, 0, 0, 0);
    }
}

#endif
