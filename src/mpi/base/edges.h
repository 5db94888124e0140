/*
 * edges.h - the edges of a communicator with a topology, as the host counts
 * them.
 */
#ifndef SW_MPI_BASE_EDGES_H
#define SW_MPI_BASE_EDGES_H

#include "coll/neighbours.h"
#include "host.h"

/* How many edges the host counts, of any communicator: a topology, or
 * MPI_UNDEFINED and none. */
int sw_edges_count(MPI_Comm comm, int me, int *outs, int *ins);
/* The lists `in` and `out`, for which there is room, in the host's order. */
void sw_edges_list(MPI_Comm comm, int topology, int me, sw_neighbours_t *to);

#endif
