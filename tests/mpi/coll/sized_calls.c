/*
 * sized_calls.c - each collective with a size that all members know, blocking
 * and not: with blocks of 1 KiB, and as often with blocks of 64 KiB.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { SMALL = 128, LARGE = 8192, TIMES = 4 }; /* doubles */

#define COMM MPI_COMM_WORLD

/* MPI_X, then MPI_IX, with the same arguments but the last. */
#define BOTH(X, IX, ...)                       \
    do {                                       \
        MPI_Request request;                   \
        MPI_##X(__VA_ARGS__, COMM);            \
        MPI_##IX(__VA_ARGS__, COMM, &request); \
        MPI_Wait(&request, MPI_STATUS_IGNORE); \
    } while (0)

static void call_all(double *out, double *in, int n, const int *counts,
                     const int *places)
{
    MPI_Datatype t = MPI_DOUBLE;
    BOTH(Bcast, Ibcast, out, n, t, 0);
    BOTH(Gather, Igather, out, n, t, in, n, t, 0);
    BOTH(Scatter, Iscatter, out, n, t, in, n, t, 0);
    BOTH(Allgather, Iallgather, out, n, t, in, n, t);
    BOTH(Allgatherv, Iallgatherv, out, n, t, in, counts, places, t);
    BOTH(Alltoall, Ialltoall, out, n, t, in, n, t);
    BOTH(Reduce, Ireduce, out, in, n, t, MPI_SUM, 0);
    BOTH(Allreduce, Iallreduce, out, in, n, t, MPI_SUM);
    BOTH(Reduce_scatter, Ireduce_scatter, out, in, counts, t, MPI_SUM);
    BOTH(Reduce_scatter_block, Ireduce_scatter_block, out, in, n, t, MPI_SUM);
    BOTH(Scan, Iscan, out, in, n, t, MPI_SUM);
    BOTH(Exscan, Iexscan, out, in, n, t, MPI_SUM);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(COMM, &size);
    double *out = calloc((size_t)size * LARGE, sizeof *out);
    double *in = calloc((size_t)size * LARGE, sizeof *in);
    int *counts = malloc((size_t)size * sizeof *counts);
    int *places = malloc((size_t)size * sizeof *places);
    for (int time = 0; time < 2 * TIMES; time++) {
        int n = time % 2 ? LARGE : SMALL;
        for (int i = 0; i < size; i++) {
            counts[i] = n;
            places[i] = i * n;
        }
        call_all(out, in, n, counts, places);
    }
    free(out), free(in), free(counts), free(places);
    MPI_Finalize();
    return puts("done") < 0;
}
