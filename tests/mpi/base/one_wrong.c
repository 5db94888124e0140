/*
 * one_wrong.c - one member's call is wrong, and its next one is right.
 *
 *   one_wrong REPORT [few]
 *
 * With MPI_ERRORS_RETURN the host raises an error at that member alone, which
 * has then called once more often than the others. The host goes on, and so
 * must we, whatever the communicator had done before. A wrong call that the
 * host carries out all the same counts as the right one.
 *
 * Rank r writes what each of its wrong calls returned to REPORT.r; a run with
 * Straightway must write what the host alone writes. `few` leaves out wrong
 * counts and types in reductions: some MPICH versions crash on them by
 * themselves.
 */
#include "mpi/test.h"

#define LONG 30000

typedef enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    NEIGHBOR_ALLGATHER,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    CALLS
} call_t;

static const char *const names[] = {
    "Barrier",
    "Bcast",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Reduce",
    "Allreduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scan",
    "Exscan",
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
};

typedef enum {
    RIGHT,
    COUNT,
    TYPE,
    ROOT,
    OP,
    ALIASED,
    IN_PLACE_SENT,
    IN_PLACE_RECEIVED,
    NO_LISTS,
    WRONGS
} wrong_t;

static const char *const wrongs[] = {
    "right",
    "a negative count",
    "no datatype",
    "a root past the end",
    "no operation",
    "aliased buffers",
    "MPI_IN_PLACE to send",
    "MPI_IN_PLACE to receive",
    "no lists",
};

static MPI_Comm comm;
static int *a, *b, *counts, *places, *sides, *side_places;
static MPI_Aint *side_bytes;
static MPI_Datatype *types;
static int *bytes;
static FILE *report;
static bool few;

static bool rooted(call_t c)
{
    return c == BCAST || c == GATHER || c == GATHERV || c == SCATTER ||
           c == SCATTERV || c == REDUCE;
}

static bool reduces(call_t c)
{
    return c >= REDUCE && c <= EXSCAN;
}

/* Is that a wrong call which a host must notice, and does so here? */
static bool possible(call_t c, wrong_t w, int root)
{
    bool at_root = world_rank == root;
    switch (w) {
    case COUNT:
    case TYPE: return c != BARRIER && !(few && reduces(c));
    case ROOT: return rooted(c);
    case OP: return reduces(c);
    case ALIASED: return c != BARRIER && c != BCAST && (!rooted(c) || at_root);
    case IN_PLACE_SENT: /* where it means nothing */
        return !few && !at_root && (c == GATHER || c == GATHERV || c == REDUCE);
    case IN_PLACE_RECEIVED:
        return !few && !at_root && (c == SCATTER || c == SCATTERV);
    case NO_LISTS: return !few && at_root && (c == GATHERV || c == SCATTERV);
    default: return false;
    }
}

