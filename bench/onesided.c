/*
 * onesided.c - windows, by the host and by Straightway.
 *
 *   put, get        and a flush: what an origin waits for
 *   accumulate      of doubles, and a flush
 *   fence           all ranks
 *   fetch_and_op    all ranks, and a flush, on one counter of rank 0
 *
 * Ranks 0 and 1 are a pair, 2 and 3 the next: even ranks are origins. Their
 * partners wait in the host's barrier meanwhile, where the host serves its
 * windows. Each window is settled when it is
 * made: the members serve it, or the host does. So each mode has windows of its own: one whose targets stay locked,
 * and one for fences.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sampling.h"

typedef enum { PUT, GET, ACCUMULATE, FENCE, FETCH_AND_OP } kind_t;

static const struct {
    const char *name;
    kind_t kind;
} operations[] = {
    {"put", PUT}, {"get", GET}, {"accumulate", ACCUMULATE}, {"fence", FENCE},
    {"fetch_and_op", FETCH_AND_OP},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static MPI_Win locked[SW_MODES], fenced[SW_MODES];
/* Each mode has its own: a copy past the caches must not cost the other. */
static double *memory[SW_MODES], *origin[SW_MODES];
static MPI_Aint at[SW_MODES], at_first[SW_MODES];   /* displacements: of the
                                                     * partner, and of rank 0 */
static int count, partner;
static size_t room;

static bool is_origin(void)
{
    return sw_run.rank % 2 == 0;
}

static int access(kind_t kind, int way)
{
    MPI_Win window = locked[way];
    double one = 1, old;
    int target = kind == FETCH_AND_OP ? 0 : partner, error = 0;
    switch (kind) {
    case PUT:
        error = MPI_Put(origin[way], count, MPI_DOUBLE, target, at[way], count, MPI_DOUBLE,
                        window);
        break;
    case GET:
        error = MPI_Get(origin[way], count, MPI_DOUBLE, target, at[way], count, MPI_DOUBLE,
                        window);
        break;
    case ACCUMULATE:
        error = MPI_Accumulate(origin[way], count, MPI_DOUBLE, target, at[way], count,
                               MPI_DOUBLE, MPI_SUM, window);
        break;
    default:
        error = MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, target, at_first[way],
                                 MPI_SUM, window);
    }
    return error | MPI_Win_flush(target, window);
}

static int repeat(const void *what, int way, int calls, double *seconds)
{
    kind_t kind = *(const kind_t *)what;
    int error = 0;
    double begin = sw_now();
    if (kind == FENCE)
        for (int i = 0; i < calls; i++)
            error |= MPI_Win_fence(0, fenced[way]);
    else if (kind == FETCH_AND_OP || is_origin())
        for (int i = 0; i < calls; i++)
            error |= access(kind, way);
    *seconds = sw_now() - begin;
    sw_meet();
    return error;
}

static void fill(double *to, double first)
{
    for (int i = 0; i < count; i++)
        to[i] = first + i % 1000;
}

/* What is where after an operation of a cell. */
static bool is_right(kind_t kind, int way)
{
    const double *looked_at = kind == GET ? origin[way] : memory[way];
    bool looks = is_origin() ? kind == GET : kind != GET;
    if (kind == FETCH_AND_OP)
        return sw_run.rank || memory[way][0] == sw_run.ranks;
    for (int i = 0; looks && kind != FENCE && i < count; i++)
        if (looked_at[i] != (kind == ACCUMULATE ? 10 : 7) + i % 1000)
            return false;
    return true;
}

static bool check(const sw_cell_t *cell, int way)
{
    kind_t kind = *(const kind_t *)cell->what;
    double seconds;
    fill(origin[way], kind == PUT ? 7 : 0);
    MPI_Win_sync(locked[way]);
    fill(memory[way], kind == GET ? 7 : 10);
    if (kind == ACCUMULATE)
        for (int i = 0; i < count; i++)
            memory[way][i] = 10;
    if (kind == FETCH_AND_OP)
        memory[way][0] = 0;
    MPI_Win_sync(locked[way]);
    sw_meet();
    int error = repeat(cell->what, way, 1, &seconds);
    sw_meet();
    MPI_Win_sync(locked[way]);
    if (sw_run.plan->corrupt && way == SW_OURS)
        memory[way][0] = origin[way][0] = -1;
    int right = !error && is_right(kind, way), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, sw_run.comm);
    fill(origin[way], 0);              /* sums stay finite */
    return all;
}

