/*
 * lanes.h - collectives in which every lane carries a slice: SW_WAY_LANES.
 * Each node has the same number of members.
 */
#ifndef SW_MPI_SPAN_LANES_H
#define SW_MPI_SPAN_LANES_H

#include "await.h"

/* n > 0. */
int sw_lanes_allreduce(sw_span_t *s, const sw_operation_t *o, const void *in,
                       void *out, size_t n);
int sw_lanes_bcast(sw_span_t *s, int root, char *buffer, size_t bytes);

/* Every member has a lane. `all` holds this member's own block, at at[me];
 * `sizes`: [n] by node, then by number. */
int sw_lanes_allgather(sw_span_t *s, char *all, const size_t *at,
                       const uint64_t *sizes);

#endif
