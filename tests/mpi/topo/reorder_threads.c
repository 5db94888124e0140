/*
 * reorder_threads.c - threads make reordered topologies at once
 * (MPI_THREAD_MULTIPLE), each of a communicator of its own.
 *
 *   reorder_threads [ROUNDS]
 *
 * Exits saying so where the host has no MPI_THREAD_MULTIPLE.
 */
#include "mpi/test.h"
#include <pthread.h>

enum { THREADS = 3 };

static int rounds;

typedef struct {
    int number;
    MPI_Comm comm;
} thread_t;

static void *make_some(void *of)
{
    const thread_t *t = of;
    int me, dims[2] = {world_size / 2, 2}, periods[2] = {1, 0};
    MPI_Comm_rank(t->comm, &me);
    int next = (me + 1) % world_size;
    int before = (me + world_size - 1) % world_size;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm made;
        int sum = -1, v = i * THREADS + t->number, kind;
        if ((i + t->number) % 2)
            MPI_Cart_create(t->comm, 2, dims, periods, 1, &made);
        else
            MPI_Dist_graph_create_adjacent(t->comm, 1, &before, MPI_UNWEIGHTED,
                                           1, &next, MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, 1, &made);
        MPI_Topo_test(made, &kind);
        CHECK(kind == ((i + t->number) % 2 ? MPI_CART : MPI_DIST_GRAPH),
              "thread %d, round %d: topology %d", t->number, i, kind);
        MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, made);
        CHECK(sum == v * world_size, "thread %d, round %d: %d", t->number, i,
              sum);
        MPI_Comm_free(&made);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    rounds = (int)argument(argc, argv, 1, 30);
    thread_t threads[THREADS];
    pthread_t id[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (provided < MPI_THREAD_MULTIPLE) {
        if (world_rank == 0)
            printf("all is well: no MPI_THREAD_MULTIPLE here\n");
        MPI_Finalize();
        return 0;
    }
    for (int i = 0; i < THREADS; i++) {
        threads[i].number = i;
        MPI_Comm_split(MPI_COMM_WORLD, 0,
                       world_rank % 2 * world_size + world_rank,
                       &threads[i].comm);
    }
    /* Open MPI 4.1 alone cannot bear that the first grids come at once. */
    MPI_Comm first;
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &first);
    MPI_Comm_free(&first);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, make_some, &threads[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(id[i], NULL);
        MPI_Comm_free(&threads[i].comm);
    }
    test_end();
}
