/*
 * profile.c - the cost of recording, on calls whose recording stands out.
 *
 * This program switches nothing between items. A process runs alone, profiled,
 * with a profile that it switches off at once, or under another tool. The
 * command that starts it compares processes. For this an item gives the number
 * of recorded calls on its critical path. Of a message these are the parts
 * before the sender's call of the MPI and after the receiver's: half of each,
 * one call for both.
 *
 * Items of one rank use MPI_COMM_SELF, on all ranks at once. A batch has the
 * same number of calls in every process, and lasts some 200 us. So the rest of
 * the machine disturbs few batches, and a trace fills its buffer in few of
 * them. Elements are doubles.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "bench.h"
#include "sampling.h"

#define OVERSUBSCRIBED 64 /* a batch has so many times fewer calls */

static int rank, ranks;
static MPI_Comm comm;
static double *in, *out; /* `count` for each rank */
static int count;        /* doubles of a message of this item */
static int answer;       /* of Comm_rank and Iprobe */
static volatile unsigned long long clock_read;

/* The plate of the halo exchange: rows are shared with two neighbours, the
 * four outermost columns on either side with two others; 8 KiB each. */
enum {
    ROWS = 256,
    COLUMNS = 1024,
    EDGE = 4,
    STRIDE = COLUMNS + 2 * EDGE,
    FACE = ROWS * EDGE
};
static double *plate, *ghosts; /* its first double; its first ghost */
static MPI_Comm grid;
static MPI_Datatype edge;
static int north, south, west, east;

static double value(int r, int b, int i)
{
    return (double)((i * 7 + b * 31 + r * 13 + 1) % 1021);
}

static bool holds(const double *from, int r, int b)
{
    for (int i = 0; i < count; i++)
        if (from[i] != value(r, b, i))
            return false;
    return true;
}

/* One rank -------------------------------------------------------------- */

static int clock_reads(void)
{
#if defined(__x86_64__)
    clock_read = __rdtsc();
    clock_read = __rdtsc();
#elif defined(__aarch64__)
    unsigned long long t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    clock_read = t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    clock_read = t;
#else
    sw_now();
    sw_now();
#endif
    return 0;
}

static int comm_rank(void)
{
    return MPI_Comm_rank(comm, &answer);
}

static bool is_my_rank(void)
{
    return answer == rank;
}

static int iprobe(void)
{
    return MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &answer,
                      MPI_STATUS_IGNORE);
}

static bool is_no_message(void)
{
    return answer == 0;
}

static int self_bcast(void)
{
    return MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_SELF);
}

static bool is_kept(void)
{
    return holds(in, rank, 0);
}

static int self_allreduce(void)
{
    return MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static int self_exchange(void)
{
    MPI_Request both[2];
    return MPI_Irecv(out, count, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &both[0]) |
           MPI_Isend(in, count, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, &both[1]) |
           MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static bool is_my_own(void)
{
    return holds(out, rank, 0);
}

/* Ranks 0 and 1 --------------------------------------------------------- */

static int send_to(int other)
{
    return MPI_Send(in, count, MPI_DOUBLE, other, 0, comm);
}

static int receive_from(int other)
{
    return MPI_Recv(out, count, MPI_DOUBLE, other, 0, comm, MPI_STATUS_IGNORE);
}

static int pingpong(void)
{
    if (rank == 0)
        return send_to(1) | receive_from(1);
    return rank == 1 ? receive_from(0) | send_to(0) : 0;
}

static bool is_the_partners(void)
{
    return rank > 1 || holds(out, 1 - rank, 0);
}

/* All ranks ------------------------------------------------------------- */

static int allreduce(void)
{
    return MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
}

static bool is_the_sum(void)
{
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < ranks; r++)
            sum += value(r, 0, i);
        if (out[i] != sum)
            return false;
    }
    return true;
}

static int alltoall(void)
{
    return MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
}

static bool is_transposed(void)
{
    for (int r = 0; r < ranks; r++)
        if (!holds(out + (size_t)r * (size_t)count, r, rank))
            return false;
    return true;
}

static int barrier(void)
{
    return MPI_Barrier(comm);
}

/* The halo exchange ----------------------------------------------------- */

static double *at(int row, int column)
{
    return plate + (row + 1) * STRIDE + EDGE + column;
}

static int halo(void)
{
    MPI_Request all[8];
    return MPI_Irecv(at(ROWS, 0), FACE, MPI_DOUBLE, south, 0, grid, &all[0]) |
           MPI_Irecv(at(-1, 0), FACE, MPI_DOUBLE, north, 1, grid, &all[1]) |
           MPI_Irecv(at(0, COLUMNS), 1, edge, east, 2, grid, &all[2]) |
           MPI_Irecv(at(0, -EDGE), 1, edge, west, 3, grid, &all[3]) |
           MPI_Isend(at(0, 0), FACE, MPI_DOUBLE, north, 0, grid, &all[4]) |
           MPI_Isend(at(ROWS - 1, 0), FACE, MPI_DOUBLE, south, 1, grid,
                     &all[5]) |
           MPI_Isend(at(0, 0), 1, edge, west, 2, grid, &all[6]) |
           MPI_Isend(at(0, COLUMNS - EDGE), 1, edge, east, 3, grid, &all[7]) |
           MPI_Waitall(8, all, MPI_STATUSES_IGNORE);
}

