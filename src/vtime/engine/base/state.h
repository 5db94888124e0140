/*
 * state.h - all that the engine holds.
 *
 * Events in a heap decide what is contended for (ports, links, a receive with
 * wildcards), in the order of virtual time. The engine deals with an event when
 * no strand can cause an earlier one. All strands that can run have a later
 * clock, and those whose next operation is not there yet (the late ones) have
 * computed past it. So it makes no difference how far the strands have run
 * ahead, and in which order. Nothing delays what is not contended for: a
 * receive that names its sender meets its message as soon as both are known. A
 * strand takes a port at once if no other uses it.
 *
 *     main program --send--> [ OUT ] --> [ ENTER ] --> [ IN ] --> receive
 *                           sender's     network's   receiver's   processor,
 *                             port         links        port      complete
 */
#ifndef SW_VTIME_ENGINE_BASE_STATE_H
#define SW_VTIME_ENGINE_BASE_STATE_H

#include "handlers.h"
#include "rank.h"
#include "vtime/base/heap.h"
#include "vtime/base/lookup.h"
#include "vtime/base/pool.h"
#include "vtime/model/model.h"
#include "vtime/ops/source.h"

typedef struct {
    sw_ps_t out, in;
    uint32_t ranks;
} sw_engine_node_t;

struct sw_engine {
    sw_model_t *model;
    sw_op_source_t source;
    bool check; /* sw_engine_options_t */
    uint32_t ranks;
    bool memory; /* there was none */
    bool wrong;  /* the operations cannot be; what, whose: */
    uint32_t wrong_rank;
    char wrong_text[160];
    bool free_port[2]; /* nothing to contend for: in a node, between */
    sw_rank_t *rank;
    sw_engine_node_t *node;
    uint32_t ended;
    sw_strand_t *ready, *ready_last;
    bool live;        /* there are receives that the host matches */
    sw_heap_t parked; /* strands that have run enough for now */
    uint64_t turns;   /* parked so far: at one time in turn */
    sw_heap_t events;
    sw_ps_t now;   /* of the last event */
    sw_ps_t ahead; /* the least time of a message */
    sw_rank_t **late;
    uint32_t late_count;
    uint32_t threads;  /* beside the ranks' first */
    uint32_t threaded; /* ranks */
    bool suspects;     /* sw_engine_suspects */
    sw_ps_t bound;     /* no late rank does anything before */
    sw_pool_t requests, messages, strands, meetings, channels, decisions;
    sw_pool_t accesses, locks;
    uint64_t seen; /* locks held, and windows that are seen */
    sw_channel_t **bucket;
    size_t bucket_mask, channel_count;
    sw_lookup_t numbers;    /* (rank, number) -> sw_request_t */
    sw_lookup_t decided;    /* (rank, number) -> sw_decided_t */
    sw_lookup_t context_of; /* number -> sw_context_t */
    sw_context_t **context; /* by place */
    uint32_t context_count, context_room;
    uint32_t *everybody; /* the world's members */
    uint32_t *which;     /* of an answer */
    uint32_t which_room;
    sw_engine_result_t result;
    sw_rank_time_t *times; /* of the result */
    const sw_handlers_t *handlers;
};

/* With options.check, or sw_assert: what must hold, or the end. */
#define sw_engine_must(engine, holds)                     \
    do {                                                  \
        sw_assert(holds);                                 \
        if (sw_unlikely((engine)->check) && !(holds))     \
            sw_engine_broken(#holds, __FILE__, __LINE__); \
    } while (0)
__attribute__((noreturn, cold)) void sw_engine_broken(const char *what,
                                                      const char *file,
                                                      int line);
__attribute__((cold, format(printf, 3, 4))) void sw_engine_wrong(
    sw_engine_t *engine, uint32_t rank, const char *format, ...);

#endif
