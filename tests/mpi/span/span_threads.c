/*
 * span_threads.c - threads mix collectives on several communicators over nodes,
 * each in an order of its own, with messages (MPI_THREAD_MULTIPLE).
 *
 *   span_threads THREADS ROUNDS
 *
 * Each thread has two communicators of its own, and its peers on the other
 * ranks use them in the same order. Even threads go through them forwards, odd
 * ones backwards. Meanwhile the threads send large messages around in
 * MPI_COMM_WORLD, under tags of their own.
 */
#include "mpi/test.h"

#include <pthread.h>

#define MOST 60000
#define PAIR 2

typedef struct {
    int number;
    MPI_Comm comm[PAIR];
} thread_t;

static int rounds;

static void collectives(MPI_Comm comm, int i, int k, int *a, int *b)
{
    int n, me, root;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    root = i % n;
    for (int j = 0; j < k; j++)
        a[j] = me + j + i;
    MPI_Allreduce(a, b, k, MPI_INT, MPI_SUM, comm);
    for (int j = 0; j < k; j++)
        CHECK(b[j] == n * (n - 1) / 2 + n * (j + i), "Allreduce %d at %d: %d",
              i, j, b[j]);
    MPI_Bcast(a, k, MPI_INT, root, comm);
    for (int j = 0; j < k; j++)
        CHECK(a[j] == root + j + i, "Bcast %d at %d: %d", i, j, a[j]);
    k = k / n + 1;
    for (int j = 0; j < k * n; j++)
        a[j] = me + j / k + i;
    MPI_Alltoall(a, k, MPI_INT, b, k, MPI_INT, comm);
    for (int j = 0; j < k * n; j++)
        CHECK(b[j] == j / k + me + i, "Alltoall %d at %d: %d", i, j, b[j]);
    MPI_Gather(a, k, MPI_INT, b, k, MPI_INT, root, comm);
    for (int j = 0; j < k * n && me == root; j++)
        CHECK(b[j] == j / k + j % k / k + i, "Gather %d at %d: %d", i, j,
              b[j]);
}

static void *work(void *argument)
{
    thread_t *t = argument;
    size_t room = (MOST + 64) * 2;
    int *a = malloc(room * 4), *b = malloc(room * 4);
    int *out = malloc(MOST * 4), *in = malloc(MOST * 4);
    int next = (world_rank + 1) % world_size;
    int before = (world_rank + world_size - 1) % world_size;
    for (int i = 0; i < rounds; i++) {
        MPI_Request request[2];
        int k = i % 8 ? 1 + i : MOST / 2, n = i % 2 ? MOST : 10;
        for (int j = 0; j < n; j++)
            out[j] = world_rank + j + t->number;
        MPI_Irecv(in, n, MPI_INT, before, t->number, MPI_COMM_WORLD,
                  &request[0]);
        MPI_Isend(out, n, MPI_INT, next, t->number, MPI_COMM_WORLD,
                  &request[1]);
        for (int p = 0; p < PAIR; p++)
            collectives(t->comm[t->number % 2 ? PAIR - 1 - p : p], i, k, a, b);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        for (int j = 0; j < n; j++)
            CHECK(in[j] == before + j + t->number, "message %d at %d: %d", i,
                  j, in[j]);
    }
    free(a);
    free(b);
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    int threads = (int)argument(argc, argv, 1, 2);
    rounds = (int)argument(argc, argv, 2, 40);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        if (world_rank == 0)
            printf("no MPI_THREAD_MULTIPLE here\n");
        return 0;
    }
    pthread_t *id = malloc((size_t)threads * sizeof *id);
    thread_t *all = malloc((size_t)threads * sizeof *all);
    for (int i = 0; i < threads; i++) {
        all[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &all[i].comm[0]);
        /* Backwards: the members of each node come in another order. */
        MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &all[i].comm[1]);
    }
    for (int i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, work, &all[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < threads; i++)
        for (int p = 0; p < PAIR; p++)
            MPI_Comm_free(&all[i].comm[p]);
    free(id);
    free(all);
    test_end();
}
