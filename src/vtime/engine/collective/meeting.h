/*
 * meeting.h - a collective to which some members have not come yet.
 *
 * Members run ahead of each other: a reduce does not hold its leaves.
 */
#ifndef SW_VTIME_ENGINE_COLLECTIVE_MEETING_H
#define SW_VTIME_ENGINE_COLLECTIVE_MEETING_H

#include "vtime/engine/base/state.h"
#include "vtime/engine/base/context.h"
#include "vtime/engine/base/request.h"

/* The n-th collective of a context: which members have come, and when. */
struct sw_meeting {
    sw_vop_t call;  /* what it is, by the first member's call */
    sw_vop_t most;  /* the sizes of those with the most */
    uint32_t first; /* the first member's rank, for complaints */
    uint32_t come;
    /* by messages, or in calls: members, and events, under way */
    uint32_t strands;
    sw_ps_t latest;
    bool root_there;
    sw_ps_t root_come;
    sw_request_t *waiting;
    /* scans: by member, -1: not yet; by messages: when it has come, and before
     * that: when all up to it had */
    sw_ps_t *comes;
    sw_request_t **scans;
    uint32_t before; /* members from 0 that have come */
    bool in_calls;   /* as in started.c: */
    bool has_begun;  /* `begun` is known, not just the least yet */
    uint32_t attending;
    sw_ps_t begun, last_attends;
    sw_started_plan_t started;
    /* between groups: come with what a root gets. There, a request that waits
     * has in `complete` how long it takes then */
    uint32_t givers;
};

/* How `call` of this member is carried out, or of a member of the second
 * group. */
const sw_plan_t *sw_meeting_plan(sw_engine_t *engine, sw_context_t *context,
                                 const sw_vop_t *call, bool second);
/* The n-th meeting, of which one more member makes use. */
sw_meeting_t *sw_meeting_find(sw_engine_t *engine, sw_context_t *context,
                              uint32_t n);
/* Forget the meetings to which all members have come and that none is in. */
void sw_meetings_clear(sw_engine_t *engine, sw_context_t *context);
/* What meetings of all contexts hold. */
void sw_meetings_free(sw_engine_t *engine);
/* A collective of this kind has a root. */
bool sw_meeting_rooted(unsigned what);
/* By messages, and in calls: member `me` comes at `at`. False: no memory. */
bool sw_meeting_come(sw_engine_t *engine, sw_context_t *context,
                     sw_meeting_t *meeting, uint32_t me, const sw_vop_t *op,
                     sw_ps_t at);
/* Whether the members that `me` depends on have come, and when the last had.
 * By messages, and in calls. */
bool sw_meeting_came(const sw_context_t *context, const sw_meeting_t *meeting,
                     uint32_t me, sw_ps_t *came);

#endif
