/*
 * comm_pair.h - a sender and a receiver among the members of a communicator.
 * They meet in shared memory without a message, for partitioned communication.
 *
 * Partitioned messages match by communicator, ranks and tag, in the order in
 * which either side initializes them; there are no wildcards (MPI 4.1, 4.2.1).
 * So both sides count what they initialize, and the count makes a name that
 * both know. A communicator keeps a count for each peer and tag as long as it
 * lives: no member knows when the other one is done with a tag.
 */
#ifndef SW_MPI_BASE_COMM_PAIR_H
#define SW_MPI_BASE_COMM_PAIR_H

#include "comm.h"

typedef struct {
    sw_team_t *team; /* the sender is member 0; held */
    uint64_t name;
} sw_comm_pair_t;

/* Is the other member on this node, and do the two reach each other? */
bool sw_comm_is_pair(sw_comm_t *c, int other);

/* The next message from one to the other, of which this member is one. Both are
 * told the same. False: the host carries it, because they do not share memory,
 * or the communicator has no name. */
bool sw_comm_pair(sw_comm_t *c, int sender, int receiver, int tag,
                  sw_comm_pair_t *to);

#endif
