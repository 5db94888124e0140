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
#include "vectors.h"

#define PIECES 64
#define PIECE (1 << 20)

enum { HEAP, STATIC, PLACES };

#define MOST 400000
static int64_t static_in[MOST], static_out[MOST];

static void *fresh(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        fail("out of memory");
    return p;
}

static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void sums(bool in_place)
{
    MPI_Request r;
    (in_place ? prepare_in_place : prepare)();
    MPI_Iallreduce(in_place ? MPI_IN_PLACE : in, out, n, MPI_INT64_T, MPI_SUM,
                   MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < n; i++)
        check("Iallreduce", i, sum(world_size, i));
    prepare();
    MPI_Iexscan(in, out, n, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < n && world_rank; i++)
        check("Iexscan", i, sum(world_rank, i));
    int each = n / world_size;
    prepare();
    MPI_Ireduce_scatter_block(in, out, each, MPI_INT64_T, MPI_SUM,
                              MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < each; i++)
        check("Ireduce_scatter_block", i,
              sum(world_size, world_rank * each + i));
}

static void moves(void)
{
    MPI_Request r;
    int each = n / world_size, root = world_size - 1;
    (world_rank == root ? prepare_in_place : prepare)();
    MPI_Ibcast(out, n, MPI_INT64_T, root, MPI_COMM_WORLD, &r);
    finish(&r);
    for (int i = 0; i < n; i++)
        check("Ibcast", i, value(root, i));
    prepare();
    MPI_Iallgather(in, each, MPI_INT64_T, out, each, MPI_INT64_T,
                   MPI_COMM_WORLD, &r);
    finish(&r);
    check_blocks("Iallgather", each, 0);
    prepare();
    MPI_Ialltoall(in, each, MPI_INT64_T, out, each, MPI_INT64_T, MPI_COMM_WORLD,
                  &r);
    finish(&r);
    check_blocks("Ialltoall", each, world_rank * each);
    prepare();
    MPI_Alltoall(in, each, MPI_INT64_T, out, each, MPI_INT64_T, MPI_COMM_WORLD);
    check_blocks("Alltoall", each, world_rank * each);
    prepare();
    MPI_Igather(in, each, MPI_INT64_T, out, each, MPI_INT64_T, 0,
                MPI_COMM_WORLD, &r);
    finish(&r);
    if (world_rank == 0)
        check_blocks("Igather", each, 0);
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
    MPI_Ineighbor_alltoall(in, half, MPI_INT64_T, out, half, MPI_INT64_T, graph,
                           &r);
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
