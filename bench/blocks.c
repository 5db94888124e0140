/*
 * blocks.c - see blocks.h.
 */
#include "blocks.h"
#include "sampling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sw_blocks_t sw_blocks;
static sw_blocks_t *const b = &sw_blocks;

/* The values ------------------------------------------------------------ */

/* Element i of block n of rank r: small whole numbers, so sums are exact in
 * any order; distinct enough that a misplaced block shows. */
static double value(int r, int n, int i)
{
    return (double)((i * 7 + n * 31 + r * 13 + 1) & 1023);
}

static double sum(int from, int to, int n, int i)
{
    double total = 0;
    for (int r = from; r < to; r++)
        total += value(r, n, i);
    return total;
}

/* Where element i of block n lies. */
static size_t at(int n, int i)
{
    size_t place = (size_t)n * (size_t)b->count + (size_t)i;
    return b->run ? place + place / (size_t)b->run * (size_t)b->run : place;
}

static void fill(sw_result_t result)
{
    for (int n = 0; n < b->blocks; n++)
        for (int i = 0; i < b->count; i++)
            b->in[at(n, i)] = value(b->rank,
                                    result == SW_MADE_FOR_ME ? n / 2 : n, i);
}

/* True when element i of block n of `out` is defined; *want is its value. */
static bool expected(sw_result_t result, int n, int i, double *want)
{
    int rank = b->rank, ranks = b->ranks;
    switch (result) {
    case SW_NOTHING: return false;
    case SW_ROOTS: *want = value(0, 0, i); return rank != 0 && n == 0;
    case SW_GATHERED: *want = value(n, 0, i); return rank == 0 && n < ranks;
    case SW_SCATTERED: *want = value(0, rank, i); return n == 0;
    case SW_ALLGATHERED: *want = value(n, 0, i); return n < ranks;
    case SW_TRANSPOSED: *want = value(n, rank, i); return n < ranks;
    case SW_FROM_NEIGHBOURS:
        *want = n < 4 ? value(b->source[n], 0, i) : 0;
        return n < 4;
    case SW_MADE_FOR_ME:
        *want = n < 4 ? value(b->source[n], n / 2, i) : 0;
        return n < 4;
    case SW_SUM_AT_ROOT:
        *want = sum(0, ranks, 0, i);
        return rank == 0 && n == 0;
    case SW_SUM: *want = sum(0, ranks, 0, i); return n == 0;
    case SW_SUM_OF_MINE: *want = sum(0, ranks, rank, i); return n == 0;
    case SW_SUM_TO_ME: *want = sum(0, rank + 1, 0, i); return n == 0;
    case SW_SUM_BEFORE_ME:
        *want = sum(0, rank, 0, i);
        return n == 0 && rank > 0;
    }
    return false;
}

void sw_blocks_forget(void)
{
    memset(b->out, 0xff, sizeof *b->out * at(b->blocks, 0));
}

bool sw_blocks_right(sw_result_t result)
{
    for (int n = 0; n < b->blocks; n++) {
        double want;
        if (!expected(result, n, 0, &want))
            continue;
        for (int i = 0; i < b->count; i++) {
            expected(result, n, i, &want);
            if (b->out[at(n, i)] != want)
                return false;
        }
    }
    return true;
}

/* The layout ------------------------------------------------------------ */

size_t sw_blocks_sent(sw_result_t result)
{
    return result == SW_SCATTERED || result == SW_TRANSPOSED ||
                   result == SW_SUM_OF_MINE
               ? (size_t)b->ranks
           : result == SW_MADE_FOR_ME ? 4
                                      : 1;
}

size_t sw_blocks_received(sw_result_t result)
{
    return result == SW_GATHERED || result == SW_ALLGATHERED ||
                   result == SW_TRANSPOSED
               ? (size_t)b->ranks
           : result == SW_FROM_NEIGHBOURS || result == SW_MADE_FOR_ME ? 4
                                                                      : 1;
}

bool sw_blocks_reduce(sw_result_t result)
{
    return result >= SW_SUM_AT_ROOT;
}

/* A block of `count` doubles as `items` elements of `type`. */
static void describe(int in_a_row)
{
    b->run = in_a_row && b->count % in_a_row == 0 ? in_a_row : 0;
    b->items = b->run ? 1 : b->count;
    b->type = MPI_DOUBLE;
    if (!b->run)
        return;
    MPI_Datatype vector;
    MPI_Type_vector(b->count / b->run, b->run, 2 * b->run, MPI_DOUBLE, &vector);
    MPI_Type_create_resized(vector, 0, (MPI_Aint)(16 * (size_t)b->count),
                            &b->type);
    MPI_Type_commit(&b->type);
    MPI_Type_free(&vector);
}

void sw_blocks_lay(sw_result_t result, size_t size, int run)
{
    b->count = result == SW_NOTHING ? 0 : (int)(size / sizeof(double));
    describe(sw_blocks_reduce(result) || !b->count ? 0 : run);
    for (int n = 0; n < b->blocks; n++) {
        b->counts[n] = sw_blocks_reduce(result) ? b->count : b->items;
        b->places[n] = n * b->items;
        b->byte_places[n] = (int)(at(n, 0) * sizeof(double));
        b->addresses[n] = (MPI_Aint)(at(n, 0) * sizeof(double));
        b->types[n] = b->type;
    }
    fill(result);
}

void sw_blocks_clear(void)
{
    if (b->run)
        MPI_Type_free(&b->type);
}

/* The memory ------------------------------------------------------------ */

static bool make_buffers(void)
{
    const sw_bench_plan_t *plan = sw_run.plan;
    size_t largest = 8;
    for (int i = 0; i < plan->size_count; i++)
        if (plan->size[i] > largest)
            largest = plan->size[i];
    size_t n = (size_t)b->blocks;
    largest *= plan->run ? 2 : 1;
    b->in = malloc(n * largest);
    b->out = malloc(n * largest);
    b->counts = malloc(n * sizeof *b->counts);
    b->places = malloc(n * sizeof *b->places);
    b->byte_places = malloc(n * sizeof *b->byte_places);
    b->addresses = malloc(n * sizeof *b->addresses);
    b->types = malloc(n * sizeof *b->types);
    int good = b->in && b->out && b->counts && b->places && b->byte_places &&
               b->addresses && b->types,
        all;
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, b->comm);
    if (!all) {
        if (b->rank == 0)
            fprintf(stderr,
                    "straightway-bench: no memory for two buffers of "
                    "%zu bytes per rank\n",
                    n * largest);
        return false;
    }
    memset(b->in, 1, n * largest);
    memset(b->out, 1, n * largest);
    return true;
}

static void make_grid(void)
{
    int dims[2] = {0, 0}, periodic[2] = {1, 1};
    MPI_Dims_create(b->ranks, 2, dims);
    MPI_Cart_create(b->comm, 2, dims, periodic, 0, &b->grid);
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(b->grid, d, 1, &b->source[2 * d], &b->source[2 * d + 1]);
    b->blocks = b->ranks > 4 ? b->ranks : 4;
}

bool sw_blocks_make(void)
{
    b->comm = sw_run.comm;
    b->rank = sw_run.rank;
    b->ranks = sw_run.ranks;
    make_grid();
    return make_buffers();
}

void sw_blocks_drop(void)
{
    MPI_Comm_free(&b->grid);
}
