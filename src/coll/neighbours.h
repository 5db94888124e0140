/*
 * neighbours.h - a member's adjacency in the neighbourhood collectives of a
 * sequence.
 *
 * A member has two lists, in the order of the blocks in its buffers: the
 * members that it sends to, and those that it receives from. A list may name a
 * member several times, and the list's own member too. The caller tells, for
 * each call, which of its sender's blocks comes on an edge.
 *
 * Only neighbours meet. A member reads the entries of those that it receives
 * from. Its own entries are free again when those that it sends to are done.
 */
#ifndef SW_COLL_NEIGHBOURS_H
#define SW_COLL_NEIGHBOURS_H

#include "node/base/base.h"

#define SW_NOBODY (-1) /* in a list: the edge leads nowhere */

typedef struct {
    int outs, ins; /* edges */
    int *out, *in; /* [outs], [ins]: members, or SW_NOBODY */
    int readers;
    int *reader; /* [outs]: the others in `out`, each once */
    /* the edge to receive on first, so that not all begin with the same
     * member */
    int first;
} sw_neighbours_t;

/* Fills in the rest, once the lists of member `me` are there. */
SW_API void sw_neighbours_sort(sw_neighbours_t *to, int me);

#endif
