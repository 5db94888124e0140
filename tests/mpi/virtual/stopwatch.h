/*
 * stopwatch.h - how long a part of a program takes by MPI_Wtime, from when all
 * have come to its beginning, on the ranks that tell: "name nanoseconds".
 */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include "mpi/test.h"

static double began;

static inline void begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
}

/* Rank 0 tells. */
static inline void end(const char *name)
{
    double took = MPI_Wtime() - began;
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0)
        printf("%s %.3f\n", name, took * 1e9);
}

/* Ranks 0, 1 and the last, as 9, tell: "name_RANK nanoseconds". */
static inline void end_each(const char *name)
{
    double took = MPI_Wtime() - began;
    int me, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (me < 2 || me == n - 1)
        printf("%s_%d %.3f\n", name, me == n - 1 ? 9 : me, took * 1e9);
}

#endif