/* Whether the place (row, column) is what rank r has at (its, column). */
static bool is_from(int row, int column, int r, int its_row, int its_column)
{
    return *at(row, column) == value(r, its_row, its_column);
}

static bool is_surrounded(void)
{
    bool right = true;
    for (int x = 0; x < COLUMNS; x++)
        right &= is_from(-1, x, north, ROWS - 1, x) &
                 is_from(ROWS, x, south, 0, x);
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < EDGE; x++)
            right &= is_from(y, x - EDGE, west, y, COLUMNS - EDGE + x) &
                     is_from(y, COLUMNS + x, east, y, x);
    return right;
}

static void make_plate(void)
{
    int dims[2] = {0, 0}, periodic[2] = {1, 1};
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(comm, 2, dims, periodic, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &north, &south);
    MPI_Cart_shift(grid, 1, 1, &west, &east);
    MPI_Type_vector(ROWS, EDGE, STRIDE, MPI_DOUBLE, &edge);
    MPI_Type_commit(&edge);
}

/* Items ----------------------------------------------------------------- */

typedef struct {
    const char *name;
    size_t size;
    int path; /* recorded calls on the critical path */
    int (*call)(void);
    bool (*right)(void); /* NULL: there is no data */
    double **arrives;    /* where; NULL: nowhere */
    int calls;           /* of a batch */
} item_t;

static const item_t items[] = {
    {"clock", 0, 0, clock_reads, NULL, NULL, 2000},
    {"comm_rank", 0, 1, comm_rank, is_my_rank, NULL, 2000},
    {"iprobe", 0, 1, iprobe, is_no_message, NULL, 2000},
    {"self_bcast", 8, 1, self_bcast, is_kept, NULL, 2000},
    {"self_allreduce", 8, 1, self_allreduce, is_my_own, &out, 2000},
    {"self_exchange", 8, 3, self_exchange, is_my_own, &out, 700},
    {"pingpong", 8, 2, pingpong, is_the_partners, &out, 256},
    {"pingpong", 65536, 2, pingpong, is_the_partners, &out, 8},
    {"allreduce", 8, 1, allreduce, is_the_sum, &out, 256},
    {"allreduce", 65536, 1, allreduce, is_the_sum, &out, 4},
    {"alltoall", 16384, 1, alltoall, is_transposed, &out, 8},
    {"barrier", 0, 1, barrier, NULL, NULL, 512},
    {"halo", 8192, 9, halo, is_surrounded, &ghosts, 16},
};
enum { ITEMS = sizeof items / sizeof *items };

static const item_t *item;

static int repeat(const void *what, int way, int calls, double *seconds)
{
    int error = 0;
    for (int i = 0; i < calls; i++)
        error |= item->call();
    return error;
}

static void fill(void)
{
    answer = -1;
    for (int b = 0; b < ranks; b++)
        for (int i = 0; i < count; i++) {
            in[b * count + i] = value(rank, b, i);
            out[b * count + i] = -1;
        }
    for (int i = 0; i < (ROWS + 2) * STRIDE; i++)
        plate[i] = -1;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < COLUMNS; x++)
            *at(y, x) = value(rank, y, x);
}

static bool check(const sw_cell_t *cell, int way)
{
    fill();
    sw_batch(cell, way, 1);
    if (sw_run.plan->corrupt && item->arrives)
        **item->arrives += 1;
    int right = !item->right || item->right(), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

static void put_path(FILE *file)
{
    fprintf(file, ", \"path\": %d", item->path);
}

static bool measure(void)
{
    static const sw_sampling_way_t as_started = {"time", SW_HOST, 0, 0};
    sw_cell_t cell = {.name = item->name,
                      .size = item->size,
                      .ways = &as_started,
                      .way_count = 1,
                      .repeat = repeat,
                      .check = check,
                      .share = 1,
                      .more = put_path,
                      .calls = item->calls};
    if (ranks > sysconf(_SC_NPROCESSORS_ONLN))
        cell.calls = (item->calls + OVERSUBSCRIBED - 1) / OVERSUBSCRIBED;
    count = (int)(item->size / sizeof(double));
    return sw_measure(&cell);
}

static bool make_buffers(void)
{
    enum { LARGEST = 65536 };
    in = calloc((size_t)ranks, LARGEST);
    out = calloc((size_t)ranks, LARGEST);
    plate = calloc((ROWS + 2) * STRIDE, sizeof *plate);
    int good = in && out && plate, all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, comm);
    if (!all && rank == 0)
        fputs("straightway-bench: no memory for the messages\n", stderr);
    ghosts = plate ? at(-1, 0) : NULL;
    return all;
}

bool sw_profile(bool (*start)(void))
{
    comm = sw_run.comm;
    rank = sw_run.rank;
    ranks = sw_run.ranks;
    if (!make_buffers() || !start())
        return false;
    make_plate();
    if (sw_run.plan->paused)
        MPI_Pcontrol(0);
    bool right = true;
    for (item = items; item < items + ITEMS; item++)
        if (sw_chosen(sw_run.plan->items, item->name))
            right &= measure();
    MPI_Type_free(&edge);
    MPI_Comm_free(&grid);
    return right;
}
