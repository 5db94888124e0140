/*
 * sampling.c - the host and Straightway side by side, in one run.
 *
 * The method (after ReproMPI):
 * - The program switches between host and Straightway round by round, in
 *   shuffled order. Drift of the machine (clock, neighbours, memory layout)
 *   then falls on both alike.
 * - A sample is a batch of k calls, k such that the batch lasts at least
 *   50 us, with a barrier before it. Its value is the largest batch time over
 *   all ranks, divided by k.
 * - A cell has a budget of time. Rank 0 derives the number of rounds from it,
 *   for all ranks. The program writes all samples; its reader computes medians
 *   and intervals.
 * - A cell may have more ways than these two; all take turns alike.
 * - The program checks the results once per cell in every way, outside the
 *   timed part. It writes a wrong result down, and exits with status 1.
 *
 * Everything but the measured calls and their barrier runs on the host.
 */
#include "sampling.h"
#include "wires.h"
#include "placement.h"

#include "coll/span_names.h"
#include "node/control.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SHORTEST_BATCH 50e-6
#define MOST_CALLS 4096
#define FEWEST_ROUNDS 5
#define MOST_ROUNDS 400
#define WARM_CALLS 4
#define FEWEST_COUNTED 4 /* calls whose bytes are counted */
#define COPY_BATCHES 12

sw_run_t sw_run;

static int (*accelerate)(int on);
static int call_error;
static FILE *file;

/* Time ------------------------------------------------------------------ */

double sw_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void switch_to(int mode)
{
    if (accelerate)
        accelerate(mode == SW_HOST ? SW_ACCELERATE_OFF : SW_ACCELERATE_ON);
}

static const sw_sampling_way_t *taken;

static void take(const sw_sampling_way_t *way)
{
    taken = way;
    if (accelerate && way->state)
        accelerate(way->state);
    else
        switch_to(way->mode);
}

static const sw_sampling_way_t *ways_of(const sw_cell_t *cell)
{
    static const sw_sampling_way_t sides[] = {{"host", SW_HOST, 0, 0},
                                              {"ours", SW_OURS, 0, 0}};
    return cell->ways ? cell->ways : sides;
}

/* Find the ways that this run can measure; return their number. */
static int open_ways(const sw_cell_t *cell, int *open)
{
    int all = cell->ways ? cell->way_count : SW_MODES, n = 0;
    for (int w = 0; w < all; w++)
        if (ways_of(cell)[w].mode < sw_run.modes)
            open[n++] = w;
    return n;
}

static double batch(const sw_cell_t *cell, int way, const sw_sampling_way_t *as,
                    int calls)
{
    /* The barrier is the measured side's own: ranks that share cores leave a
     * barrier one by one, and that time belongs to the side. */
    take(as);
    MPI_Barrier(sw_run.comm);
    double part = -1, start = sw_now();
    call_error |= cell->repeat(cell->what, way, calls, &part);
    double time = sw_now() - start;
    switch_to(SW_HOST);
    return part < 0 ? time : part;
}

double sw_batch(const sw_cell_t *cell, int way, int calls)
{
    return batch(cell, way, &ways_of(cell)[way], calls);
}

/* Ours shares memory once calls have used it often enough. A cell of few calls
 * would end before that. A forced way shares it at the first use. */
static void warm(const sw_cell_t *cell, int way)
{
    static const sw_sampling_way_t sharing = {"", SW_OURS,
                                              SW_ACCELERATE_ONE_COPY, 0};
    const sw_sampling_way_t *usual = &ways_of(cell)[way];
    if (usual->mode == SW_OURS && !usual->state)
        batch(cell, way, &sharing, usual->calls ? 1 : WARM_CALLS);
}

void sw_meet(void)
{
    const sw_sampling_way_t *way = taken;
    switch_to(SW_HOST);
    MPI_Barrier(sw_run.comm);
    take(way);
}

static double longest(double time)
{
    double all;
    MPI_Allreduce(&time, &all, 1, MPI_DOUBLE, MPI_MAX, sw_run.comm);
    return all;
}

/* With more ranks than cores a batch must outlast the turns (some ms each)
 * that ranks still spend in the call before it. */
double sw_shortest_batch(void)
{
    return sw_run.nodes.crowded ? 1000 * SHORTEST_BATCH : SHORTEST_BATCH;
}

/* Calls per batch: the first power of two that lasts long enough on the
 * slowest rank. All ranks see the same maximum and so agree. */
static int calibrate(const sw_cell_t *cell, int way)
{
    int given = ways_of(cell)[way].calls;
    warm(cell, way);
    sw_batch(cell, way, given ? 1 : WARM_CALLS);
    if (given || cell->calls)
        return given ? given : cell->calls;
    for (int calls = 1;; calls *= 2) {
        double time = longest(sw_batch(cell, way, calls));
        if (time >= sw_shortest_batch() || calls >= MOST_CALLS)
            return calls;
    }
}

