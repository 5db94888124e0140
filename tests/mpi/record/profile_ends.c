/*
 * profile_ends.c - programs that end before MPI_Finalize.
 *
 * Usage: profile_ends abort|error|exit|_exit|quick_exit|execv|execlp|segv|term|
 * wait|finalized. The last rank does it after ten barriers; in `wait` all ranks
 * then wait to be killed, as rank 0 says. In `finalized` all ranks go
 * elsewhere, and leave MPI, after which the last rank exits with an error.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
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
    if (!strcmp(how, "finalized")) {
        char *const missing[] = {"missing", NULL};
        if (chdir("/") || execv("/missing", missing) == 0 ||
            execvp("straightway-missing", missing) == 0)
            return 1;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        _exit(me == n - 1 ? 3 : 0);
    }
    if (me == n - 1 && strcmp(how, "wait")) {
        if (!strcmp(how, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(how, "error"))
            MPI_Send(&me, 1, MPI_INT, nobody, 0, MPI_COMM_WORLD);
        if (!strcmp(how, "exit"))
            exit(7);
        if (!strcmp(how, "_exit"))
            _exit(7);
        if (!strcmp(how, "quick_exit"))
            quick_exit(7);
        if (!strcmp(how, "execv"))
            execv("/bin/sh", (char *[]){"sh", "-c", "exit 7", NULL});
        if (!strcmp(how, "execlp"))
            execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
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
