/*
 * sessions.c - a program of MPI 4 that never calls MPI_Init: sessions, a
 * communicator of each, and collectives on them; twice, since a program may
 * begin again.
 */
#include "mpi/test.h"

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)

static void once(int turn)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, copy;
    int all[64], code;
    code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (code != MPI_SUCCESS) {
        printf("no sessions\n");
        exit(0);
    }
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "straightway.test", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &world_rank);
    MPI_Comm_size(comm, &world_size);
    MPI_Comm_dup(comm, &copy);
    enum { MANY = 50000 };
    double *big = malloc(MANY * sizeof *big), *sum = malloc(MANY * sizeof *sum);
    for (int i = 0; i < 200; i++) {
        MPI_Comm on = i % 3 ? comm : copy;
        int root = i % world_size, got = world_rank == root ? i : -1;
        MPI_Bcast(&got, 1, MPI_INT, root, on);
        if (got != i)
            abort();
        MPI_Allgather(&world_rank, 1, MPI_INT, all, 1, MPI_INT, on);
        for (int k = 0; k < world_size; k++)
            if (all[k] != k)
                abort();
        int n = i % 20 ? i : MANY;
        for (int k = 0; k < n; k++)
            big[k] = k + world_rank;
        MPI_Allreduce(big, sum, n, MPI_DOUBLE, MPI_SUM, on);
        for (int k = 0; k < n; k++)
            if (sum[k] != world_size * k + world_size * (world_size - 1) / 2.)
                abort();
        MPI_Barrier(on);
    }
    free(big);
    free(sum);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    if (world_rank == 0)
        printf("turn %d%s", turn, turn ? ": all is well\n" : ", ");
}

int main(int argc, char **argv)
{
    long turns = argument(argc, argv, 1, 2);
    for (int i = 2 - (int)turns; i < 2; i++)
        once(i);
}

#else

int main(void)
{
    printf("no sessions\n");
}

#endif
