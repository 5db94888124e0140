/*
 * give.c - a pipeline: each rank works on a field and gives it to the next.
 *
 *   mpicc -O2 -I"$(dirname $(which straightway))/../include" -o give \
 *       examples/give.c
 *   mpirun -n 4 straightway run --stats ./give [BYTES [FIELDS]]
 *
 * Rank 0 makes fields (default: 200 of 4 MiB), every rank adds 1 to each
 * element, and the last rank checks and frees them. No rank copies a field: the
 * ranks hand the blocks on. Alone, without Straightway, the same program sends
 * them. Rank 0 keeps no more than WINDOW fields under way.
 */
#include <stdio.h>
#include <straightway_mpi.h>

#define WINDOW 8

static double *make(size_t n)
{
    double *field;
    if (straightway_alloc(n * sizeof *field, (void **)&field))
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < n; i++)
        field[i] = (double)(i % 1000);
    return field;
}

int main(int argc, char **argv)
{
    int rank, ranks, fields = argc > 2 ? atoi(argv[2]) : 200;
    size_t n = (argc > 1 ? strtoul(argv[1], NULL, 0) : 4u << 20) /
               sizeof(double);
    long wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double start = MPI_Wtime();
    for (int f = 0; f < fields; f++) {
        double *field;
        size_t bytes = n * sizeof *field;
        if (rank == 0)
            field = make(n);
        else
            straightway_take((void **)&field, &bytes, rank - 1, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < n; i++)
            field[i] += 1;
        if (rank < ranks - 1) {
            straightway_give((void **)&field, bytes, rank + 1, 0,
                             MPI_COMM_WORLD);
        } else {
            for (size_t i = 0; i < n; i++)
                wrong += field[i] != (double)(i % 1000) + ranks;
            free(field);
        }
        /* The last rank tells the first that a field has arrived. */
        if (ranks > 1 && rank == ranks - 1)
            MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        if (ranks > 1 && rank == 0 && f >= WINDOW)
            MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    for (int f = 0; ranks > 1 && rank == 0 && f < fields && f < WINDOW; f++)
        MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Bcast(&wrong, 1, MPI_LONG, ranks - 1, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d fields of %zu bytes through %d ranks in %.3f s\n%s\n",
               fields, n * sizeof(double), ranks, MPI_Wtime() - start,
               wrong ? "FAIL" : "PASS");
    MPI_Finalize();
    return wrong != 0;
}
