/*
 * winalloc.c - what MPI_Win_allocate and MPI_Win_free take. NWChem makes 576
 * windows a rank in 4 s.
 *
 *   winalloc ROUNDS BYTESxLIVE...
 *
 * LIVE other windows exist meanwhile. Each round makes a window of BYTES, puts
 * a number into the next rank's part, and frees the window. Rank 0 prints the
 * times of a round, and the sum of the numbers that it has found in its part.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Win make(MPI_Aint bytes, MPI_Comm comm, int **base)
{
    MPI_Win win;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, base, &win);
    return win;
}

/* Runs all rounds; returns the seconds that they have taken. */
static double rounds(int n, MPI_Aint bytes, MPI_Comm comm)
{
    int me, ranks;
    double made = 0, used = 0, freed = 0;
    unsigned long sum = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < n; i++) {
        int *base;
        MPI_Barrier(comm);
        double begun = MPI_Wtime();
        MPI_Win win = make(bytes, comm, &base);
        double there = MPI_Wtime();
        MPI_Win_fence(0, win);
        MPI_Put(&i, 1, MPI_INT, (me + 1) % ranks, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        sum += (unsigned long)base[0];
        double done = MPI_Wtime();
        MPI_Win_free(&win);
        made += there - begun;
        used += done - there;
        freed += MPI_Wtime() - done;
    }
    if (me == 0)
        printf("make %.1f us, use %.1f us, free %.1f us, sum %lu\n",
               made / n * 1e6, used / n * 1e6, freed / n * 1e6, sum);
    return made + used + freed;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    double all = 0;
    for (int i = 2; i < argc; i++) {
        long bytes;
        int live, *base;
        if (sscanf(argv[i], "%ldx%d", &bytes, &live) != 2 || bytes < 4)
            MPI_Abort(MPI_COMM_WORLD, 2);
        MPI_Win *others = malloc((size_t)(live + 1) * sizeof *others);
        for (int j = 0; j < live; j++)
            others[j] = make(bytes, comm, &base);
        if (me == 0)
            printf("%ld bytes, %d live: ", bytes, live);
        all += rounds(atoi(argv[1]), bytes, comm);
        for (int j = 0; j < live; j++)
            MPI_Win_free(&others[j]);
        free(others);
    }
    if (me == 0)
        printf("all: %.6f s\n", all);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
