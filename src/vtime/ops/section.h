/*
 * section.h - sections of a program: the regions that it names itself
 * (profile/record/region.h).
 *
 * A section is known by its name, alike on all ranks; one within another is
 * "outer/inner". In operations it has a number (op.h), given here in the order
 * in which names come, from 1; 0 is outside of all.
 */
#ifndef SW_VTIME_OPS_SECTION_H
#define SW_VTIME_OPS_SECTION_H

#include "op.h"
#include "vtime/base/lookup.h"

#define SW_SECTION_NAME 1024u /* bytes of a name, at most, and the 0 */

typedef struct {
    char **names;         /* from 1; NULL: it has none */
    uint32_t count, room; /* count: the highest number */
    sw_lookup_t numbers;  /* by the hash of the name */
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
/* The nearest section around it that is known, by its name; 0: none. */
uint32_t sw_sections_around(const sw_sections_t *sections, uint32_t number);
void sw_sections_free(sw_sections_t *sections);

#endif
