/*
 * span_way.h - how a collective goes over several nodes: which way wins.
 *
 *   host      the host's own, on the program's communicator
 *   leaders   team, then the leaders (lane 0), then team
 *   lanes     each member drives its own lane with a slice of the data
 *
 * The members decide alike (law 2), by the collective, its bytes by signature,
 * and what they told each other when they met. The answer comes from a table by
 * powers of two.
 */
#ifndef SW_MPI_BASE_SPAN_WAY_H
#define SW_MPI_BASE_SPAN_WAY_H

#include "coll/coll.h"

typedef enum {
    SW_WAY_HOST,
    SW_WAY_LEADERS,
    SW_WAY_LANES,
    SW_WAY_COUNT
} sw_way_t;

#define SW_SPAN_SIZES 32    /* classes: 0 bytes, 1, 2-3, 4-7, ... */

typedef struct {
    uint8_t way[SW_COLL_COUNT][SW_SPAN_SIZES];
} sw_span_ways_t;

/* What all members know of a span when they choose their table. */
typedef struct {
    int nodes, n, lanes;
    bool even, crowded;
    bool tuned;             /* all members have read the same tuned table */
} sw_span_shape_t;

static inline unsigned sw_span_class(size_t bytes)
{
    unsigned bits = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return bits < SW_SPAN_SIZES ? bits : SW_SPAN_SIZES - 1;
}

/* Stands for the table that this process would use; 0: the built-in one. */
uint64_t sw_span_ways_hash(void);

void sw_span_ways_fill(sw_span_ways_t *to, const sw_span_shape_t *shape);

/* The way that sw_forced_way (node/control.h) forces on a collective; `even`:
 * all nodes have the same number of members. */
sw_way_t sw_span_way_forced(sw_collective_t id, bool even, int lanes);

#endif