/* Of the next cell; 0: the plan's. */
static double cell_seconds;

bool sw_time_is_left(int cells)
{
    static double begun;
    if (sw_run.plan->within <= 0)
        return true;
    begun = begun > 0 ? begun : sw_now();
    cell_seconds = (begun + sw_run.plan->within - sw_now()) / cells;
    if (cell_seconds > sw_run.plan->seconds)
        cell_seconds = sw_run.plan->seconds;
    MPI_Bcast(&cell_seconds, 1, MPI_DOUBLE, 0, sw_run.comm);
    return cell_seconds > 0;
}

double sw_cell_seconds(void)
{
    return cell_seconds > 0 ? cell_seconds : sw_run.plan->seconds;
}

double sw_least_copy(double (*copies)(int calls))
{
    double least = 0;
    if (sw_run.rank == 0) {
        int calls = 1;
        while (copies(calls) < 20e-6 && calls < 4096)
            calls *= 2;
        for (int i = 0; i < COPY_BATCHES; i++) {
            double us = copies(calls) / calls * 1e6;
            least = i == 0 || us < least ? us : least;
        }
    }
    MPI_Request done;
    int finished = 0;
    MPI_Ibarrier(sw_run.comm, &done);
    for (;;) {
        MPI_Test(&done, &finished, MPI_STATUS_IGNORE);
        if (finished)
            return least;
        usleep(200);
    }
}

/* Output: one line of JSON per event ------------------------------------ */

static void put_samples(const char *name, const double *samples, int n,
                        double share)
{
    fprintf(file, ", \"%s\": [", name);
    for (int i = 0; i < n; i++)
        fprintf(file, "%s%.5g", i ? ", " : "", samples[i] * share * 1e6);
    fputc(']', file);
}

/* The samples of one way. */
typedef struct {
    int way, calls;
    bool right;
    /* of a call, sent between nodes; < 0: not known */
    double bytes;
    double *samples;
} trial_t;

static void put_cell(const sw_cell_t *cell, const trial_t *trials, int n,
                     int rounds)
{
    if (!file)
        return;
    fprintf(file, "{\"cell\": \"%s\", \"size\": %zu, \"rounds\": %d",
            cell->name, cell->size, rounds);
    if (cell->more)
        cell->more(file);
    for (const trial_t *t = trials; t < trials + n; t++) {
        const char *name = ways_of(cell)[t->way].name;
        fprintf(file, ", \"%s_calls\": %d, \"%s_right\": %s", name, t->calls,
                name, t->right ? "true" : "false");
        if (t->bytes >= 0)
            fprintf(file, ", \"%s_sent\": %.1f", name, t->bytes);
        put_samples(name, t->samples, rounds, cell->share / t->calls);
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

/* The name of each node, in the order of their numbers. */
static void put_nodes(void)
{
    int next = 0;
    fputs(", \"node_names\": [", file);
    for (int r = 0; r < sw_run.ranks; r++)
        if (sw_run.nodes.of[r] == next) {
            fputs(next++ ? ", " : "", file);
            put_text(sw_run.nodes.name[r]);
        }
    fputc(']', file);
}

FILE *sw_output(void)
{
    return file;
}

static bool open_output(void)
{
    sw_wires_use(&sw_run.nodes, sw_run.comm);
    int opened = 1;
    if (sw_run.rank == 0) {
        file = fopen(sw_run.plan->out, "w");
        opened = file != NULL;
    }
    MPI_Bcast(&opened, 1, MPI_INT, 0, sw_run.comm);
    if (!opened) {
        if (sw_run.rank == 0)
            fprintf(stderr, "straightway-bench: cannot write %s\n",
                    sw_run.plan->out);
        return false;
    }
    if (!file)
        return true;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int n;
    MPI_Get_library_version(version, &n);
    fprintf(file,
            "{\"start\": {\"ranks\": %d, \"modes\": %d, "
            "\"crowded\": %s, \"nodes\": [",
            sw_run.ranks, sw_run.modes,
            sw_run.nodes.crowded ? "true" : "false");
    for (int r = 0; r < sw_run.ranks; r++)
        fprintf(file, "%s%d", r ? ", " : "", sw_run.nodes.of[r]);
    fputs("], \"mpi\": ", file);
    put_text(version);
    char host[SW_SPAN_NAME], transport[SW_SPAN_NAME];
    sw_span_name_host(version, host);
    sw_span_name_transport(host, transport);
    fputs(", \"host\": ", file);
    put_text(host);
    fputs(", \"transport\": ", file);
    put_text(transport);
    put_nodes();
    sw_wires_put(file);
    fputs("}}\n", file);
    fflush(file);
    return true;
}

/* Bytes between nodes --------------------------------------------------- */

/* The bytes that all nodes send in a batch of so many calls. The host's
 * barriers at both ends are in them. */
static double sent_in(const sw_cell_t *cell, int way, int calls)
{
    double seconds;
    switch_to(SW_HOST);
    sw_nodes_settle(&sw_run.nodes, sw_run.comm);
    double before = sw_nodes_sent(&sw_run.nodes);
    take(&ways_of(cell)[way]);
    if (calls)
        call_error |= cell->repeat(cell->what, way, calls, &seconds);
    switch_to(SW_HOST);
    sw_nodes_settle(&sw_run.nodes, sw_run.comm);
    double mine = sw_nodes_sent(&sw_run.nodes) - before, all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, sw_run.comm);
    return all;
}

/* Those of one call: the difference of two batches, the shorter of one call,
 * so that nothing but calls makes it. */
static double sent_by_call(const sw_cell_t *cell, int way, int calls)
{
    int more = calls > FEWEST_COUNTED ? calls : FEWEST_COUNTED;
    if (!sw_run.nodes.counted || !cell->counted)
        return -1;
    double one = sent_in(cell, way, 1);
    double many = sent_in(cell, way, 1 + more);
    return many > one ? (many - one) / more : 0;
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
    double fit = (sw_cell_seconds() - spent) / (round > 0 ? round : 1e-6);
    int n = fit > MOST_ROUNDS ? MOST_ROUNDS : (int)fit;
    return n < FEWEST_ROUNDS ? FEWEST_ROUNDS : n;
}

/* An order of n ways, drawn anew for each round. */
static void draw_order(int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)((shuffle() >> 33) % (unsigned)(i + 1)), was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
}

