/*
 * adjacency.h - the neighbourhood of a rank in a communicator with a topology.
 *
 * The host tells which ranks are neighbours, at the communicator's first
 * neighbourhood collective that is ours. Several edges may join two ranks: in a
 * periodic dimension of size one or two, or in a graph that names a rank twice.
 * There it also matters which block comes on which edge. The standard says so
 * since 4.0 only, and hosts differ, by version and by procedure. So each of the
 * host's procedures exchanges the numbers of the edges once. From then on the
 * blocks go the same ways.
 */
#ifndef SW_MPI_COLL_ADJACENCY_H
#define SW_MPI_COLL_ADJACENCY_H

#include "mpi/base/comm.h"

enum { SW_ALLTOALL_KINDS = SW_COLL_NEIGHBOR_ALLTOALLW -
                           SW_COLL_NEIGHBOR_ALLTOALL + 1 };

/* What the host has told of one of its alltoalls. */
typedef struct {
    bool asked;
    int *index;             /* [ins]: which block of its sender comes; NULL:
                               the host's alone                            */
} sw_adjacency_way_t;

typedef struct sw_adjacency {
    sw_neighbours_t lists;
    bool able;              /* this member can serve                       */
    bool settled, ours;     /* the members have agreed; all can serve      */
    sw_adjacency_way_t way[SW_ALLTOALL_KINDS];
} sw_adjacency_t;

/* The lists of this rank, by which it checks its arguments; NULL, with the
 * reason: the host serves. Involves no other member, since a member whose
 * arguments are wrong must not make the others wait. */
const sw_neighbours_t *sw_adjacency(sw_comm_t *c, sw_reason_t *reason);

/* The ring, ready for a call whose arguments are right; NULL, with the reason:
 * the host serves. The members agree on that at their first such call. */
sw_ring_t *sw_adjacency_ring(sw_comm_t *c, sw_reason_t *reason);

/* The same for an alltoall, with the blocks that come. */
sw_ring_t *sw_adjacency_alltoall(sw_comm_t *c, sw_collective_t id,
                                 const int **index, sw_reason_t *reason);

void sw_adjacency_free(sw_adjacency_t *adjacency);  /* or NULL */

#endif
