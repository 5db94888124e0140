/*
 * watching.c - what a call costs: rank 0 prints ns of some calls, the best of
 * batches.
 *
 * Usage: watching BATCHES
 *
 * Calls that wait for no rank run on one rank alone, with itself as partner.
 * With two ranks these exchange messages and meet. bench/watching.py compares
 * runs with and without `straightway where`'s part.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 20000, MANY = 16 };

static int me, n;
static char out[64], in[64];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void iprobe(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void test(void)
{
    static MPI_Request posted = MPI_REQUEST_NULL;
    int flag;
    if (posted == MPI_REQUEST_NULL)
        MPI_Irecv(in + 32, 1, MPI_BYTE, me, 9, MPI_COMM_WORLD, &posted);
    MPI_Test(&posted, &flag, MPI_STATUS_IGNORE);
}

static void barrier_alone(void)
{
    MPI_Barrier(MPI_COMM_SELF);
}

static void message_alone(void)
{
    MPI_Request r;
    MPI_Irecv(in, 8, MPI_BYTE, me, 1, MPI_COMM_WORLD, &r);
    MPI_Send(out, 8, MPI_BYTE, me, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void ping_pong(void)
{
    if (me)
        MPI_Recv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, 8, MPI_BYTE, !me, 1, MPI_COMM_WORLD);
    if (!me)
        MPI_Recv(in, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange_many(void)
{
    MPI_Request r[2 * MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(in, 1, MPI_BYTE, !me, i, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(out, 1, MPI_BYTE, !me, i, MPI_COMM_WORLD, &r[MANY + i]);
    MPI_Waitall(2 * MANY, r, MPI_STATUSES_IGNORE);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(void);
    int ranks, calls, parts; /* MPI calls in one call of it */
} rows[] = {
    {"MPI_Iprobe", iprobe, 1, CALLS, 1},
    {"MPI_Test", test, 1, CALLS, 1},
    {"MPI_Barrier_of_one_rank", barrier_alone, 1, CALLS, 1},
    {"message_to_itself", message_alone, 1, CALLS, 3},
    {"ping-pong_of_8_bytes", ping_pong, 2, CALLS, 2},
    {"16_messages_each_way", exchange_many, 2, CALLS / MANY, 2 * MANY + 1},
    {"MPI_Allreduce_of_4_bytes", allreduce, 2, CALLS, 1},
    {"MPI_Barrier", barrier, 2, CALLS, 1}};

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        double best = 1e18;
        if (rows[k].ranks != n)
            continue;
        for (int b = 0; b < batches; b++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = now();
            for (int i = 0; i < rows[k].calls; i++)
                rows[k].call();
            double each = (now() - begin) / rows[k].calls;
            best = each < best ? each : best;
        }
        if (me == 0)
            printf("%s %.2f %d\n", rows[k].name, best, rows[k].parts);
    }
    if (n == 1) /* for the receive that test() has posted */
        MPI_Send(out, 1, MPI_BYTE, me, 9, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
