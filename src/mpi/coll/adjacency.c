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
        bool member = list[i] >= 0 && list[i] < n;
        ok &= member || list[i] == MPI_PROC_NULL;
        if (!member)
            list[i] = SW_NOBODY;
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
    sw_neighbours_sort(lists, c->me);
    return h;
}

/* A part of the communicator ----------------------------------------------- */

static void end(void *part)
{
    sw_adjacency_t *h = part;
    for (int i = 0; i < SW_ALLTOALL_KINDS; i++)
        sw_edge_way_end(&h->started[i]);
}

static void free_it(void *part)
{
    sw_adjacency_t *h = part;
    for (int i = 0; i < SW_ALLTOALL_KINDS; i++) {
        free(atomic_load(&h->way[i].index));
        free(atomic_load(&h->started[i].index));
    }
    free(h);
}

static sw_comm_part_t part = {.end = end, .free = free_it};

void sw_adjacency_start(void)
{
    sw_comm_part_add(&part);
}

static sw_adjacency_t *of(const sw_comm_t *c)
{
    return atomic_load_explicit(&((sw_comm_t *)(uintptr_t)c)->part[part.place],
                                memory_order_relaxed);
}

/* -------------------------------------------------------------------------- */

const sw_neighbours_t *sw_adjacency(sw_comm_t *c, sw_reason_t *reason)
{
    sw_adjacency_t *h = of(c);
    if (sw_unlikely(!h))
        c->part[part.place] = h = ask(c);
    *reason = SW_REASON_TOPOLOGY;
    if (!h->lists.out)
        return NULL;
    *reason = SW_REASON_ARGUMENTS;
    return &h->lists;
}

/* Once. A table of the blocks must find room in a member's staging ring
 * (coll/deal.h). */
static void settle(const sw_sequence_t *seq, sw_comm_t *c)
{
    sw_adjacency_t *h = of(c);
    int most = (int)sw_min(SW_MEMBERS_MAX,
                           seq->team->stage_max / sizeof(sw_extent_t));
    bool ok = h->able && h->lists.outs <= most && h->lists.ins <= most;
    h->ours = all_agree(ok, c->handle);
    h->settled = true;
}

sw_sequence_t *sw_adjacency_sequence(sw_comm_t *c, sw_reason_t *reason)
{
    sw_sequence_t *seq = sw_comm_sequence(c, reason);
    if (!seq)
        return NULL;
    sw_adjacency_t *h = of(c);
    if (sw_unlikely(!h->settled))
        settle(seq, c);
    if (!h->ours) {
        *reason = SW_REASON_TOPOLOGY;
        return NULL;
    }
    seq->neighbours = &h->lists;
    return seq;
}

sw_sequence_t *sw_adjacency_alltoall(sw_comm_t *c, sw_collective_t id,
                                     const int **index, sw_reason_t *reason)
{
    sw_sequence_t *seq = sw_adjacency_sequence(c, reason);
    if (!seq)
        return NULL;
    sw_edge_way_t *way = &of(c)->way[id - SW_COLL_NEIGHBOR_ALLTOALL];
    if (sw_unlikely(!way->asked)) {
        bool ok = sw_edge_way_ask(way, seq->neighbours, c, id);
        if (!all_agree(ok, c->handle))
            free(atomic_exchange(&way->index, NULL));
    }
    *index = atomic_load_explicit(&way->index, memory_order_relaxed);
    if (*index)
        return seq;
    *reason = SW_REASON_TOPOLOGY;
    return NULL;
}

sw_edge_way_t *sw_adjacency_started(sw_comm_t *c, sw_collective_t id)
{
    sw_adjacency_t *h = of(c);
    sw_edge_way_t *way = &h->started[id - SW_COLL_NEIGHBOR_ALLTOALL];
    if (sw_unlikely(!way->asked))
        sw_edge_way_begin(way, &h->lists, c, id);
    return way;
}
