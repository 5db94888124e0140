/*
 * A job whose rank 0 acts as an outsider could: while the job runs, it lays a
 * symbolic link to TO under the name of the job's capture, LINK. With "early"
 * both ranks end before MPI_Finalize.
 *
 * Usage: profile_links LINK TO [early]
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 1 && !symlink(argv[2], argv[1]))
        printf("all is well\n");
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[3], "early"))
        exit(0);
    MPI_Finalize();
    return 0;
}
