/*
 * duplicates.c - MPI_Comm_dup and MPI_Comm_dup_with_info give what the host
 * gives: of communicators with a topology, a name, an error handler, hints, an
 * attribute, and of two groups.
 *
 *   duplicates LOG     LOG.RANK gets what must be the same with and without
 *                      Straightway
 *
 * One member's wrong call returns its error, and the member calls again.
 */
#include "mpi/test.h"

static FILE *out;

static void handle(MPI_Comm *comm, int *code, ...)
{
    int class = 0;
    (void)comm;
    MPI_Error_class(*code, &class);
    fprintf(out, "handled %d\n", class);
}

static int copy(MPI_Comm from, int key, void *extra, void *value, void *to,
                int *flag)
{
    (void)from;
    (void)key;
    (void)extra;
    *(void **)to = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static void describe(const char *what, MPI_Comm from, MPI_Comm comm)
{
    int same, kind, n, inter, key, at[3], dims[3], periods[3];
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Errhandler handler;
    MPI_Comm_compare(from, comm, &same);
    MPI_Topo_test(comm, &kind);
    MPI_Comm_size(comm, &n);
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_get_name(comm, name, &key);
    MPI_Comm_get_errhandler(comm, &handler);
    fprintf(out, "%s: %s %s size %d inter %d handler %d%d\n", what,
            same == MPI_CONGRUENT ? "congruent" : "other",
            kind == MPI_CART        ? "grid"
            : kind == MPI_GRAPH     ? "graph"
            : kind == MPI_UNDEFINED ? "plain"
                                    : "distributed",
            n, inter, handler == MPI_ERRORS_RETURN,
            handler == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    if (kind == MPI_CART) {
        MPI_Cart_get(comm, 1, dims, periods, at);
        fprintf(out, "  %d %d %d\n", dims[0], periods[0], at[0]);
    }
}

/* Use it for a collective and for a message. */
static void use(MPI_Comm comm)
{
    int rank, n, inter, from = -1, sum = 0, one = 1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    MPI_Comm_test_inter(comm, &inter);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (!inter)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n, 3, &from, 1, MPI_INT,
                     (rank + n - 1) % n, 3, comm, MPI_STATUS_IGNORE);
    fprintf(out, "  sum %d from %d\n", sum, from);
}

static void duplicate(const char *what, MPI_Comm from)
{
    MPI_Comm comm = MPI_COMM_NULL, again = MPI_COMM_NULL;
    MPI_Info info;
    int code = MPI_Comm_dup(from, &comm);
    fprintf(out, "%s %d\n", what, code == MPI_SUCCESS);
    if (code == MPI_SUCCESS) {
        describe(what, from, comm);
        use(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    code = MPI_Comm_dup_with_info(from, info, &again);
    MPI_Info_free(&info);
    if (code == MPI_SUCCESS) {
        describe("with info", from, again);
        use(again);
        MPI_Comm_free(&again);
    }
}

int main(int argc, char **argv)
{
    char path[4096];
    int rank, n, key, none[2] = {0, 0};
    MPI_Comm grid, named, ring, half, both;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    out = fopen(path, "w");
    CHECK(out && n > 2, "duplicates LOG, on 3 ranks");
    duplicate("world", MPI_COMM_WORLD);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &n, (int[]){1}, 0, &grid);
    duplicate("grid", grid);
    int left = (rank + n - 1) % n, right = (rank + 1) % n;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1,
                                   &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &ring);
    duplicate("ring", ring);
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "named");
    MPI_Comm_set_errhandler(named, MPI_ERRORS_RETURN);
    duplicate("named", named);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(named, key, none);
    duplicate("with an attribute", named);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    duplicate("half", half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, (rank + 1) % 2, 4, &both);
    duplicate("both", both);
    /* One member's wrong calls: the host refuses them, and others wait. */
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(named, handler);
    if (rank == 1) {
        int value = 0;
        fprintf(out, "root %d\n",
                MPI_Bcast(&value, 1, MPI_INT, n, named) == MPI_SUCCESS);
        fprintf(out, "rank %d\n",
                MPI_Send(&value, 1, MPI_INT, n + 5, 1, named) == MPI_SUCCESS);
    }
    use(named);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    MPI_Comm_free(&named);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&grid);
    MPI_Comm_free_keyval(&key);
    fclose(out);
    if (!rank)
        puts("all is well");
    MPI_Finalize();
    return 0;
}
