/*
 * graph.c - MPI_Graph_create and MPI_Graph_map; see reorder.h. Every member
 * gives the whole graph.
 */
#include "reorder.h"

#include "mpi/base/guard.h"
#include "node/base/array.h"

#include <stdlib.h>

typedef struct {
    int n, reorder;
    const int *index, *edges;
} graph_t;

/* Some hosts let lists pass that do not ascend. */
static bool is_sound(const graph_t *graph)
{
    int before = 0;
    for (int v = 0; v < graph->n; before = graph->index[v++])
        if (graph->index[v] < before)
            return false;
    return graph->n <= SW_MAPPING_MOST && before <= SW_MAPPING_LINKS;
}

static bool map(void *topology, MPI_Comm made, const sw_seat_t *seat, int n,
                int *rank, sw_mapping_t *told)
{
    const graph_t *graph = topology;
    if (!graph->reorder || graph->n != n || !is_sound(graph))
        return false;
    sw_web_t web;
    size_t *begin = sw_array_zeroed((size_t)n + 1, sizeof *begin);
    for (int v = 0; v < n; v++)
        begin[v + 1] = (size_t)graph->index[v];
    sw_web_of_graph(n, begin, graph->edges, NULL, &web);
    bool better = sw_mapping_of_web(&web, seat, rank, told);
    sw_web_free(&web);
    free(begin);
    return better;
}

static int make(void *topology, MPI_Comm comm, MPI_Comm *made)
{
    const graph_t *graph = topology;
    return host.Graph_create(comm, graph->n, graph->index, graph->edges, 0,
                             made);
}

static const sw_reorder_kind_t kind = {map, make};

int sw_MPI_Graph_create(MPI_Comm comm, int n, const int index[],
                        const int edges[], int reorder, MPI_Comm *made)
{
    SW_INSIDE;
    graph_t graph = {n, reorder, index, edges};
    MPI_Comm fresh = comm;
    bool ours = sw_seating_covers(comm);
    int code = host.Graph_create(comm, n, index, edges, reorder && !ours,
                                 made ? &fresh : NULL);
    return sw_reordered(comm, ours, &kind, &graph, code, fresh, made);
}

int sw_MPI_Graph_map(MPI_Comm comm, int n, const int index[], const int edges[],
                     int *rank)
{
    SW_INSIDE;
    graph_t graph = {n, 1, index, edges};
    int code = host.Graph_map(comm, n, index, edges, rank);
    if (code == MPI_SUCCESS && sw_seating_is_known())
        sw_reorder_map(comm, &kind, &graph, n, rank);
    return code;
}
