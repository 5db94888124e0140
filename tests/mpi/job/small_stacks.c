/*
 * small_stacks.c - every collective, and messages, in a thread whose stack is
 * as small as programs make them: STACK KiB.
 *
 *   small_stacks STACK
 *
 * Each call runs in a new thread, on data whose result is known.
 */
#include "mpi/test.h"

#include <limits.h>
#include <pthread.h>

#define MOST 40000
#define SIDE 512 /* of a matrix that is transposed on its way */

static int *a, *b, *counts, *places, *bytes, n;
static MPI_Aint *side_bytes;
static MPI_Datatype *types, rows, columns, sparse;
static MPI_Comm grid;
static MPI_Op last_of;
static size_t stack;

static void take_last(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)count;
    (void)type;
}

static void rooted(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Barrier(w);
    MPI_Bcast(a, n, MPI_INT, 0, w);
    MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, 0, w);
    MPI_Gatherv(a, n, MPI_INT, b, counts, places, MPI_INT, 0, w);
    MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, 0, w);
    MPI_Scatterv(a, counts, places, MPI_INT, b, n, MPI_INT, 0, w);
    MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, world_size - 1, w);
    MPI_Reduce(a, b, n, MPI_INT, last_of, 0, w);
}

static void all_to_all(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, w);
    MPI_Allgatherv(a, n, MPI_INT, b, counts, places, MPI_INT, w);
    MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, w);
    MPI_Alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, w);
    MPI_Alltoallw(a, counts, bytes, types, b, counts, bytes, types, w);
    MPI_Neighbor_allgather(a, n, MPI_INT, b, n, MPI_INT, grid);
    MPI_Neighbor_allgatherv(a, n, MPI_INT, b, counts, places, MPI_INT, grid);
    MPI_Neighbor_alltoall(a, n, MPI_INT, b, n, MPI_INT, grid);
    MPI_Neighbor_alltoallv(a, counts, places, MPI_INT, b, counts, places,
                           MPI_INT, grid);
    MPI_Neighbor_alltoallw(a, counts, side_bytes, types, b, counts, side_bytes,
                           types, grid);
}

static void reducing(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    for (int i = 0; i < n * world_size; i++)
        a[i] = i;
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, w);
    MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, w);
    MPI_Scan(a, b, n, MPI_INT, MPI_SUM, w);
    MPI_Exscan(a, b, n, MPI_INT, MPI_SUM, w);
    MPI_Allreduce(a, b, n, MPI_INT, last_of, w);
    MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, w);
    for (int i = 0; i < n; i++)
        CHECK(b[i] == i * world_size, "Allreduce of %d: int %d is %d", n, i,
              b[i]);
}

/* Data with gaps: packed, shown, transposed. */
static void with_gaps(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int next = (world_rank + 1) % world_size;
    int before = (world_rank + world_size - 1) % world_size;
    for (int i = 0; i < SIDE * SIDE; i++)
        a[i] = i;
    MPI_Sendrecv(a, 1, columns, next, 1, b, 1, rows, before, 1, w,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            CHECK(b[i * SIDE + k] == k * SIDE + i, "transposed: %d at %d %d",
                  b[i * SIDE + k], i, k);
    MPI_Bcast(a, 1, sparse, 0, w);
    MPI_Allgather(a, 1, sparse, b, SIDE, MPI_INT, w);
    MPI_Alltoall(a, 1, sparse, b, SIDE, MPI_INT, w);
}

static void messages(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    int next = (world_rank + 1) % world_size, got = 0;
    int before = (world_rank + world_size - 1) % world_size;
    MPI_Request request[3];
    MPI_Status status;
    MPI_Sendrecv(a, n, MPI_INT, next, 2, b, n, MPI_INT, before, 2, w,
                 MPI_STATUS_IGNORE);
    MPI_Irecv(b, n, MPI_INT, before, 3, w, &request[0]);
    MPI_Isend(a, n, MPI_INT, next, 3, w, &request[1]);
    MPI_Issend(a, n, MPI_INT, next, 4, w, &request[2]);
    MPI_Probe(before, 4, w, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    CHECK(got == n, "a message of %d is told to be %d long", n, got);
    MPI_Recv(b, n, MPI_INT, before, 4, w, MPI_STATUS_IGNORE);
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    MPI_Recv_init(b, n, MPI_INT, before, 5, w, &request[0]);
    MPI_Send_init(a, n, MPI_INT, next, 5, w, &request[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* A communicator is made, used and freed on that stack, too. */
static void communicators(void)
{
    MPI_Comm made;
    int sum = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == n * world_size, "a new communicator sums to %d", sum);
    MPI_Comm_free(&made);
}

static void *call(void *what)
{
    (*(void (**)(void))what)();
    return NULL;
}

static void on_small_stack(void (*what)(void))
{
    pthread_attr_t how;
    pthread_t thread;
    pthread_attr_init(&how);
    CHECK(!pthread_attr_setstacksize(&how, stack), "no stack of %zu bytes",
          stack);
    CHECK(!pthread_create(&thread, &how, call, &what), "no thread");
    pthread_join(thread, NULL);
    pthread_attr_destroy(&how);
}

static void describe(void)
{
    for (int i = 0; i < world_size || i < 2; i++) {
        counts[i] = n;
        places[i] = i * n;
        bytes[i] = i * n * (int)sizeof(int);
        side_bytes[i] = bytes[i];
        types[i] = MPI_INT;
    }
}

int main(int argc, char **argv)
{
    int provided, periodic = 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    CHECK(provided >= MPI_THREAD_SERIALIZED, "no threads");
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    stack = (size_t)argument(argc, argv, 1, 64) << 10;
    /* A sparse block for each rank spans nearly a matrix. */
    size_t most = (size_t)(world_size + 2) * (MOST + SIDE * SIDE);
    a = calloc(most, sizeof *a);
    b = calloc(most, sizeof *b);
    counts = calloc((size_t)world_size + 2, sizeof *counts);
    places = calloc((size_t)world_size + 2, sizeof *places);
    bytes = calloc((size_t)world_size + 2, sizeof *bytes);
    side_bytes = calloc((size_t)world_size + 2, sizeof *side_bytes);
    types = calloc((size_t)world_size + 2, sizeof *types);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &grid);
    MPI_Op_create(take_last, 0, &last_of);
    MPI_Datatype column;
    MPI_Type_vector(SIDE, 1, SIDE, MPI_INT, &sparse);
    MPI_Type_create_resized(sparse, 0, sizeof(int), &column);
    MPI_Type_contiguous(SIDE, column, &columns);
    MPI_Type_contiguous(SIDE * SIDE, MPI_INT, &rows);
    MPI_Type_commit(&sparse);
    MPI_Type_commit(&columns);
    MPI_Type_commit(&rows);
    static const int sizes[] = {1, 2000, MOST};
    for (int i = 0; i < 3; i++) {
        n = sizes[i];
        describe();
        on_small_stack(communicators);
        on_small_stack(rooted);
        on_small_stack(all_to_all);
        on_small_stack(reducing);
        on_small_stack(with_gaps);
        on_small_stack(messages);
    }
    test_end();
}
