/*
 * errors.c - the host judges wrong arguments.
 *
 *   errors HANDLER REPORT [few]     HANDLER: return | user
 *
 * Every member makes the same wrong call. It writes to REPORT.rank the error
 * class that it got, and how often MPI called the communicator's error handler.
 * A run with Straightway must write what a run on the host alone writes. Right
 * calls between the wrong ones prove that the communicator still works.
 *
 * The program tries only errors that the standard lets a host notice, and no
 * dangling handle. `few` leaves out reductions with wrong counts and types:
 * some MPICH versions crash on them by themselves.
 */
#include "mpi/test.h"

#define ROOM 64

static MPI_Comm comm, grid;
static bool few;
static FILE *report;
static int handled;
static int a[ROOM], b[ROOM];

static void count_handled(MPI_Comm *which, int *code, ...)
{
    (void)which;
    (void)code;
    handled++;
}

/* One right collective of each shape. */
static void still_serves(const char *after)
{
    int one = 1, sum = 0, all[ROOM] = {0}, got = world_rank;
    int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(code == MPI_SUCCESS && sum == world_size,
          "after %s: Allreduce gives %d, code %d", after, sum, code);
    code = MPI_Neighbor_allgather(&world_rank, 1, MPI_INT, all, 1, MPI_INT,
                                  grid);
    CHECK(code == MPI_SUCCESS && all[1] == (world_rank + 1) % world_size,
          "after %s: Neighbor_allgather gives %d, code %d", after, all[1],
          code);
    code = MPI_Bcast(&got, 1, MPI_INT, world_size - 1, comm);
    CHECK(code == MPI_SUCCESS && got == world_size - 1,
          "after %s: Bcast gives %d, code %d", after, got, code);
    code = MPI_Allgather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    CHECK(code == MPI_SUCCESS && all[world_size - 1] == world_size - 1,
          "after %s: Allgather, code %d", after, code);
}

/* Ends one wrong call. */
static void judged(const char *name, int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(class, text, &n);
    fprintf(report, "%-42s class %d (%s), handler called %d\n", name, class,
            text, handled);
    handled = 0;
    still_serves(name);
    CHECK(handled == 0, "a right call after %s calls the handler", name);
}

#define WRONG(name, call) judged(name, call)

/* The wrong calls that have a count, a type and a root in common. */
static void rooted(const char *what, int count, MPI_Datatype type, int root)
{
    char name[64];
#define EACH(call, text)                                   \
    do {                                                   \
        snprintf(name, sizeof name, "%s: %s", text, what); \
        judged(name, call);                                \
    } while (0)
    EACH(MPI_Bcast(a, count, type, root, comm), "Bcast")
        ;
    if (!few || (count > 0 && type == MPI_INT))
        EACH(MPI_Reduce(a, b, count, type, MPI_SUM, root, comm), "Reduce")
            ;
    EACH(MPI_Gather(a, count, type, b, count, type, root, comm), "Gather")
        ;
    EACH(MPI_Scatter(b, count, type, a, count, type, root, comm), "Scatter")
        ;
}

static void unrooted(const char *what, int count, MPI_Datatype type)
{
    char name[64];
    int counts[ROOM], at[ROOM];
    for (int i = 0; i < world_size; i++) {
        counts[i] = count;
        at[i] = i;
    }
    EACH(MPI_Allgather(a, count, type, b, count, type, comm), "Allgather")
        ;
    EACH(MPI_Alltoall(a, count, type, b, count, type, comm), "Alltoall")
        ;
    EACH(MPI_Allgatherv(a, count, type, b, counts, at, type, comm),
         "Allgatherv")
        ;
    EACH(MPI_Alltoallv(a, counts, at, type, b, counts, at, type, comm),
         "Alltoallv")
        ;
    EACH(MPI_Neighbor_allgather(a, count, type, b, count, type, grid),
         "Neighbor_allgather")
        ;
    EACH(MPI_Neighbor_alltoall(a, count, type, b, count, type, grid),
         "Neighbor_alltoall")
        ;
    EACH(MPI_Neighbor_alltoallv(a, counts, at, type, b, counts, at, type, grid),
         "Neighbor_alltoallv")
        ;
    if (few)
        return;
    EACH(MPI_Allreduce(a, b, count, type, MPI_SUM, comm), "Allreduce")
        ;
    EACH(MPI_Scan(a, b, count, type, MPI_SUM, comm), "Scan")
        ;
    EACH(MPI_Exscan(a, b, count, type, MPI_SUM, comm), "Exscan")
        ;
    EACH(MPI_Reduce_scatter_block(a, b, count, type, MPI_SUM, comm),
         "Reduce_scatter_block")
        ;
    EACH(MPI_Reduce_scatter(a, b, counts, type, MPI_SUM, comm),
         "Reduce_scatter")
        ;
}

