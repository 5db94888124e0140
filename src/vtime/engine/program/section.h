/*
 * section.h - the time that a rank spends in sections, as it goes.
 */
#ifndef SW_VTIME_ENGINE_PROGRAM_SECTION_H
#define SW_VTIME_ENGINE_PROGRAM_SECTION_H

#include "vtime/engine/base/state.h"

/* What the rank (or a thread) does from now on belongs to this section. */
void sw_section_enter(sw_engine_t *engine, sw_rank_t *rank, uint32_t number);

#endif
