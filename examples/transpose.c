/*
 * transpose.c - a distributed matrix transpose, the core of every parallel
 * two-dimensional Fourier transform.
 *
 *   mpicc -O2 -o transpose examples/transpose.c
 *   mpirun -n 2 straightway run ./transpose [N [ROUNDS]]
 *
 * Each rank has a block of rows of an N x N matrix of doubles (default 1024). A
 * round transposes it: each rank transposes its tiles, MPI_Alltoall sends tile
 * j to rank j, and the rank puts the received tiles side by side. Then
 * MPI_Allreduce adds up the diagonal, which no transpose changes.
 *
 * The entries are integers small enough to be exact in a double, so every
 * check is for equality: of the diagonal after each round, and of every entry
 * at the end. N must be a multiple of the number of ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define STRIP 8 /* columns turned at a time: a cache line of each row */

static double entry(int row, int column, int n)
{
    return (double)row * n + column;
}

/* mine[rows][n] -> tiles[p][rows][rows]: tile j turned over, to be sent to
 * rank j, whose columns it holds. */
static void cut(const double *mine, double *tiles, int rows, int n)
{
    for (int from = 0; from < n; from += STRIP) {
        int to = from + STRIP < n ? from + STRIP : n;
        for (int i = 0; i < rows; i++)
            for (int j = from; j < to; j++)
                tiles[(size_t)j * rows + i] = mine[(size_t)i * n + j];
    }
}

/* The tile from rank s holds my rows, its columns: columns s*rows onward. */
static void join(const double *tiles, double *mine, int rows, int n)
{
    for (int s = 0; s < n / rows; s++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++)
                mine[(size_t)i * n + (size_t)s * rows + j] =
                    tiles[((size_t)s * rows + i) * rows + j];
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int n = argc > 1 ? atoi(argv[1]) : 1024;
    int rounds = argc > 2 ? atoi(argv[2]) : 201;
    if (n < size || n % size || n > 30000 || rounds < 1) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: transpose [N [ROUNDS]], N a multiple of "
                    "the %d ranks, at most 30000\n",
                    size);
        MPI_Finalize();
        return 2;
    }

    int rows = n / size, first = rank * rows;
    size_t cells = (size_t)rows * n;
    double *mine = malloc(cells * sizeof *mine);
    double *out = malloc(cells * sizeof *out);
    double *in = malloc(cells * sizeof *in);
    if (!mine || !out || !in) {
        fprintf(stderr, "transpose: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            mine[(size_t)i * n + j] = entry(first + i, j, n);

    /* 0 + (n+1) + 2(n+1) + ...: exact, being far below 2^53. */
    double trace = 0.5 * (n - 1) * n * (n + 1.0), communication = 0;
    long wrong = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        cut(mine, out, rows, n);
        double before = MPI_Wtime();
        MPI_Alltoall(out, rows * rows, MPI_DOUBLE, in, rows * rows, MPI_DOUBLE,
                     MPI_COMM_WORLD);
        communication += MPI_Wtime() - before;
        join(in, mine, rows, n);

        double part = 0, sum = 0;
        for (int i = 0; i < rows; i++)
            part += mine[(size_t)i * n + first + i];
        before = MPI_Wtime();
        MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        communication += MPI_Wtime() - before;
        wrong += sum != trace;
    }
    double elapsed = MPI_Wtime() - start;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < n; j++)
            wrong += mine[(size_t)i * n + j] != (rounds % 2
                                                     ? entry(j, first + i, n)
                                                     : entry(first + i, j, n));
    long all = 0;
    MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("transpose: %d x %d on %d ranks, %d rounds: %.3f s, "
               "communication %.3f s\n%s\n",
               n, n, size, rounds, elapsed, communication,
               all ? "FAIL" : "PASS");
    MPI_Bcast(&all, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    free(mine);
    free(out);
    free(in);
    MPI_Finalize();
    return all != 0;
}
