/*
 * told.h - the host has matched a receive, and says how.
 */
#ifndef SW_VTIME_ENGINE_MESSAGE_TOLD_H
#define SW_VTIME_ENGINE_MESSAGE_TOLD_H

#include "vtime/engine/base/state.h"

/* MATCHED, from the rank. */
void sw_match_told(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op);
/* The rank waits for a receive whose message the engine has given to another of
 * its receives. But the rank has gone on in its host, so the host did not. The
 * rank will tell later what the other has got. True: it was so. */
bool sw_told_match_doubt(sw_engine_t *engine, sw_rank_t *rank);

#endif
