/*
 * onesided.c - windows, by the host and by Straightway.
 *
 *   put, get            and a flush: what an origin waits for
 *   accumulate          of doubles, and a flush; get_accumulate alike
 *   puts, gets, ...     eight of them and one flush: the time of one
 *   count               a fetch_and_op and a flush, on the partner's counter
 *   lock                an exclusive lock, a put of 8 bytes, and the unlock
 *   fence               all ranks
 *   fetch_and_op        all ranks, and a flush, on one counter of rank 0
 *
 * Ranks 0 and 1 are a pair, 2 and 3 the next: even ranks are origins. Their
 * partners wait in the host's barrier meanwhile, where the host serves its
 * windows. Each window is settled when it is
 * made: the members serve it, or the host does. So each mode has windows of its
 * own: one whose targets stay locked, one for fences, and one for locks.
 */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sampling.h"

/* Those before COUNT have sizes. */
typedef enum {
    PUT,
    GET,
    ACCUMULATE,
    GET_ACCUMULATE,
    COUNT,
    LOCK,
    FENCE,
    FETCH_AND_OP
} kind_t;

enum { SEVERAL = 8 };

typedef struct {
    const char *name;
    kind_t kind;
    int flushed; /* calls with one flush */
} operation_t;

static const operation_t operations[] = {
    {"put", PUT, 1},
    {"get", GET, 1},
    {"accumulate", ACCUMULATE, 1},
    {"get_accumulate", GET_ACCUMULATE, 1},
    {"puts", PUT, SEVERAL},
    {"gets", GET, SEVERAL},
    {"accumulates", ACCUMULATE, SEVERAL},
    {"get_accumulates", GET_ACCUMULATE, SEVERAL},
    {"count", COUNT, 1},
    {"lock", LOCK, 1},
    {"fence", FENCE, 1},
    {"fetch_and_op", FETCH_AND_OP, 1},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static MPI_Win locked[SW_MODES], fenced[SW_MODES], lockable[SW_MODES];
static double *memory[SW_MODES], *lock_memory[SW_MODES];
/* Each mode has its own: a copy past the caches must not cost the other. */
static double *origin[SW_MODES], *fetched[SW_MODES];
/* Displacements: of the partner, there in the window for locks, and of rank
 * 0. */
static MPI_Aint at[SW_MODES], at_lockable[SW_MODES], at_first[SW_MODES];
static int count, partner;
static size_t room;

static bool is_origin(void)
{
    return sw_run.rank % 2 == 0;
}

static int target_of(kind_t kind)
{
    return kind == FETCH_AND_OP ? 0 : partner;
}

static int access(kind_t kind, int way)
{
    MPI_Win window = locked[way];
    MPI_Aint to = at[way];
    double *mine = origin[way], *back = fetched[way];
    double one = 1, old;
    long unit = 1, was;
    switch (kind) {
    case PUT:
        return MPI_Put(mine, count, MPI_DOUBLE, partner, to, count, MPI_DOUBLE,
                       window);
    case GET:
        return MPI_Get(mine, count, MPI_DOUBLE, partner, to, count, MPI_DOUBLE,
                       window);
    case ACCUMULATE:
        return MPI_Accumulate(mine, count, MPI_DOUBLE, partner, to, count,
                              MPI_DOUBLE, MPI_SUM, window);
    case GET_ACCUMULATE:
        return MPI_Get_accumulate(mine, count, MPI_DOUBLE, back, count,
                                  MPI_DOUBLE, partner, to, count, MPI_DOUBLE,
                                  MPI_SUM, window);
    case COUNT:
        return MPI_Fetch_and_op(&unit, &was, MPI_LONG, partner, to, MPI_SUM,
                                window);
    default:
        return MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, 0, at_first[way],
                                MPI_SUM, window);
    }
}

static int lock_and_put(int way)
{
    int error = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, partner, 0, lockable[way]);
    error |= MPI_Put(origin[way], 1, MPI_DOUBLE, partner, at_lockable[way], 1,
                     MPI_DOUBLE, lockable[way]);
    return error | MPI_Win_unlock(partner, lockable[way]);
}

