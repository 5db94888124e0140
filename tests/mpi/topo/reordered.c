/*
 * reordered.c - communicators with topologies whose ranks MPI may reorder.
 *
 *   reordered NODE [SEED [ROUNDS [off | elsewhere]]]
 *
 * NODE ranks of MPI_COMM_WORLD make a (virtual) node. `off`: nothing is
 * reordered. `elsewhere`: no MPI_Dist_graph_create, in which MPICH over test
 * nodes hangs by itself. The new order is a permutation, alike on all ranks;
 * the neighbours of rank r are those that the grid or the graph gives it;
 * messages and collectives arrive. MPI_Cart_map and MPI_Graph_map say
 * beforehand what the order is. Rank 0 prints how many messages of the
 * topologies would have crossed nodes without reordering, and how many do.
 */
#include "mpi/test.h"

#define RANKS_MAX 16
#define EDGES_MAX 128
#define LARGE 12000

static int node;
static bool off, elsewhere;
static long before, after;
static rng_t draw; /* alike on all ranks */

typedef struct {
    MPI_Comm comm, made;
    int n, rank;          /* in made */
    int world[RANKS_MAX]; /* ranks of comm's members in the world */
    int order[RANKS_MAX]; /* ranks in comm of made's members */
} pair_t;

static int node_of(const pair_t *p, int rank)
{
    return p->world[rank] / node;
}

/* Some ranks of the world, in some order. MPI_COMM_NULL: not this one. */
static void draw_parent(pair_t *p)
{
    int left_out = rng_one_in(&draw, 3)
                       ? (int)rng_below(&draw, (size_t)world_size)
                       : -1;
    uint64_t key = rng_next(&draw);
    int how = (int)rng_below(&draw, 4), sort = world_rank;
    if (how == 1)
        sort = -world_rank;
    if (how == 2) /* round robin over the nodes */
        sort = world_rank % node * world_size + world_rank / node;
    if (how == 3)
        sort = (int)(key2(key, (uint64_t)world_rank) % 1000);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == left_out ? MPI_UNDEFINED : 0,
                   sort, &p->comm);
    if (p->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_set_errhandler(p->comm, rng_one_in(&draw, 2)
                                         ? MPI_ERRORS_RETURN
                                         : MPI_ERRORS_ARE_FATAL);
    int n;
    MPI_Comm_size(p->comm, &n);
    MPI_Allgather(&world_rank, 1, MPI_INT, p->world, 1, MPI_INT, p->comm);
}

/* What holds of every communicator that was made. `mapped`: what MPI said, or
 * MPI_PROC_NULL. */
static void look(pair_t *p, int size, int mapped, const char *what)
{
    MPI_Group old, new;
    MPI_Errhandler one, other;
    int me, ranks[RANKS_MAX], first[RANKS_MAX], seen = 0;
    MPI_Comm_rank(p->comm, &me);
    if (p->made == MPI_COMM_NULL) {
        CHECK(me >= size, "%s: rank %d of %d is left out", what, me, size);
        /* Open MPI maps it to itself. */
        CHECK(mapped == MPI_PROC_NULL || mapped == MPI_UNDEFINED ||
                  mapped == me,
              "%s: rank %d is left out, but mapped to %d", what, me, mapped);
        return;
    }
    MPI_Comm_size(p->made, &p->n);
    MPI_Comm_rank(p->made, &p->rank);
    CHECK(p->n == size, "%s: %d ranks, not %d", what, p->n, size);
    CHECK(mapped == MPI_PROC_NULL || mapped == p->rank,
          "%s: mapped to %d, but is %d", what, mapped, p->rank);
    for (int i = 0; i < size; i++)
        ranks[i] = i;
    MPI_Comm_group(p->comm, &old);
    MPI_Comm_group(p->made, &new);
    MPI_Group_translate_ranks(new, size, ranks, old, p->order);
    MPI_Group_free(&old);
    MPI_Group_free(&new);
    memcpy(first, p->order, sizeof first);
    MPI_Bcast(first, size, MPI_INT, 0, p->made);
    for (int i = 0; i < size; i++) {
        CHECK(first[i] == p->order[i], "%s: rank %d differs", what, i);
        CHECK(p->order[i] >= 0 && p->order[i] < size &&
                  !(seen >> p->order[i] & 1),
              "%s: rank %d is %d", what, i, p->order[i]);
        seen |= 1 << p->order[i];
    }
    CHECK(p->order[p->rank] == me, "%s: rank %d of %d", what, p->rank, me);
    MPI_Comm_get_errhandler(p->comm, &one);
    MPI_Comm_get_errhandler(p->made, &other);
    CHECK(one == other, "%s: another error handler", what);
    int sum = -1;
    MPI_Allreduce(&p->rank, &sum, 1, MPI_INT, MPI_SUM, p->made);
    CHECK(sum == size * (size - 1) / 2, "%s: Allreduce gives %d", what, sum);
}

