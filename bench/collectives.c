/*
 * collectives.c - the blocking collectives, each at each size.
 *
 * Buffers are warm and stay the same, unless calls come after a computation
 * (computing.h). sampling.c measures the cells.
 *
 * The size of a cell is in bytes. For bcast, reduce, allreduce, scan and
 * exscan it is a rank's whole contribution. For gather, scatter, allgather,
 * alltoall and reduce_scatter with their variants it is the block that
 * travels between two ranks. For neighbourhood collectives it is the block
 * between neighbours in a periodic grid of two dimensions.
 *
 * Elements are doubles. Operations that do not reduce may send a datatype
 * with gaps: a block is then one element of a vector, runs of `run` doubles
 * with gaps as long.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "computing.h"
#include "sampling.h"

#include "node/control.h"

static const sw_bench_plan_t *plan;
static int rank, ranks;
static MPI_Comm comm;
static MPI_Comm grid;
static int source[4];           /* in the grid: from where the blocks come  */
static int blocks;              /* in a buffer: one for each rank, or edge  */
static double *in, *out;        /* blocks * count doubles each, and gaps    */
static int count;               /* doubles in a block of this cell          */
static int run;                 /* so many in a row; 0: there are no gaps   */
static int items;               /* elements of `type` in a block            */
static MPI_Datatype type;
static int *counts, *places, *byte_places;
static MPI_Aint *addresses;
static MPI_Datatype *types;

/* The operations -------------------------------------------------------- */

static int barrier(void)
{
    return MPI_Barrier(comm);
}
static int bcast(void)
{
    return MPI_Bcast(rank ? out : in, items, type, 0, comm);
}
static int gather(void)
{
    return MPI_Gather(in, items, type, out, items, type, 0, comm);
}
static int gatherv(void)
{
    return MPI_Gatherv(in, items, type, out, counts, places, type,
                       0, comm);
}
static int scatter(void)
{
    return MPI_Scatter(in, items, type, out, items, type, 0, comm);
}
static int scatterv(void)
{
    return MPI_Scatterv(in, counts, places, type, out, items, type,
                        0, comm);
}
static int allgather(void)
{
    return MPI_Allgather(in, items, type, out, items, type, comm);
}
static int allgatherv(void)
{
    return MPI_Allgatherv(in, items, type, out, counts, places,
                          type, comm);
}
static int alltoall(void)
{
    return MPI_Alltoall(in, items, type, out, items, type, comm);
}
static int alltoallv(void)
{
    return MPI_Alltoallv(in, counts, places, type, out, counts, places,
                         type, comm);
}
static int alltoallw(void)
{
    return MPI_Alltoallw(in, counts, byte_places, types, out, counts,
                         byte_places, types, comm);
}
static int neighbor_allgather(void)
{
    return MPI_Neighbor_allgather(in, items, type, out, items,
                                  type, grid);
}
static int neighbor_allgatherv(void)
{
    return MPI_Neighbor_allgatherv(in, items, type, out, counts, places,
                                   type, grid);
}
static int neighbor_alltoall(void)
{
    return MPI_Neighbor_alltoall(in, items, type, out, items, type,
                                 grid);
}
static int neighbor_alltoallv(void)
{
    return MPI_Neighbor_alltoallv(in, counts, places, type, out, counts,
                                  places, type, grid);
}
static int neighbor_alltoallw(void)
{
    return MPI_Neighbor_alltoallw(in, counts, addresses, types, out, counts,
                                  addresses, types, grid);
}
static int reduce(void)
{
    return MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 0, comm);
}
static int allreduce(void)
{
    return MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}
