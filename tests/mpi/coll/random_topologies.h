/*
 * random_topologies.h - communicators with neighbours, of all ranks or of some,
 * and their duplicates.
 *
 * Grids are periodic or not, and some dimensions have the size one or two.
 * Graphs are of each kind. They have several edges between two ranks, and edges
 * from a rank to itself. All ranks draw the same numbers.
 */
#ifndef RANDOM_TOPOLOGIES_H
#define RANDOM_TOPOLOGIES_H

#include "mpi/test.h"

#define EDGES_MAX 48

typedef struct {
    MPI_Comm comm; /* MPI_COMM_NULL: this rank is not in it */
    const char *made_by;
    int size, rank, outs, ins;
    int out[EDGES_MAX], in[EDGES_MAX];
} topology_t;

/* Graphs are left in their order, unless the test reorders. */
static int may_reorder(void)
{
    return getenv("STRAIGHTWAY_REORDER") != NULL;
}

static MPI_Comm make_grid(rng_t *r, MPI_Comm parent, int n)
{
    int dims[3], periodic[3], ndims = 1 + (int)rng_below(r, 3), left = n;
    for (int d = 0; d < ndims; d++) {
        dims[d] = 1 + (int)rng_below(r, (size_t)left);
        if (d == ndims - 1 && !rng_one_in(r, 4))
            dims[d] = left;
        left /= dims[d];
        periodic[d] = !rng_one_in(r, 3);
    }
    MPI_Comm made;
    MPI_Cart_create(parent, ndims, dims, periodic, (int)rng_below(r, 2), &made);
    return made;
}

/* How many edges there are from i to j. */
static int multiplicity(uint64_t key, int i, int j)
{
    static const int many[] = {0, 0, 1, 1, 1, 2, 3};
    return many[key2(key, (uint64_t)(i * 100 + j)) % LENGTH(many)];
}

static void shuffle_list(rng_t *r, int *list, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)rng_below(r, (size_t)i + 1), t = list[i];
        list[i] = list[k];
        list[k] = t;
    }
}

static MPI_Comm make_graph(rng_t *r, rng_t *own, MPI_Comm parent, int n, int me,
                           bool adjacent)
{
    uint64_t key = rng_next(r);
    int from[EDGES_MAX], to[EDGES_MAX], in = 0, out = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < multiplicity(key, i, me); k++)
            from[in++] = i;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < multiplicity(key, me, j); k++)
            to[out++] = j;
    shuffle_list(own, from, in);
    shuffle_list(own, to, out);
    MPI_Comm made;
    if (adjacent) {
        MPI_Dist_graph_create_adjacent(parent, in, from, MPI_UNWEIGHTED, out,
                                       to, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                       may_reorder(), &made);
        return made;
    }
    /* Anybody may name an edge: here its target, or its source. */
    int sources[2 * EDGES_MAX], ones[2 * EDGES_MAX], targets[2 * EDGES_MAX];
    int edges = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < multiplicity(key, i, j); k++)
                if (me == (k % 2 ? i : j)) {
                    sources[edges] = i;
                    ones[edges] = 1;
                    targets[edges++] = j;
                }
    MPI_Dist_graph_create(parent, edges, sources, ones, targets, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, may_reorder(), &made);
    return made;
}

/* The old kind of graph has every edge in both directions. */
static MPI_Comm make_old_graph(rng_t *r, MPI_Comm parent, int n)
{
    uint64_t key = rng_next(r);
    int index[EDGES_MAX], edges[EDGES_MAX * 8], all = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int many = multiplicity(key, i < j ? i : j, i < j ? j : i);
            while (many--)
                edges[all++] = j;
        }
        index[i] = all;
    }
    MPI_Comm made;
    MPI_Graph_create(parent, n, index, edges, may_reorder(), &made);
    return made;
}

static void topology_learn(topology_t *t)
{
    int kind, weighted;
    MPI_Comm_size(t->comm, &t->size);
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Topo_test(t->comm, &kind);
    if (kind == MPI_DIST_GRAPH) {
        MPI_Dist_graph_neighbors_count(t->comm, &t->ins, &t->outs, &weighted);
        MPI_Dist_graph_neighbors(t->comm, t->ins, t->in, MPI_UNWEIGHTED,
                                 t->outs, t->out, MPI_UNWEIGHTED);
        return;
    }
    if (kind == MPI_GRAPH) {
        MPI_Graph_neighbors_count(t->comm, t->rank, &t->outs);
        MPI_Graph_neighbors(t->comm, t->rank, t->outs, t->out);
    } else {
        MPI_Cartdim_get(t->comm, &t->outs);
        t->outs *= 2;
        for (int i = 0; i < t->outs; i += 2)
            MPI_Cart_shift(t->comm, i / 2, 1, &t->out[i], &t->out[i + 1]);
    }
    t->ins = t->outs;
    memcpy(t->in, t->out, sizeof t->in);
}

/* Collective over the world. */
static void topology_make(rng_t *r, rng_t *own, topology_t *t)
{
    static const char *const names[] = {"grid", "grid", "adjacent graph",
                                        "distributed graph", "graph"};
    int how = (int)rng_below(r, LENGTH(names)), whole = !rng_one_in(r, 3), n;
    int left_out = (int)rng_below(r, (size_t)world_size);
    bool duplicate = rng_one_in(r, 3);
    MPI_Comm parent, made = MPI_COMM_NULL;
    *t = (topology_t){.comm = MPI_COMM_NULL, .made_by = names[how]};
    MPI_Comm_split(MPI_COMM_WORLD,
                   whole || world_rank != left_out ? 0 : MPI_UNDEFINED,
                   (int)(rng_next(r) % 3 - 1) * world_rank, &parent);
    rng_t mine = *r; /* a rank left out draws no more of these */
    rng_next(r);
    if (parent == MPI_COMM_NULL)
        return;
    int me;
    MPI_Comm_size(parent, &n);
    MPI_Comm_rank(parent, &me);
    if (how < 2)
        made = make_grid(&mine, parent, n);
    else if (how < 4)
        made = make_graph(&mine, own, parent, n, me, how == 2);
    else
        made = make_old_graph(&mine, parent, n);
    MPI_Comm_free(&parent);
    if (made != MPI_COMM_NULL && duplicate) {
        MPI_Comm_dup(made, &t->comm);
        MPI_Comm_free(&made);
        made = t->comm;
    }
    t->comm = made;
    if (made != MPI_COMM_NULL)
        topology_learn(t);
}

#endif
