/* A module as mpi4py is one: linked with MPI, opened late, and asking by weak
 * references what its MPI has. */
#include <mpi.h>
#include <stdio.h>

extern char send_c __asm__("MPI_Send_c") __attribute__((weak));

int work(int argc, char **argv)
{
    char *volatile seen = &send_c;
    int flag = -1, size;

    MPI_Init(&argc, &argv);
    MPI_Initialized(&flag);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("initialized %d, size %d, large counts %d\n", flag, size,
           seen != NULL);
    return MPI_Finalize();
}