/* A message from rank `from` of made to rank `to`; all come here. */
static void count(const pair_t *p, int from, int to, long amount)
{
    if (p->rank != 0 || to < 0)
        return;
    before += node_of(p, from) != node_of(p, to) ? amount : 0;
    after += node_of(p, p->order[from]) != node_of(p, p->order[to]) ? amount
                                                                    : 0;
}

/* Messages to the neighbours: each gives its rank and that of the other end. */
static void speak(const pair_t *p, int ins, const int *in, int outs,
                  const int *out, const char *what)
{
    int said[2 * EDGES_MAX], heard[2 * EDGES_MAX], own = p->rank;
    memset(heard, 0xff, sizeof heard);
    MPI_Neighbor_allgather(&own, 1, MPI_INT, heard, 1, MPI_INT, p->made);
    for (int i = 0; i < ins; i++)
        CHECK(heard[i] == (in[i] < 0 ? -1 : in[i]),
              "%s: neighbour %d of %d is %d, not %d", what, i, own, heard[i],
              in[i]);
    for (int i = 0; i < outs; i++) {
        said[2 * i] = own;
        said[2 * i + 1] = out[i];
    }
    MPI_Neighbor_alltoall(said, 2, MPI_INT, heard, 2, MPI_INT, p->made);
    for (int i = 0; i < ins; i++)
        CHECK(in[i] < 0 || (heard[2 * i] == in[i] && heard[2 * i + 1] == own),
              "%s: %d speaks to %d, not %d to %d", what, heard[2 * i],
              heard[2 * i + 1], in[i], own);
}

/* Grids ------------------------------------------------------------------ */

typedef struct {
    int ndims, size, dims[4], periods[4];
} grid_t;

/* The rank `by` steps along dimension d. */
static int beside(const grid_t *g, int rank, int d, int by)
{
    int stride = 1;
    for (int k = d + 1; k < g->ndims; k++)
        stride *= g->dims[k];
    int at = rank / stride % g->dims[d], next = at + by;
    if (!g->periods[d] && (next < 0 || next >= g->dims[d]))
        return MPI_PROC_NULL;
    next = (next % g->dims[d] + g->dims[d]) % g->dims[d];
    return rank + (next - at) * stride;
}

static void check_sub(const pair_t *p, const grid_t *g)
{
    int remain[4], sub_size = 1, n, at[4], sub_at[4], k = 0;
    MPI_Comm sub;
    for (int d = 0; d < g->ndims; d++) {
        /* At least one: hosts differ about grids without dimensions. */
        remain[d] = d == 0 || (g->size + d) % 2;
        sub_size *= remain[d] ? g->dims[d] : 1;
    }
    MPI_Cart_sub(p->made, remain, &sub);
    MPI_Comm_size(sub, &n);
    CHECK(n == sub_size, "Cart_sub: %d ranks, not %d", n, sub_size);
    MPI_Cart_coords(p->made, p->rank, 4, at);
    MPI_Comm_rank(sub, &n);
    MPI_Cart_coords(sub, n, 4, sub_at);
    for (int d = 0; d < g->ndims; d++)
        if (remain[d])
            CHECK(sub_at[k++] == at[d], "Cart_sub: dimension %d", d);
    MPI_Comm_free(&sub);
}

static void check_grid(pair_t *p, const grid_t *g)
{
    int near[8], at[4], left = p->rank, rank, ndims, kind;
    static int sent[LARGE], got[LARGE];
    MPI_Topo_test(p->made, &kind);
    MPI_Cartdim_get(p->made, &ndims);
    CHECK(kind == MPI_CART && ndims == g->ndims, "no grid");
    MPI_Cart_coords(p->made, p->rank, g->ndims, at);
    for (int d = g->ndims - 1; d >= 0; left /= g->dims[d--])
        CHECK(at[d] == left % g->dims[d], "coordinate %d of %d is %d", d,
              p->rank, at[d]);
    MPI_Cart_rank(p->made, at, &rank);
    CHECK(rank == p->rank, "rank %d has the coordinates of %d", p->rank, rank);
    for (int d = 0; d < g->ndims; d++) {
        int down, up;
        MPI_Cart_shift(p->made, d, 1, &down, &up);
        near[2 * d] = beside(g, p->rank, d, -1);
        near[2 * d + 1] = beside(g, p->rank, d, 1);
        CHECK(down == near[2 * d] && up == near[2 * d + 1],
              "rank %d lies between %d and %d in dimension %d", p->rank, down,
              up, d);
        for (int i = 0; i < LARGE; i++)
            sent[i] = p->rank + i;
        memset(got, 0xff, sizeof got);
        MPI_Sendrecv(sent, LARGE, MPI_INT, up, d, got, LARGE, MPI_INT, down, d,
                     p->made, MPI_STATUS_IGNORE);
        for (int i = 0; i < LARGE; i++)
            CHECK(got[i] == (down < 0 ? -1 : down + i), "int %d from %d is %d",
                  i, down, got[i]);
    }
    speak(p, 2 * g->ndims, near, 2 * g->ndims, near, "grid");
    for (int r = 0; r < p->n; r++)
        for (int d = 0; d < g->ndims; d++)
            for (int by = -1; by <= 1; by += 2)
                if (beside(g, r, d, by) != r)
                    count(p, r, beside(g, r, d, by), 1);
    check_sub(p, g);
}

