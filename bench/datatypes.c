/*
 * datatypes.c - messages of derived datatypes, as applications send them.
 *
 * Ranks 0 and 1 play ping-pong with one message of a kernel (kernels/), and
 * the time is half of a round trip. The ways, which take turns:
 *
 *   hand        loops pack into a buffer, the host sends it, loops unpack
 *   host        the host gets the datatype
 *   ours        Straightway gets the datatype
 *   contiguous  Straightway gets a message without gaps of as many bytes: the
 *               floor
 *   planes      as by hand, for arrays in a GPU's memory (gpu.h): hand makes a
 *               copy for each run, planes one for each plane
 *
 * The data are either fresh or untouched since the check. The sender writes
 * fresh data before each message, so their lines lie in its cache alone. To
 * leave out the writing, rank 0 times the round trips one by one:
 *
 *   rank 0:  write        |start  send .......... receive  stop|
 *   rank 1:  write  ready             receive  send
 *
 * The first round trip of a batch does not count: it brings back the data that
 * another way has driven from the caches.
 *
 * A check of every way comes before its timing. A run of a kernel's loops shows
 * the words that they touch (places.h). By these the check fills the sender's
 * array and compares the receiver's, word by word, with guards in the gaps. The
 * bytes of the loops and those of the datatypes must be the same.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bench.h"
#include "gpu.h"
#include "kernels/kernels.h"
#include "places.h"
#include "sampling.h"

#define CHECKS 2
#define RUNS_MOST 16384 /* to a GPU by hand: a copy takes a microsecond */

enum { MESSAGE, READY }; /* tags */
enum { HAND, HOST, OURS, CONTIGUOUS, PLANES, WAYS };
enum { SENT, RECEIVED, SIDES };

static sw_sampling_way_t ways[WAYS] = {{"hand", SW_HOST, 0, 0},
                                       {"host", SW_HOST, 0, 0},
                                       {"ours", SW_OURS, 0, 0},
                                       {"contiguous", SW_OURS, 0, 0},
                                       {"planes", SW_LEFT_OUT, 0, 0}};

#define ONE(name) &sw_##name,
static const sw_kernel_t *const kernels[] = {SW_KERNELS(ONE)};
#undef ONE
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const sw_bench_plan_t *plan;
static MPI_Comm comm;
static int rank, partner, cells;
static bool in_gpu, host_takes; /* this rank's arrays; the host takes both's */

/* The message of the moment. */
static const sw_kernel_t *kernel;
static const sw_kernel_shape_t *shape;
static const int *d;
static size_t bytes;
static bool fresh;
static uint32_t content; /* the seed of the data */

/* Each side's memory: the array, the buffer of the loops, and the message
 * without gaps. */
typedef struct {
    sw_array_t array, flat;
    void *packed;
    MPI_Datatype type;
    size_t at;                 /* where the datatype begins */
    sw_places_t places, whole; /* in array, in flat */
    sw_gpu_plane_t *planes;    /* of places, in a GPU */
    size_t plane_count;
} side_t;

static side_t sides[SIDES];

/* The ways --------------------------------------------------------------- */

static void pack(int way)
{
    side_t *s = &sides[SENT];
    if (!in_gpu)
        kernel->pack(d, s->array.at, s->packed);
    else
        (way == HAND ? sw_gpu_by_runs : sw_gpu_by_planes)(
            SW_GPU_PACK, s->planes, s->plane_count, s->array.at, s->packed);
}

static void unpack(int way)
{
    side_t *r = &sides[RECEIVED];
    if (!in_gpu)
        kernel->unpack(d, r->packed, r->array.at);
    else
        (way == HAND ? sw_gpu_by_runs : sw_gpu_by_planes)(
            SW_GPU_UNPACK, r->planes, r->plane_count, r->array.at, r->packed);
}

static int send_one(int way)
{
    side_t *s = &sides[SENT];
    int n = (int)bytes;
    switch (way) {
    case HAND:
    case PLANES:
        pack(way);
        return MPI_Send(s->packed, n, MPI_BYTE, partner, MESSAGE, comm);
    case CONTIGUOUS:
        return MPI_Send(s->flat.at, n, MPI_BYTE, partner, MESSAGE, comm);
    default:
        return MPI_Send((char *)s->array.at + s->at, 1, s->type, partner,
                        MESSAGE, comm);
    }
}

