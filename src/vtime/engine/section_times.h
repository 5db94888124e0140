/*
 * section_times.h - the time that ranks spend in sections
 * (vtime/ops/section.h).
 *
 * A rank keeps its time at its last change of section, and the sums of the
 * sections that it has been in. So the engine has work only at a change, and
 * the parts sum up to the whole. A section's sums here are without those within
 * it; only the result adds them.
 */
#ifndef SW_VTIME_ENGINE_SECTION_TIMES_H
#define SW_VTIME_ENGINE_SECTION_TIMES_H

#include "engine.h"
#include "vtime/ops/section.h"

/* What ranks spent in a section and those within it. */
typedef struct {
    uint32_t ranks;           /* so many have been there */
    uint32_t longest;         /* the rank that was there for longest */
    sw_rank_time_t sum, most; /* of all ranks, of that one; `end`: whole */
} sw_section_time_t;

/* By number, from 0 on, what is outside of all; to be freed. `count`: how many;
 * 0 where no rank has been in a section. NULL: no memory, or there are none. */
sw_section_time_t *sw_sections_times(const sw_engine_t *engine,
                                     const sw_sections_t *sections,
                                     uint32_t *count);

#endif
