/*
 * context.h - communicators, and their members.
 */
#ifndef SW_VTIME_ENGINE_BASE_CONTEXT_H
#define SW_VTIME_ENGINE_BASE_CONTEXT_H

#include "names.h"
#include "vtime/model/plan.h"
#include "vtime/ops/op.h"

enum { SW_CONTEXT_PLANS = 4 };

struct sw_context {
    uint32_t number, place, n;
    uint32_t *members;       /* NULL: the world */
    uint32_t *sorted;        /* numbers by rank; NULL: they ascend */
    uint32_t *begun;         /* collectives, by member */
    sw_window_of_t *window;  /* by member; NULL: it is none */
    sw_meeting_t **meetings; /* from the `base`-th on, a ring */
    uint32_t base, at, count, room;
    struct sw_planned_call { /* plans that were made */
        bool known;
        uint8_t what;
        bool second;    /* between groups: whose plan it is */
        uint32_t state; /* sw_model_state */
        uint32_t first; /* between groups: members of the first */
        uint64_t bytes, sent, received;
        sw_plan_t plan;
    } plans[SW_CONTEXT_PLANS];
};

sw_context_t *sw_context_find(sw_engine_t *engine, uint32_t number);
/* A member's number, or UINT32_MAX. */
uint32_t sw_context_member(const sw_context_t *context, uint32_t rank);
/* Where a message of an operation goes, or comes from: its context, twice.
 * False: nowhere, and the engine has said so. */
bool sw_context_address(sw_engine_t *engine, sw_rank_t *rank,
                        const sw_vop_t *op, bool anybody, uint64_t *context);
/* As sw_engine_context. */
bool sw_context_make(sw_engine_t *engine, uint32_t number, uint32_t n,
                     const uint32_t *members);
void sw_contexts_free(sw_engine_t *engine);

#endif