static int receive_one(int way)
{
    side_t *r = &sides[RECEIVED];
    int n = (int)bytes, error;
    switch (way) {
    case HAND:
    case PLANES:
        error = MPI_Recv(r->packed, n, MPI_BYTE, partner, MESSAGE, comm,
                         MPI_STATUS_IGNORE);
        unpack(way);
        return error;
    case CONTIGUOUS:
        return MPI_Recv(r->flat.at, n, MPI_BYTE, partner, MESSAGE, comm,
                        MPI_STATUS_IGNORE);
    default:
        return MPI_Recv((char *)r->array.at + r->at, 1, r->type, partner,
                        MESSAGE, comm, MPI_STATUS_IGNORE);
    }
}

static const sw_places_t *places_of(const side_t *side, int way)
{
    return way == CONTIGUOUS ? &side->whole : &side->places;
}

static const sw_array_t *array_of(const side_t *side, int way)
{
    return way == CONTIGUOUS ? &side->flat : &side->array;
}

static void write_content(int way)
{
    const sw_array_t *array = array_of(&sides[SENT], way);
    sw_places_fill(places_of(&sides[SENT], way), array->seen, content);
    sw_array_push(array);
}

static int there_and_back(int way, double *time)
{
    char nothing;
    int error;
    if (rank == 0) {
        error = MPI_Recv(&nothing, 0, MPI_BYTE, partner, READY, comm,
                         MPI_STATUS_IGNORE);
        double start = sw_now();
        error |= send_one(way);
        error |= receive_one(way);
        *time = sw_now() - start;
    } else {
        error = MPI_Send(&nothing, 0, MPI_BYTE, partner, READY, comm);
        error |= receive_one(way);
        error |= send_one(way);
        *time = 0;
    }
    return error;
}

static int repeat(const void *what, int way, int calls, double *seconds)
{
    double time, all = 0;
    int error = 0;
    for (int i = 0; i <= calls; i++) {
        if (fresh)
            write_content(way);
        error |= there_and_back(way, &time);
        if (i > 0)
            all += time;
    }
    *seconds = all;
    return error;
}

/* The check -------------------------------------------------------------- */

/* Rank 0's report of one rank's arrays, and of the worst. */
enum { WRONG, WHOSE, GAP, AT, GOT, WANT, WORDS };
static long long report[WAYS][WORDS];

static uint32_t seed_of(int sender, int way, int time)
{
    return (uint32_t)(1 + sender + 2 * (time + CHECKS * way));
}

static void exchange_once(const sw_cell_t *cell, int way, int time,
                          long long *words)
{
    const sw_array_t *array = array_of(&sides[RECEIVED], way);
    const sw_places_t *places = places_of(&sides[RECEIVED], way);
    uint32_t seed = seed_of(partner, way, time);
    content = seed_of(rank, way, time);
    write_content(way);
    sw_places_spoil(places, array->seen, seed);
    sw_array_push(array);
    sw_batch(cell, way, 1);
    sw_array_pull(array);
    if (plan->corrupt)
        array->seen[places->stretches[places->count / 2].at] ^= 0xff;
    sw_misplaced_t wrong = sw_places_check(places, array->seen, seed);
    if (wrong.found && !words[WRONG]) {
        words[WRONG] = 1;
        words[GAP] = wrong.gap;
        words[AT] = wrong.at;
        words[GOT] = wrong.got;
        words[WANT] = wrong.want;
    }
}

static bool check(const sw_cell_t *cell, int way)
{
    long long mine[WORDS] = {0}, both[2][WORDS];
    mine[WHOSE] = rank;
    for (int time = 0; time < CHECKS; time++)
        exchange_once(cell, way, time, mine);
    MPI_Allgather(mine, WORDS, MPI_LONG_LONG, both, WORDS, MPI_LONG_LONG, comm);
    memcpy(report[way], both[!both[0][WRONG]], sizeof mine);
    return !report[way][WRONG];
}

/* Cells ------------------------------------------------------------------ */

static double copy_us; /* a memcpy of the message, on rank 0 */

