/*
 * seen.c - one-sided calls, blocks that are given away and partitioned
 * messages, whose counts and bytes are known; and ranks that come late by so
 * many milliseconds.
 *
 *     seen windows|gives|ring|parts|early MS
 *
 * Two ranks. Rank 0 comes late to fences, to an unlock, to posts and completes,
 * and to its last partition.
 */
#include "mpi/test.h"

#include <straightway_mpi.h>
#include <unistd.h>

#define N 4096
#define PARTS 4

static int late;

static void come_late(int who)
{
    if (world_rank == who)
        usleep((useconds_t)late * 1000);
}

static void windows(void)
{
    double *memory, mine[N] = {0};
    long one = 1, was;
    MPI_Win w;
    MPI_Group all, other;
    int peer = 1 - world_rank;
    MPI_Alloc_mem(N * sizeof *memory, MPI_INFO_NULL, &memory);
    for (int i = 0; i < N; i++)
        memory[i] = 0;
    MPI_Win_create(memory, N * sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &w);
    MPI_Win_fence(0, w);
    MPI_Put(mine, N, MPI_DOUBLE, peer, 0, N, MPI_DOUBLE, w);
    come_late(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w);
    MPI_Barrier(MPI_COMM_WORLD);

    /* Rank 0 has the lock when rank 1 asks for it. */
    if (world_rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
        MPI_Get(mine, 100, MPI_DOUBLE, 0, 0, 100, MPI_DOUBLE, w);
        MPI_Win_flush(0, w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    come_late(0);
    if (world_rank == 0) {
        MPI_Win_unlock(0, w);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
        MPI_Accumulate(mine, 10, MPI_DOUBLE, 0, 0, 10, MPI_DOUBLE, MPI_SUM, w);
        MPI_Win_unlock(0, w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w);
    for (int i = 0; i < 5; i++) {
        MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 100, MPI_SUM, w);
        MPI_Win_flush_all(w);
    }
    MPI_Win_unlock_all(w);

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Barrier(MPI_COMM_WORLD);
    come_late(0); /* to its post */
    MPI_Win_post(other, 0, w);
    MPI_Win_start(other, 0, w);
    MPI_Put(mine, 1000, MPI_DOUBLE, peer, 0, 1000, MPI_DOUBLE, w);
    come_late(0); /* to its complete */
    MPI_Win_complete(w);
    MPI_Win_wait(w);
    MPI_Group_free(&other);
    MPI_Group_free(&all);
    MPI_Win_free(&w);
    MPI_Free_mem(memory);
}

static void gives(void)
{
    for (int i = 0; i < 6; i++) {
        size_t bytes = i < 5 ? 65536 : 100; /* the last one is small */
        double *block;
        if (world_rank == 0) {
            straightway_alloc(bytes, (void **)&block);
            block[0] = i;
            come_late(0);
            straightway_give((void **)&block, bytes, 1, i, MPI_COMM_WORLD);
        } else {
            straightway_take((void **)&block, &bytes, 0, i, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
            CHECK(block[0] == i && bytes == (i < 5 ? 65536 : 100), "block %d",
                  i);
            free(block);
        }
    }
}

/* All ranks give before they take. */
static void ring(void)
{
    size_t bytes = 1 << 20;
    double *block;
    straightway_alloc(bytes, (void **)&block);
    block[0] = world_rank;
    for (int i = 0; i < 6; i++) {
        come_late(i % 2);
        straightway_give((void **)&block, bytes, 1 - world_rank, i,
                         MPI_COMM_WORLD);
        straightway_take((void **)&block, &bytes, 1 - world_rank, i,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(block[0] == world_rank && bytes == 1 << 20, "the block");
    free(block);
}

/* Open MPI has them in version 5, which says that it is MPI 3.1. */
static void parts(void)
{
#if HAVE_PERSISTENT
    static double data[PARTS * N];
    MPI_Request r;
    if (world_rank == 0)
        MPI_Psend_init(data, PARTS, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &r);
    else
        MPI_Precv_init(data, PARTS, N, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &r);
    for (int k = 1; k <= 3; k++) {
        MPI_Start(&r);
        for (int i = 0; world_rank == 0 && i < PARTS; i++) {
            for (int j = 0; j < N; j++)
                data[i * N + j] = k;
            if (i == PARTS - 1)
                come_late(0);
            MPI_Pready(i, r);
        }
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK(data[PARTS * N - 1] == k, "start %d", k);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Request_free(&r);
#endif
}

/* Five messages before their receives, seven after. */
static void early(void)
{
    char data[7][8] = {0};
    MPI_Request q[7];
    for (int i = 0; i < 5 && world_rank == 1; i++)
        MPI_Send(data[i], 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 5 && world_rank == 0; i++)
        MPI_Recv(data[i], 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 7 && world_rank == 0; i++)
        MPI_Irecv(data[i], 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &q[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 7 && world_rank == 1; i++)
        MPI_Send(data[i], 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    if (world_rank == 0)
        MPI_Waitall(7, q, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level;
    if (!strcmp(what, "ring")) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
        MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    } else {
        test_start(&argc, &argv);
    }
    late = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(what, "windows"))
        windows();
    else if (!strcmp(what, "gives"))
        gives();
    else if (!strcmp(what, "ring"))
        ring();
    else if (!strcmp(what, "early"))
        early();
    else
        parts();
    if (world_rank == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
