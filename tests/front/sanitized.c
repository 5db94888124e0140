/*
 * sanitized.c - a program that is built with a sanitizer.
 *
 *   sanitized [overflow]
 *
 * With an argument it reads a word behind a block, which AddressSanitizer
 * finds.
 */
#include "mpi/test.h"

enum { N = 200000 };

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int peer = world_size - 1 - world_rank;
    double *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            in[i] = world_rank + i;
        MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        CHECK(out[N - 1] ==
                  world_size * (N - 1.0) + world_size * (world_size - 1) / 2.0,
              "Allreduce");
        MPI_Sendrecv(in, N, MPI_DOUBLE, peer, 1, out, N, MPI_DOUBLE, peer, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(out[7] == peer + 7, "Sendrecv");
        MPI_Request request;
        MPI_Ibcast(in, N, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(in[7] == 7, "Ibcast");
    }
    if (argc > 1) {
        volatile double *behind = in;
        printf("%g\n", behind[N]);
    }
    free(in);
    free(out);
    test_end();
}
