/*
 * reorder.h - a topology made again, with its ranks where they belong.
 *
 * The host makes every topology first, in the members' own order: it judges the
 * arguments, raises its own errors, and chooses which members take part. Where
 * some of these sit closer together than others,
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

/* What a kind of topology knows of itself: `topology` is its own. */
typedef struct {
    /* Fill rank[m] for the n members of a communicator, which sit there, and
     * return true. False: this member wants them as they are. Of a communicator
     * that was made (`made`), all members come here. */
    bool (*map)(void *topology, MPI_Comm made, const sw_seat_t *seat, int n,
                int *rank, sw_mapping_t *told);
    /* Make it on a communicator, in the order of its ranks. */
    int (*make)(void *topology, MPI_Comm comm, MPI_Comm *made);
} sw_reorder_kind_t;

/* The host has left `code` and, in the members' own order, `fresh`
 * (sw_context_id_give): reorders it, if it is there and that is `ours`. Returns
 * `code`, or an error of the host's, raised on `parent`. */
int sw_reordered(MPI_Comm parent, bool ours, const sw_reorder_kind_t *kind,
                 void *topology, int code, MPI_Comm fresh, MPI_Comm *made);

/* The host has mapped this member of `comm` to *rank, of n ranks. */
void sw_reorder_map(MPI_Comm comm, const sw_reorder_kind_t *kind,
                    void *topology, int n, int *rank);

/* For the statistics, of the communicators in which this rank was the first:
 * how many were asked for, how many reordered; of these the links between
 * nodes, before and after. */
enum {
    SW_REORDER_ASKED,
    SW_REORDER_DONE,
    SW_REORDER_BEFORE,
    SW_REORDER_AFTER,
    SW_REORDER_COUNTS
};
void sw_reorder_counts(int64_t to[SW_REORDER_COUNTS]);

#endif
