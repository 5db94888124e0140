/*
 * started.h - nonblocking collectives that members carry out in their calls.
 */
#ifndef SW_VTIME_ENGINE_COLLECTIVE_STARTED_H
#define SW_VTIME_ENGINE_COLLECTIVE_STARTED_H

#include "meeting.h"

/* A member comes, by the plan's parts. */
void sw_started_come(sw_engine_t *engine, sw_rank_t *rank,
                     sw_context_t *context, sw_meeting_t *meeting,
                     const sw_vop_t *op, sw_request_t *request,
                     const sw_plan_t *plan);
/* The rank is in a call that may wait, or tests. */
void sw_started_attend(sw_engine_t *engine, sw_rank_t *rank);
/* The first member attends, at the event's time. */
void sw_started_begin(sw_engine_t *engine, const sw_heap_event_t *event);

#endif
