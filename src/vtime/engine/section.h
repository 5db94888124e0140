/*
 * section.h - sections of a program: the regions that it names itself
 * (profile/record/region.h), and the time that its ranks spend in them.
 *
 * A section is known by its name, alike on all ranks; one within another is
 * "outer/inner". In operations it has a number (op.h), given here in the order
 * in which names come, from 1; 0 is outside of all.
 *
 * A rank keeps its time at its last change of section, and the sums of those
 * sections that it has been in: what it spends where costs nothing but at a
 * change, and the parts sum up to the whole. A section's sums here are without
 * those within it, which are added only for the result.
 */
#ifndef SW_VTIME_ENGINE_SECTION_H
#define SW_VTIME_ENGINE_SECTION_H

#include "engine.h"
#include "vtime/base/lookup.h"

#define SW_SECTION_NAME 1024u       /* bytes of a name, at most, and the 0 */

typedef struct {
    char **names;               /* from 1; NULL: it has none */
    uint32_t count, room;       /* count: the highest number */
    sw_lookup_t numbers;        /* by the hash of the name   */
} sw_sections_t;

/* The number of a name, which becomes known if it is not. 0: no memory, or too
 * many. */
uint32_t sw_sections_add(sw_sections_t *sections, const char *name);
/* It has this number (a file's). False: no memory, it cannot be, or something
 * else has the number or the name. */
bool sw_sections_set(sw_sections_t *sections, uint32_t number,
                     const char *name);
/* The number of `n` bytes that are a name; 0: it is not known. */
uint32_t sw_sections_find(const sw_sections_t *sections, const char *name,
                          size_t n);
/* "" where it is not known. */
const char *sw_sections_name(const sw_sections_t *sections, uint64_t number);
void sw_sections_free(sw_sections_t *sections);

/* What ranks spent in a section and those within it. */
typedef struct {
    uint32_t ranks;             /* so many have been there                 */
    uint32_t longest;           /* the rank that was there for longest     */
    sw_rank_time_t sum, most;   /* of all ranks, of that one; `end`: whole */
} sw_section_time_t;

/* By number, from 0 on, what is outside of all; to be freed. `count`: how many;
 * 0 where no rank has been in a section. NULL: no memory, or there are none. */
sw_section_time_t *sw_sections_times(const sw_engine_t *engine,
                                     const sw_sections_t *sections,
                                     uint32_t *count);

#endif
