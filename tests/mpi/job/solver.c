/*
 * solver.c - a program as programs are: it computes, moves blocks of 32 KiB,
 * and adds up, a hundred times.
 *
 *   solver [HOW]   "deadlock": before that each rank waits for the next;
 *                  "die": the last one ends by a signal; "fail": ends with
 *                  status 3 and a message
 */
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4096, STEPS = 100 };

int main(int argc, char **argv)
{
    int me, n;
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    double *a = calloc(n * COUNT, 8), *b = calloc(n * COUNT, 8), sum = 0;
    if (!strcmp(how, "deadlock"))
        MPI_Recv(a, 1, MPI_DOUBLE, (me + 1) % n, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < n * COUNT; k++)
            a[k] = sqrt(a[k] + k);
        MPI_Alltoall(a, COUNT, MPI_DOUBLE, b, COUNT, MPI_DOUBLE,
                     MPI_COMM_WORLD);
        MPI_Allreduce(b, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!strcmp(how, "die")) {
        if (me == n - 1)
            raise(SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    /* The other rank's end must not take this one's message away. */
    if (strcmp(how, "fail") || me > 0)
        return 0;
    fprintf(stderr, "no such file: input.nml\n");
    return 3;
}
