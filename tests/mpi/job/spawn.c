/*
 * spawn.c - processes that start later join: spawn, merge, and make collective
 * calls on the merged communicator, on its parts and across.
 *
 * The launcher decides whether the children run with Straightway. The parents
 * must not rely on it.
 */
#include "mpi/test.h"

enum { CHILDREN = 2, MANY = 20000 };

static void collectives(MPI_Comm comm)
{
    int rank, n;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    double *in = malloc(MANY * sizeof *in), *out = malloc(MANY * sizeof *out);
    int *all = malloc((size_t)n * sizeof *all);
    for (int i = 0; i < 50; i++) {
        int got = rank == i % n ? i : -1, count = i % 10 ? 1 + i : MANY;
        MPI_Bcast(&got, 1, MPI_INT, i % n, comm);
        CHECK(got == i, "Bcast gives %d, not %d", got, i);
        for (int k = 0; k < count; k++)
            in[k] = k + rank;
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
        for (int k = 0; k < count; k++)
            CHECK(out[k] == n * (double)k + n * (n - 1) / 2,
                  "Allreduce gives %g", out[k]);
        MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int k = 0; k < n; k++)
            CHECK(all[k] == k, "Allgather gives %d, not %d", all[k], k);
        MPI_Barrier(comm);
    }
    free(in);
    free(out);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, other, merged;
    test_start(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    bool child = parent != MPI_COMM_NULL;
    /* The parents' world is in use before the children exist. */
    collectives(MPI_COMM_WORLD);
    if (child)
        other = parent;
    else
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0,
                       MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(other, child, &merged);
    collectives(merged);
    /* A ring of all, whose ranks may be reordered. */
    MPI_Comm ring;
    int rank, n, periodic = 1;
    MPI_Comm_size(merged, &n);
    MPI_Cart_create(merged, 1, &n, &periodic, 1, &ring);
    collectives(ring);
    MPI_Comm_free(&ring);
    /* Across: the intercommunicator's own collectives. */
    int mine = child ? 1 : 100, sum = 0, there;
    MPI_Comm_remote_size(other, &there);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
    CHECK(sum == there * (child ? 100 : 1), "across: %d", sum);
    /* A part of the merged one that holds a parent and a child. */
    MPI_Comm part;
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_split(merged, rank % 2, rank, &part);
    collectives(part);
    collectives(MPI_COMM_WORLD);
    MPI_Comm_free(&part);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&other);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (world_rank == 0)
        printf("all is well with the %s\n", child ? "children" : "parents");
}