/* Members may differ in `reorder`: then none is reordered. */
static void try_grid(pair_t *p, const grid_t *g, bool differ)
{
    int mapped = MPI_PROC_NULL, me;
    MPI_Comm_rank(p->comm, &me);
    if (!differ)
        MPI_Cart_map(p->comm, g->ndims, g->dims, g->periods, &mapped);
    MPI_Cart_create(p->comm, g->ndims, g->dims, g->periods, differ ? me % 2 : 1,
                    &p->made);
    look(p, g->size, mapped, "grid");
    for (int i = 0; differ && p->made != MPI_COMM_NULL && i < g->size; i++)
        CHECK(p->order[i] == i, "rank %d was %d", i, p->order[i]);
    if (p->made == MPI_COMM_NULL)
        return;
    check_grid(p, g);
    MPI_Comm_free(&p->made);
}

static void draw_grid(pair_t *p, int n)
{
    grid_t g = {.ndims = 1 + (int)rng_below(&draw, 4), .size = 1};
    int left = n;
    for (int d = 0; d < g.ndims; d++) {
        g.dims[d] = rng_one_in(&draw, 3) ? left : 1 + (int)rng_below(&draw, 3);
        g.dims[d] = g.dims[d] < left ? g.dims[d] : left;
        g.periods[d] = (int)rng_below(&draw, 2);
        left /= g.dims[d];
        g.size *= g.dims[d];
    }
    /* Some MPIs alone cannot bear that members differ. */
    try_grid(p, &g, rng_one_in(&draw, 5) && !off);
}

/* Graphs ----------------------------------------------------------------- */

/* How many edges there are from i to j, of a sparse graph. */
static int edges_of(uint64_t key, int i, int j)
{
    static const int many[] = {0, 0, 0, 0, 1, 1, 2};
    return many[key2(key, (uint64_t)(i * 100 + j)) % LENGTH(many)];
}

static int weight_of(uint64_t key, int i, int j, int k)
{
    return (int)(key2(key + 1, (uint64_t)((i * 100 + j) * 8 + k)) % 50);
}

/* The edges out of a rank (or into it), in no order, and their weights. */
static int list_of(uint64_t key, int n, int rank, bool out, int *list,
                   int *weight)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int j = (i + rank * 7) % n;
        int from = out ? rank : j, to = out ? j : rank;
        for (int k = 0; k < edges_of(key, from, to); k++) {
            list[count] = j;
            weight[count++] = weight_of(key, from, to, k);
        }
    }
    return count;
}

static void draw_graph(pair_t *p, int n)
{
    int index[RANKS_MAX], edges[RANKS_MAX * RANKS_MAX], all = 0, mapped;
    int size = 1 + (int)rng_below(&draw, (size_t)n);
    uint64_t key = rng_next(&draw);
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++)
            if (i != j && edges_of(key, i < j ? i : j, i < j ? j : i))
                edges[all++] = j;
        index[i] = all;
    }
    MPI_Graph_map(p->comm, size, index, edges, &mapped);
    MPI_Graph_create(p->comm, size, index, edges, 1, &p->made);
    look(p, size, mapped, "graph");
    if (p->made == MPI_COMM_NULL)
        return;
    int got[RANKS_MAX], begin = p->rank ? index[p->rank - 1] : 0, outs;
    MPI_Graph_neighbors_count(p->made, p->rank, &outs);
    CHECK(outs == index[p->rank] - begin, "rank %d has %d neighbours", p->rank,
          outs);
    MPI_Graph_neighbors(p->made, p->rank, outs, got);
    for (int i = 0; i < outs; i++)
        CHECK(got[i] == edges[begin + i], "neighbour %d of rank %d is %d", i,
              p->rank, got[i]);
    speak(p, outs, got, outs, got, "graph");
    for (int r = 0, i = 0; r < size; r++)
        for (; i < index[r]; i++)
            count(p, r, edges[i], 2);
    MPI_Comm_free(&p->made);
}