static void all_wrong_operations(const char *what, MPI_Op op, MPI_Datatype type)
{
    char name[64];
    int counts[ROOM];
    for (int i = 0; i < world_size; i++)
        counts[i] = 1;
    EACH(MPI_Reduce(a, b, 1, type, op, 0, comm), "Reduce")
        ;
    EACH(MPI_Allreduce(a, b, 1, type, op, comm), "Allreduce")
        ;
    EACH(MPI_Scan(a, b, 1, type, op, comm), "Scan")
        ;
    EACH(MPI_Exscan(a, b, 1, type, op, comm), "Exscan")
        ;
    EACH(MPI_Reduce_scatter_block(a, b, 1, type, op, comm),
         "Reduce_scatter_block")
        ;
    EACH(MPI_Reduce_scatter(a, b, counts, type, op, comm), "Reduce_scatter")
        ;
}

static void first_of(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)n;
    (void)type;
    memcpy(inout, in, sizeof(int));
}

static void on_no_communicator(void)
{
    MPI_Comm gone;
    MPI_Comm_dup(comm, &gone);
    MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, gone);
    MPI_Comm_free(&gone); /* the variable is MPI_COMM_NULL now */
    WRONG("Bcast: a freed communicator", MPI_Bcast(a, 1, MPI_INT, 0, gone));
    WRONG("Barrier: MPI_COMM_NULL", MPI_Barrier(MPI_COMM_NULL));
    WRONG("Allreduce: MPI_COMM_NULL",
          MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    WRONG("Alltoall: MPI_COMM_NULL",
          MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL));
    WRONG("Neighbor_alltoall: MPI_COMM_NULL",
          MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_NULL));
    WRONG("Neighbor_alltoall: no topology",
          MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, comm));
}

static void aliased(void)
{
    WRONG("Allreduce: aliased", MPI_Allreduce(a, a, 4, MPI_INT, MPI_SUM, comm));
    WRONG("Scan: aliased", MPI_Scan(a, a, 4, MPI_INT, MPI_SUM, comm));
    WRONG("Allreduce: receives MPI_IN_PLACE",
          MPI_Allreduce(a, MPI_IN_PLACE, 4, MPI_INT, MPI_SUM, comm));
}

