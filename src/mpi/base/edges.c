/*
 * edges.c - see edges.h.
 */
#include "edges.h"

#include "node/base/settings.h"

#include <stdlib.h>

int sw_edges_count(MPI_Comm comm, int me, int *outs, int *ins)
{
    int topology = MPI_UNDEFINED, weighted;
    *outs = *ins = 0;
    host.Topo_test(comm, &topology);
    if (topology == MPI_DIST_GRAPH) {
        host.Dist_graph_neighbors_count(comm, ins, outs, &weighted);
        return topology;
    }
    if (topology == MPI_CART) {
        host.Cartdim_get(comm, outs);
        *outs *= 2;
    } else if (topology == MPI_GRAPH) {
        host.Graph_neighbors_count(comm, me, outs);
    }
    *ins = *outs;
    return topology;
}

/* In a Cartesian topology the edges of a dimension are those to the lower and
 * to the higher coordinate. */
void sw_edges_list(MPI_Comm comm, int topology, int me, sw_neighbours_t *to)
{
    if (topology == MPI_DIST_GRAPH) {
        size_t edges = (size_t)(to->ins + to->outs);
        int *weights = malloc((edges + 1) * sizeof(int));
        if (!weights) {
            sw_say("out of memory while asking for a communicator's "
                   "neighbours");
            abort();
        }
        host.Dist_graph_neighbors(comm, to->ins, to->in, weights, to->outs,
                                  to->out, weights + to->ins);
        free(weights);
        return;
    }
    if (topology == MPI_GRAPH)
        host.Graph_neighbors(comm, me, to->outs, to->out);
    for (int i = 0; topology == MPI_CART && i < to->outs; i += 2)
        host.Cart_shift(comm, i / 2, 1, &to->out[i], &to->out[i + 1]);
    for (int i = 0; i < to->ins; i++)
        to->in[i] = to->out[i];
}
