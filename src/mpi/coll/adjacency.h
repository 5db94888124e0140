/*
 * adjacency.h - the neighbourhood of a rank in a communicator with a topology.
 *
 * The host tells which ranks are neighbours, at the communicator's first
 * neighbourhood collective that is ours. It also tells once for each of its
 * alltoalls which block comes on which edge (edge_way.h).
 */
#ifndef SW_MPI_COLL_ADJACENCY_H
#define SW_MPI_COLL_ADJACENCY_H

#include "edge_way.h"

enum {
    SW_ALLTOALL_KINDS = SW_COLL_NEIGHBOR_ALLTOALLW - SW_COLL_NEIGHBOR_ALLTOALL +
    1
};

typedef struct {
    sw_neighbours_t lists;
    bool able;          /* this member can serve */
    bool settled, ours; /* the members have agreed; all can serve */
    sw_edge_way_t way[SW_ALLTOALL_KINDS];
    sw_edge_way_t started[SW_ALLTOALL_KINDS]; /* of nonblocking ones */
} sw_adjacency_t;

/* The lists of this rank, by which it checks its arguments; NULL, with the
 * reason: the host serves. Involves no other member, since a member whose
 * arguments are wrong must not make the others wait. */
const sw_neighbours_t *sw_adjacency(sw_comm_t *c, sw_reason_t *reason);

/* The sequence, ready for a call whose arguments are right; NULL, with the
 * reason: the host serves. The members agree on that at their first such
 * call. */
sw_sequence_t *sw_adjacency_sequence(sw_comm_t *c, sw_reason_t *reason);

/* The same for an alltoall, with the blocks that come. */
sw_sequence_t *sw_adjacency_alltoall(sw_comm_t *c, sw_collective_t id,
                                     const int **index, sw_reason_t *reason);

/* The way of a nonblocking one, which all members serve. */
sw_edge_way_t *sw_adjacency_started(sw_comm_t *c, sw_collective_t id);

/* In MPI_Init, and when a session begins. */
void sw_adjacency_start(void);

#endif
