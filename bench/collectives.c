/*
 * collectives.c - the host and Straightway side by side, in one run.
 *
 * The method (after ReproMPI):
 * - A cell is one operation at one size. Host and ours are switched at run
 *   time and interleaved round by round, in shuffled order, so that drift of
 *   the machine (clock, neighbours, memory layout) falls on both alike.
 * - A sample is a batch of k calls, k such that the batch lasts at least
 *   50 us, with a host barrier before it. Its value is the largest batch time
 *   over all ranks, divided by k. Buffers are warm and stay the same.
 * - A cell has a budget of time; the number of rounds follows from it and is
 *   decided by rank 0 for all. All samples are kept and written out; medians
 *   and intervals are the reader's business.
 * - Results are checked once per cell in both modes. A wrong result is
 *   written down and makes the exit status 1.
 *
 * Everything but the measured calls runs on the host.
 *
 * The size of a cell, in bytes: a rank's whole contribution for bcast,
 * reduce, allreduce, scan and exscan; the block that travels between two
 * ranks for gather, scatter, allgather, alltoall and reduce_scatter with
 * their variants. Elements are doubles.
 */
#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define SHORTEST_BATCH 50e-6
#define MOST_CALLS 4096
#define FEWEST_ROUNDS 5
#define MOST_ROUNDS 400
#define WARM_CALLS 4

enum { HOST, OURS };

static const sw_bench_plan_t *plan;
static int (*accelerate)(int on);
static int rank, ranks;
static MPI_Comm comm;
static double *in, *out;        /* ranks * count doubles each               */
static int count;               /* doubles in a block of this cell          */
static int *counts, *places, *byte_places;
static MPI_Datatype *types;
static int call_error;

/* The operations -------------------------------------------------------- */

