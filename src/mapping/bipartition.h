/*
 * bipartition.h - a placement of any graph: the machine is cut in two between
 * its parts, the graph in two halves of these sizes, and so on with both.
 *
 * The first half grows from a vertex at the graph's rim. The next vertex is the
 * one with the most links into the half and the fewest out of it. Swaps
 * (swaps.h) mend the border later. A caller that has the time cuts better, by a
 * function of its own.
 */
#ifndef SW_MAPPING_BIPARTITION_H
#define SW_MAPPING_BIPARTITION_H

#include "halves.h"

/* Divide the stretch: what belongs to the first half stands before `middle`. */
typedef void sw_cut_t(sw_halves_t *h, int begin, int middle, int end,
                      void *context);

/* Fill at[v], the seat of vertex v. `cut`: NULL for halves that grow. */
void sw_bipartition(const sw_web_t *web, const sw_seats_t *seats, sw_cut_t *cut,
                    void *context, int *at);

#endif
