/*
 * ahead.h - a rank's operations, and a look at those that follow.
 */
#ifndef SW_VTIME_ENGINE_PROGRAM_AHEAD_H
#define SW_VTIME_ENGINE_PROGRAM_AHEAD_H

#include "vtime/engine/base/state.h"

/* The rank's next operation. */
sw_source_state_t sw_ahead_next(sw_engine_t *engine, sw_rank_t *rank,
                                sw_vop_t *op);
/* A rank waits: if only the host knows its match, see what the host says. */
void sw_ahead_look(sw_engine_t *engine, sw_rank_t *rank);
/* No rank goes on: asks whether the host has decided something meanwhile. True:
 * it has, or the engine does now. */
bool sw_ahead_still(sw_engine_t *engine);
/* The rank waits, but its host has gone on: the rank has put what it does only
 * after that wait. */
bool sw_ahead_gone_on(sw_engine_t *engine, sw_rank_t *rank);
/* It sleeps (SW_CLOCK_PAUSE) behind what it waits for: no more, true. */
bool sw_ahead_wake(sw_engine_t *engine, sw_rank_t *rank);
/* Would it put this only after the call before is over? */
bool sw_ahead_tells(const sw_vop_t *op);
void sw_ahead_free(sw_rank_t *rank);

#endif
