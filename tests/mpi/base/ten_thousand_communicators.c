/*
 * ten_thousand_communicators.c - communicators come and go without growth,
 * and many live at once.
 *
 *   ten_thousand_communicators [ROUNDS [ALIVE]]
 *
 * After a first tenth of the rounds the process may not gain mappings,
 * descriptors, nor more than a few MiB.
 */
#include "mpi/growth.h"

static void use(MPI_Comm comm, int i)
{
    int n, me, v = i, sum = -1;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    for (int k = 0; k < 3; k++) {
        MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == n * i, "Allreduce on communicator %d: %d", i, sum);
    }
    v = me == i % n ? i : -1;
    MPI_Bcast(&v, 1, MPI_INT, i % n, comm);
    CHECK(v == i, "Bcast on communicator %d: %d", i, v);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int rounds = (int)argument(argc, argv, 1, 10000);
    int alive = (int)argument(argc, argv, 2, 1000);
    growth_t then = {0};
    MPI_Comm comm;
    for (int i = 0; i < rounds; i++) {
        if (i % 3)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else
            MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? world_rank % 2 : 0,
                           -world_rank, &comm);
        use(comm, i);
        MPI_Comm_free(&comm);
        if (i == rounds / 10)
            then = growth_now();
    }
    growth_check(then);

    MPI_Comm *many = malloc((size_t)alive * sizeof *many);
    for (int i = 0; i < alive; i++)
        MPI_Comm_dup(i ? many[i / 2] : MPI_COMM_WORLD, &many[i]);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < alive; i++)
            use(many[(i * 7) % alive], i);
    for (int i = 0; i < alive; i++)
        MPI_Comm_free(&many[i]);
    free(many);
    test_end();
}
