/*
 * rma_threads.c - the threads of all ranks use one window at once, and each
 * rank's threads have windows of their own besides.
 *
 *   rma_threads ROUNDS
 */
#include "mpi/test.h"

#include <pthread.h>

enum { THREADS = 3, LENGTH_ = 6000 };

static MPI_Win shared, own[THREADS];
static long *sums, rounds;

static void *work(void *arg)
{
    int t = (int)(intptr_t)arg;
    static _Thread_local long ones[LENGTH_], got[LENGTH_];
    long one = 1, old;
    for (int i = 0; i < LENGTH_; i++)
        ones[i] = 1;
    for (long i = 0; i < rounds; i++) {
        int target = (int)(i + t) % world_size;
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 3, MPI_SUM, shared);
        MPI_Accumulate(ones, LENGTH_, MPI_LONG, target, 0, LENGTH_, MPI_LONG,
                       MPI_SUM, shared);
        MPI_Win_flush(target, shared);
        /* Locks of the thread's own window, shared with the same thread of the
         * other ranks. */
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, own[t]);
        MPI_Get(got, 2, MPI_LONG, target, 0, 2, MPI_LONG, own[t]);
        MPI_Win_flush(target, own[t]);
        CHECK(got[0] == got[1], "torn: %ld and %ld", got[0], got[1]);
        got[0]++;
        got[1]++;
        MPI_Put(got, 2, MPI_LONG, target, 0, 2, MPI_LONG, own[t]);
        MPI_Win_unlock(target, own[t]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread[THREADS];
    long *mine[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    rounds = argument(argc, argv, 1, 50) * world_size;
    sums = calloc(LENGTH_, sizeof *sums);
    MPI_Win_create(sums, LENGTH_ * sizeof *sums, sizeof *sums, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &shared);
    for (int t = 0; t < THREADS; t++) {
        MPI_Alloc_mem(64, MPI_INFO_NULL, &mine[t]);
        memset(mine[t], 0, 64);
        MPI_Win_create(mine[t], 64, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                       &own[t]);
    }
    MPI_Win_lock_all(0, shared);
    if (level == MPI_THREAD_MULTIPLE) {
        for (int t = 0; t < THREADS; t++)
            pthread_create(&thread[t], NULL, work, (void *)(intptr_t)t);
        for (int t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
    }
    MPI_Win_unlock_all(shared);
    MPI_Barrier(MPI_COMM_WORLD);
    long each = level == MPI_THREAD_MULTIPLE ? rounds * THREADS : 0;
    for (int i = 0; i < LENGTH_; i++) {
        long must = each + (i == 3 && !world_rank ? each * world_size : 0);
        CHECK(sums[i] == must, "sum %d is %ld, not %ld", i, sums[i], must);
    }
    for (int t = 0; t < THREADS; t++) {
        MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, own[t]);
        CHECK(mine[t][0] == rounds || !each, "locked: %ld", mine[t][0]);
        MPI_Win_unlock(world_rank, own[t]);
        MPI_Win_free(&own[t]);
        MPI_Free_mem(mine[t]);
    }
    MPI_Win_free(&shared);
    free(sums);
    test_end();
    return 0;
}
