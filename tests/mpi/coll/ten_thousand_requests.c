/*
 * ten_thousand_requests.c - thousands of collectives and partitioned messages
 * are alive at once, and end in any order, twice.
 *
 *   ten_thousand_requests [ALIVE]
 */
#include "mpi/test.h"

static int alive, *value, *sum;
static MPI_Request *request;

/* In an order of this rank's own. */
static void complete_all(int n)
{
    rng_t own = rng_from((uint64_t)world_rank);
    int *left = malloc((size_t)n * sizeof *left);
    for (int i = 0; i < n; i++)
        left[i] = i;
    for (int i = n; i--;) {
        size_t k = rng_below(&own, (size_t)i + 1);
        MPI_Wait(&request[left[k]], MPI_STATUS_IGNORE);
        left[k] = left[i];
    }
    free(left);
}

static void check(const char *what)
{
    for (int i = 0; i < alive; i++)
        CHECK(sum[i] == world_size * i, "%s %d: %d", what, i, sum[i]);
    memset(sum, 0, (size_t)alive * sizeof *sum);
}

static void nonblocking(void)
{
    for (int i = 0; i < alive; i++)
        MPI_Iallreduce(&value[i], &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                       &request[i]);
    complete_all(alive);
    check("nonblocking");
}

#if HAVE_PERSISTENT
static void persistent(void)
{
    for (int i = 0; i < alive; i++)
        MPI_Allreduce_init(&value[i], &sum[i], 1, MPI_INT, MPI_SUM,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &request[i]);
    for (int start = 0; start < 2; start++) {
        for (int i = 0; i < alive; i++)
            MPI_Start(&request[world_rank % 2 ? i : alive - 1 - i]);
        complete_all(alive);
        check("persistent");
    }
    for (int i = 0; i < alive; i++)
        MPI_Request_free(&request[i]);
}

/* Each from one rank to the next, with a tag of its own. */
static void partitioned(void)
{
    int next = (world_rank + 1) % world_size;
    int last = (world_rank + world_size - 1) % world_size;
    for (int i = 0; i < alive; i++) {
        MPI_Precv_init(&sum[i], 1, 1, MPI_INT, last, i, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request[i]);
        MPI_Psend_init(&value[i], 1, 1, MPI_INT, next, i, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &request[alive + i]);
    }
    MPI_Startall(2 * alive, request);
    for (int i = 0; i < alive; i++)
        MPI_Pready(0, request[alive + i]);
    complete_all(2 * alive);
    for (int i = 0; i < alive; i++)
        CHECK(sum[i] == i, "partitioned %d: %d", i, sum[i]);
    for (int i = 0; i < 2 * alive; i++)
        MPI_Request_free(&request[i]);
}
#endif

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    alive = (int)argument(argc, argv, 1, 10000);
    value = malloc((size_t)alive * sizeof *value);
    sum = calloc((size_t)alive, sizeof *sum);
    request = malloc(2 * (size_t)alive * sizeof *request);
    for (int i = 0; i < alive; i++)
        value[i] = i;
    for (int round = 0; round < 2; round++) {
        nonblocking();
#if HAVE_PERSISTENT
        persistent();
        partitioned();
#endif
    }
    free(value);
    free(sum);
    free(request);
    test_end();
}