static bool are(sw_bench_windows_t kind)
{
    return sw_run.plan->windows == kind;
}

static void make_window(int way, MPI_Win *window, double **base)
{
    MPI_Aint bytes = (MPI_Aint)room;
    if (are(SW_BENCH_ALLOCATED)) {
        MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, sw_run.comm,
                         base, window);
    } else if (are(SW_BENCH_SHARED)) {
        MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL,
                                sw_run.comm, base, window);
    } else if (are(SW_BENCH_DYNAMIC)) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, sw_run.comm, window);
        MPI_Win_attach(*window, *base, bytes);
    } else {
        MPI_Win_create(*base, bytes, sizeof(double), MPI_INFO_NULL,
                       sw_run.comm, window);
    }
}

/* Displacements in a dynamic window are addresses. */
static void find_places(int way)
{
    MPI_Aint own;
    MPI_Aint *all = malloc((size_t)sw_run.ranks * sizeof *all);
    if (!all)
        MPI_Abort(sw_run.comm, 1);
    MPI_Get_address(memory[way], &own);
    MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, sw_run.comm);
    at[way] = are(SW_BENCH_DYNAMIC) ? all[partner] : 0;
    at_first[way] = are(SW_BENCH_DYNAMIC) ? all[0] : 0;
    free(all);
}

static void make_windows(void)
{
    const sw_bench_plan_t *plan = sw_run.plan;
    for (int way = 0; way < sw_run.modes; way++) {
        int before = plan->accelerate ? plan->accelerate(way == SW_OURS) : 0;
        double *other;
        memory[way] =
            are(SW_BENCH_MAPPED)
                ? mmap(NULL, room, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            : are(SW_BENCH_CREATED) || are(SW_BENCH_DYNAMIC)
                ? malloc(room) : NULL;
        other = memory[way];
        make_window(way, &locked[way], &memory[way]);
        make_window(way, &fenced[way], &other);
        memset(memory[way], 0, room);
        find_places(way);
        MPI_Win_lock_all(0, locked[way]);
        if (plan->accelerate)
            plan->accelerate(before);
    }
}

static void free_windows(void)
{
    for (int way = 0; way < sw_run.modes; way++) {
        MPI_Win_unlock_all(locked[way]);
        MPI_Win_free(&locked[way]);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, fenced[way]);
        MPI_Win_free(&fenced[way]);
        if (are(SW_BENCH_MAPPED))
            munmap(memory[way], room);
        else if (are(SW_BENCH_CREATED) || are(SW_BENCH_DYNAMIC))
            free(memory[way]);
    }
    for (int way = 0; way < sw_run.modes; way++)
        free(origin[way]);
}

/* Fences and counters have one size. */
static bool measure(int which)
{
    const sw_bench_plan_t *plan = sw_run.plan;
    kind_t kind = operations[which].kind;
    bool sized = kind < FENCE, right = true;
    for (int s = 0; s < (sized ? plan->size_count : 1); s++) {
        size_t size = sized ? plan->size[s] : kind == FENCE ? 0 : 8;
        count = (int)(size / sizeof(double));
        sw_cell_t cell = {.name = operations[which].name,
                          .what = &operations[which].kind, .repeat = repeat,
                          .size = size, .check = check, .share = 1};
        right &= sw_measure(&cell);
    }
    return right;
}

bool sw_onesided(bool (*start)(void))
{
    const sw_bench_plan_t *plan = sw_run.plan;
    bool right = true;
    room = (size_t)1 << 16;
    for (int i = 0; i < plan->size_count; i++)
        room = plan->size[i] > room ? plan->size[i] : room;
    partner = sw_run.rank ^ 1;
    partner = partner < sw_run.ranks ? partner : 0;
    for (int way = 0; way < sw_run.modes; way++) {
        origin[way] = malloc(room);
        if (!origin[way])
            MPI_Abort(sw_run.comm, 1);
        memset(origin[way], 0, room);
    }
    make_windows();
    if (!start())
        return false;
    for (int i = 0; i < OPERATIONS; i++)
        if (sw_chosen(plan->onesided, operations[i].name))
            right &= measure(i);
    free_windows();
    return right;
}
