/*
 * agenda.h - which strand runs next, which event comes next, and how early
 * another rank may do something.
 */
#ifndef SW_VTIME_ENGINE_BASE_AGENDA_H
#define SW_VTIME_ENGINE_BASE_AGENDA_H

#include "state.h"

void sw_agenda_event(sw_engine_t *engine, sw_ps_t time, sw_event_kind_t kind,
                     uint32_t rank, uint64_t number, void *of);
/* The strand can run. */
void sw_agenda_ready(sw_engine_t *engine, sw_strand_t *strand);
/* The rank has run enough for now. */
void sw_agenda_park(sw_engine_t *engine, sw_rank_t *rank);
/* What the strand waits for is complete at `time`. */
void sw_agenda_wake(sw_engine_t *engine, sw_strand_t *waiter, sw_ps_t time);
/* The rank is late: its next operation is not there. */
void sw_agenda_late(sw_engine_t *engine, sw_rank_t *rank);
/* Sets engine->bound anew, by all that are late, and returns it. */
sw_ps_t sw_agenda_late_again(sw_engine_t *engine);
/* No request of the rank's that is not complete is so before this, and no
 * message is there; with `collective`, a collective's request. */
sw_ps_t sw_agenda_bound(const sw_engine_t *engine, const sw_rank_t *rank,
                        bool collective);

#endif