static void packing(void)
{
    MPI_Datatype spaced;
    int at = 0;
    MPI_Type_vector(4, 1, 2, MPI_INT, &spaced);
    WRONG("Pack: uncommitted", MPI_Pack(a, 1, spaced, b, ROOM, &at, comm));
    MPI_Type_commit(&spaced);
    for (int i = 0; i < 100; i++) {
        at = 0;
        CHECK(MPI_Pack(a, 1, spaced, b, 16, &at, comm) == MPI_SUCCESS &&
                  at == 16,
              "packed");
        at = 0;
        CHECK(MPI_Unpack(b, 16, &at, a, 1, spaced, comm) == MPI_SUCCESS &&
                  at == 16,
              "unpacked");
    }
    at = 0;
    WRONG("Pack: no room", MPI_Pack(a, 1, spaced, b, 15, &at, comm));
    WRONG("Pack: negative count", MPI_Pack(a, -1, spaced, b, ROOM, &at, comm));
    WRONG("Pack: no type",
          MPI_Pack(a, 1, MPI_DATATYPE_NULL, b, ROOM, &at, comm));
    WRONG("Pack: no communicator",
          MPI_Pack(a, 1, spaced, b, ROOM, &at, MPI_COMM_NULL));
    at = 4;
    WRONG("Pack: no room left", MPI_Pack(a, 1, spaced, b, 16, &at, comm));
    at = 0;
    WRONG("Unpack: too little", MPI_Unpack(b, 15, &at, a, 1, spaced, comm));
    at = 0;
    WRONG("Unpack: negative count",
          MPI_Unpack(b, ROOM, &at, a, -1, spaced, comm));
    WRONG("Unpack: no type",
          MPI_Unpack(b, ROOM, &at, a, 1, MPI_DATATYPE_NULL, comm));
    WRONG("Unpack: no communicator",
          MPI_Unpack(b, ROOM, &at, a, 1, spaced, MPI_COMM_NULL));
    MPI_Type_free(&spaced);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    bool user = argc > 1 && !strcmp(argv[1], "user");
    int periodic = 1;
    few = argc > 3;
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", argc > 2 ? argv[2] : "errors",
             world_rank);
    CHECK((report = fopen(path, "w")), "cannot write %s", path);
    setvbuf(report, NULL, _IOLBF, 0);
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    if (user)
        MPI_Comm_create_errhandler(count_handled, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Cart_create(comm, 1, &world_size, &periodic, 0, &grid);
    MPI_Comm_set_errhandler(grid, handler);
    /* Where an error has no communicator, one of these takes it. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    still_serves("nothing");

    rooted("negative count", -1, MPI_INT, 0);
    unrooted("negative count", -1, MPI_INT);
    rooted("negative root", 1, MPI_INT, -1);
    rooted("MPI_PROC_NULL as root", 1, MPI_INT, MPI_PROC_NULL);
    rooted("root past the end", 1, MPI_INT, world_size);
    rooted("no type", 1, MPI_DATATYPE_NULL, 0);
    unrooted("no type", 1, MPI_DATATYPE_NULL);

    MPI_Datatype raw, freed;
    MPI_Type_contiguous(2, MPI_INT, &raw);
    WRONG("Bcast: uncommitted", MPI_Bcast(a, 1, raw, 0, comm));
    WRONG("Gather: uncommitted", MPI_Gather(a, 1, raw, b, 1, raw, 0, comm));
    WRONG("Allgather: uncommitted", MPI_Allgather(a, 1, raw, b, 1, raw, comm));
    WRONG("Alltoall: uncommitted", MPI_Alltoall(a, 1, raw, b, 1, raw, comm));
    MPI_Type_commit(&raw);
    still_serves("a commit");
    CHECK(MPI_Bcast(a, 1, raw, 0, comm) == MPI_SUCCESS, "committed");
    all_wrong_operations("MPI_SUM of a derived type", MPI_SUM, raw);
    freed = raw;
    MPI_Type_free(&freed);
    rooted("freed type", 1, freed, 0);
    unrooted("freed type", 1, freed);

    all_wrong_operations("MPI_OP_NULL", MPI_OP_NULL, MPI_INT);
    all_wrong_operations("MPI_BAND of doubles", MPI_BAND, MPI_DOUBLE);
    all_wrong_operations("MPI_MAXLOC of ints", MPI_MAXLOC, MPI_INT);
    all_wrong_operations("MPI_SUM of pairs", MPI_SUM, MPI_2INT);
    MPI_Op op;
    MPI_Op_create(first_of, 1, &op);
    CHECK(MPI_Allreduce(a, b, 1, MPI_INT, op, comm) == MPI_SUCCESS, "own");
    MPI_Op_free(&op);
    all_wrong_operations("freed operation", op, MPI_INT);

    on_no_communicator();
    aliased();
    packing();
    if (user)
        MPI_Errhandler_free(&handler);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&comm);
    test_end();
}
