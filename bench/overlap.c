/*
 * overlap.c - nonblocking and persistent collectives, and what they do while
 * the program computes.
 *
 * A cell measures each of these forms by the host and by ours, all in turns:
 *
 *   blocking    calls in a row, as bench collectives makes them
 *   apart       one blocking call after a barrier
 *   immediate   started and waited for at once, in a row
 *   persistent  bound once; then started and waited for, in a row
 *   plain_F     after a barrier: started, F computing times, waited for
 *   tested_F    the same, with MPI_Test calls spread through the computing
 *   computing   one computing time alone
 *   late_F      after a barrier: started by all; the late rank computes for F
 *               computing times before its wait, all others wait at once. The
 *               form's time is that of the late rank's wait.
 *   held_F      the same; the form's time is that of the others, from the start
 *               to the end of their wait
 *
 * plain_0 is the pure time. The benchmark measures it at the cell's beginning,
 * and sets the computing time to be as long. Of plain, tested and computing the
 * slowest rank's time counts. The reader of the output puts them together
 * (straightway/bench/overlap.py).
 *
 * The barrier keeps calls from overlapping each other: the root of a broadcast
 * could be calls ahead of the receivers. It is the host's in all forms but
 * those in a row. How far apart the ranks leave it is part of the pure time of
 * a short operation, and must not depend on the side.
 */
#include "arithmetic.h"
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>

#define SHORTEST_BATCH 50e-6 /* seconds of pure time in a batch */
/* of a cell's seconds, at most one try more */
#define PURE_SHARE 0.2
enum { MOST_CALLS = 64, PURE_TRIES = 32, PURE_SAMPLES = 9 };

/* The forms -------------------------------------------------------------- */

static int late_rank;

static int blocking(const sw_operation_t *op, size_t turns, int calls,
                    double *seconds)
{
    int error = 0;
    for (int i = 0; i < calls; i++)
        error |= op->call();
    return error;
}

static int apart(const sw_operation_t *op, size_t turns, int calls,
                 double *seconds)
{
    int error = 0;
    *seconds = 0;
    for (int i = 0; i < calls; i++) {
        sw_meet();
        double begin = sw_now();
        error |= op->call();
        *seconds += sw_now() - begin;
    }
    return error;
}

