/*
 * alltoall.c - a tight loop of MPI_Alltoall: only communication, with the
 * largest possible gain from faster collectives.
 *
 *   mpicc -O3 -o alltoall examples/kernels/alltoall.c
 *   mpirun -n 2 ./alltoall [BYTES [ITERATIONS [spoil]]]
 *
 * Communication, per iteration: one MPI_Alltoall of BYTES (a multiple of 8)
 * from each rank to each. The received data are the next to send, so every
 * iteration depends on the one before it.
 *
 * Each block names its sender and its receiver. One exchange swaps two blocks;
 * another brings them back. The program compares the end with that, word by
 * word.
 *
 * Any number of ranks. "spoil" alters one word before the last iteration: the
 * check must notice.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t word(int from, int to, int i)
{
    return ((uint64_t)from << 48 | (uint64_t)to << 32 | (uint32_t)i) *
           0x9e3779b97f4a7c15ull;
}

static long number(const char *text, long low, long high)
{
    char *end;
    long value = strtol(text, &end, 10);
    return *end || value < low || value > high ? -1 : value;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long bytes = argc > 1 ? number(argv[1], 8, 1L << 30) : 64 << 10;
    long iterations = argc > 2 ? number(argv[2], 1, 1000000000) : 100000;
    int spoil = argc > 3 && !strcmp(argv[3], "spoil");
    if (bytes < 8 || bytes % 8 || iterations < 1 || argc > 3 + spoil) {
        if (rank == 0)
            fprintf(stderr, "usage: alltoall [BYTES [ITERATIONS [spoil]]], "
                            "BYTES a multiple of 8, at most 2^30\n");
        MPI_Finalize();
        return 2;
    }

    int words = (int)(bytes / 8);
    uint64_t *out = malloc((size_t)bytes * size);
    uint64_t *in = malloc((size_t)bytes * size);
    if (!out || !in) {
        fprintf(stderr, "alltoall: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(in, 0, (size_t)bytes * size);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < words; i++)
            out[(size_t)r * words + i] = word(rank, r, i);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long i = 0; i < iterations; i++) {
        if (spoil && i == iterations - 1 && rank == size - 1)
            out[words / 2]++;
        MPI_Alltoall(out, words, MPI_UINT64_T, in, words, MPI_UINT64_T,
                     MPI_COMM_WORLD);
        uint64_t *swap = out;
        out = in, in = swap;
    }
    double elapsed = MPI_Wtime() - start;

    long wrong = 0, all = 0;
    uint64_t sum = 0, result = 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < words; i++) {
            uint64_t w = out[(size_t)r * words + i];
            wrong += w !=
                     (iterations % 2 ? word(r, rank, i) : word(rank, r, i));
            sum += w >> 8;
        }
    MPI_Allreduce(&sum, &result, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("alltoall: %d ranks, %ld bytes, %.6f s, %s\n"
               "alltoall: %ld iterations of %.3f us, communication %.6f s, "
               "result %llu\n",
               size, bytes, elapsed, all ? "NOT VERIFIED" : "VERIFIED",
               iterations, elapsed / iterations * 1e6, elapsed,
               (unsigned long long)result);
    free(out), free(in);
    MPI_Finalize();
    return all != 0;
}
