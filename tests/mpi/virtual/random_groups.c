/*
 * random_groups.c - collectives between two groups of random members, blocking,
 * nonblocking and persistent. Each receiver checks the bytes: they follow from
 * the call, the sender and the place.
 *
 *   random_groups SEED ROUNDS
 *
 * Each round draws groups and makes a communicator between them. At times it
 * also makes a duplicate, a part, or one of both groups together. Then it calls
 * a few collectives on it; several nonblocking ones may be under way. A rank
 * may be late, and may ask for the time.
 */
#include "mpi/test.h"

enum { MOST = 1500, PENDING = 4 };

typedef enum {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    KINDS
} what_t;
static const char *const names[KINDS] = {
    "Barrier",    "Bcast",          "Reduce",
    "Allreduce",  "Gather",         "Gatherv",
    "Scatter",    "Scatterv",       "Allgather",
    "Allgatherv", "Alltoall",       "Alltoallv",
    "Alltoallw",  "Reduce_scatter", "Reduce_scatter_block"};

typedef struct {
    MPI_Comm comm;
    int me, size, remote, side; /* side: the first group or second */
} groups_t;

typedef struct {
    what_t what;
    uint64_t key;
    int n, root, root_side; /* n: ints of a block */
    int *out, *in;
    int *sizes, *places, *other_sizes, *other_places;
    MPI_Datatype *types;
    MPI_Request request;
} call_t;

static uint64_t seed;
static long calls;

