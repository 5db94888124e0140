/* Calls of several kinds, and what the program believes its MPI to have. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

/* Weak references, whatever the header declares of them. */
static void *refer(int which)
{
    extern char send_c __asm__("MPI_Send_c") __attribute__((weak));
    extern char psend_c __asm__("PMPI_Send_c") __attribute__((weak));
    extern char fromint __asm__("MPI_Comm_fromint") __attribute__((weak));
    extern char c2f __asm__("PMPI_Comm_c2f") __attribute__((weak));
    char *volatile seen[] = {&send_c, &psend_c, &fromint, &c2f};
    return seen[which];
}

int main(int argc, char **argv)
{
    int rank, size;
    long one = 1, sum = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pcontrol(1, 2.5, 3L, "text");
    double start = MPI_Wtime();
    MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    double end = PMPI_Wtime();
    if (rank == 0) {
        printf("sum %ld of %d, clock %s\n", sum, size,
               end >= start ? "forward" : "backward");
        printf("weak %d %d %d %d\n", refer(0) != NULL, refer(1) != NULL,
               refer(2) != NULL, refer(3) != NULL);
        printf("dlsym %d %d %d %d\n", dlsym(RTLD_DEFAULT, "MPI_Send_c") != NULL,
               dlsym(RTLD_DEFAULT, "PMPI_Send_c") != NULL,
               dlsym(RTLD_DEFAULT, "MPI_Comm_fromint") != NULL,
               dlsym(RTLD_DEFAULT, "PMPI_Comm_c2f") != NULL);
    }
    MPI_Finalize();
    return 0;
}
