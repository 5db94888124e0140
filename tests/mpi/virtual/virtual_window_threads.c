/*
 * virtual_window_threads.c - threads that use windows at once
 * (MPI_THREAD_MULTIPLE).
 *
 * Each thread works on its right neighbour's window. It puts data into its
 * part, gets them back, and adds to a counter. It does so in two windows. All
 * threads share the first, which is under a lock of all ranks. The thread has
 * the second for itself, and locks it each time.
 *
 *   virtual_window_threads [LOOPS]
 */
#include "mpi/test.h"

#include <pthread.h>

enum { THREADS = 4, PART = 50 };

typedef struct {
    int number, *mine;
    MPI_Win own;
} work_t;

static int me, n, right, loops = 20, *memory;
static MPI_Win all;

static int value(int of, int thread, int loop, int i)
{
    return of * 1000000 + thread * 100000 + loop * 100 + i;
}

static void by_flush(const work_t *w, int loop)
{
    int put[PART], got[PART] = {0}, one = 1, at = w->number * PART;
    for (int i = 0; i < PART; i++)
        put[i] = value(me, w->number, loop, i);
    MPI_Put(put, PART, MPI_INT, right, at, PART, MPI_INT, all);
    MPI_Win_flush_local(right, all);
    MPI_Win_flush(right, all);
    MPI_Get(got, PART, MPI_INT, right, at, PART, MPI_INT, all);
    MPI_Accumulate(&one, 1, MPI_INT, right, THREADS * PART, 1, MPI_INT, MPI_SUM,
                   all);
    MPI_Win_flush(right, all);
    CHECK(!memcmp(put, got, sizeof put), "thread %d gets what it has put",
          w->number);
}

static void by_lock(const work_t *w, int loop)
{
    int put = value(me, w->number, loop, 0), got = 0, one = 1, before = 0;
    int how = loop % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    MPI_Win_lock(how, right, 0, w->own);
    MPI_Put(&put, 1, MPI_INT, right, 0, 1, MPI_INT, w->own);
    MPI_Win_unlock(right, w->own);
    MPI_Win_lock(how, right, 0, w->own);
    MPI_Get(&got, 1, MPI_INT, right, 0, 1, MPI_INT, w->own);
    MPI_Fetch_and_op(&one, &before, MPI_INT, right, 1, MPI_SUM, w->own);
    MPI_Win_unlock(right, w->own);
    CHECK(got == put, "thread %d gets what it has locked for", w->number);
    CHECK(before == loop, "thread %d has added %d times", w->number, before);
}

static void *run(void *of)
{
    for (int loop = 0; loop < loops; loop++) {
        by_flush(of, loop);
        by_lock(of, loop);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread[THREADS];
    work_t work[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("no MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    right = (me + 1) % n;
    if (argc > 1)
        loops = atoi(argv[1]);
    MPI_Win_allocate((THREADS * PART + 1) * sizeof(int), sizeof(int),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &all);
    memset(memory, 0, (THREADS * PART + 1) * sizeof(int));
    for (int i = 0; i < THREADS; i++) {
        work[i].number = i;
        MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL,
                         MPI_COMM_WORLD, &work[i].mine, &work[i].own);
        memset(work[i].mine, 0, 2 * sizeof(int));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, all);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run, &work[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_Win_unlock_all(all);
    MPI_Barrier(MPI_COMM_WORLD);
    int left = (me + n - 1) % n;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, all);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < PART; i++)
            CHECK(memory[t * PART + i] == value(left, t, loops - 1, i),
                  "part of thread %d", t);
    CHECK(memory[THREADS * PART] == THREADS * loops, "all have added");
    MPI_Win_unlock(me, all);
    MPI_Win_free(&all);
    for (int i = 0; i < THREADS; i++)
        MPI_Win_free(&work[i].own);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