static int barrier(void)
{
    return MPI_Barrier(comm);
}
static int bcast(void)
{
    return MPI_Bcast(rank ? out : in, count, MPI_DOUBLE, 0, comm);
}
static int gather(void)
{
    return MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, comm);
}
static int gatherv(void)
{
    return MPI_Gatherv(in, count, MPI_DOUBLE, out, counts, places, MPI_DOUBLE,
                       0, comm);
}
static int scatter(void)
{
    return MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, 0, comm);
}
static int scatterv(void)
{
    return MPI_Scatterv(in, counts, places, MPI_DOUBLE, out, count, MPI_DOUBLE,
                        0, comm);
}
static int allgather(void)
{
    return MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
}
static int allgatherv(void)
{
    return MPI_Allgatherv(in, count, MPI_DOUBLE, out, counts, places,
                          MPI_DOUBLE, comm);
}
static int alltoall(void)
{
    return MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, comm);
}
static int alltoallv(void)
{
    return MPI_Alltoallv(in, counts, places, MPI_DOUBLE, out, counts, places,
                         MPI_DOUBLE, comm);
}
static int alltoallw(void)
{
    return MPI_Alltoallw(in, counts, byte_places, types, out, counts,
                         byte_places, types, comm);
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

/* What the result holds, for the check: which blocks `out` must contain. */
typedef enum {
    NOTHING,        /* no data                                              */
    ROOTS,          /* every rank but 0: rank 0's block 0                   */
    GATHERED,       /* rank 0: block 0 of every rank                        */
    SCATTERED,      /* every rank: its block of rank 0                      */
    ALLGATHERED,    /* every rank: block 0 of every rank                    */
    TRANSPOSED,     /* every rank: its block of every rank                  */
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

static void fill(void)
{
    for (int b = 0; b < ranks; b++)
        for (int i = 0; i < count; i++)
            in[(size_t)b * (size_t)count + (size_t)i] = value(rank, b, i);
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
        return rank == 0;
    case SCATTERED:
        *want = value(0, rank, i);
        return b == 0;
    case ALLGATHERED:
        *want = value(b, 0, i);
        return true;
    case TRANSPOSED:
        *want = value(b, rank, i);
        return true;
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
    for (int b = 0; b < ranks; b++) {
        double want;
        if (!expected(op->result, b, 0, &want))
            continue;
        for (int i = 0; i < count; i++) {
            expected(op->result, b, i, &want);
            if (out[(size_t)b * (size_t)count + (size_t)i] != want)
                return false;
        }
    }
    return true;
}

/* Time ------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void mode(int which)
{
    if (accelerate)
        accelerate(which);
}

static double batch(const operation_t *op, int which, int calls)
{
    /* The barrier is the measured side's own: ranks that share cores leave a
     * barrier one by one, and how long that takes belongs to the side. */
    mode(which);
    MPI_Barrier(comm);
    double start = now();
    for (int i = 0; i < calls; i++)
        call_error |= op->call();
    double time = now() - start;
    mode(HOST);
    return time;
}

static double longest(double time)
{
    double all;
    MPI_Allreduce(&time, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
    return all;
}

/* Seconds that a batch must last. With more ranks than cores it must outlast
 * the turns (some ms each) that ranks still spend in the call before it. */
static double shortest_batch(void)
{
    return ranks > sysconf(_SC_NPROCESSORS_ONLN) ? 1000 * SHORTEST_BATCH
                                                 : SHORTEST_BATCH;
}

/* Calls per batch: the first power of two that lasts long enough on the
 * slowest rank. All ranks see the same maximum and so agree. */
static int calibrate(const operation_t *op, int which)
{
    batch(op, which, WARM_CALLS);
    for (int calls = 1;; calls *= 2) {
        double time = longest(batch(op, which, calls));
        if (time >= shortest_batch() || calls >= MOST_CALLS)
            return calls;
    }
}

static bool check(const operation_t *op, int which)
{
    memset(out, 0xff, sizeof *out * (size_t)ranks * (size_t)count);
    batch(op, which, 1);
    int right = result_is_right(op), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

/* Output: one line of JSON per event ------------------------------------ */

static FILE *file;

static void put_samples(const char *name, const double *samples, int n,
                        int calls)
{
    fprintf(file, ", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(file, "%s%.5g", i ? ", " : "", samples[i] / calls * 1e6);
    fputc(']', file);
}

static void put_cell(const operation_t *op, size_t size, int modes,
                     const bool *right, const int *calls, double **samples,
                     int rounds)
{
    if (!file)
        return;
    static const char *const names[] = {"host", "ours"};
    fprintf(file, "{\"cell\": \"%s\", \"size\": %zu, \"rounds\": %d", op->name,
            size, rounds);
    for (int m = 0; m < modes; m++) {
        fprintf(file, ", \"%s_calls\": %d, \"%s_right\": %s", names[m],
                calls[m], names[m], right[m] ? "true" : "false");
        put_samples(names[m], samples[m], rounds, calls[m]);
    }
    fputs("}\n", file);
    fflush(file);
}

static void put_text(const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 32)
            fprintf(file, c == '\n' ? " " : "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static bool open_output(int modes)
{
    int opened = 1;
    if (rank == 0) {
        file = fopen(plan->out, "w");
        opened = file != NULL;
    }
    MPI_Bcast(&opened, 1, MPI_INT, 0, comm);
    if (!opened) {
        if (rank == 0)
            fprintf(stderr, "straightway-bench: cannot write %s\n", plan->out);
        return false;
    }
    if (!file)
        return true;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    MPI_Get_library_version(version, &n);
    fprintf(file, "{\"start\": {\"ranks\": %d, \"modes\": %d, \"mpi\": ",
            ranks, modes);
    put_text(version);
    fputs("}}\n", file);
    fflush(file);
    return true;
}

/* One cell -------------------------------------------------------------- */

static uint64_t shuffle_state;

/* xorshift64: the same sequence on every rank, so all switch alike. */
static uint64_t shuffle(void)
{
    shuffle_state ^= shuffle_state << 13;
    shuffle_state ^= shuffle_state >> 7;
    shuffle_state ^= shuffle_state << 17;
    return shuffle_state;
}

static int rounds_for(double round, double spent)
{
    double fit = (plan->seconds - spent) / (round > 0 ? round : 1e-6);
    int n = fit > MOST_ROUNDS ? MOST_ROUNDS : (int)fit;
    return n < FEWEST_ROUNDS ? FEWEST_ROUNDS : n;
}

static bool measure(const operation_t *op, size_t size, int modes)
{
    count = op->result == NOTHING ? 0 : (int)(size / sizeof(double));
    for (int r = 0; r < ranks; r++) {
        counts[r] = count;
        places[r] = r * count;
        byte_places[r] = r * count * (int)sizeof(double);
        types[r] = MPI_DOUBLE;
    }
    fill();

    double start = now();
    bool right[2] = {true, true};
    int calls[2] = {1, 1};
    double *samples[2];
    for (int m = 0; m < modes; m++)
        calls[m] = calibrate(op, m);
    for (int m = 0; m < modes; m++)
        right[m] = check(op, m);
    for (int m = 0; m < modes; m++)
        samples[m] = malloc(MOST_ROUNDS * sizeof(double));
    if (!samples[0] || (modes > 1 && !samples[1]))
        MPI_Abort(comm, 1);

    /* The first round says what a round costs. */
    int rounds = 1;
    double first = now();
    for (int i = 0; i < rounds; i++) {
        int swapped = modes > 1 && (shuffle() >> 33 & 1);
        for (int m = 0; m < modes; m++) {
            int which = swapped ? !m : m;
            samples[which][i] = batch(op, which, calls[which]);
        }
        if (i == 0) {
            rounds = rounds_for(now() - first, now() - start);
            MPI_Bcast(&rounds, 1, MPI_INT, 0, comm);
        }
    }
    for (int m = 0; m < modes; m++)
        MPI_Reduce(rank ? samples[m] : MPI_IN_PLACE, samples[m], rounds,
                   MPI_DOUBLE, MPI_MAX, 0, comm);
    put_cell(op, op->result == NOTHING ? 0 : size, modes, right, calls,
             samples, rounds);
    for (int m = 0; m < modes; m++)
        free(samples[m]);
    return right[HOST] && right[OURS];
}

static bool chosen(const char *name)
{
    size_t n = strlen(name);
    for (const char *at = plan->ops; at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, n) && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

static bool make_buffers(void)
{
    size_t largest = 8;
    for (int i = 0; i < plan->size_count; i++)
        if (plan->size[i] > largest)
            largest = plan->size[i];
    size_t n = (size_t)ranks;
    in = malloc(n * largest);
    out = malloc(n * largest);
    counts = malloc(n * sizeof *counts);
    places = malloc(n * sizeof *places);
    byte_places = malloc(n * sizeof *byte_places);
    types = malloc(n * sizeof *types);
    int good = in && out && counts && places && byte_places && types, all;
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

__attribute__((visibility("default")))
int sw_bench(const sw_bench_plan_t *given)
{
    plan = given;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);

    /* Ours can be measured only where every rank can switch. */
    int modes = plan->accelerate && plan->accelerate(-1) >= 0 ? 2 : 1, all;
    MPI_Allreduce(&modes, &all, 1, MPI_INT, MPI_MIN, comm);
    accelerate = all == 2 ? plan->accelerate : NULL;
    mode(HOST);

    bool good = make_buffers() && open_output(all), right = true;
    shuffle_state = 0x9e3779b97f4a7c15u ^ plan->seed;
    for (int o = 0; good && o < OPERATIONS; o++) {
        if (!chosen(operations[o].name))
            continue;
        int sizes = operations[o].result == NOTHING ? 1 : plan->size_count;
        for (int s = 0; s < sizes; s++)
            right &= measure(&operations[o], plan->size[s], all);
    }
    mode(OURS);
    if (file)
        fclose(file);
    MPI_Finalize();
    return good && right && !call_error ? 0 : 1;
}
