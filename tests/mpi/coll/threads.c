/*
 * threads.c - collectives of several threads at once (MPI_THREAD_MULTIPLE).
 *
 * Each thread makes collective calls on a communicator of its own. It also asks
 * for the time, which must not go back.
 *
 *   threads [THREADS [CALLS]]
 *
 * Exits saying so where the host has no MPI_THREAD_MULTIPLE.
 */
#include "mpi/test.h"
#include <pthread.h>

static long calls;

static void *work(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    int n, me;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    size_t most = 20000;
    int *a = malloc(most * (size_t)n * 4), *b = malloc(most * (size_t)n * 4);
    double last = 0;
    for (long i = 0; i < calls; i++) {
        rng_t r = rng_from((uint64_t)i);
        int k = (int)rng_size(&r, i % 16 ? 200 : most);
        int root = (int)rng_below(&r, (size_t)n);
        for (int j = 0; j < k; j++)
            a[j] = me + j + (int)i;
        for (size_t j = rng_below(&r, 4); j > 0; j--) {
            double now = MPI_Wtime();
            CHECK(now >= last, "%.9f s after %.9f s", now, last);
            last = now;
        }
        switch (rng_below(&r, 5)) {
        case 0:
            MPI_Allreduce(a, b, k, MPI_INT, MPI_SUM, comm);
            for (int j = 0; j < k; j++)
                CHECK(b[j] == n * (n - 1) / 2 + n * (j + (int)i),
                      "Allreduce %ld at %d: %d", i, j, b[j]);
            break;
        case 1:
            MPI_Bcast(a, k, MPI_INT, root, comm);
            for (int j = 0; j < k; j++)
                CHECK(a[j] == root + j + (int)i, "Bcast %ld at %d", i, j);
            break;
        case 2:
            MPI_Allgather(a, k, MPI_INT, b, k, MPI_INT, comm);
            for (int j = 0; j < k * n; j++)
                CHECK(b[j] == j / k + j % k + (int)i, "Allgather %ld at %d",
                      i, j);
            break;
        case 3:
            for (int j = 0; j < k * n; j++)
                a[j] = me + j / k + (int)i;
            MPI_Alltoall(a, k, MPI_INT, b, k, MPI_INT, comm);
            for (int j = 0; j < k * n; j++)
                CHECK(b[j] == j / k + me + (int)i, "Alltoall %ld at %d", i,
                      j);
            break;
        default:
            MPI_Barrier(comm);
        }
    }
    free(a);
    free(b);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    int threads = (int)argument(argc, argv, 1, 4);
    calls = argument(argc, argv, 2, 500);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        if (world_rank == 0)
            printf("no MPI_THREAD_MULTIPLE here\n");
        return 0;
    }
    pthread_t *thread = malloc((size_t)threads * sizeof *thread);
    MPI_Comm *comm = malloc((size_t)threads * sizeof *comm);
    for (int i = 0; i < threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, work, &comm[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < threads; i++)
        MPI_Comm_free(&comm[i]);
    free(thread);
    free(comm);
    test_end();
}