static void wrong(const groups_t *g, const call_t *c, int at, int is, int must)
{
    printf("rank %d: %s of %d ints (root %d of side %d), key %#llx, side %d, "
           "%d and %d members: at %d is %d, not %d\n",
           world_rank, names[c->what], c->n, c->root, c->root_side,
           (unsigned long long)c->key, g->side, g->size, g->remote, at, is,
           must);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Of a member of a side, to a member of the other (or all: 0). */
static int value(const call_t *c, int side, int from, int to, int i)
{
    return (int)(key2(c->key, (uint64_t)side << 60 ^ (uint64_t)from << 40 ^
                                  (uint64_t)to << 24 ^ (uint64_t)i) &
                 0xffff);
}

/* How much the member `from` has for `to`, where that differs. */
static int some(const call_t *c, int side, int from, int to)
{
    return c->n ? value(c, side + 2, from, to, 0) % (c->n + 1) : 0;
}

static bool is_root(const groups_t *g, const call_t *c)
{
    return g->side == c->root_side && g->me == c->root;
}

static int root_of(const groups_t *g, const call_t *c)
{
    return g->side != c->root_side ? c->root
           : g->me == c->root      ? MPI_ROOT
                                   : MPI_PROC_NULL;
}

static void sizes(const groups_t *g, call_t *c)
{
    int all = g->size + g->remote, at = 0, other = 0;
    c->sizes = calloc((size_t)all * 4 + 4, sizeof(int));
    c->places = c->sizes + all;
    c->other_sizes = c->places + all;
    c->other_places = c->other_sizes + all;
    c->types = malloc((size_t)all * sizeof *c->types);
    bool rooted = c->what == GATHERV || c->what == SCATTERV ||
                  c->what == ALLGATHERV;
    bool scatters = c->what == SCATTERV;
    bool words = c->what != ALLTOALLW;
    for (int i = 0; i < all; i++)
        c->types[i] = MPI_INT;
    if (c->what == REDUCE_SCATTER) {
        for (int i = 0; i < g->size; i++)
            c->sizes[i] = c->n * g->remote;
        return;
    }
    for (int i = 0; i < g->remote; i++) {
        /* What goes to i, and what comes from it. */
        c->sizes[i] = rooted && !scatters
                          ? 0
                          : some(c, g->side, rooted ? 0 : g->me, i);
        c->other_sizes[i] = some(c, !g->side, i, rooted ? 0 : g->me);
        if (scatters)
            c->other_sizes[i] = some(c, !g->side, 0, g->me);
        c->places[i] = words ? at : at * (int)sizeof(int);
        c->other_places[i] = words ? other : other * (int)sizeof(int);
        at += c->sizes[i];
        other += c->other_sizes[i];
    }
}

static int place(const call_t *c, const int *places, int i)
{
    return c->what == ALLTOALLW ? places[i] / (int)sizeof(int) : places[i];
}

/* Blocks that it has for others. */
static void fill(const groups_t *g, call_t *c)
{
    int n = c->n, all = g->size + g->remote;
    size_t room = (size_t)(n + 1) * (size_t)(all + 1) * (size_t)(all + 1);
    c->out = malloc(room * sizeof(int));
    c->in = malloc(room * sizeof(int));
    for (size_t i = 0; i < room; i++)
        c->out[i] = c->in[i] = -1;
    sizes(g, c);
    switch (c->what) {
    case SCATTER:
    case ALLTOALL:
        for (int j = 0; j < g->remote; j++)
            for (int i = 0; i < n; i++)
                c->out[j * n + i] = value(c, g->side, g->me, j, i);
        break;
    case SCATTERV:
    case ALLTOALLV:
    case ALLTOALLW:
        for (int j = 0; j < g->remote; j++)
            for (int i = 0; i < c->sizes[j]; i++)
                c->out[place(c, c->places, j) + i] = value(c, g->side, g->me, j,
                                                           i);
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        n *= g->size * g->remote;
        /* fall through */
    default:
        for (int i = 0; i < n; i++)
            c->out[i] = value(c, g->side, g->me, 0, i);
    }
    if (c->what == BCAST && is_root(g, c))
        memcpy(c->in, c->out, (size_t)n * sizeof(int));
}

static int sum(const groups_t *g, const call_t *c, int i)
{
    int all = 0;
    for (int j = 0; j < g->remote; j++)
        all += value(c, !g->side, j, 0, i);
    return all;
}

static void same(const groups_t *g, const call_t *c, int at, int must)
{
    if (c->in[at] != must)
        wrong(g, c, at, c->in[at], must);
}

static void check(const groups_t *g, const call_t *c)
{
    int n = c->n;
    bool gets = g->side != c->root_side, root = is_root(g, c);
    switch (c->what) {
    case BARRIER:
    case KINDS: break;
    case BCAST:
    case SCATTER:
        for (int i = 0; i < n && gets; i++)
            same(
                g, c, i,
                value(c, !g->side, c->root, c->what == SCATTER ? g->me : 0, i));
        break;
    case SCATTERV:
        for (int i = 0; i < some(c, !g->side, 0, g->me) && gets; i++)
            same(g, c, i, value(c, !g->side, c->root, g->me, i));
        break;
    case REDUCE:
        for (int i = 0; i < n && root; i++)
            same(g, c, i, sum(g, c, i));
        break;
    case ALLREDUCE:
        for (int i = 0; i < n; i++)
            same(g, c, i, sum(g, c, i));
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        n *= g->remote;
        for (int i = 0; i < n; i++)
            same(g, c, i, sum(g, c, g->me * n + i));
        break;
    case GATHER:
    case ALLGATHER:
    case ALLTOALL:
        for (int j = 0; j < g->remote && (c->what != GATHER || root); j++)
            for (int i = 0; i < n; i++)
                same(g, c, j * n + i,
                     value(c, !g->side, j, c->what == ALLTOALL ? g->me : 0, i));
        break;
    case GATHERV:
    case ALLGATHERV:
    case ALLTOALLV:
    case ALLTOALLW:
        for (int j = 0; j < g->remote && (c->what != GATHERV || root); j++)
            for (int i = 0; i < c->other_sizes[j]; i++)
                same(g, c, place(c, c->other_places, j) + i,
                     value(c, !g->side, j, c->what >= ALLTOALL ? g->me : 0, i));
        break;
    }
    free(c->out);
    free(c->in);
    free(c->sizes);
    free(c->types);
    calls++;
}

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS } form_t;

