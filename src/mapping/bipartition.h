/*
 * bipartition.h - a placement of any graph: the machine is cut in two between
 * its parts, the graph in two halves of these sizes, and so on with both.
 *
 * The first half grows from a vertex at the graph's rim. The next vertex is the
 * one with the most links into the half and the fewest out of it. Swaps
 * (swaps.h) mend the border later.
 */
#ifndef SW_MAPPING_BIPARTITION_H
#define SW_MAPPING_BIPARTITION_H

#include "web.h"

/* Fill at[v], the seat of vertex v. */
void sw_bipartition(const sw_web_t *web, const sw_seats_t *seats, int *at);

#endif
