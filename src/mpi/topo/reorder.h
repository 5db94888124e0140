/*
 * reorder.h - a topology made again, with its ranks where they belong.
 *
 * The host makes every topology first, in the members' own order: it judges the
 * arguments, raises its own errors, and leaves out whom it leaves out. What it
 * has made is a communicator of all who take part. Among these
 *
 *     each computes the mapping          mapping/mapping.h
 *     all compare                        one MPI_Allreduce
 *     they split by the new ranks        one MPI_Comm_split
 *     the host makes the topology again  with reorder = false
 *
 * The first communicator and the one between are freed. Where a member did not
 * ask for it, or found another mapping, all keep the first. So members may
 * differ in anything, and none waits for another.
 */
#ifndef SW_MPI_TOPO_REORDER_H
#define SW_MPI_TOPO_REORDER_H

#include "seating.h"
#include "mapping/mapping.h"

/* Make the topology on a communicator, in the order of its ranks. */
typedef int sw_reorder_make_t(MPI_Comm comm, const void *topology,
                              MPI_Comm *made);

/* *made, of n members, becomes one in which rank[m] is the rank of its member m.
 * NULL: this member wants it as it is. Returns the host's error, raised on
 * `parent`. */
int sw_reorder(MPI_Comm parent, const int *rank, int n,
               const sw_mapping_t *told, sw_reorder_make_t *make,
               const void *topology, MPI_Comm *made);

/* For the statistics, of the communicators in which this rank was the first:
 * how many were asked for, how many reordered; of these the links between
 * nodes, before and after. */
enum { SW_REORDER_ASKED, SW_REORDER_DONE, SW_REORDER_BEFORE, SW_REORDER_AFTER,
       SW_REORDER_COUNTS };
void sw_reorder_counts(int64_t to[SW_REORDER_COUNTS]);

#endif