static int make(call_t c, wrong_t w, int n, int root)
{
    int count = w == COUNT ? -1 : n;
    MPI_Datatype type = w == TYPE ? MPI_DATATYPE_NULL : MPI_INT;
    MPI_Op op = w == OP ? MPI_OP_NULL : MPI_SUM;
    void *send = w == IN_PLACE_SENT ? MPI_IN_PLACE : (void *)a;
    void *recv = w == ALIASED             ? a
                 : w == IN_PLACE_RECEIVED ? MPI_IN_PLACE
                                          : (void *)b;
    int *list = w == NO_LISTS ? NULL : counts;
    int *some = w == NO_LISTS ? NULL : sides;
    int ring = c >= NEIGHBOR_ALLGATHER ? 2 : world_size;
    root = w == ROOT ? world_size : root;
    for (int i = 0; i < world_size; i++) {
        counts[i] = count;
        places[i] = i * n;
        bytes[i] = i * n * (int)sizeof(int);
    }
    for (int i = 0; i < (ring > 2 ? ring : 2); i++) {
        sides[i] = count;
        side_places[i] = i * n;
        side_bytes[i] = i * n * (MPI_Aint)sizeof(int);
        types[i] = type;
    }
    switch (c) {
    case BARRIER: return MPI_Barrier(comm);
    case BCAST: return MPI_Bcast(a, count, type, root, comm);
    case GATHER:
        return MPI_Gather(send, count, type, recv, count, type, root, comm);
    case GATHERV:
        return MPI_Gatherv(send, count, type, recv, list, places, type, root,
                           comm);
    case SCATTER:
        return MPI_Scatter(send, count, type, recv, count, type, root, comm);
    case SCATTERV:
        return MPI_Scatterv(send, list, places, type, recv, count, type, root,
                            comm);
    case ALLGATHER:
        return MPI_Allgather(send, count, type, recv, count, type, comm);
    case ALLGATHERV:
        return MPI_Allgatherv(send, count, type, recv, list, places, type,
                              comm);
    case ALLTOALL:
        return MPI_Alltoall(send, count, type, recv, count, type, comm);
    case ALLTOALLV:
        return MPI_Alltoallv(send, list, places, type, recv, list, places, type,
                             comm);
    case ALLTOALLW:
        return MPI_Alltoallw(send, list, bytes, types, recv, list, bytes, types,
                             comm);
    case REDUCE: return MPI_Reduce(send, recv, count, type, op, root, comm);
    case ALLREDUCE: return MPI_Allreduce(send, recv, count, type, op, comm);
    case REDUCE_SCATTER:
        return MPI_Reduce_scatter(send, recv, counts, type, op, comm);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(send, recv, count, type, op, comm);
    case SCAN: return MPI_Scan(send, recv, count, type, op, comm);
    case EXSCAN: return MPI_Exscan(send, recv, count, type, op, comm);
    case NEIGHBOR_ALLGATHER:
        return MPI_Neighbor_allgather(send, count, type, recv, count, type,
                                      comm);
    case NEIGHBOR_ALLGATHERV:
        return MPI_Neighbor_allgatherv(send, count, type, recv, some,
                                       side_places, type, comm);
    case NEIGHBOR_ALLTOALL:
        return MPI_Neighbor_alltoall(send, count, type, recv, count, type,
                                     comm);
    case NEIGHBOR_ALLTOALLV:
        return MPI_Neighbor_alltoallv(send, some, side_places, type, recv, some,
                                      side_places, type, comm);
    case NEIGHBOR_ALLTOALLW:
        return MPI_Neighbor_alltoallw(send, some, side_bytes, types, recv, some,
                                      side_bytes, types, comm);
    default: return MPI_ERR_OTHER;
    }
}

/* The sums that a right call after the wrong one must give. */
static void still_right(const char *after, const char *wrong)
{
    int one = world_rank + 1, sum = 0, got = world_rank;
    int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(!code && sum == world_size * (world_size + 1) / 2,
          "after %s with %s: Allreduce gives %d, code %d", after, wrong, sum,
          code);
    code = MPI_Bcast(&got, 1, MPI_INT, world_size - 1, comm);
    CHECK(!code && got == world_size - 1,
          "after %s with %s: Bcast gives %d, code %d", after, wrong, got, code);
}

