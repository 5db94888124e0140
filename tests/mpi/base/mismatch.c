/*
 * mismatch.c - members that call different things.
 *
 *   mismatch CASE SIZE
 *
 * Such a program is wrong, and the standard leaves its result open. But if the
 * program ends on the host alone, in whatever way, it must also end with
 * Straightway. It must not crash where the host does not. A right call that may
 * look wrong must give the right bytes: a receiver with more room, or other
 * datatypes of the same signature.
 *
 * Prints each member's error class.
 */
#include "mpi/test.h"

#define ROOM 200000

static int a[ROOM * 4], b[ROOM * 4];

/* The call of this case; `odd` is the member that differs. */
static int call(const char *what, int n, bool odd, MPI_Comm comm)
{
    int last = world_size - 1;
    if (!strcmp(what, "bcast-truncated")) /* the root sends too much */
        return MPI_Bcast(a, world_rank ? n / 2 : n, MPI_INT, 0, comm);
    if (!strcmp(what, "bcast-more-room"))
        return MPI_Bcast(a, world_rank ? n * 2 : n, MPI_INT, 0, comm);
    if (!strcmp(what, "bcast-roots"))
        return MPI_Bcast(a, n, MPI_INT, odd ? last : 0, comm);
    if (!strcmp(what, "gather-truncated"))
        return MPI_Gather(a, odd ? n * 2 : n, MPI_INT, b, n, MPI_INT, 0, comm);
    if (!strcmp(what, "gather-more-room"))
        return MPI_Gather(a, odd ? n / 2 : n, MPI_INT, b, n, MPI_INT, 0, comm);
    if (!strcmp(what, "scatter-truncated"))
        return MPI_Scatter(b, n, MPI_INT, a, odd ? n / 2 : n, MPI_INT, 0, comm);
    if (!strcmp(what, "allreduce-counts"))
        return MPI_Allreduce(a, b, odd ? n / 2 : n, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "reduce-counts"))
        return MPI_Reduce(a, b, odd ? n / 2 : n, MPI_INT, MPI_SUM, 0, comm);
    if (!strcmp(what, "reduce-roots"))
        return MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, odd ? last : 0, comm);
    if (!strcmp(what, "allgather-counts"))
        return MPI_Allgather(a, odd ? n / 2 : n, MPI_INT, b, odd ? n / 2 : n,
                             MPI_INT, comm);
    if (!strcmp(what, "alltoall-counts"))
        return MPI_Alltoall(a, odd ? n / 2 : n, MPI_INT, b, odd ? n / 2 : n,
                            MPI_INT, comm);
    if (!strcmp(what, "scan-counts"))
        return MPI_Scan(a, b, odd ? n / 2 : n, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "bcast-and-reduce"))
        return odd ? MPI_Bcast(a, n, MPI_INT, 0, comm)
                   : MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, 0, comm);
    if (!strcmp(what, "barrier-and-allreduce"))
        return odd ? MPI_Barrier(comm)
                   : MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, comm);
    if (!strcmp(what, "one-wrong-count"))
        return MPI_Gather(a, odd ? -1 : n, MPI_INT, b, n, MPI_INT, 0, comm);
    if (!strcmp(what, "one-wrong-root"))
        return MPI_Bcast(a, n, MPI_INT, odd ? world_size : 0, comm);
    if (!strcmp(what, "one-wrong-operation"))
        return MPI_Reduce(a, b, n, MPI_INT, odd ? MPI_OP_NULL : MPI_SUM, 0,
                          comm);
    if (!strcmp(what, "one-bcast-too-many"))
        return odd || world_rank ? MPI_SUCCESS
                                 : MPI_Bcast(a, n, MPI_INT, 0, comm);
    fail("no case is called %s", what);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    int n = (int)argument(argc, argv, 2, 4), sum;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++)
        MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < ROOM; i++)
        a[i] = world_rank * 1000 + i % 1000;
    bool odd = world_size > 1 && world_rank == world_size - 1;
    int class = 0, code = call(what, n, odd, comm);
    MPI_Error_class(code, &class);
    if (!strcmp(what, "bcast-more-room"))
        for (int i = 0; i < 2 * n; i++)
            CHECK(a[i] == (i < n ? 0 : world_rank * 1000) + i % 1000,
                  "int %d is %d", i, a[i]);
    printf("rank %d: class %d%s\n", world_rank, class,
           class == MPI_ERR_TRUNCATE ? " truncated" : "");
    fflush(stdout);
    /* The other communicators are untouched. */
    MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == n * world_size, "the world sums to %d", sum);
    test_end();
}
