/*
 * waitsome.c - a few small messages between stretches of computation, as Meep
 * exchanges its boundaries.
 *
 *   waitsome some|any|all ROUNDS RECEIVESxBYTES...
 *
 * In each round neighbours compute some 30 us, out of step, and then exchange
 * RECEIVES messages of BYTES. MPI_Waitsome, MPI_Waitany or MPI_Waitall
 * completes the receives. Rank 0 prints the time of a round that is not
 * computation, and the sum of all bytes that it has received.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };
static const double COMPUTING = 30e-6; /* s */

/* Computes a random time of 0.5 to 1.5 of COMPUTING; returns what it took. */
static double compute(unsigned *seed)
{
    double begun = MPI_Wtime();
    double until = begun + COMPUTING * (0.5 + rand_r(seed) % 1000 / 1000.0);
    volatile double x = 0;
    while (MPI_Wtime() < until)
        for (int i = 0; i < 50; i++)
            x = x + i;
    return MPI_Wtime() - begun;
}

static void complete(const char *way, int n, MPI_Request *requests)
{
    int which[MOST], got;
    if (!strcmp(way, "all"))
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    else if (!strcmp(way, "any"))
        for (int i = 0; i < n; i++)
            MPI_Waitany(n, requests, which, MPI_STATUS_IGNORE);
    else
        for (int left = n; left > 0; left -= got)
            MPI_Waitsome(n, requests, &got, which, MPI_STATUSES_IGNORE);
}

/* Runs all rounds; returns the seconds of them that are not computation. */
static double exchange(const char *way, int rounds, int n, size_t size,
                       int partner, unsigned *seed, unsigned long *sum)
{
    unsigned char *in = calloc((size_t)n, size), *out = malloc(n * size);
    MPI_Request receives[MOST], sends[MOST];
    double computed = 0;
    *sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        computed += compute(seed);
        memset(out, round % 251, n * size);
        for (int i = 0; i < n; i++)
            MPI_Irecv(in + i * size, (int)size, MPI_CHAR, partner, i,
                      MPI_COMM_WORLD, &receives[i]);
        for (int i = 0; i < n; i++)
            MPI_Isend(out + i * size, (int)size, MPI_CHAR, partner, i,
                      MPI_COMM_WORLD, &sends[i]);
        complete(way, n, receives);
        MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
        for (size_t at = 0; at < n * size; at += size / 2)
            *sum += in[at];
    }
    double all = MPI_Wtime() - begun;
    free(in);
    free(out);
    return all - computed;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int me, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 4) {
        fprintf(stderr, "usage: waitsome some|any|all ROUNDS NxBYTES...\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int partner = (me ^ 1) < ranks ? me ^ 1 : me, rounds = atoi(argv[2]);
    unsigned seed = 7 + (unsigned)me;
    double all = 0;
    for (int i = 3; i < argc; i++) {
        int n;
        size_t size;
        unsigned long sum;
        if (sscanf(argv[i], "%dx%zu", &n, &size) != 2 || n < 1 || n > MOST ||
            size < 2)
            MPI_Abort(MPI_COMM_WORLD, 2);
        double took = exchange(argv[1], rounds, n, size, partner, &seed, &sum);
        all += took;
        if (me == 0)
            printf("%s %d x %zu bytes: %.3f us a round, sum %lu\n", argv[1], n,
                   size, took / rounds * 1e6, sum);
    }
    if (me == 0)
        printf("all: %.6f s in MPI\n", all);
    MPI_Finalize();
    return 0;
}
