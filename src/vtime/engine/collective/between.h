/*
 * between.h - members of two groups meet in a collective.
 */
#ifndef SW_VTIME_ENGINE_COLLECTIVE_BETWEEN_H
#define SW_VTIME_ENGINE_COLLECTIVE_BETWEEN_H

#include "meeting.h"

/* Member `me` comes; `plan` is the member's. */
void sw_between_come(sw_engine_t *engine, sw_context_t *context,
                     sw_meeting_t *meeting, uint32_t me, const sw_vop_t *op,
                     sw_request_t *request, const sw_plan_t *plan);

#endif