static double copies(int calls)
{
    void *to = sides[RECEIVED].flat.at, *from = sides[SENT].flat.at;
    double start = sw_now();
    if (in_gpu)
        sw_gpu_copies(to, from, bytes, calls);
    else
        for (int i = 0; i < calls; i++) {
            memcpy(to, from, bytes);
            __asm__ volatile("" ::"r"(to) : "memory");
        }
    return sw_now() - start;
}

static void put_more(FILE *file)
{
    int size;
    MPI_Type_size(sides[SENT].type, &size);
    fprintf(file,
            ", \"cells\": %d, \"application\": \"%s\", \"data\": \"%s\""
            ", \"published\": %s, \"type_bytes\": %d, \"extent\": %zu, "
            "\"runs_sent\": %zu, \"runs_received\": %zu, "
            "\"planes_sent\": %zu, \"memcpy\": %.5g",
            cells, kernel->application, fresh ? "fresh" : "untouched",
            shape->published ? "true" : "false", size, kernel->extent(d),
            sides[SENT].places.count, sides[RECEIVED].places.count,
            sides[SENT].plane_count, copy_us);
    for (int w = 0; w < WAYS; w++)
        if (report[w][WRONG])
            fprintf(file,
                    ", \"%s_wrong\": {\"rank\": %lld, \"gap\": %s, "
                    "\"byte\": %lld, \"got\": %lld, \"want\": %lld}",
                    ways[w].name, report[w][WHOSE],
                    report[w][GAP] ? "true" : "false", report[w][AT],
                    report[w][GOT], report[w][WANT]);
}

static bool measure(bool with_fresh_data)
{
    fresh = with_fresh_data;
    sw_cell_t cell = {.name = kernel->name,
                      .size = bytes,
                      .ways = ways,
                      .way_count = WAYS,
                      .repeat = repeat,
                      .check = check,
                      .share = 0.5,
                      .more = put_more};
    return sw_measure(&cell);
}

/* The message's memory, places and datatypes ----------------------------- */

static bool get_memory(void)
{
    bool good = true;
    for (side_t *s = sides; s < sides + SIDES; s++) {
        good &= sw_array_make(&s->array, kernel->extent(d), in_gpu) &&
                sw_array_make(&s->flat, bytes, in_gpu);
        s->packed = in_gpu ? sw_gpu_pinned(bytes) : malloc(bytes);
        good &= s->packed != NULL;
    }
    return good;
}

/* Find the places by running the loops; false: the loops are wrong. */
static bool find_places(void)
{
    size_t extent = kernel->extent(d) / sizeof(uint32_t);
    size_t words = bytes / sizeof(uint32_t);
    side_t *s = &sides[SENT], *r = &sides[RECEIVED];
    sw_places_number(s->array.seen, extent, 0);
    bool good = kernel->pack(d, s->array.seen, s->packed) == bytes &&
                sw_places_make(&s->places, s->packed, words, extent);

    sw_places_number(r->packed, words, 1);
    good = good && kernel->unpack(d, r->packed, r->array.seen) == bytes &&
           sw_places_invert(r->array.seen, extent, r->packed, words) &&
           sw_places_make(&r->places, r->packed, words, extent);

    sw_places_number(s->flat.seen, words, 0);
    for (int i = 0; i < SIDES; i++)
        good = good &&
               sw_places_make(&sides[i].whole, s->flat.seen, words, words);
    return good;
}