/* Not every host has persistent ones. */
#if MPI_VERSION >= 4
#define HAS_PERSISTENT 1
#define INIT(name, ...) \
    MPI_##name##_init(__VA_ARGS__, g->comm, MPI_INFO_NULL, &c->request)
#else
#define HAS_PERSISTENT 0
#define INIT(name, ...) abort()
#endif

#define CASE(KIND, name, iname, ...)                        \
    case KIND:                                              \
        if (form == BLOCKING)                               \
            MPI_##name(__VA_ARGS__, g->comm);               \
        else if (form == NONBLOCKING)                       \
            MPI_##iname(__VA_ARGS__, g->comm, &c->request); \
        else                                                \
            INIT(name, __VA_ARGS__);                        \
        break

static void begin(const groups_t *g, call_t *c, form_t form)
{
    int n = c->n, root = root_of(g, c), many = n * g->remote;
    int mine = c->what == SCATTERV ? some(c, !g->side, 0, g->me)
                                   : some(c, g->side, g->me, 0);
    int *sizes = c->sizes, *places = c->places;
    int *others = c->other_sizes, *other_places = c->other_places;
    MPI_Datatype t = MPI_INT;
    c->request = MPI_REQUEST_NULL;
    switch (c->what) {
    case BARRIER:
        if (form == BLOCKING)
            MPI_Barrier(g->comm);
        else if (form == NONBLOCKING)
            MPI_Ibarrier(g->comm, &c->request);
#if HAS_PERSISTENT
        else
            MPI_Barrier_init(g->comm, MPI_INFO_NULL, &c->request);
#endif
        break;
        CASE(BCAST, Bcast, Ibcast, c->in, n, t, root);
        CASE(REDUCE, Reduce, Ireduce, c->out, c->in, n, t, MPI_SUM, root);
        CASE(ALLREDUCE, Allreduce, Iallreduce, c->out, c->in, n, t, MPI_SUM);
        CASE(GATHER, Gather, Igather, c->out, n, t, c->in, n, t, root);
        CASE(GATHERV, Gatherv, Igatherv, c->out, mine, t, c->in, others,
             other_places, t, root);
        CASE(SCATTER, Scatter, Iscatter, c->out, n, t, c->in, n, t, root);
        CASE(SCATTERV, Scatterv, Iscatterv, c->out, sizes, places, t, c->in,
             mine, t, root);
        CASE(ALLGATHER, Allgather, Iallgather, c->out, n, t, c->in, n, t);
        CASE(ALLGATHERV, Allgatherv, Iallgatherv, c->out, mine, t, c->in,
             others, other_places, t);
        CASE(ALLTOALL, Alltoall, Ialltoall, c->out, n, t, c->in, n, t);
        CASE(ALLTOALLV, Alltoallv, Ialltoallv, c->out, sizes, places, t, c->in,
             others, other_places, t);
        CASE(ALLTOALLW, Alltoallw, Ialltoallw, c->out, sizes, places, c->types,
             c->in, others, other_places, c->types);
        CASE(REDUCE_SCATTER, Reduce_scatter, Ireduce_scatter, c->out, c->in,
             sizes, t, MPI_SUM);
        CASE(REDUCE_SCATTER_BLOCK, Reduce_scatter_block, Ireduce_scatter_block,
             c->out, c->in, many, t, MPI_SUM);
    case KINDS: break;
    }
}

/* MPICH and its kin give the wrong members the data of an MPI_Ibcast, or stop,
 * if its root is not the first of its group. */
#ifdef OMPI_MAJOR_VERSION
#define BCAST_MAY_PEND true
#else
#define BCAST_MAY_PEND false
#endif

