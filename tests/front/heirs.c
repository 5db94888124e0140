/*
 * heirs.c - a rank starts other programs, before its first MPI call and after
 * it. They tell what they inherit.
 *
 *   heirs       prints "NUMBER WHEN: LD_PRELOAD=..., names of settings"
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void start_one(const char *when)
{
    char command[256];
    snprintf(command, sizeof command,
             "echo %s: LD_PRELOAD=$LD_PRELOAD, "
             "$(env | grep -c ^STRAIGHTWAY_) settings",
             when);
    fflush(stdout);
    if (system(command))
        printf("cannot start a program\n");
}

int main(int argc, char **argv)
{
    int sum = 1;
    start_one("before");
    MPI_Init(&argc, &argv);
    start_one("within");
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    start_one("after");
    printf("all is well\n");
    return 0;
}