static int immediate(const sw_operation_t *op, size_t turns, int calls,
                     double *seconds)
{
    MPI_Request request;
    int error = 0;
    for (int i = 0; i < calls; i++) {
        error |= op->start(&request);
        error |= MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return error;
}

/* The host may build its schedule at the first start, so that is not timed. */
static int persistent(const sw_operation_t *op, size_t turns, int calls,
                      double *seconds)
{
    MPI_Request request;
    int error = op->bind(&request);
    if (error)
        return error;
    error |= MPI_Start(&request);
    error |= MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(sw_run.comm);
    double begin = sw_now();
    for (int i = 0; i < calls; i++) {
        error |= MPI_Start(&request);
        error |= MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    *seconds = sw_now() - begin;
    return error | MPI_Request_free(&request);
}

/* Compute, with so many tests between equal parts until one succeeds. */
static int compute(MPI_Request *request, size_t turns, int tests)
{
    size_t parts = (size_t)tests + 1;
    int error = 0, done = 0;
    for (size_t p = 0; p < parts; p++) {
        sw_arithmetic_do(turns * (p + 1) / parts - turns * p / parts);
        if (p + 1 < parts && !done)
            error |= MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
    return error;
}

static int compute_between(const sw_operation_t *op, size_t turns, int tests,
                           int calls, double *seconds)
{
    MPI_Request request;
    int error = 0;
    *seconds = 0;
    for (int i = 0; i < calls; i++) {
        sw_meet();
        double begin = sw_now();
        error |= op->start(&request);
        error |= compute(&request, turns, tests);
        error |= MPI_Wait(&request, MPI_STATUS_IGNORE);
        *seconds += sw_now() - begin;
    }
    return error;
}

static int plain(const sw_operation_t *op, size_t turns, int calls,
                 double *seconds)
{
    return compute_between(op, turns, 0, calls, seconds);
}

static int tested(const sw_operation_t *op, size_t turns, int calls,
                  double *seconds)
{
    return compute_between(op, turns, sw_run.plan->tests, calls, seconds);
}

static int computing(const sw_operation_t *op, size_t turns, int calls,
                     double *seconds)
{
    *seconds = 0;
    for (int i = 0; i < calls; i++) {
        sw_meet();
        double begin = sw_now();
        sw_arithmetic_do(turns);
        *seconds += sw_now() - begin;
    }
    return 0;
}

/* The seconds of the late rank's wait, and of all that others do. */
static int one_late(const sw_operation_t *op, size_t turns, int calls,
                    double *wait, double *others)
{
    MPI_Request request;
    int error = 0, is_late = sw_run.rank == late_rank;
    *wait = *others = 0;
    for (int i = 0; i < calls; i++) {
        sw_meet();
        double start = sw_now();
        error |= op->start(&request);
        if (is_late)
            sw_arithmetic_do(turns);
        double begin = sw_now();
        error |= MPI_Wait(&request, MPI_STATUS_IGNORE);
        *wait += is_late ? sw_now() - begin : 0;
        *others += is_late ? 0 : sw_now() - start;
    }
    return error;
}

static int late(const sw_operation_t *op, size_t turns, int calls,
                double *seconds)
{
    double others;
    return one_late(op, turns, calls, seconds, &others);
}

static int held(const sw_operation_t *op, size_t turns, int calls,
                double *seconds)
{
    double wait;
    return one_late(op, turns, calls, &wait, seconds);
}

typedef struct {
    const char *name;
    int (*run)(const sw_operation_t *op, size_t turns, int calls,
               double *seconds);
    double factor; /* computing times; < 0: calls in a row */
} form_t;

static const form_t forms[] = {
    {"plain_0", plain, 0},
    {"plain_0.5", plain, 0.5},
    {"plain_1", plain, 1},
    {"plain_2", plain, 2},
    {"tested_0.5", tested, 0.5},
    {"tested_1", tested, 1},
    {"tested_2", tested, 2},
    {"computing", computing, 1},
    {"apart", apart, 0},
    {"late_0", late, 0},
    {"late_0.5", late, 0.5},
    {"late_1", late, 1},
    {"late_2", late, 2},
    {"held_2", held, 2},
    {"blocking", blocking, -1},
    {"immediate", immediate, -1},
    {"persistent", persistent, -1}, /* the last: it may be left out */
};
enum { PURE, FORMS = sizeof forms / sizeof *forms, WAYS = FORMS * SW_MODES };
_Static_assert((int)WAYS <= (int)SW_MOST_WAYS,
               "more forms than a cell can hold");

/* A cell ---------------------------------------------------------------- */

/* The ways of a cell: form by form, each by the host and by ours. */
static char names[WAYS][24];
static sw_sampling_way_t ways[WAYS];
static int way_count;
static size_t computing_turns[SW_MODES]; /* on this rank */

static void name_ways(void)
{
    static const char *const modes[SW_MODES] = {"host", "ours"};
    way_count = WAYS - (sw_operations_persist() ? 0 : SW_MODES);
    for (int w = 0; w < WAYS; w++) {
        snprintf(names[w], sizeof names[w], "%s_%s", modes[w % SW_MODES],
                 forms[w / SW_MODES].name);
        ways[w] = (sw_sampling_way_t){.name = names[w], .mode = w % SW_MODES};
    }
}

static int repeat(const void *what, int way, int calls, double *seconds)
{
    const form_t *form = &forms[way / SW_MODES];
    double turns = (double)computing_turns[way % SW_MODES] * form->factor;
    return form->run(what, turns > 0 ? (size_t)turns : 0, calls, seconds);
}

/* Some pure times, the same on every rank; their sum. */
static double sample_pure(const sw_cell_t *cell, int mode, double *all)
{
    double mine[PURE_SAMPLES], sum = 0;
    for (int i = 0; i < PURE_SAMPLES; i++)
        mine[i] = sw_batch(cell, PURE * SW_MODES + mode, SW_CALLS_ALONE) /
                  SW_CALLS_ALONE;
    MPI_Allreduce(mine, all, PURE_SAMPLES, MPI_DOUBLE, MPI_MAX, sw_run.comm);
    for (int i = 0; i < PURE_SAMPLES; i++)
        sum += all[i];
    return sum;
}

static int compare(const void *one, const void *other)
{
    const double *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

static void set_computing_time(int mode, double pure)
{
    double fit = pure > 0 ? SHORTEST_BATCH / pure : MOST_CALLS;
    int calls = fit < 1 ? 1 : fit > MOST_CALLS ? MOST_CALLS : (int)fit;
    computing_turns[mode] = sw_arithmetic_turns(pure);
    for (int form = 0; form < FORMS; form++)
        if (forms[form].factor >= 0)
            ways[form * SW_MODES + mode].calls = calls;
}

/* The lower quartile counts: disturbances and the first calls of a cell only
 * take longer. Both sides take turns, as a disturbance may last. */
static void find_pure_times(const sw_cell_t *cell)
{
    static double pure[SW_MODES][PURE_TRIES * PURE_SAMPLES];
    double spent = 0;
    size_t n = 0;
    for (int i = 0; i < PURE_TRIES && spent < PURE_SHARE * sw_cell_seconds();
         i++, n += PURE_SAMPLES)
        for (int mode = 0; mode < sw_run.modes; mode++)
            spent += SW_CALLS_ALONE * sample_pure(cell, mode, &pure[mode][n]);
    for (int mode = 0; mode < sw_run.modes; mode++) {
        qsort(pure[mode], n, sizeof(double), compare);
        set_computing_time(mode, pure[mode][n / 4]);
    }
}

/* Computing alone has no result. */
static bool check(const sw_cell_t *cell, int way)
{
    return forms[way / SW_MODES].run == computing ||
           sw_operation_check(cell, way);
}

static void put_late_rank(FILE *file)
{
    fprintf(file, ", \"late_rank\": %d", late_rank);
}

/* The late rank is one that the operation has something to bring to: the
 * root of a gather or a reduction, else the last rank. */
static bool measure(const sw_operation_t *op, size_t size)
{
    sw_cell_t cell = {.name = op->name,
                      .what = op,
                      .repeat = repeat,
                      .size = size,
                      .ways = ways,
                      .way_count = way_count,
                      .check = check,
                      .share = 1,
                      .more = put_late_rank};
    late_rank = op->result == SW_GATHERED || op->result == SW_SUM_AT_ROOT
                    ? 0
                    : sw_run.ranks - 1;
    find_pure_times(&cell);
    return sw_measure(&cell);
}

bool sw_overlap(bool (*start)(void))
{
    if (!sw_blocks_make() || !start())
        return false;
    sw_arithmetic_prepare();
    name_ways();
    bool right = sw_operations_measure(sw_run.plan->overlap, measure);
    sw_blocks_drop();
    return right;
}
