/*
 * reorder_wrong.c - wrong calls that make topologies, and what else the host
 * decides about them.
 *
 *   reorder_wrong REPORT [few]
 *
 * With MPI_ERRORS_RETURN rank r writes the class of each wrong call to
 * REPORT.r: where all ranks are wrong, and where one is, which then calls again
 * as the others do. It also writes what the new communicator has of the old
 * one. A run with reordering must write what the host alone writes. `few`
 * leaves out what some MPICH versions crash on by themselves.
 */
#include "mpi/test.h"

#define RANKS_MAX 16

enum { CARTS = 6, GRAPHS = 5, DISTS = 4, KINDS = CARTS + GRAPHS + DISTS };

static MPI_Comm comm;
static FILE *report;
static bool few;

static bool is_cart(int kind)
{
    return kind < CARTS;
}
static bool is_graph(int kind)
{
    return !is_cart(kind) && kind < CARTS + GRAPHS;
}

/* MPI_Cart_create or, if `map`, MPI_Cart_map; `wrong`: 0 for right. */
static int cart(int wrong, bool map, MPI_Comm *made)
{
    int dims[2] = {world_size, 1}, periods[2] = {1, 0}, n = 2, rank;
    MPI_Comm from = wrong == 6 ? MPI_COMM_NULL : comm;
    if (wrong == 1)
        dims[0] = -2;
    if (wrong == 2)
        dims[1] = 1000;
    if (wrong == 3)
        n = -1;
    if (wrong == 4)
        dims[1] = 0;
    if (wrong == 5)
        made = map ? made : NULL;
    if (map)
        return MPI_Cart_map(from, n, dims, periods, wrong == 5 ? NULL : &rank);
    return MPI_Cart_create(from, n, dims, periods, 1, made);
}

static int graph(int wrong, bool map, MPI_Comm *made)
{
    int index[RANKS_MAX], edges[2 * RANKS_MAX], n = world_size, rank;
    for (int i = 0; i < n; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % n;
        edges[2 * i + 1] = (i + n - 1) % n;
    }
    MPI_Comm from = wrong == 5 ? MPI_COMM_NULL : comm;
    if (wrong == 1)
        n = -1;
    if (wrong == 2)
        n = world_size + 5;
    if (wrong == 3)
        edges[1] = 2 * world_size;
    if (wrong == 4)
        index[1] = -3;
    if (map)
        return MPI_Graph_map(from, n, index, edges, &rank);
    return MPI_Graph_create(from, n, index, edges, 1, made);
}

static int dist(int wrong, bool adjacent, MPI_Comm *made)
{
    int me = world_rank, next = (me + 1) % world_size, one = 1;
    int before = (me + world_size - 1) % world_size;
    MPI_Comm from = wrong == 4 ? MPI_COMM_NULL : comm;
    if (wrong == 1)
        next = -7;
    if (wrong == 2)
        one = -1;
    if (wrong == 3)
        next = before = world_size;
    if (adjacent)
        return MPI_Dist_graph_create_adjacent(
            from, one, &before, MPI_UNWEIGHTED, one, &next, MPI_UNWEIGHTED,
            MPI_INFO_NULL, 1, made);
    return MPI_Dist_graph_create(from, 1, &me, &one, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 1, made);
}

static int call(int kind, int wrong, bool other, MPI_Comm *made)
{
    return is_cart(kind)    ? cart(wrong, other, made)
           : is_graph(kind) ? graph(wrong, other, made)
                            : dist(wrong, other, made);
}

static int wrong_of(int kind)
{
    return 1 + (is_cart(kind)    ? kind
                : is_graph(kind) ? kind - CARTS
                                 : kind - CARTS - GRAPHS);
}

/* What the host checks differs, and so does what it survives. */
static bool bearable(int kind, bool one)
{
    int wrong = wrong_of(kind);
    if (is_graph(kind) && wrong == 4)
        return false;
    if (!is_cart(kind) && !is_graph(kind))
        return wrong == 4 || (!one && !few);
    /* MPICH makes grids and graphs of no size, and of less. */
    return !few || (is_graph(kind) ? wrong != 3 && (!one || wrong != 1)
                                   : !one || (wrong != 1 && wrong != 4));
}

