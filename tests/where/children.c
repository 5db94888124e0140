/*
 * A program that waits for its children, and has none.
 *
 *     children WAY
 *
 *   alone   ends, and tells what it has seen of children in MPI_Init
 *   waits   hangs, with a handler of its own for SIGTERM
 */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void count(int number)
{
    told += number == SIGCHLD;
}

static void leave(int number)
{
    static const char text[] = "the program's own handler\n";
    (void)number;
    if (write(1, text, sizeof text - 1) < 0)
        _exit(4);
    _exit(3);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "alone";
    int me, byte;

    signal(SIGCHLD, count);
    MPI_Init(&argc, &argv);
    pid_t child = waitpid(-1, NULL, WNOHANG);
    int error = errno;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (!strcmp(way, "waits"))
        signal(SIGTERM, leave);
    printf("ready %d\n", (int)getpid());
    printf("rank %d: %s, %d signals\n", me,
           child < 0 && error == ECHILD ? "no child" : "a child", (int)told);
    fflush(stdout);
    if (!strcmp(way, "waits"))
        MPI_Recv(&byte, 1, MPI_INT, !me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
