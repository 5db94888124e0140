/*
 * mapping.h - ranks for the members of a new communicator, so that ranks that
 * exchange messages sit close together.
 *
 * Candidates are placements: the members' own order, the machine's order, the
 * closed forms of a grid (lattice.h), a bipartition of a graph (bipartition.h).
 * The cheapest wins, the members' own order among equals, and swaps improve the
 * winner. So a mapping never costs more than no mapping. All members that know
 * the same seats and the same topology get the same ranks.
 */
#ifndef SW_MAPPING_MAPPING_H
#define SW_MAPPING_MAPPING_H

#include "web.h"

/* More members, or links, have no mapping. */
enum { SW_MAPPING_MOST = 1 << 20, SW_MAPPING_LINKS = 1 << 24 };

/* Costs are those of web.h; `across` is the amount that crosses nodes. */
typedef struct {
    int64_t cost, across;
    int64_t cost_before, across_before; /* of the members' own order */
} sw_mapping_t;

/* Fill rank[m], the new rank of member m, and return true. False: no order
 * found is cheaper than the members' own. */
SW_API bool sw_mapping_of_lattice(const sw_lattice_t *lattice,
                                  const sw_seat_t *seat, int *rank,
                                  sw_mapping_t *told);
SW_API bool sw_mapping_of_web(const sw_web_t *web, const sw_seat_t *seat,
                              int *rank, sw_mapping_t *told);

#endif
