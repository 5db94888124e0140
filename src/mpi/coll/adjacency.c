/*
 * adjacency.c - see adjacency.h.
 */
#include "adjacency.h"
#include "mpi/base/edges.h"

#include "node/base/array.h"

#include <stdlib.h>

/* A decision that all members take alike. */
static bool all_agree(bool ok, MPI_Comm comm)
{
    int mine = ok, all = 0;
    host.Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

static bool in_range(int *list, int edges, int n)
{
    bool ok = true;
    for (int i = 0; i < edges; i++) {
        if (list[i] == MPI_PROC_NULL)
            list[i] = SW_NOBODY;
        ok &= list[i] < n && (list[i] >= 0 || list[i] == SW_NOBODY);
    }
    return ok;
}

static sw_adjacency_t *ask(const sw_comm_t *c)
{
    int outs, ins;
    MPI_Comm comm = c->handle;
    int topology = sw_edges_count(comm, c->me, &outs, &ins);
    if (topology == MPI_UNDEFINED)
        return sw_array_zeroed(1, sizeof(sw_adjacency_t));
    size_t edges = 2 * (size_t)outs + (size_t)ins;
    sw_adjacency_t *h = sw_array_zeroed(1, sizeof *h + edges * sizeof(int));
    sw_neighbours_t *lists = &h->lists;
    lists->outs = outs;
    lists->ins = ins;
    lists->out = (int *)(h + 1);
    lists->reader = lists->out + outs;
    lists->in = lists->reader + outs;
    sw_edges_list(comm, topology, c->me, lists);
    h->able = in_range(lists->out, outs, c->n);
    h->able &= in_range(lists->in, ins, c->n);
    return h;
}

/* The ways of the blocks --------------------------------------------------- */

typedef struct {
    int member, edge;
} note_t;

#define NOTE ((int)(sizeof(note_t) / sizeof(int)))

/* Let the host exchange a note on each edge. */
static int exchange(sw_collective_t id, MPI_Comm comm, int edges,
                    const note_t *mine, note_t *got)
{
    size_t n = (size_t)edges;
    int *count = sw_array_zeroed(n, sizeof *count);
    int *place = sw_array_zeroed(n, sizeof *place);
    MPI_Count *large = sw_array_zeroed(n, sizeof *large);
    MPI_Aint *address = sw_array_zeroed(n, sizeof *address);
    MPI_Datatype *type = sw_array_zeroed(n, sizeof(MPI_Datatype));
    int rc;
    for (int i = 0; i < edges; i++) {
        large[i] = count[i] = NOTE;
        place[i] = i * NOTE;
        address[i] = i * (MPI_Aint)sizeof(note_t);
        type[i] = MPI_INT;
    }
    if (id == SW_COLL_NEIGHBOR_ALLTOALL)
        rc = host.Neighbor_alltoall(mine, NOTE, MPI_INT, got, NOTE, MPI_INT,
                                    comm);
    else if (id == SW_COLL_NEIGHBOR_ALLTOALLV)
        rc = host.Neighbor_alltoallv(mine, count, place, MPI_INT, got, count,
                                     place, MPI_INT, comm);
#ifdef SW_HAS_Neighbor_alltoallw_c
    /* MPICH before 4.0.3 mixes up the numbers of edges in and out in the
     * other form: it then reads and sends what it should not. */
    else if (host.Neighbor_alltoallw_c)
        rc = host.Neighbor_alltoallw_c(mine, large, address, type, got, large,
                                       address, type, comm);
#endif
    else
        rc = host.Neighbor_alltoallw(mine, count, address, type, got, count,
                                     address, type, comm);
    free(count);
    free(place);
    free(large);
    free(address);
    free(type);
    return rc;
}

static int *learn(const sw_ring_t *ring, sw_collective_t id, MPI_Comm comm)
{
    const sw_neighbours_t *lists = ring->neighbours;
    int edges = lists->outs > lists->ins ? lists->outs : lists->ins;
    note_t *mine = sw_array_zeroed((size_t)edges, sizeof *mine);
    note_t *got = sw_array_zeroed((size_t)edges, sizeof *got);
    int *index = sw_array_zeroed((size_t)lists->ins, sizeof *index);
    for (int i = 0; i < edges; i++) {
        mine[i] = (note_t){ring->me, i};
        got[i] = (note_t){SW_NOBODY, 0};
    }
    bool ok = exchange(id, comm, edges, mine, got) == MPI_SUCCESS;
    for (int i = 0; i < lists->ins; i++) {
        ok &= got[i].member == lists->in[i];
        index[i] = got[i].edge;
    }
    free(mine);
    free(got);
    if (all_agree(ok, comm))
        return index;
    free(index);
    return NULL;
}

/* -------------------------------------------------------------------------- */

const sw_neighbours_t *sw_adjacency(sw_comm_t *c, sw_reason_t *reason)
{
    if (sw_unlikely(!c->adjacency))
        c->adjacency = ask(c), c->adjacency_free = sw_adjacency_free;
    *reason = SW_REASON_TOPOLOGY;
    if (!c->adjacency->lists.out ||
        (c->adjacency->settled && !c->adjacency->ours))
        return NULL;
    *reason = SW_REASON_ARGUMENTS;
    return &c->adjacency->lists;
}

/* Once. A table of the blocks must find room in a member's staging ring
 * (coll/deal.h). */
static void settle(const sw_ring_t *ring, sw_comm_t *c)
{
    sw_adjacency_t *h = c->adjacency;
    int most = (int)sw_min(SW_MEMBERS_MAX,
                           ring->team->stage_max / sizeof(sw_extent_t));
    bool ok = h->able && h->lists.outs <= most && h->lists.ins <= most;
    h->ours = all_agree(ok, c->handle);
    h->settled = true;
    if (h->ours)
        sw_neighbours_sort(&h->lists, c->me);
}

sw_ring_t *sw_adjacency_ring(sw_comm_t *c, sw_reason_t *reason)
{
    sw_ring_t *ring = sw_comm_ring(c, reason);
    if (!ring)
        return NULL;
    if (sw_unlikely(!c->adjacency->settled))
        settle(ring, c);
    if (!c->adjacency->ours) {
        *reason = SW_REASON_TOPOLOGY;
        return NULL;
    }
    ring->neighbours = &c->adjacency->lists;
    return ring;
}

sw_ring_t *sw_adjacency_alltoall(sw_comm_t *c, sw_collective_t id,
                                 const int **index, sw_reason_t *reason)
{
    sw_ring_t *ring = sw_adjacency_ring(c, reason);
    if (!ring)
        return NULL;
    sw_adjacency_way_t *way =
        &c->adjacency->way[id - SW_COLL_NEIGHBOR_ALLTOALL];
    if (sw_unlikely(!way->asked)) {
        way->asked = true;
        way->index = learn(ring, id, c->handle);
    }
    *index = way->index;
    if (way->index)
        return ring;
    *reason = SW_REASON_TOPOLOGY;
    return NULL;
}

void sw_adjacency_free(sw_adjacency_t *h)
{
    for (int i = 0; h && i < SW_ALLTOALL_KINDS; i++)
        free(h->way[i].index);
    free(h);
}
