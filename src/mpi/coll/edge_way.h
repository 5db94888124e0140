/*
 * edge_way.h - the way that the blocks of one of the host's neighbourhood
 * alltoalls go: which block of its sender comes on each edge.
 *
 * Several edges may join two ranks: in a periodic dimension of size one or two,
 * or in a graph that names a rank twice. The standard says since 4.0 only which
 * block then comes on which edge, and hosts differ, by version and by
 * procedure. So each of the host's procedures exchanges the numbers of the
 * edges once. From then on the blocks go the same way.
 *
 * A nonblocking procedure cannot wait for the numbers. The host's exchange goes
 * on while the schedules that need them wait (offload/neighbourhood.h). Any
 * thread sees a note as soon as it lies whole in its place. So the agent goes
 * on while the host keeps the rank in a call.
 */
#ifndef SW_MPI_COLL_EDGE_WAY_H
#define SW_MPI_COLL_EDGE_WAY_H

#include "mpi/base/comm.h"

typedef struct {
    bool asked;
    /* [ins]; NULL, once asked: not known yet, or no use */
    _Atomic(int *) index;
    struct sw_exchange *_Atomic exchange; /* a nonblocking one goes on */
} sw_edge_way_t;

/* Asks the host's procedure on a communicator with this adjacency, and waits.
 * False: it sends the notes to others than the adjacency says. */
bool sw_edge_way_ask(sw_edge_way_t *way, const sw_neighbours_t *all,
                     const sw_comm_t *c, sw_collective_t id);
/* Asks its nonblocking form, and goes on. Holds the communicator's state
 * meanwhile. */
void sw_edge_way_begin(sw_edge_way_t *way, const sw_neighbours_t *all,
                       sw_comm_t *c, sw_collective_t id);
/* Which block of its sender comes on each edge; NULL: not known yet. A negative
 * number: the host has sent no such note. */
const int *sw_edge_way_index(void *way);

/* Lets the host end exchanges, where there are any: by a thread that may call
 * it. */
void sw_edge_ways_push_slow(void);
extern _Atomic int sw_edge_ways_asking __attribute__((visibility("hidden")));
static inline void sw_edge_ways_push(void)
{
    if (sw_unlikely(
            atomic_load_explicit(&sw_edge_ways_asking, memory_order_relaxed)))
        sw_edge_ways_push_slow();
}

/* The program is about to free the communicator: waits for the exchange, if the
 * host does not bear one then (Open MPI crashes). */
void sw_edge_way_end(const sw_edge_way_t *way);
/* All end: waits for them. */
void sw_edge_ways_stop(void);

#endif