bool sw_measure(const sw_cell_t *cell)
{
    double start = sw_now();
    int ways[SW_MOST_WAYS], order[SW_MOST_WAYS], n = open_ways(cell, ways);
    trial_t trials[SW_MOST_WAYS];
    bool right = true;
    for (int t = 0; t < n; t++)
        trials[t] = (trial_t){.way = ways[t],
                              .calls = calibrate(cell, ways[t])};
    for (int t = 0; t < n; t++) {
        right &= trials[t].right = cell->check(cell, ways[t]);
        trials[t].bytes = sent_by_call(cell, ways[t], trials[t].calls);
        trials[t].samples = malloc(MOST_ROUNDS * sizeof(double));
        if (!trials[t].samples)
            MPI_Abort(sw_run.comm, 1);
    }

    /* The first round gives the time of a round. */
    int rounds = 1;
    double first = sw_now();
    for (int i = 0; i < rounds; i++) {
        draw_order(order, n);
        for (int o = 0; o < n; o++) {
            trial_t *t = &trials[order[o]];
            t->samples[i] = sw_batch(cell, t->way, t->calls);
        }
        if (i == 0) {
            rounds = rounds_for(sw_now() - first, sw_now() - start);
            MPI_Bcast(&rounds, 1, MPI_INT, 0, sw_run.comm);
        }
    }
    for (int t = 0; t < n; t++)
        MPI_Reduce(sw_run.rank ? trials[t].samples : MPI_IN_PLACE,
                   trials[t].samples, rounds, MPI_DOUBLE, MPI_MAX, 0,
                   sw_run.comm);
    if (cell->settle)
        cell->settle();
    put_cell(cell, trials, n, rounds);
    for (int t = 0; t < n; t++)
        free(trials[t].samples);
    return right;
}

bool sw_chosen(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at;
         at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, n) && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

/* The run --------------------------------------------------------------- */

__attribute__((visibility("default"))) int sw_bench(const sw_bench_plan_t *plan)
{
    sw_run.plan = plan;
    MPI_Init(NULL, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &sw_run.comm);
    MPI_Comm_rank(sw_run.comm, &sw_run.rank);
    MPI_Comm_size(sw_run.comm, &sw_run.ranks);

    /* Straightway can be measured only if every rank can switch. */
    int modes = plan->accelerate && plan->accelerate(-1) >= 0 ? 2 : 1;
    MPI_Allreduce(&modes, &sw_run.modes, 1, MPI_INT, MPI_MIN, sw_run.comm);
    accelerate = sw_run.modes == 2 ? plan->accelerate : NULL;
    switch_to(SW_HOST);
    if (!sw_nodes_find(&sw_run.nodes, sw_run.comm)) {
        fputs("straightway-bench: no memory\n", stderr);
        MPI_Abort(sw_run.comm, 1);
    }

    shuffle_state = 0x9e3779b97f4a7c15u ^ plan->seed;
    bool good = plan->placement  ? sw_placement(open_output)
                : plan->items    ? sw_profile(open_output)
                : plan->kernels  ? sw_datatypes(open_output)
                : plan->patterns ? sw_pingpong(open_output)
                : plan->onesided ? sw_onesided(open_output)
                : plan->overlap  ? sw_overlap(open_output)
                                 : sw_collectives(open_output);
    switch_to(SW_OURS);
    if (file)
        fclose(file);
    MPI_Finalize();
    return good && !call_error ? 0 : 1;
}
