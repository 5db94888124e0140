/*
 * dist_graph.c - MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent; see
 * reorder.h.
 *
 * A rank in the lists is one of the old communicator. The new one has the same
 * graph over its ranks: its rank r has the neighbours, in the same order, that
 * were given for rank r (MPI 4.1, 8.5.4). So the process that becomes rank r
 * needs lists that another process has. The host has made the graph already,
 * and each member has its lists, whichever member named the edges. All gather
 * all of them:
 *
 *     sources[ins] their weights[ins] destinations[outs] their weights[outs]
 */
#include "reorder.h"

#include "mpi/base/guard.h"
#include "node/base/array.h"

#include <stdlib.h>
#include <string.h>

#ifdef SW_HAS_Dist_graph_create_adjacent

/* What a member says first. */
typedef struct {
    int wanted, weighted, ins, outs;
} head_t;

typedef struct {
    int reorder;
    MPI_Info info;
    int n, me;
    head_t *head;       /* [n] */
    int *count, *begin; /* [n]: its ints in list[], and their first */
    int *list;
    int new_rank; /* of this member */
} graph_t;

/* Fill the heads and the lists' places. True: reorder it. */
static bool gather_heads(graph_t *g, MPI_Comm comm)
{
    head_t mine = {.wanted = g->reorder != 0};
    int64_t all = 0;
    bool wanted = true;
    host.Dist_graph_neighbors_count(comm, &mine.ins, &mine.outs,
                                    &mine.weighted);
    if (host.Allgather(&mine, 4, MPI_INT, g->head, 4, MPI_INT, comm) !=
        MPI_SUCCESS)
        return false;
    for (int i = 0; i < g->n; i++) {
        int64_t ints = 2 * ((int64_t)g->head[i].ins + g->head[i].outs);
        g->begin[i] = (int)all;
        g->count[i] = (int)ints;
        all += ints;
        wanted &= g->head[i].wanted;
        if (all > 2 * SW_MAPPING_LINKS)
            return false;
    }
    g->list = sw_array_zeroed((size_t)all + 1, sizeof *g->list);
    return wanted && all > 0 && g->n <= SW_MAPPING_MOST;
}

static bool gather_lists(graph_t *g, MPI_Comm comm)
{
    const head_t *mine = &g->head[g->me];
    int ints = g->count[g->me];
    int *list = sw_array_zeroed((size_t)ints + 1, sizeof *list);
    int *out = list + 2 * mine->ins;
    host.Dist_graph_neighbors(comm, mine->ins, list, list + mine->ins,
                              mine->outs, out, out + mine->outs);
    int code = host.Allgatherv(list, ints, MPI_INT, g->list, g->count, g->begin,
                               MPI_INT, comm);
    free(list);
    return code == MPI_SUCCESS;
}

/* The links that members send on. */
static void weave(const graph_t *g, sw_web_t *to)
{
    size_t links = 0;
    bool weighted = true;
    size_t *begin = sw_array_zeroed((size_t)g->n + 1, sizeof *begin);
    for (int i = 0; i < g->n; i++) {
        links += (size_t)g->head[i].outs;
        begin[i + 1] = links;
        weighted &= g->head[i].weighted != 0;
    }
    int *out = sw_array_zeroed(2 * links + 1, sizeof *out);
    for (int i = 0; i < g->n; i++) {
        size_t count = (size_t)g->head[i].outs;
        const int *from = g->list + g->begin[i] + 2 * g->head[i].ins;
        memcpy(out + begin[i], from, count * sizeof *out);
        memcpy(out + links + begin[i], from + count, count * sizeof *out);
    }
    sw_web_of_graph(g->n, begin, out, weighted ? out + links : NULL, to);
    free(begin);
    free(out);
}

static bool map(void *topology, MPI_Comm made, const sw_seat_t *seat, int n,
                int *rank, sw_mapping_t *told)
{
    graph_t *g = topology;
    g->n = n;
    host.Comm_rank(made, &g->me);
    g->head = sw_array_zeroed((size_t)n, sizeof *g->head);
    g->count = sw_array_zeroed((size_t)n, sizeof *g->count);
    g->begin = sw_array_zeroed((size_t)n, sizeof *g->begin);
    if (!gather_heads(g, made) || !gather_lists(g, made))
        return false;
    sw_web_t web;
    weave(g, &web);
    bool better = sw_mapping_of_web(&web, seat, rank, told);
    sw_web_free(&web);
    g->new_rank = rank[g->me];
    return better;
}

static int make(void *topology, MPI_Comm comm, MPI_Comm *made)
{
    const graph_t *g = topology;
    const head_t *head = &g->head[g->new_rank];
    const int *in = g->list + g->begin[g->new_rank];
    const int *out = in + 2 * head->ins;
    bool weighted = head->weighted;
    return host.Dist_graph_create_adjacent(
        comm, head->ins, in, weighted ? in + head->ins : MPI_UNWEIGHTED,
        head->outs, out, weighted ? out + head->outs : MPI_UNWEIGHTED, g->info,
        0, made);
}

/* The host has made one, with the members' own order. */
static int finish(MPI_Comm parent, bool ours, MPI_Info info, int reorder,
                  int code, MPI_Comm fresh, MPI_Comm *made)
{
    static const sw_reorder_kind_t kind = {map, make};
    graph_t g = {.reorder = reorder, .info = info};
    code = sw_reordered(parent, ours, &kind, &g, code, fresh, made);
    free(g.head);
    free(g.count);
    free(g.begin);
    free(g.list);
    return code;
}

int sw_MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in,
                                      const int sources[],
                                      const int source_weights[], int out,
                                      const int dests[],
                                      const int dest_weights[], MPI_Info info,
                                      int reorder, MPI_Comm *made)
{
    SW_INSIDE;
    MPI_Comm fresh = comm;
    bool ours = sw_seating_covers(comm);
    int code = host.Dist_graph_create_adjacent(
        comm, in, sources, source_weights, out, dests, dest_weights, info,
        reorder && !ours, made ? &fresh : NULL);
    return finish(comm, ours, info, reorder, code, fresh, made);
}

int sw_MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[],
                             const int degrees[], const int dests[],
                             const int weights[], MPI_Info info, int reorder,
                             MPI_Comm *made)
{
    SW_INSIDE;
    MPI_Comm fresh = comm;
    bool ours = sw_seating_covers(comm);
    int code = host.Dist_graph_create(comm, n, sources, degrees, dests, weights,
                                      info, reorder && !ours,
                                      made ? &fresh : NULL);
    return finish(comm, ours, info, reorder, code, fresh, made);
}

#endif
