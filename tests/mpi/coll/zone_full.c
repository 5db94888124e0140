/*
 * zone_full.c - nonblocking collectives and partitioned messages, in a process
 * whose common zone is full: the program has taken it by MPI_Alloc_mem.
 *
 *   zone_full COMMUNICATORS ELEMENTS
 *
 * Each rank fills the zone, then checks every element of the results of long
 * collectives. At the end it begins a barrier on each of many communicators at
 * once. All must give what the host gives alone.
 */
#include "mpi/test.h"

#define PIECES 64
#define PIECE (1 << 20)

enum { HEAP, STATIC, PLACES };

#define MOST 400000
static int64_t static_in[MOST], static_out[MOST];

static int n;
static int64_t *in, *out;

static void *fresh(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        fail("out of memory");
    return p;
}

static int64_t value(int rank, int64_t i)
{
    return (int64_t)(mix((uint64_t)i * 64 + (uint64_t)rank) >> 8);
}

static void prepare(void)
{
    for (int i = 0; i < n; i++) {
        in[i] = value(world_rank, i);
        out[i] = -1;
    }
}

static void check(const char *what, int64_t i, int64_t want)
{
    if (out[i] != want)
        fail("%s: element %lld is %lld instead of %lld", what, (long long)i,
             (long long)out[i], (long long)want);
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void sums(bool in_place)
{
    MPI_Request r;
    prepare();
    if (in_place)
        memcpy(out, in, (size_t)n * sizeof *in);
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT64_T, MPI_SUM,
                   MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < n; i++) {
        int64_t sum = 0;
        for (int k = 0; k < world_size; k++)
            sum += value(k, i);
        check("Iallreduce", i, sum);
    }
    prepare();
    MPI_Iexscan(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < n && world_rank; i++) {
        int64_t sum = 0;
        for (int k = 0; k < world_rank; k++)
            sum += value(k, i);
        check("Iexscan", i, sum);
    }
    int each = n / world_size;
    prepare();
    MPI_Ireduce_scatter_block(in, out, each, MPI_INT64_T, MPI_SUM,
                              MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < each; i++) {
        int64_t sum = 0;
        for (int k = 0; k < world_size; k++)
            sum += value(k, world_rank * each + i);
        check("Ireduce_scatter_block", i, sum);
    }
}

static void moves(void)
{
    MPI_Request r;
    int each = n / world_size, root = world_size - 1;
    prepare();
    if (world_rank == root)
        memcpy(out, in, (size_t)n * sizeof *in);
    MPI_Ibcast(out, n, MPI_INT64_T, root, MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < n; i++)
        check("Ibcast", i, value(root, i));
    prepare();
    MPI_Iallgather(in, each, MPI_INT64_T, out, each, MPI_INT64_T,
                   MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < each * world_size; i++)
        check("Iallgather", i, value(i / each, i % each));
    prepare();
    MPI_Ialltoall(in, each, MPI_INT64_T, out, each, MPI_INT64_T,
                  MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < each * world_size; i++)
        check("Ialltoall", i, value(i / each, world_rank * each + i % each));
    prepare();
    MPI_Alltoall(in, each, MPI_INT64_T, out, each, MPI_INT64_T,
                 MPI_COMM_WORLD);
    for (int i = 0; i < each * world_size; i++)
        check("Alltoall", i, value(i / each, world_rank * each + i % each));
    prepare();
    MPI_Igather(in, each, MPI_INT64_T, out, each, MPI_INT64_T, 0,
                MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < each * world_size && world_rank == 0; i++)
        check("Igather", i, value(i / each, i % each));
}

static void ring(void)
{
    MPI_Comm graph;
    MPI_Request r;
    int left = (world_rank + world_size - 1) % world_size;
    int right = (world_rank + 1) % world_size, half = n / 2;
    int to[] = {left, right}, from[] = {right, left}, one[] = {1, 1};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, one, 2, to, one,
                                   MPI_INFO_NULL, false, &graph);
    prepare();
    MPI_Ineighbor_alltoall(in, half, MPI_INT64_T, out, half, MPI_INT64_T,
                           graph, &r);
    finish(&r);
    /* Hosts differ in which block goes along which of two like edges. */
    for (int i = 0; i < 2 * half && left != right; i++)
        check("Ineighbor_alltoall", i, value(i < half ? right : left, i));
    MPI_Comm_free(&graph);
}

static void partitions(void)
{
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    MPI_Request r[2];
    int left = (world_rank + world_size - 1) % world_size;
    int right = (world_rank + 1) % world_size, parts = 4, each = n / parts;
    prepare();
    MPI_Psend_init(in, parts, each, MPI_INT64_T, right, 7, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(out, parts, each, MPI_INT64_T, left, 7, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    MPI_Pready_range(0, parts - 1, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < parts * each; i++)
        check("Precv", i, value(left, i));
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
#endif
}

static void barriers(int count)
{
    MPI_Comm *comm = fresh((size_t)count * sizeof *comm);
    MPI_Request *r = fresh((size_t)count * sizeof *r);
    for (int i = 0; i < count; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < count; i++)
        MPI_Ibarrier(comm[i], &r[i]);
    MPI_Waitall(count, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&comm[i]);
    free(comm);
    free(r);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int communicators = argc > 1 ? atoi(argv[1]) : 10;
    void *piece[PIECES];
    n = argc > 2 ? atoi(argv[2]) : 100000;
    if (n > MOST)
        fail("at most %d elements", MOST);
    for (int i = 0; i < PIECES; i++)
        MPI_Alloc_mem(PIECE, MPI_INFO_NULL, &piece[i]);
    for (int place = HEAP; place < PLACES; place++) {
        size_t bytes = (size_t)n * sizeof *in;
        in = place == HEAP ? fresh(bytes) : static_in;
        out = place == HEAP ? fresh(bytes) : static_out;
        sums(false);
        sums(true);
        moves();
        ring();
        partitions();
        if (place == HEAP) {
            free(in);
            free(out);
        }
    }
    barriers(communicators);
    for (int i = 0; i < PIECES; i++)
        MPI_Free_mem(piece[i]);
    test_end();
    return 0;
}
