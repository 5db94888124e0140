/*
 * hangs_plain.c - all ranks but the last wait for its message; it sleeps.
 *
 * Each rank writes its line on stdout before it waits.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void receive(int from)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d\n", rank);
    fflush(stdout);
    if (rank == size - 1)
        sleep(300);
    else
        receive(size - 1);
    MPI_Finalize();
    return 0;
}
