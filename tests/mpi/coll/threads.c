/*
 * threads.c - collectives of several threads at once, with messages
 * (MPI_THREAD_MULTIPLE).
 *
 *   threads [THREADS [CALLS]]
 *
 * Each thread has two communicators of its own, whose members come in opposite
 * orders. Its peers on the other ranks make the same calls on them, blocking
 * and nonblocking ones, while one more nonblocking one is pending. Meanwhile
 * the threads send messages around in MPI_COMM_WORLD, under tags of their own.
 * Each also asks for the time, which must not go back.
 *
 * Exits saying so where the host has no MPI_THREAD_MULTIPLE.
 */
#include "mpi/test.h"
#include <pthread.h>

#define MOST 20000
#define BIG 60000

typedef struct {
    int number;
    MPI_Comm comm[2];
    int *a, *b, *out, *in;
    double last;
} thread_t;

static long calls;

static void look_at_clock(thread_t *t, size_t times)
{
    for (; times > 0; times--) {
        double now = MPI_Wtime();
        CHECK(now >= t->last, "%.9f s after %.9f s", now, t->last);
        t->last = now;
    }
}

/* Waits, or tests until it is over. */
static void complete(rng_t *r, MPI_Request *q)
{
    int flag = 0;
    if (rng_one_in(r, 2))
        MPI_Wait(q, MPI_STATUS_IGNORE);
    else
        while (!flag)
            MPI_Test(q, &flag, MPI_STATUS_IGNORE);
}

/* In either form; the name is given in lower case, too. */
#define CALL(Name, name, ...)             \
    do {                                  \
        MPI_Request q;                    \
        if (blocking) {                   \
            MPI_##Name(__VA_ARGS__);      \
        } else {                          \
            MPI_I##name(__VA_ARGS__, &q); \
            complete(r, &q);              \
        }                                 \
    } while (0)

static void collective(thread_t *t, rng_t *r, int i)
{
    MPI_Comm comm = t->comm[rng_below(r, 2)];
    int n, me, *a = t->a, *b = t->b;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    int k = (int)rng_size(r, i % 16 ? 200 : MOST);
    bool blocking = rng_one_in(r, 2);
    int root = (int)rng_below(r, (size_t)n);
    for (int j = 0; j < k; j++)
        a[j] = me + j + i;
    switch (rng_below(r, 6)) {
    case 0:
        CALL(Allreduce, allreduce, a, b, k, MPI_INT, MPI_SUM, comm);
        for (int j = 0; j < k; j++)
            CHECK(b[j] == n * (n - 1) / 2 + n * (j + i),
                  "Allreduce %d at %d: %d", i, j, b[j]);
        break;
    case 1:
        CALL(Bcast, bcast, a, k, MPI_INT, root, comm);
        for (int j = 0; j < k; j++)
            CHECK(a[j] == root + j + i, "Bcast %d at %d", i, j);
        break;
    case 2:
        CALL(Allgather, allgather, a, k, MPI_INT, b, k, MPI_INT, comm);
        for (int j = 0; j < k * n; j++)
            CHECK(b[j] == j / k + j % k + i, "Allgather %d at %d", i, j);
        break;
    case 3:
        for (int j = 0; j < k * n; j++)
            a[j] = me + j / k + i;
        CALL(Alltoall, alltoall, a, k, MPI_INT, b, k, MPI_INT, comm);
        for (int j = 0; j < k * n; j++)
            CHECK(b[j] == j / k + me + i, "Alltoall %d at %d", i, j);
        break;
    case 4:
        CALL(Gather, gather, a, k, MPI_INT, b, k, MPI_INT, root, comm);
        for (int j = 0; j < k * n && me == root; j++)
            CHECK(b[j] == j / k + j % k + i, "Gather %d at %d", i, j);
        break;
    default: CALL(Barrier, barrier, comm);
    }
}

static void *work(void *argument)
{
    thread_t *t = argument;
    int next = (world_rank + 1) % world_size;
    int before = (world_rank + world_size - 1) % world_size;
    for (int i = 0; i < calls; i++) {
        rng_t r = rng_from(key2((uint64_t)i, (uint64_t)t->number));
        MPI_Request request[3];
        int one = t->number + i, sum = 0;
        int n = i % 2 ? 10 : i % 8 ? 0 : BIG;
        for (int j = 0; j < n; j++)
            t->out[j] = world_rank + j + t->number + i;
        MPI_Irecv(t->in, n, MPI_INT, before, t->number, MPI_COMM_WORLD,
                  &request[0]);
        MPI_Isend(t->out, n, MPI_INT, next, t->number, MPI_COMM_WORLD,
                  &request[1]);
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, t->comm[i % 2],
                       &request[2]);
        look_at_clock(t, rng_below(&r, 4));
        collective(t, &r, i);
        collective(t, &r, i + 1);
        MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
        CHECK(sum == world_size * one, "the pending sum %d is %d", i, sum);
        for (int j = 0; j < n; j++)
            CHECK(t->in[j] == before + j + t->number + i,
                  "message %d at %d: %d", i, j, t->in[j]);
    }
    return NULL;
}

static void prepare(thread_t *t, int number)
{
    size_t room = (size_t)MOST * (size_t)world_size;
    *t = (thread_t){.number = number,
                    .a = malloc(room * sizeof *t->a),
                    .b = malloc(room * sizeof *t->b),
                    .out = malloc(BIG * sizeof *t->out),
                    .in = malloc(BIG * sizeof *t->in)};
    MPI_Comm_dup(MPI_COMM_WORLD, &t->comm[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &t->comm[1]);
}

static void forget(thread_t *t)
{
    MPI_Comm_free(&t->comm[0]);
    MPI_Comm_free(&t->comm[1]);
    free(t->a);
    free(t->b);
    free(t->out);
    free(t->in);
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
    pthread_t *id = malloc((size_t)threads * sizeof *id);
    thread_t *all = malloc((size_t)threads * sizeof *all);
    for (int i = 0; i < threads; i++)
        prepare(&all[i], i);
    for (int i = 0; i < threads; i++)
        pthread_create(&id[i], NULL, work, &all[i]);
    for (int i = 0; i < threads; i++)
        pthread_join(id[i], NULL);
    for (int i = 0; i < threads; i++)
        forget(&all[i]);
    free(id);
    free(all);
    test_end();
}