/* Are the lists equal, in any order? */
static bool same(const int *a, const int *wa, int na, const int *b,
                 const int *wb, int nb)
{
    bool taken[EDGES_MAX] = {false};
    for (int i = 0; na == nb && i < na; i++) {
        int k = 0;
        while (k < nb && (taken[k] || a[i] != b[k] || wa[i] != wb[k]))
            k++;
        if (k == nb)
            return false;
        taken[k] = true;
    }
    return na == nb;
}

static void make_dist_graph(pair_t *p, uint64_t key, int n, int me,
                            bool adjacent, bool weighted)
{
    int in[EDGES_MAX], win[EDGES_MAX], out[EDGES_MAX], wout[EDGES_MAX];
    int sources[EDGES_MAX], degrees[EDGES_MAX], count = 0;
    if (adjacent) {
        int ins = list_of(key, n, me, false, in, win);
        int outs = list_of(key, n, me, true, out, wout);
        MPI_Dist_graph_create_adjacent(
            p->comm, ins, in, weighted ? win : MPI_UNWEIGHTED, outs, out,
            weighted ? wout : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &p->made);
        return;
    }
    /* The member before names the edges. */
    int outs = list_of(key, n, (me + 1) % n, true, out, wout);
    for (int i = 0; i < outs; i++) {
        sources[count] = (me + 1) % n;
        degrees[count++] = 1;
    }
    MPI_Dist_graph_create(p->comm, count, sources, degrees, out,
                          weighted ? wout : MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                          &p->made);
}

static void draw_dist_graph(pair_t *p, int n)
{
    uint64_t key = rng_next(&draw);
    bool adjacent = rng_one_in(&draw, 2) || elsewhere;
    bool weighted = rng_one_in(&draw, 2);
    int me, ins, outs, told;
    MPI_Comm_rank(p->comm, &me);
    make_dist_graph(p, key, n, me, adjacent, weighted);
    look(p, n, MPI_PROC_NULL, "distributed graph");
    int in[EDGES_MAX], win[EDGES_MAX], out[EDGES_MAX], wout[EDGES_MAX];
    int got[EDGES_MAX], wgot[EDGES_MAX], sent[EDGES_MAX], wsent[EDGES_MAX];
    int expected = list_of(key, n, p->rank, false, in, win);
    int wanted = list_of(key, n, p->rank, true, out, wout);
    MPI_Dist_graph_neighbors_count(p->made, &ins, &outs, &told);
    CHECK(ins == expected && outs == wanted, "%d edges into rank %d, %d out",
          ins, p->rank, outs);
    CHECK(!told == !weighted, "weighted: %d", told);
    MPI_Dist_graph_neighbors(p->made, ins, got, wgot, outs, sent, wsent);
    if (!weighted) /* hosts leave these as they are */
        for (int i = 0; i < EDGES_MAX; i++)
            win[i] = wout[i] = wgot[i] = wsent[i] = 1;
    CHECK(same(got, wgot, ins, in, win, ins) &&
              same(sent, wsent, outs, out, wout, outs),
          "rank %d has other neighbours (%s)", p->rank,
          adjacent ? "adjacent" : "distributed");
    if (adjacent)
        CHECK(!memcmp(got, in, (size_t)ins * sizeof *in) &&
                  !memcmp(sent, out, (size_t)outs * sizeof *out),
              "rank %d has its neighbours in another order", p->rank);
    /* Edges of the same two ranks carry messages in their order. */
    speak(p, ins, got, outs, sent, "distributed graph");
    for (int r = 0; r < n; r++) {
        outs = list_of(key, n, r, true, out, wout);
        for (int i = 0; i < outs; i++)
            if (out[i] != r)
                count(p, r, out[i], 2 * (weighted ? wout[i] : 1));
    }
    MPI_Comm_free(&p->made);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    node = (int)argument(argc, argv, 1, 2);
    uint64_t seed = (uint64_t)argument(argc, argv, 2, 1);
    int rounds = (int)argument(argc, argv, 3, 60);
    off = argc > 4 && !strcmp(argv[4], "off");
    elsewhere = argc > 4 && !strcmp(argv[4], "elsewhere");
    for (int i = 0; i < rounds; i++) {
        pair_t p;
        int n;
        draw = rng_from(key2(seed, (uint64_t)i));
        draw_parent(&p);
        if (p.comm == MPI_COMM_NULL)
            continue;
        MPI_Comm_size(p.comm, &n);
        if (i % 3 == 0)
            draw_grid(&p, n);
        else if (i % 3 == 1)
            draw_graph(&p, n);
        else
            draw_dist_graph(&p, n);
        MPI_Comm_free(&p.comm);
    }
    long mine[2] = {before, after}, all[2];
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("messages between nodes: %ld before, %ld after\n", all[0],
               all[1]);
    test_end();
}
