/*
 * neighbours.h - who exchanges with whom in the neighbourhood collectives of a
 * group.
 *
 * A member has a list of those that it sends to and one of those that it
 * receives from, in the order of the blocks in its buffers. A member may be on
 * a list several times, and on its own. Which of its sender's blocks comes to
 * a member on an edge is told for each call.
 *
 * Only neighbours meet: a member reads the entries of those that it receives
 * from, and its own are free again when those that it sends to are done.
 */
#ifndef SW_COLL_NEIGHBOURS_H
#define SW_COLL_NEIGHBOURS_H

#include "node/base/base.h"

#define SW_NOBODY (-1)      /* in a list: the edge leads nowhere           */

typedef struct {
    int outs, ins;          /* edges                                       */
    int *out, *in;          /* [outs], [ins]: members, or SW_NOBODY        */
    int readers;
    int *reader;            /* [outs]: those in `out` but oneself, once    */
    int first;              /* the edge to receive on first, so that not
                               all begin with the same member              */
} sw_neighbours_t;

/* The lists of member `me` are there: fill in the rest. */
SW_API void sw_neighbours_sort(sw_neighbours_t *to, int me);

#endif