static void try(call_t c, wrong_t w, int who, int root, int before, int n)
{
    int periodic = 1, sum, code = MPI_ERR_OTHER, class = -1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < before; i++)
        MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < n * world_size; i++)
        a[i] = world_rank + i;
    memset(b, 0x55, (size_t)n * (size_t)world_size * sizeof(int));
    if (world_rank == who && possible(c, w, root)) {
        code = make(c, w, n, root);
        MPI_Error_class(code, &class);
        fprintf(report, "%s with %s: class %d\n", names[c], wrongs[w], class);
    }
    if (code)
        code = make(c, RIGHT, n, root);
    CHECK(!code, "%s after %s: code %d", names[c], wrongs[w], code);
    /* Whose result every case can tell. */
    if (c == ALLREDUCE && class != MPI_SUCCESS)
        for (int i = 0; i < n; i++)
            CHECK(b[i] == world_size * (world_size - 1) / 2 + i * world_size,
                  "Allreduce after %s: int %d is %d", wrongs[w], i, b[i]);
    if (c == BCAST)
        for (int i = 0; i < n; i++)
            CHECK(a[i] == root + i, "Bcast after %s: int %d is %d", wrongs[w],
                  i, a[i]);
    if (c == GATHER && world_rank == root && class != MPI_SUCCESS)
        for (int i = 0; i < n * world_size; i++)
            CHECK(b[i] == i / n + i % n, "Gather after %s: int %d is %d",
                  wrongs[w], i, b[i]);
    still_right(names[c], wrongs[w]);
    MPI_Comm_free(&comm);
}

/* A wrong call while no other member calls anything: the member finds out what
 * its MPI says to it, while the others wait for its message. */
static void alone(void)
{
    int token = 0, code;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (world_rank == 0) {
        for (int i = 0; i < 4; i++) {
            code = MPI_Bcast(a, -1, MPI_INT, 0, comm);
            CHECK(code != MPI_SUCCESS, "a Bcast of -1 went well");
        }
        for (int i = 1; i < world_size; i++)
            MPI_Send(&token, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    still_right("Bcast", "a negative count at rank 0 alone");
    MPI_Comm_free(&comm);
}

/* One member fails to make a communicator. Then all members make the next one,
 * and must agree on its name: a probe tells a large message's true length. */
static void offspring(void)
{
    MPI_Comm some = MPI_COMM_NULL, child;
    int last = world_size - 1, n = 0, periodic = 1, code = MPI_ERR_OTHER;
    MPI_Status status;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (world_rank == 0)
        code = MPI_Cart_create(comm, 1, &world_size, &periodic, 0, NULL);
    CHECK(code != MPI_SUCCESS, "a communicator was made at address NULL");
    MPI_Cart_create(comm, 1, &world_size, &periodic, 0, &some);
    MPI_Comm_dup(comm, &child);
    if (world_rank == 0) {
        MPI_Send(a, LONG, MPI_INT, last, 5, child);
    } else if (world_rank == last) {
        MPI_Probe(0, 5, child, &status);
        MPI_Get_count(&status, MPI_INT, &n);
        CHECK(n == LONG, "a message of %d ints is told to be %d long", LONG, n);
        MPI_Recv(b, LONG, MPI_INT, 0, 5, child, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&some);
    MPI_Comm_free(&child);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    char path[4096];
    few = argc > 2;
    snprintf(path, sizeof path, "%s.%d", argc > 1 ? argv[1] : "one_wrong",
             world_rank);
    CHECK((report = fopen(path, "w")), "cannot write %s", path);
    setvbuf(report, NULL, _IOLBF, 0);
    size_t n = (size_t)world_size + 2;
    a = calloc(n * LONG, sizeof *a);
    b = calloc(n * LONG, sizeof *b);
    counts = calloc(n, sizeof *counts);
    places = calloc(n, sizeof *places);
    bytes = calloc(n, sizeof *bytes);
    sides = calloc(n, sizeof *sides);
    side_places = calloc(n, sizeof *side_places);
    side_bytes = calloc(n, sizeof *side_bytes);
    types = calloc(n, sizeof *types);
    /* Where an error has no communicator, one of these takes it. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    alone();
    offspring();
    for (int c = 0; c < CALLS; c++)
        for (int w = COUNT; w < WRONGS; w++)
            for (int who = 0; who < world_size; who += world_size - 1) {
                try(c, w, who, 0, (c + w) % 4, 3);
                try(c, w, who, world_size - 1, (c + w + who) % 5, 3);
                try(c, w, who, 0, c % 2, LONG);
            }
    test_end();
}