static bool find_planes(void)
{
    bool good = true;
    for (side_t *s = sides; s < sides + SIDES && in_gpu; s++)
        good &= (s->planes = sw_gpu_planes(&s->places, &s->plane_count)) !=
                NULL;
    return good;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A copy for each run is left out where a message of them would take long.
 * Planes of two runs or fewer in the mean are left out, too. */
static void choose_ways(void)
{
    enum { RUNS, FLAT, COUNTS };
    unsigned long mine[COUNTS] = {0}, most[COUNTS];
    for (side_t *s = sides; s < sides + SIDES && in_gpu; s++) {
        mine[RUNS] = larger(mine[RUNS], s->places.count);
        mine[FLAT] = larger(mine[FLAT], s->plane_count);
    }
    MPI_Allreduce(mine, most, COUNTS, MPI_UNSIGNED_LONG, MPI_MAX, comm);
    bool even = most[FLAT] && most[FLAT] <= RUNS_MOST &&
                2 * most[FLAT] < most[RUNS];
    ways[HAND].mode = most[RUNS] > RUNS_MOST ? SW_LEFT_OUT : SW_HOST;
    ways[HOST].mode = host_takes ? SW_HOST : SW_LEFT_OUT;
    ways[PLANES].mode = even ? SW_HOST : SW_LEFT_OUT;
}

static bool make_types(void)
{
    bool good = true;
    sides[SENT].type = kernel->sent(d, &sides[SENT].at);
    sides[RECEIVED].type = kernel->received(d, &sides[RECEIVED].at);
    for (side_t *s = sides; s < sides + SIDES; s++) {
        int size;
        MPI_Type_commit(&s->type);
        MPI_Type_size(s->type, &size);
        good &= (size_t)size == bytes;
    }
    return good;
}

static void drop(void)
{
    for (side_t *s = sides; s < sides + SIDES; s++) {
        sw_array_drop(&s->array);
        sw_array_drop(&s->flat);
        (in_gpu ? sw_gpu_pinned_free : free)(s->packed);
        free(s->planes);
        sw_places_drop(&s->places);
        sw_places_drop(&s->whole);
        MPI_Type_free(&s->type);
    }
    if (kernel->end)
        kernel->end();
}

static bool agree(bool good, const char *what)
{
    int mine = good, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
    if (!all && rank == 0)
        fprintf(stderr, "straightway-bench: %s at %zu bytes: %s\n",
                kernel->name, bytes, what);
    return all;
}

static bool prepare(void)
{
    bool listed = !kernel->begin || kernel->begin(d);
    return agree(get_memory() && listed, "no memory") &&
           agree(find_places(), "its loops contradict each other") &&
           agree(find_planes(), "no memory") &&
           agree(make_types(), "its datatypes have other bytes than its "
                               "loops");
}

/* The run ---------------------------------------------------------------- */

static bool is_planned(const sw_kernel_t *k, const sw_kernel_shape_t *s)
{
    size_t n = k->bytes(s->d);
    return sw_chosen(plan->kernels, k->name) && n >= plan->size[0] &&
           n <= plan->size[1] && (s->published || !plan->published);
}

/* False: this message cannot be measured, or came out wrong. */
static bool measure_shape(const sw_kernel_t *k, const sw_kernel_shape_t *s)
{
    kernel = k;
    shape = s;
    d = s->d;
    bytes = k->bytes(d);
    if (!prepare())
        MPI_Abort(comm, 1);
    choose_ways();
    copy_us = sw_least_copy(copies);
    bool right = true;
    if (sw_chosen(plan->data, "untouched"))
        right &= measure(false);
    if (sw_chosen(plan->data, "fresh"))
        right &= measure(true);
    drop();
    return right;
}

typedef bool (*visit_t)(const sw_kernel_t *k, const sw_kernel_shape_t *s);

static bool for_all_planned(visit_t visit)
{
    bool right = true;
    for (int k = 0; k < KERNELS; k++)
        for (int s = 0; s < kernels[k]->shape_count; s++)
            if (is_planned(kernels[k], &kernels[k]->shapes[s]))
                right &= visit(kernels[k], &kernels[k]->shapes[s]);
    return right;
}

static bool count_cells(const sw_kernel_t *k, const sw_kernel_shape_t *s)
{
    cells += sw_chosen(plan->data, "untouched") +
             sw_chosen(plan->data, "fresh");
    return true;
}

/* Each rank opens the driver if its arrays are to lie in a GPU. */
static bool open_memory(void)
{
    int mine[2], all[2];
    in_gpu = plan->gpu[rank];
    mine[0] = !in_gpu || sw_gpu_open();
    mine[1] = !(plan->gpu[0] || plan->gpu[1]) || sw_gpu_host_takes();
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_LAND, comm);
    host_takes = all[1];
    return all[0];
}

bool sw_datatypes(bool (*start)(void))
{
    plan = sw_run.plan;
    comm = sw_run.comm;
    rank = sw_run.rank;
    partner = !rank;
    if (sw_run.ranks != 2) {
        if (rank == 0)
            fputs("straightway-bench: datatypes are measured on 2 ranks\n",
                  stderr);
        return false;
    }
    if (!open_memory())
        return false;
    for_all_planned(count_cells);
    return start() && for_all_planned(measure_shape);
}
