/*
 * Where each rank is, and what its node sent: one line a rank.
 *
 *     where [--bytes | --status N | --sleep | --abort RANK]
 *
 * The line has the rank, the host's name, and the rank and size within the node
 * as MPI splits it. Then come the first and last core, and $WHERE. With --bytes
 * it adds what the node's interface sent while rank 0 broadcast 4 MiB. With
 * --sleep or --abort the ranks then sleep, but RANK, which aborts.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 4 << 20 };

static char data[SIZE];

static long sent(void)
{
    FILE *file = fopen("/sys/class/net/eth0/statistics/tx_bytes", "r");
    long bytes = -1;
    if (!file || fscanf(file, "%ld", &bytes) != 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    fclose(file);
    return bytes;
}

static void cores(int *first, int *last)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    *first = *last = -1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set)) {
            *last = i;
            if (*first < 0)
                *first = i;
        }
    }
}

static long broadcast(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    long before = sent();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(data, SIZE, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return sent() - before;
}

int main(int argc, char **argv)
{
    int me, inside, size, total, first, last;
    char name[256], line[512];
    const char *setting = getenv("WHERE");
    MPI_Comm node;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &inside);
    MPI_Comm_size(node, &size);
    MPI_Allreduce(&(int){1}, &total, 1, MPI_INT, MPI_SUM, node);
    gethostname(name, sizeof name);
    cores(&first, &last);
    const char *option = argc > 1 ? argv[1] : "";
    long bytes = !strcmp(option, "--bytes") ? broadcast() : -1;
    int length = snprintf(line, sizeof line, "%d %s %d %d %d %d %s %ld\n", me,
                          name, inside, size == total ? size : -1, first, last,
                          setting ? setting : "-", bytes);
    if (write(1, line, (size_t)length) != length)
        return 9;
    if (!strcmp(option, "--abort") && me == atoi(argv[2]))
        abort();
    if (!strcmp(option, "--abort") || !strcmp(option, "--sleep"))
        for (;;)
            pause();
    MPI_Comm_free(&node);
    MPI_Finalize();
    return !strcmp(option, "--status") ? atoi(argv[2]) : 0;
}
