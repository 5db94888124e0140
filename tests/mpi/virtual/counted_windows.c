/*
 * counted_windows.c - one-sided calls of which rank 0 prints how long so many
 * took, "name nanoseconds": in a window of its own memory, with two ranks.
 */
#include <mpi.h>

#include <stdio.h>

enum { TIMES = 10, COUNT = 1 };

static MPI_Win window;
static double mine[COUNT], its[COUNT];
static int me;

static void put(void)
{
    MPI_Put(its, COUNT, MPI_DOUBLE, 1, 0, COUNT, MPI_DOUBLE, window);
}

static void fence(void)
{
    if (me == 0)
        put();
    MPI_Win_fence(0, window);
}

static void lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    put();
    MPI_Win_unlock(1, window);
}

static void count(void)
{
    double old;
    MPI_Fetch_and_op(its, &old, MPI_DOUBLE, 1, 0, MPI_SUM, window);
    MPI_Win_flush(1, window);
}

static void timed(const char *name, void (*call)(void), int caller)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < TIMES && caller; i++)
        call();
    if (me == 0)
        printf("%s %.0f\n", name, 1e9 * (MPI_Wtime() - begin));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_create(mine, sizeof mine, sizeof *mine, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    timed("fence", fence, 1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    timed("lock", lock, !me);
    MPI_Win_lock_all(0, window);
    timed("count", count, !me);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
