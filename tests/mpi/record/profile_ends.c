/*
 * profile_ends.c - programs that end before MPI_Finalize.
 *
 * Usage: profile_ends abort|error|exit|_exit|segv|term|wait. The last rank
 * does it after ten barriers; in `wait` all ranks then wait to be killed, as
 * rank 0 says.
 */
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int me, n, nobody = 1000;
    const char *how = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (me == n - 1 && strcmp(how, "wait")) {
        if (!strcmp(how, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(how, "error"))
            MPI_Send(&me, 1, MPI_INT, nobody, 0, MPI_COMM_WORLD);
        if (!strcmp(how, "exit"))
            exit(7);
        if (!strcmp(how, "_exit"))
            _exit(7);
        if (!strcmp(how, "segv"))
            *(volatile int *)(size_t)8 = 1;
        if (!strcmp(how, "term"))
            kill(getpid(), SIGTERM);
    }
    if (me == 0) {
        puts("waiting");
        fflush(stdout);
    }
    while (1)
        sleep(1);
}
