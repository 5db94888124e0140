/*
 * plan_span.c - collectives over several nodes as Straightway carries them out
 * (src/mpi/span/): each node's members bring their data to their leader, the
 * leaders call the MPI's collective, and the leaders give the result to their
 * members. With k nodes, p members on the fullest, n in all, and blocks of B
 * bytes, the three parts are
 *
 *     barrier          barrier(p)         barrier(k)                bcast(p, 0)
 *     bcast                               bcast(k, B)               bcast(p, B)
 *     reduce           reduce(p, B)       reduce(k, B)
 *     allreduce        reduce(p, B)       allreduce(k, B)           bcast(p, B)
 *     scan, exscan     reduce(p, B)       exscan(k, B)              bcast(p, B)
 *     reduce_scatter   reduce(p, n B)     reduce_scatter(k, p B)  scatter(p, B)
 *     gather           gather(p, B)       gather(k, p B)
 *     scatter                             scatter(k, p B)         scatter(p, B)
 *     allgather        gather(p, B)       allgather(k, p B)     bcast(p, n B)
 *     alltoall         gather(p, n B)     alltoall(k, p p B)  scatter(p, n B)
 *
 * Each part takes what the rules say of such a call inside a node, or of k
 * members on a node each. All parts wait for the one before. A bcast goes in
 * chunks of 256 KiB: only the last one's part inside the node comes behind the
 * network's. A root that waits for no member leaves after its own parts.
 * Members that give to a root leave after the first part.
 */
#include "rules.h"

#define CHUNK ((uint64_t)256 << 10)
#define NOTHING SW_COLLECTIVE_COUNT

/* The blocks of a part: of a member, of a node, of all, of two nodes. */
typedef enum { ONE, NODE, ALL, PAIR } blocks_t;

typedef struct {
    uint8_t up, across, down; /* sw_op_collective_t, or NOTHING */
    uint8_t up_blocks, across_blocks, down_blocks;
} parts_t;

#define C(NAME) SW_COLLECTIVE_##NAME
#define SUM {C(REDUCE), C(REDUCE_SCATTER), C(SCATTER), ALL, NODE, ONE}
#define PREFIX {C(REDUCE), C(EXSCAN), C(BCAST), ONE, ONE, ONE}
#define COLLECT {C(GATHER), C(GATHER), NOTHING, ONE, NODE, ONE}
#define DEAL {NOTHING, C(SCATTER), C(SCATTER), ONE, NODE, ONE}
#define SHARE {C(GATHER), C(ALLGATHER), C(BCAST), ONE, NODE, ALL}
#define EXCHANGE {C(GATHER), C(ALLTOALL), C(SCATTER), ALL, PAIR, ALL}

static const parts_t parts[SW_COLLECTIVE_COUNT] = {
    [C(BARRIER)] = {C(BARRIER), C(BARRIER), C(BCAST), ONE, ONE, ONE},
    [C(BCAST)] = {NOTHING, C(BCAST), C(BCAST), ONE, ONE, ONE},
    [C(REDUCE)] = {C(REDUCE), C(REDUCE), NOTHING, ONE, ONE, ONE},
    [C(ALLREDUCE)] = {C(REDUCE), C(ALLREDUCE), C(BCAST), ONE, ONE, ONE},
    [C(REDUCE_SCATTER)] = SUM,
    [C(REDUCE_SCATTER_BLOCK)] = SUM,
    [C(SCAN)] = PREFIX,
    [C(EXSCAN)] = PREFIX,
    [C(GATHER)] = COLLECT,
    [C(GATHERV)] = COLLECT,
    [C(SCATTER)] = DEAL,
    [C(SCATTERV)] = DEAL,
    [C(ALLGATHER)] = SHARE,
    [C(ALLGATHERV)] = SHARE,
    [C(ALLTOALL)] = EXCHANGE,
    [C(ALLTOALLV)] = EXCHANGE,
    [C(ALLTOALLW)] = EXCHANGE,
    [C(OTHER)] = {NOTHING, NOTHING, NOTHING, ONE, ONE, ONE},
};

typedef struct {
    const sw_model_t *model;
    const sw_call_t *call;
    const sw_spread_t *spread;
    sw_ps_t computed;
} span_t;

static uint64_t bytes_of(const span_t *s, unsigned blocks)
{
    uint64_t bytes = s->call->bytes, most = s->spread->most;
    switch (blocks) {
    case NODE: return bytes * most;
    case ALL: return bytes * s->call->n;
    case PAIR: return bytes * most * most;
    default: return bytes;
    }
}

static sw_plan_t piece(const span_t *s, unsigned what, uint64_t bytes,
                       bool inside)
{
    const sw_spread_t *at = s->spread;
    const uint32_t *pair = inside ? at->inside : at->across;
    sw_call_t call = {.what = (sw_op_collective_t)what,
                      .bytes = bytes,
                      .n = inside ? at->most : at->nodes,
                      .nodes = inside ? 1 : at->nodes,
                      .most = inside ? at->most : 1};
    sw_plan_t plan = {0};
    if (what != NOTHING)
        sw_plan_piece(s->model, &call, pair[0], pair[1], s->computed, &plan);
    return plan;
}

void sw_plan_leaders(const sw_model_t *model, const sw_call_t *call,
                     const sw_spread_t *spread, sw_ps_t computed,
                     sw_plan_t *plan)
{
    const parts_t *p = &parts[call->what];
    span_t s = {model, call, spread, computed};
    uint64_t shared = bytes_of(&s, p->down_blocks);
    if (call->what == SW_COLLECTIVE_BCAST && shared > CHUNK)
        shared = CHUNK;
    sw_plan_t up = piece(&s, p->up, bytes_of(&s, p->up_blocks), true);
    sw_plan_t across = piece(&s, p->across, bytes_of(&s, p->across_blocks),
                             false);
    sw_plan_t down = piece(&s, p->down, shared, true);
    *plan = (sw_plan_t){.scale = 1};
    plan->waiting = up.waiting + across.waiting + down.waiting;
    if (sw_collective_waits[call->what] != SW_WAITS_ALL)
        plan->leaving = p->up == NOTHING ? across.leaving + down.leaving
                                         : up.leaving;
}
