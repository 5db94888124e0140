/*
 * held_up.c - collectives go on while a member is in a call of the host's.
 *
 * Every member starts more collectives than can be under way in shared memory
 * at a time. Some of them are large. One member completes them first, then
 * makes a communicator. The others make the communicator first, which blocks
 * until that member comes.
 *
 * With THREAD_LOCAL each thread has so many bytes of its own. With LAST_THREAD
 * the ranks become that user after MPI_Init, and the system gives them no more
 * threads.
 */
#define _GNU_SOURCE
#include "mpi/test.h"
#ifdef LAST_THREAD
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

static void *nothing(void *unused)
{
    return unused;
}

static void take_last_thread(void)
{
    struct rlimit none = {1, 1};
    pthread_t thread;
    CHECK(setrlimit(RLIMIT_NPROC, &none) == 0 && setuid(LAST_THREAD) == 0,
          "setuid");
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == EAGAIN,
          "the system gave a thread beyond its limit");
}
#endif

#ifdef THREAD_LOCAL
static _Thread_local char large_local[THREAD_LOCAL];
#endif

#define STARTED 60
#define LARGE 40000

int main(int argc, char **argv)
{
    static int sums[STARTED], boards[STARTED][8], large[STARTED][LARGE];
    MPI_Request q[2 * STARTED];
    MPI_Comm made;
    test_start(&argc, &argv);
    CHECK(world_size <= 8, "at most 8 ranks");
#ifdef THREAD_LOCAL
    for (size_t i = 0; i < sizeof large_local; i += 4096)
        *(volatile char *)&large_local[i] = 1;
#endif
#ifdef LAST_THREAD
    take_last_thread();
#endif
    MPI_Barrier(MPI_COMM_WORLD); /* over nodes: now we know the members */
    for (int round = 0; round < 3; round++) {
        int mine[STARTED];
        for (int i = 0; i < STARTED; i++) {
            int root = i % world_size;
            mine[i] = world_rank * 1000 + i + round;
            for (int k = 0; k < LARGE; k++)
                large[i][k] = root == world_rank ? i * LARGE + k + round : -1;
            if (i % 3 == 0)
                MPI_Iallgather(&mine[i], 1, MPI_INT, boards[i], 1, MPI_INT,
                               MPI_COMM_WORLD, &q[2 * i]);
            else
                MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM,
                               MPI_COMM_WORLD, &q[2 * i]);
            MPI_Ibcast(large[i], LARGE, MPI_INT, root, MPI_COMM_WORLD,
                       &q[2 * i + 1]);
        }
        if (world_rank == round % world_size)
            MPI_Waitall(2 * STARTED, q, MPI_STATUSES_IGNORE);
        MPI_Comm_dup(MPI_COMM_WORLD, &made);
        if (world_rank != round % world_size)
            MPI_Waitall(2 * STARTED, q, MPI_STATUSES_IGNORE);
        MPI_Comm_free(&made);
        for (int i = 0; i < STARTED; i++) {
            int sum = 0;
            for (int r = 0; r < world_size; r++) {
                sum += r * 1000 + i + round;
                CHECK(i % 3 || boards[i][r] == r * 1000 + i + round,
                      "allgather %d: wrong from %d", i, r);
            }
            CHECK(i % 3 == 0 || sums[i] == sum, "allreduce %d: %d, not %d", i,
                  sums[i], sum);
            for (int k = 0; k < LARGE; k++)
                CHECK(large[i][k] == i * LARGE + k + round,
                      "bcast %d: wrong at %d", i, k);
        }
    }
    test_end();
    return 0;
}