/* All members draw alike: from the key of the round. */
static void some_calls(const groups_t *g, uint64_t key)
{
    call_t pending[PENDING];
    int waiting = 0, count = 1 + (int)(key % 6);
    rng_t r = rng_from(key);
    for (int k = 0; k < count; k++) {
        call_t c = {.what = (what_t)rng_below(&r, KINDS), .key = rng_next(&r)};
        form_t form = (form_t)rng_below(&r, 2 + HAS_PERSISTENT);
        if (form == PERSISTENT && c.what >= REDUCE_SCATTER)
            form = NONBLOCKING; /* MPICH 4.0's stop */
        if (c.what == BCAST && !BCAST_MAY_PEND)
            form = BLOCKING;
        bool ends = rng_one_in(&r, 3);
        uint64_t late = key2(c.key, (uint64_t)world_rank);
        c.n = (int)rng_size(&r, MOST);
        c.root_side = (int)rng_below(&r, 2);
        c.root = (int)(rng_next(&r) % (uint64_t)(g->side == c.root_side
                                                     ? g->size
                                                     : g->remote));
        if (late % 8 == 0)
            usleep((unsigned)(late >> 8) % 1000);
        if (late % 8 == 1 && MPI_Wtime() < 0)
            abort();
        fill(g, &c);
        begin(g, &c, form);
        if (form == BLOCKING) {
            check(g, &c);
        } else if (form == PERSISTENT) {
            int times = 1 + (int)(c.key % 2);
            for (int i = 0; i < times; i++) {
                MPI_Start(&c.request);
                MPI_Wait(&c.request, MPI_STATUS_IGNORE);
            }
            MPI_Request_free(&c.request);
            check(g, &c);
        } else {
            pending[waiting++] = c;
        }
        if (waiting == PENDING || ends || k + 1 == count) {
            for (; waiting; waiting--) {
                int done = 0;
                call_t *last = &pending[waiting - 1];
                while (late % 4 == 2 && !done)
                    MPI_Test(&last->request, &done, MPI_STATUS_IGNORE);
                MPI_Wait(&last->request, MPI_STATUS_IGNORE);
                check(g, last);
            }
        }
    }
}

static groups_t groups_of(MPI_Comm comm, int side)
{
    groups_t g = {.comm = comm, .side = side};
    MPI_Comm_rank(comm, &g.me);
    MPI_Comm_size(comm, &g.size);
    MPI_Comm_remote_size(comm, &g.remote);
    return g;
}

static void round_of(uint64_t key)
{
    rng_t r = rng_from(key);
    MPI_Comm local, inter, made;
    int sides[64], first[2] = {-1, -1}, order = (int)rng_below(&r, 2);
    for (int i = 0; i < world_size; i++)
        sides[i] = (int)rng_below(&r, 2);
    int odd = (int)rng_below(&r, (size_t)world_size);
    sides[odd] = 0;
    sides[(odd + 1) % world_size] = 1;
    for (int i = 0; i < world_size; i++) {
        int at = order ? world_size - 1 - i : i;
        if (first[sides[at]] < 0)
            first[sides[at]] = at;
    }
    int side = sides[world_rank];
    MPI_Comm_split(MPI_COMM_WORLD, side, order ? -world_rank : world_rank,
                   &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, first[!side], 5, &inter);
    groups_t g = groups_of(inter, side);
    some_calls(&g, rng_next(&r));
    switch (rng_below(&r, 4)) {
    case 0:
        MPI_Comm_dup(inter, &made);
        g = groups_of(made, side);
        some_calls(&g, rng_next(&r));
        MPI_Comm_free(&made);
        break;
    case 1:
        MPI_Comm_split(inter, 0, world_rank, &made);
        g = groups_of(made, side);
        some_calls(&g, rng_next(&r));
        MPI_Comm_free(&made);
        break;
    case 2: {
        int one = 1, all = 0;
        MPI_Intercomm_merge(inter, side, &made);
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, made);
        CHECK(all == world_size, "%d of %d together", all, world_size);
        MPI_Comm_free(&made);
        break;
    }
    default: break;
    }
    g = groups_of(inter, side);
    some_calls(&g, rng_next(&r));
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    seed = (uint64_t)argument(argc, argv, 1, 1);
    long rounds = argument(argc, argv, 2, 20);
    for (long i = 0; i < rounds && world_size > 1; i++)
        round_of(key2(seed, (uint64_t)i));
    if (world_rank == 0)
        printf("%ld calls right\n", calls);
    test_end();
    return 0;
}
