/*
 * span_way.h - which way of a collective over several nodes wins
 * (coll/ways.h).
 *
 * The members decide alike (law 2), by the collective, its bytes by signature,
 * and what they told each other when they met. The answer comes from a table by
 * powers of two: the one that `straightway bench collectives --tune` wrote, if
 * all members have read the same, else the built-in one.
 */
#ifndef SW_MPI_BASE_SPAN_WAY_H
#define SW_MPI_BASE_SPAN_WAY_H

#include "coll/ways.h"

/* What all members know of a span when they choose their table. */
typedef struct {
    int nodes, lanes;
    int ranks;           /* members on the fullest node */
    bool crowded, spins; /* of any (sw_span_answer_t) */
    bool tuned;          /* all members have read the same tuned table */
} sw_span_shape_t;

/* `any`: [SW_COLL_COUNT] of the collectives, some size is not the host's. */
void sw_span_ways_fill(sw_ways_t *to, bool *any, const sw_span_shape_t *shape);

/* The way that sw_forced_way (node/control.h) forces on a collective. `ranks`:
 * members on the fullest node. */
sw_way_t sw_span_way_forced(sw_collective_t id, int ranks, int lanes);

#endif
