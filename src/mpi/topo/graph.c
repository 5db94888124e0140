/*
 * graph.c - MPI_Graph_create and MPI_Graph_map; see reorder.h. Every member
 * gives the whole graph.
 */
#include "reorder.h"

#include "mpi/base/context_id.h"
#include "mpi/base/guard.h"
#include "node/base/array.h"

#include <stdlib.h>

typedef struct {
    int n;
    const int *index, *edges;
} graph_t;

static int make(MPI_Comm comm, const void *topology, MPI_Comm *made)
{
    const graph_t *graph = topology;
    return host.Graph_create(comm, graph->n, graph->index, graph->edges, 0,
                             made);
}

/* Some hosts let lists pass that do not ascend. */
static bool is_sound(const graph_t *graph)
{
    int before = 0;
    for (int v = 0; v < graph->n; before = graph->index[v++])
        if (graph->index[v] < before)
            return false;
    return before <= 16 * SW_MAPPING_MOST;
}

/* As in cart.c. */
static int *ranks_of(MPI_Comm comm, const graph_t *graph, sw_mapping_t *told)
{
    int n = graph->n;
    sw_seat_t *seat = n <= SW_MAPPING_MOST ? sw_seating_of(comm, n) : NULL;
    if (!seat || !is_sound(graph)) {
        free(seat);
        return NULL;
    }
    size_t *begin = sw_array_zeroed((size_t)n + 1, sizeof *begin);
    for (int v = 0; v < n; v++)
        begin[v + 1] = (size_t)graph->index[v];
    sw_web_t web;
    sw_web_of_graph(n, begin, graph->edges, NULL, &web);
    free(begin);
    int *rank = sw_array_zeroed((size_t)n, sizeof *rank);
    if (!sw_mapping_of_web(&web, seat, rank, told)) {
        free(rank);
        rank = NULL;
    }
    sw_web_free(&web);
    free(seat);
    return rank;
}

static int reorder_it(MPI_Comm comm, const graph_t *graph, int reorder,
                      MPI_Comm *made)
{
    sw_mapping_t told;
    int *rank = reorder ? ranks_of(*made, graph, &told) : NULL;
    int code = sw_reorder(comm, rank, graph->n, &told, make, graph, made);
    free(rank);
    return code;
}

int sw_MPI_Graph_create(MPI_Comm comm, int n, const int index[],
                        const int edges[], int reorder, MPI_Comm *made)
{
    SW_INSIDE;
    uint64_t name = sw_comm_conceive(comm);
    bool ours = sw_seating_is_known();
    int code = host.Graph_create(comm, n, index, edges, reorder && !ours,
                                 made);
    if (ours && code == MPI_SUCCESS && *made != MPI_COMM_NULL) {
        graph_t graph = {n, index, edges};
        code = reorder_it(comm, &graph, reorder, made);
    }
    return sw_comm_born(comm, name, code, made);
}

int sw_MPI_Graph_map(MPI_Comm comm, int n, const int index[],
                     const int edges[], int *rank)
{
    SW_INSIDE;
    int me, code = host.Graph_map(comm, n, index, edges, rank);
    if (code != MPI_SUCCESS || !sw_seating_is_known())
        return code;
    host.Comm_rank(comm, &me);
    graph_t graph = {n, index, edges};
    sw_mapping_t told;
    int *ranks = *rank == me ? ranks_of(comm, &graph, &told) : NULL;
    if (ranks && me < n)
        *rank = ranks[me];
    free(ranks);
    return code;
}