static int repeat(const void *what, int way, int calls, double *seconds)
{
    const operation_t *operation = what;
    kind_t kind = operation->kind;
    int error = 0;
    double begin = sw_now();
    if (kind == FENCE)
        for (int i = 0; i < calls; i++)
            error |= MPI_Win_fence(0, fenced[way]);
    else if (kind == LOCK)
        for (int i = 0; is_origin() && i < calls; i++)
            error |= lock_and_put(way);
    else if (kind == FETCH_AND_OP || is_origin())
        for (int i = 0; i < calls; i++) {
            for (int k = 0; k < operation->flushed; k++)
                error |= access(kind, way);
            error |= MPI_Win_flush(target_of(kind), locked[way]);
        }
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
static bool is_right(const operation_t *operation, int way)
{
    kind_t kind = operation->kind;
    const double *looked_at = kind == GET ? origin[way] : memory[way];
    bool looks = is_origin() ? kind == GET : kind != GET;
    bool sums = kind == ACCUMULATE || kind == GET_ACCUMULATE;
    long counted = 0;
    if (kind == FETCH_AND_OP)
        return sw_run.rank || memory[way][0] == sw_run.ranks;
    if (kind == LOCK)
        return is_origin() || lock_memory[way][0] == 7;
    if (kind == COUNT)
        memcpy(&counted, memory[way], sizeof counted);
    if (kind >= COUNT)
        return kind != COUNT || is_origin() || counted == 1;
    for (int i = 0; looks && i < count; i++)
        if (looked_at[i] !=
            (sums ? 10 + operation->flushed * (i % 1000) : 7 + i % 1000))
            return false;
    return true;
}

static bool check(const sw_cell_t *cell, int way)
{
    const operation_t *operation = cell->what;
    kind_t kind = operation->kind;
    bool sums = kind == ACCUMULATE || kind == GET_ACCUMULATE;
    double seconds;
    fill(origin[way], kind == PUT || kind == LOCK ? 7 : 0);
    MPI_Win_sync(locked[way]);
    fill(memory[way], kind == GET ? 7 : 10);
    for (int i = 0; sums && i < count; i++)
        memory[way][i] = 10;
    if (kind == FETCH_AND_OP || kind == COUNT)
        memory[way][0] = 0;
    MPI_Win_sync(locked[way]);
    sw_meet();
    int error = repeat(cell->what, way, 1, &seconds);
    sw_meet();
    MPI_Win_sync(locked[way]);
    if (sw_run.plan->corrupt && way == SW_OURS)
        memory[way][0] = origin[way][0] = -1;
    int right = !error && is_right(operation, way), all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, sw_run.comm);
    fill(origin[way], 0); /* sums stay finite */
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
        MPI_Win_create(*base, bytes, sizeof(double), MPI_INFO_NULL, sw_run.comm,
                       window);
    }
}

/* Displacements in a dynamic window are addresses. */
static void find_places(const double *own, MPI_Aint *of_partner,
                        MPI_Aint *of_first)
{
    MPI_Aint address;
    MPI_Aint *all = malloc((size_t)sw_run.ranks * sizeof *all);
    if (!all)
        MPI_Abort(sw_run.comm, 1);
    MPI_Get_address(own, &address);
    MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, sw_run.comm);
    *of_partner = are(SW_BENCH_DYNAMIC) ? all[partner] : 0;
    *of_first = are(SW_BENCH_DYNAMIC) ? all[0] : 0;
    free(all);
}

static double *own_memory(void)
{
    return are(SW_BENCH_MAPPED) ? mmap(NULL, room, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
           : are(SW_BENCH_CREATED) || are(SW_BENCH_DYNAMIC) ? malloc(room)
                                                            : NULL;
}

static void free_memory(double *own)
{
    if (are(SW_BENCH_MAPPED))
        munmap(own, room);
    else if (are(SW_BENCH_CREATED) || are(SW_BENCH_DYNAMIC))
        free(own);
}

static void make_windows(void)
{
    const sw_bench_plan_t *plan = sw_run.plan;
    for (int way = 0; way < sw_run.modes; way++) {
        int before = plan->accelerate ? plan->accelerate(way == SW_OURS) : 0;
        MPI_Aint none;
        memory[way] = own_memory();
        lock_memory[way] = own_memory();
        double *other = memory[way];
        make_window(way, &locked[way], &memory[way]);
        make_window(way, &fenced[way], &other);
        make_window(way, &lockable[way], &lock_memory[way]);
        memset(memory[way], 0, room);
        memset(lock_memory[way], 0, room);
        find_places(memory[way], &at[way], &at_first[way]);
        find_places(lock_memory[way], &at_lockable[way], &none);
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
        MPI_Win_free(&lockable[way]);
        free_memory(memory[way]);
        free_memory(lock_memory[way]);
        free(origin[way]);
        free(fetched[way]);
    }
}

/* Fences and counters have one size. */
static bool measure(const operation_t *operation)
{
    const sw_bench_plan_t *plan = sw_run.plan;
    kind_t kind = operation->kind;
    bool sized = kind < COUNT, right = true;
    for (int s = 0; s < (sized ? plan->size_count : 1); s++) {
        size_t size = sized ? plan->size[s] : kind == FENCE ? 0 : 8;
        count = (int)(size / sizeof(double));
        sw_cell_t cell = {.name = operation->name,
                          .what = operation,
                          .repeat = repeat,
                          .size = size,
                          .check = check,
                          .share = 1.0 / operation->flushed};
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
        fetched[way] = malloc(room);
        if (!origin[way] || !fetched[way])
            MPI_Abort(sw_run.comm, 1);
        memset(origin[way], 0, room);
        memset(fetched[way], 0, room);
    }
    make_windows();
    if (!start())
        return false;
    for (int i = 0; i < OPERATIONS; i++)
        if (sw_chosen(plan->onesided, operations[i].name))
            right &= measure(&operations[i]);
    free_windows();
    return right;
}
