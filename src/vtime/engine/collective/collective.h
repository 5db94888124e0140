/*
 * collective.h - members of a communicator meet in a collective.
 */
#ifndef SW_VTIME_ENGINE_COLLECTIVE_COLLECTIVE_H
#define SW_VTIME_ENGINE_COLLECTIVE_COLLECTIVE_H

#include "vtime/engine/base/state.h"

/* The request that tells the end; NULL: it was wrong. */
sw_request_t *sw_collective_begin(sw_engine_t *engine, sw_rank_t *rank,
                                  const sw_vop_t *op);
/* A member's part by messages goes on. */
void sw_collective_run(sw_engine_t *engine, sw_strand_t *strand);

#endif