static int reduce_scatter(void)
{
    return MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, comm);
}
static int reduce_scatter_block(void)
{
    return MPI_Reduce_scatter_block(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}
static int scan(void)
{
    return MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}
static int exscan(void)
{
    return MPI_Exscan(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}

/* The blocks that `out` must contain in the end. */
typedef enum {
    NOTHING,        /* no data                                              */
    ROOTS,          /* every rank but 0: rank 0's block 0                   */
    GATHERED,       /* rank 0: block 0 of every rank                        */
    SCATTERED,      /* every rank: its block of rank 0                      */
    ALLGATHERED,    /* every rank: block 0 of every rank                    */
    TRANSPOSED,     /* every rank: its block of every rank                  */
    FROM_NEIGHBOURS,    /* every rank: block 0 of each neighbour            */
    MADE_FOR_ME,    /* every rank: a block of each neighbour, of the same
                       dimension: which of the two, hosts differ in         */
    SUM_AT_ROOT, SUM, SUM_OF_MINE, SUM_TO_ME, SUM_BEFORE_ME
} result_t;

typedef struct {
    const char *name;
    int (*call)(void);
    result_t result;
} operation_t;

static const operation_t operations[] = {
    {"barrier", barrier, NOTHING},
    {"bcast", bcast, ROOTS},
    {"gather", gather, GATHERED},
    {"gatherv", gatherv, GATHERED},
    {"scatter", scatter, SCATTERED},
    {"scatterv", scatterv, SCATTERED},
    {"allgather", allgather, ALLGATHERED},
    {"allgatherv", allgatherv, ALLGATHERED},
    {"alltoall", alltoall, TRANSPOSED},
    {"alltoallv", alltoallv, TRANSPOSED},
    {"alltoallw", alltoallw, TRANSPOSED},
    {"neighbor_allgather", neighbor_allgather, FROM_NEIGHBOURS},
    {"neighbor_allgatherv", neighbor_allgatherv, FROM_NEIGHBOURS},
    {"neighbor_alltoall", neighbor_alltoall, MADE_FOR_ME},
    {"neighbor_alltoallv", neighbor_alltoallv, MADE_FOR_ME},
    {"neighbor_alltoallw", neighbor_alltoallw, MADE_FOR_ME},
    {"reduce", reduce, SUM_AT_ROOT},
    {"allreduce", allreduce, SUM},
    {"reduce_scatter", reduce_scatter, SUM_OF_MINE},
    {"reduce_scatter_block", reduce_scatter_block, SUM_OF_MINE},
    {"scan", scan, SUM_TO_ME},
    {"exscan", exscan, SUM_BEFORE_ME},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

/* Data and its check ---------------------------------------------------- */

/* Element i of block b of rank r: small whole numbers, so sums are exact in
 * any order; distinct enough that a misplaced block shows. */
static double value(int r, int b, int i)
{
    return (double)((i * 7 + b * 31 + r * 13 + 1) & 1023);
}

static double sum(int from, int to, int b, int i)
{
    double total = 0;
    for (int r = from; r < to; r++)
        total += value(r, b, i);
    return total;
}

/* Where element i of block b lies. */
static size_t at(int b, int i)
{
    size_t n = (size_t)b * (size_t)count + (size_t)i;
    return run ? n + n / (size_t)run * (size_t)run : n;
}

static void fill(result_t result)
{
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < count; i++)
            in[at(b, i)] = value(rank, result == MADE_FOR_ME ? b / 2 : b, i);
}

/* True when element i of block b of `out` is defined; *want is its value. */
static bool expected(result_t result, int b, int i, double *want)
{
    switch (result) {
    case NOTHING:
        return false;
    case ROOTS:
        *want = value(0, 0, i);
        return rank != 0 && b == 0;
    case GATHERED:
        *want = value(b, 0, i);
        return rank == 0 && b < ranks;
    case SCATTERED:
        *want = value(0, rank, i);
        return b == 0;
    case ALLGATHERED:
        *want = value(b, 0, i);
        return b < ranks;
    case TRANSPOSED:
        *want = value(b, rank, i);
        return b < ranks;
    case FROM_NEIGHBOURS:
        *want = b < 4 ? value(source[b], 0, i) : 0;
        return b < 4;
    case MADE_FOR_ME:
        *want = b < 4 ? value(source[b], b / 2, i) : 0;
        return b < 4;
    case SUM_AT_ROOT:
        *want = sum(0, ranks, 0, i);
        return rank == 0 && b == 0;
    case SUM:
        *want = sum(0, ranks, 0, i);
        return b == 0;
    case SUM_OF_MINE:
        *want = sum(0, ranks, rank, i);
        return b == 0;
    case SUM_TO_ME:
        *want = sum(0, rank + 1, 0, i);
        return b == 0;
    case SUM_BEFORE_ME:
        *want = sum(0, rank, 0, i);
        return b == 0 && rank > 0;
    }
    return false;
}

static bool result_is_right(const operation_t *op)
{
    for (int b = 0; b < blocks; b++) {
        double want;
        if (!expected(op->result, b, 0, &want))
            continue;
        for (int i = 0; i < count; i++) {
            expected(op->result, b, i, &want);
            if (out[at(b, i)] != want)
                return false;
        }
    }
    return true;
}

/* Cells ----------------------------------------------------------------- */

/* How many blocks of this cell a rank sends, or receives. */
static size_t sends(const operation_t *op)
{
    return op->result == SCATTERED || op->result == TRANSPOSED ||
           op->result == SUM_OF_MINE ? (size_t)ranks
         : op->result == MADE_FOR_ME ? 4 : 1;
}

static size_t receives(const operation_t *op)
{
    return op->result == GATHERED || op->result == ALLGATHERED ||
           op->result == TRANSPOSED ? (size_t)ranks
         : op->result == FROM_NEIGHBOURS || op->result == MADE_FOR_ME ? 4 : 1;
}

static int after_computing(const operation_t *op, int calls, double *seconds)
{
    size_t sent = sends(op) * (size_t)count * sizeof *in;
    size_t received = receives(op) * (size_t)count * sizeof *out;
    int error = 0;
    *seconds = 0;
    for (int i = 0; i < calls; i++) {
        double begin = sw_computing(in, sent, out, received);
        error |= op->call();
        *seconds += sw_now() - begin;
    }
    return error;
}

static int repeat(const void *what, int mode, int calls, double *seconds)
{
    const operation_t *op = what;
    int error = 0;
    if (plan->computing)
        return after_computing(op, calls, seconds);
    for (int i = 0; i < calls; i++)
        error |= op->call();
    return error;
}

static bool check(const sw_cell_t *cell, int mode)
{
    memset(out, 0xff, sizeof *out * at(blocks, 0));
    sw_batch(cell, mode, 1);
    int right = result_is_right(cell->what), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

/* A block of `count` doubles as `items` elements of `type`. */
static void describe(int in_a_row)
{
    run = in_a_row && count % in_a_row == 0 ? in_a_row : 0;
    items = run ? 1 : count;
    type = MPI_DOUBLE;
    if (!run)
        return;
    MPI_Datatype vector;
    MPI_Type_vector(count / run, run, 2 * run, MPI_DOUBLE, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)(16 * (size_t)count), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
}

static bool reduces(const operation_t *op)
{
    return op->result >= SUM_AT_ROOT;
}

/* Over nodes: the host's, ours, and ours where a way is forced on it. */
static const sw_sampling_way_t each_way[] = {
    {"host", SW_HOST, 0},
    {"ours", SW_OURS, 0},
    {"leaders", SW_OURS, SW_ACCELERATE_LEADERS},
    {"lanes", SW_OURS, SW_ACCELERATE_LANES},
};
enum { WAYS = sizeof each_way / sizeof *each_way };

static bool measure(const operation_t *op, size_t size)
{
    count = op->result == NOTHING ? 0 : (int)(size / sizeof(double));
    describe(reduces(op) || !count ? 0 : plan->run);
    for (int b = 0; b < blocks; b++) {
        counts[b] = reduces(op) ? count : items;
        places[b] = b * items;
        byte_places[b] = (int)(at(b, 0) * sizeof(double));
        addresses[b] = (MPI_Aint)(at(b, 0) * sizeof(double));
        types[b] = type;
    }
    fill(op->result);
    sw_cell_t cell = {.name = op->name, .what = op, .repeat = repeat,
                      .size = op->result == NOTHING ? 0 : size,
                      .calls = plan->computing ? SW_CALLS_ALONE : 0,
                      .ways = plan->each_way ? each_way : NULL,
                      .way_count = WAYS,
                      .check = check, .share = 1,
                      .counted = op->result != NOTHING};
    bool right = sw_measure(&cell);
    if (run)
        MPI_Type_free(&type);
    return right;
}

static bool make_buffers(void)
{
    size_t largest = 8;
    for (int i = 0; i < plan->size_count; i++)
        if (plan->size[i] > largest)
            largest = plan->size[i];
    size_t n = (size_t)blocks;
    largest *= plan->run ? 2 : 1;
    in = malloc(n * largest);
    out = malloc(n * largest);
    counts = malloc(n * sizeof *counts);
    places = malloc(n * sizeof *places);
    byte_places = malloc(n * sizeof *byte_places);
    addresses = malloc(n * sizeof *addresses);
    types = malloc(n * sizeof *types);
    int good = in && out && counts && places && byte_places && addresses &&
               types, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, comm);
    if (!all) {
        if (rank == 0)
            fprintf(stderr, "straightway-bench: no memory for two buffers of "
                    "%zu bytes per rank\n", n * largest);
        return false;
    }
    memset(in, 1, n * largest);
    memset(out, 1, n * largest);
    return true;
}

static void make_grid(void)
{
    int dims[2] = {0, 0}, periodic[2] = {1, 1};
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(comm, 2, dims, periodic, 0, &grid);
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(grid, d, 1, &source[2 * d], &source[2 * d + 1]);
    blocks = ranks > 4 ? ranks : 4;
}

bool sw_collectives(bool (*start)(void))
{
    plan = sw_run.plan;
    comm = sw_run.comm;
    rank = sw_run.rank;
    ranks = sw_run.ranks;
    make_grid();
    if (!make_buffers() ||
        (plan->computing && !sw_computing_prepare(plan->swept)) || !start())
        return false;
    bool right = true;
    for (int o = 0; o < OPERATIONS; o++) {
        if (!sw_chosen(plan->ops, operations[o].name))
            continue;
        int sizes = operations[o].result == NOTHING ? 1 : plan->size_count;
        for (int s = 0; s < sizes; s++)
            right &= measure(&operations[o], plan->size[s]);
    }
    MPI_Comm_free(&grid);
    return right;
}
