/*
 * ordinary.c - what MPI programs do, in one small program: messages, blocking
 * and nonblocking; collectives of both kinds; datatypes; a window; files.
 *
 *   ordinary [ROUNDS]
 *
 * Each result is checked. Rank 0 prints a sum over all of them, which is the
 * same in every run; and each rank the calls that a tool may count.
 */
#include "mpi/test.h"

/* Small and large: from 32 KiB on blocks are the arena's, if it serves. */
enum { SMALL = 7, LARGE = 60000, ROWS = 64, COLUMNS = 48 };

static uint64_t digest;
static int sums, sends;
static double still[LARGE]; /* static data, which ranks can share, too */

static void add(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ p[i]) * 0x100000001b3u;
}

static double value(int rank, int round, int i)
{
    return rank * 3 + round + i % 1000;
}

static void messages(int round, int n)
{
    int right = (world_rank + 1) % world_size;
    int left = (world_rank + world_size - 1) % world_size;
    double *out = malloc((size_t)n * sizeof *out);
    double *in = malloc((size_t)n * sizeof *in);
    MPI_Status status;
    MPI_Request requests[2];
    int count;

    for (int i = 0; i < n; i++)
        out[i] = value(world_rank, round, i);
    if (world_rank % 2 == 0) {
        MPI_Send(out, n, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &status);
    } else {
        MPI_Recv(in, n, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
        MPI_Send(out, n, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
    }
    sends++;
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    CHECK(count == n && status.MPI_SOURCE == left, "status of Recv");
    for (int i = 0; i < n; i++)
        CHECK(in[i] == value(left, round, i), "Recv, element %d", i);
    add(in, (size_t)n * sizeof *in);

    memset(in, 0, (size_t)n * sizeof *in);
    MPI_Irecv(in, n, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, n, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(in[i] == value(right, round, i), "Irecv, element %d", i);
    free(out);
    free(in);
}

static void collectives(int round, int n)
{
    size_t bytes = (size_t)n * sizeof(double);
    double *in = malloc(bytes), *out = malloc(bytes);
    double *all = malloc(bytes * (size_t)world_size);
    MPI_Request request;

    for (int i = 0; i < n; i++)
        in[i] = value(world_rank, round, i);
    MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sums++;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int rank = 0; rank < world_size; rank++)
            sum += value(rank, round, i);
        CHECK(out[i] == sum, "Allreduce, element %d", i);
    }
    add(out, bytes);
    MPI_Allgather(in, n, MPI_DOUBLE, all, n, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int rank = 0; rank < world_size; rank++)
        CHECK(all[(size_t)rank * (size_t)n + 1] == value(rank, round, 1),
              "Allgather");
    memcpy(still, in, bytes);
    MPI_Ibcast(still, n, MPI_DOUBLE, round % world_size, MPI_COMM_WORLD,
               &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        CHECK(still[i] == value(round % world_size, round, i), "Ibcast");
    MPI_Barrier(MPI_COMM_WORLD);
    free(in);
    free(out);
    free(all);
}

/* A column is sent, and becomes a row. */
static void datatypes(void)
{
    double from[ROWS][COLUMNS], to[ROWS];
    int peer = world_size - 1 - world_rank;
    MPI_Datatype column;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            from[i][j] = value(world_rank, i, j);
    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&from[0][5], 1, column, peer, 5, to, ROWS, MPI_DOUBLE, peer, 5,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROWS; i++)
        CHECK(to[i] == value(peer, i, 5), "the column of %d", peer);
    add(to, sizeof to);
    MPI_Type_free(&column);
}

static void window(void)
{
    int right = (world_rank + 1) % world_size;
    int left = (world_rank + world_size - 1) % world_size;
    double mine = value(world_rank, 0, 1), got = -1, *base;
    MPI_Win win;

    MPI_Win_allocate(2 * sizeof *base, sizeof *base, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    base[0] = base[1] = world_rank;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_DOUBLE, right, 1, 1, MPI_DOUBLE, win);
    MPI_Get(&got, 1, MPI_DOUBLE, left, 0, 1, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    CHECK(base[1] == value(left, 0, 1), "Put");
    CHECK(got == left, "Get");
    MPI_Win_free(&win);
}

/* One communicator of even and one of odd ranks. */
static void communicators(void)
{
    int one = 1, members, size;
    MPI_Comm half;

    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
    MPI_Comm_size(half, &size);
    MPI_Allreduce(&one, &members, 1, MPI_INT, MPI_SUM, half);
    sums++;
    CHECK(members == size, "Allreduce of a half");
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    long rounds = argument(argc, argv, 1, 3);
    uint64_t all = 0;

    test_start(&argc, &argv);
    for (int round = 0; round < rounds; round++) {
        messages(round, SMALL);
        messages(round, LARGE);
        collectives(round, SMALL);
        collectives(round, LARGE);
    }
    datatypes();
    window();
    communicators();
    MPI_Reduce(&digest, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("digest %016llx\n", (unsigned long long)all);
    if (world_rank == 0)
        printf("calls Allreduce %d Send %d\n", sums, sends);
    test_end();
}