static void write_class(int code, const char *who, int kind, bool other)
{
    int class = -1;
    MPI_Error_class(code, &class);
    fprintf(report, "%s: kind %d%s: class %d\n", who, kind,
            other ? ", other" : "", class);
}

static void check_right(int kind, MPI_Comm *made, const char *who)
{
    int n = 0, sum = 0, one = 1;
    MPI_Comm_size(*made, &n);
    int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *made);
    CHECK(!code && n == world_size && sum == n,
          "%s: kind %d: %d of %d ranks, code %d", who, kind, sum, n, code);
    MPI_Comm_free(made);
}

static void all_wrong(int kind, bool other)
{
    MPI_Comm made = MPI_COMM_NULL;
    int code = call(kind, wrong_of(kind), other, &made);
    write_class(code, "all", kind, other);
    if (code == MPI_SUCCESS && made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
}

static void one_wrong(int kind, bool other, int who)
{
    MPI_Comm made = MPI_COMM_NULL;
    int code = MPI_ERR_OTHER;
    if (world_rank == who) {
        code = call(kind, wrong_of(kind), other, &made);
        write_class(code, "one", kind, other);
    }
    if (code != MPI_SUCCESS)
        code = call(kind, 0, other, &made);
    CHECK(code == MPI_SUCCESS, "kind %d after a wrong call: %d", kind, code);
    check_right(kind, &made, "one");
}

static int copied;

static int copy(MPI_Comm from, int key, void *extra, void *value, void *to,
                int *flag)
{
    copied++;
    *(void **)to = value;
    *flag = 1;
    return MPI_SUCCESS;
}

/* Facts about a new communicator. */
static void heritage(int kind, bool other)
{
    int key, flag, length, weighted = 0, ins, outs;
    char name[MPI_MAX_OBJECT_NAME] = "";
    void *value;
    MPI_Comm made;
    MPI_Errhandler handler;
    copied = 0;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, &key);
    MPI_Comm_set_name(comm, "the old one");
    CHECK(call(kind, 0, other, &made) == MPI_SUCCESS, "kind %d", kind);
    MPI_Comm_get_attr(made, key, &value, &flag);
    MPI_Comm_get_name(made, name, &length);
    MPI_Comm_get_errhandler(made, &handler);
    /* Open MPI makes this kind by a duplicate, and copies attributes, which the
     * standard does not say. */
    if (!is_cart(kind) && !is_graph(kind) && other)
        flag = copied = 0;
    if (!is_cart(kind) && !is_graph(kind))
        MPI_Dist_graph_neighbors_count(made, &ins, &outs, &weighted);
    fprintf(report,
            "heir: kind %d: attribute %d, copied %d, name of the old "
            "%d, returns %d, weighted %d\n",
            kind, flag, copied, !strcmp(name, "the old one"),
            handler == MPI_ERRORS_RETURN, weighted);
    MPI_Comm_delete_attr(comm, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&made);
}

static void intercommunicator(void)
{
    MPI_Comm half, between, made = MPI_COMM_NULL, whole = comm;
    int upper = world_rank >= world_size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : world_size / 2, 3,
                         &between);
    MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN);
    comm = between;
    for (int kind = 0; kind < KINDS; kind += CARTS)
        write_class(call(kind, 0, false, &made), "inter", kind, false);
    comm = whole;
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    char path[4096];
    few = argc > 2;
    snprintf(path, sizeof path, "%s.%d", argv[1], world_rank);
    CHECK((report = fopen(path, "w")), "cannot write %s", path);
    setvbuf(report, NULL, _IOLBF, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    /* Round robin over the nodes: the host's order is not the best. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank % 2 * world_size + world_rank,
                   &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int kind = 0; kind < KINDS; kind++)
        for (int other = 0; other < 2; other++)
            if (bearable(kind, false))
                all_wrong(kind, other);
    for (int kind = 0; kind < KINDS; kind++)
        for (int who = 0; who < world_size; who += world_size - 1)
            if (bearable(kind, true))
                one_wrong(kind, false, who);
    for (int kind = 0; kind < KINDS; kind += CARTS)
        heritage(kind, false);
    heritage(KINDS - 1, false);
    heritage(KINDS - 1, true);
    intercommunicator();
    MPI_Comm_free(&comm);
    test_end();
}
