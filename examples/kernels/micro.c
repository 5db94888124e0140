/*
 * micro.c - the time of one call of a collective: loops of MPI_Alltoall,
 * MPI_Allreduce and MPI_Bcast.
 *
 *   mpicc -O3 -o micro examples/kernels/micro.c
 *   mpirun -n 2 ./micro [OPERATION|all [BYTES [BATCHES [spoil]]]]
 *
 * BYTES (a multiple of 8; 0, or none: 8 B to 4 MiB) is the size that each rank
 * sends each (alltoall), that each contributes (allreduce, doubles), or that
 * the root sends (bcast). A loop makes its calls with nothing between them.
 * Its time counts from a barrier to the end of the last rank, divided by the
 * calls. After one loop to warm up the program runs BATCHES (15) of them, and
 * prints their median, minimum and maximum. The number of calls in a loop
 * depends on BYTES alone, so every run does the same.
 *
 * A line for each: micro: RANKS ranks, OPERATION BYTES bytes, MEDIAN us (LOW
 * to HIGH), CALLS calls, VERIFIED. The numbers are small integers, so the
 * program knows the received ones exactly, and checks them after the last
 * loop. "spoil" alters a received one: the check must notice.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"alltoall", "allreduce", "bcast"};

static int rank, size;

/* What rank `from` sends to rank `to` at i. */
static double number(int from, int to, int i)
{
    return (from * 31 + to * 7 + i) % 1021;
}

static void call(int operation, double *out, double *in, int count)
{
    if (operation == 0)
        MPI_Alltoall(out, count, MPI_DOUBLE, in, count, MPI_DOUBLE,
                     MPI_COMM_WORLD);
    else if (operation == 1)
        MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Bcast(rank ? in : out, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static long check(int operation, const double *in, int count)
{
    long wrong = 0;
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < size; r++) {
            sum += number(r, 0, i);
            wrong += operation == 0 &&
                     in[(size_t)r * count + i] != number(r, rank, i);
        }
        wrong += operation == 1 && in[i] != sum;
        wrong += operation == 2 && rank && in[i] != number(0, 0, i);
    }
    return wrong;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One line. Returns whether the data were wrong. */
static int measure(int operation, int bytes, int batches, int spoil)
{
    int count = bytes / 8;
    int calls = bytes < 4096 ? 2000 : bytes < (1 << 20) ? (8 << 20) / bytes : 8;
    size_t room = (size_t)bytes * (operation == 0 ? size : 1);
    double *out = malloc(room), *in = malloc(room);
    double *times = malloc(batches * sizeof *times);
    if (!out || !in || !times) {
        fprintf(stderr, "micro: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(in, 0xff, room);
    for (int to = 0; to < (operation == 0 ? size : 1); to++)
        for (int i = 0; i < count; i++)
            out[(size_t)to * count + i] = number(rank, to, i);

    for (int batch = -1; batch < batches; batch++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int i = 0; i < calls; i++)
            call(operation, out, in, count);
        double mine = (MPI_Wtime() - start) / calls * 1e6, slowest;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (batch >= 0)
            times[batch] = slowest;
    }
    if (spoil && rank == size - 1)
        in[0]++;
    long wrong = check(operation, in, count), all;
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    qsort(times, batches, sizeof *times, ascending);
    if (rank == 0)
        printf("micro: %d ranks, %s %d bytes, %.4f us (%.4f to %.4f), "
               "%d calls, %s\n",
               size, names[operation], bytes, times[batches / 2], times[0],
               times[batches - 1], calls, all ? "NOT VERIFIED" : "VERIFIED");
    free(out), free(in), free(times);
    return all != 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int chosen = -1, bytes = argc > 2 ? atoi(argv[2]) : 0;
    int batches = argc > 3 ? atoi(argv[3]) : 15;
    int spoil = argc > 4 && !strcmp(argv[4], "spoil");
    for (int o = 0; argc > 1 && o < 3; o++)
        if (!strcmp(argv[1], names[o]))
            chosen = o;
    if ((argc > 1 && chosen < 0 && strcmp(argv[1], "all")) || bytes < 0 ||
        bytes % 8 || bytes > 1 << 28 || batches < 1 || batches > 10000 ||
        argc > 4 + spoil) {
        if (rank == 0)
            fprintf(stderr,
                    "usage: micro [alltoall|allreduce|bcast|all "
                    "[BYTES [BATCHES [spoil]]]], BYTES a multiple of 8, "
                    "at most 2^28, BATCHES at most 10000\n");
        MPI_Finalize();
        return 2;
    }
    int bad = 0;
    for (int o = 0; o < 3; o++)
        for (int b = bytes ? bytes : 8; b <= (bytes ? bytes : 4 << 20); b *= 2)
            if (chosen < 0 || chosen == o)
                bad |= measure(o, b, batches, spoil);
    MPI_Finalize();
    return bad;
}
