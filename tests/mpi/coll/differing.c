/*
 * differing.c - members of one reduction may differ in all that MPI lets them
 * choose by themselves.
 *
 *   differing SEED ROUNDS [LAYOUTS]
 *
 * A user's operation takes elements of two unsigned ints. Each member gives
 * them a datatype of its own: dense, with gaps, backwards, from before the
 * buffer on, a predefined pair, or at absolute addresses. It takes memory of
 * one kind or another for them, and MPI_IN_PLACE or not. All choose the
 * operation and its form. Every member knows what must come, and that the bytes
 * between the elements stay as they are.
 *
 * Where the host takes aliased buffers, a single member passes them.
 */
#include "mpi/test.h"

#define MOST 6000 /* elements */
#define WIDEST 32 /* bytes from an element to the next, at most */
#define BEFORE 64
#define ROOM (BEFORE + WIDEST * MOST + 64)

typedef enum { DENSE, PAIR, GAPS, BACKWARDS, EARLIER, ABSOLUTE, LAYOUTS } lay_t;
typedef enum { REDUCE, ALLREDUCE, SCATTER, BLOCK, SCAN, EXSCAN, CALLS } call_t;
typedef enum { BLOCKING, NONBLOCKING, PERSISTENT } form_t;

typedef struct {
    MPI_Datatype type;
    long at[2], step; /* bytes */
} layout_t;

typedef struct {
    unsigned a, b;
} pair_t;

static layout_t layouts[LAYOUTS];
static size_t taken = LAYOUTS; /* of these, the first */
static char places[2][ROOM];
static pair_t *expected;

static pair_t combined(pair_t x, pair_t y, bool sums)
{
    if (sums)
        return (pair_t){x.a + y.a, x.b + y.b};
    return (pair_t){x.a * y.a, x.b * y.a + y.b}; /* x, and then y */
}

static void place(char *base, const layout_t *l, long i, pair_t x)
{
    memcpy(base + i * l->step + l->at[0], &x.a, sizeof x.a);
    memcpy(base + i * l->step + l->at[1], &x.b, sizeof x.b);
}

static pair_t placed(const char *base, const layout_t *l, long i)
{
    pair_t x;
    memcpy(&x.a, base + i * l->step + l->at[0], sizeof x.a);
    memcpy(&x.b, base + i * l->step + l->at[1], sizeof x.b);
    return x;
}

static const layout_t *layout_of(MPI_Datatype type)
{
    for (int l = 0; l < LAYOUTS; l++)
        if (layouts[l].type == type)
            return &layouts[l];
    fail("an operation is called with a datatype that nobody gave");
}

static void apply(void *in, void *inout, int n, MPI_Datatype type, bool sums)
{
    const layout_t *l = layout_of(type);
    for (int i = 0; i < n; i++)
        place(inout, l, i,
              combined(placed(in, l, i), placed(inout, l, i), sums));
}

static void sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    apply(in, inout, *n, *type, true);
}

static void follow(void *in, void *inout, int *n, MPI_Datatype *type)
{
    apply(in, inout, *n, *type, false);
}

static void lay(lay_t l, MPI_Aint first, MPI_Aint second, MPI_Aint step)
{
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {first, second};
    MPI_Datatype ints[2] = {MPI_UNSIGNED, MPI_UNSIGNED}, bare;
    MPI_Type_create_struct(2, lengths, at, ints, &bare);
    MPI_Type_create_resized(bare, first < second ? first : second, step,
                            &layouts[l].type);
    MPI_Type_commit(&layouts[l].type);
    MPI_Type_free(&bare);
    layouts[l].at[0] = (long)first;
    layouts[l].at[1] = (long)second;
    layouts[l].step = (long)step;
}

static pair_t element(uint64_t key, int member, size_t i)
{
    uint64_t x = key2(key, key2((uint64_t)member, i));
    return (pair_t){(unsigned)x | 1, (unsigned)(x >> 32)};
}

/* What member `me` gets, of `from` members, from element `first` on. */
static void expect(uint64_t key, bool sums, int from, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pair_t x = element(key, 0, first + i);
        for (int m = 1; m < from; m++)
            x = combined(x, element(key, m, first + i), sums);
        expected[i] = x;
    }
}

typedef struct {
    call_t call;
    form_t form;
    MPI_Op op;
    int root, count, *counts;
} what_t;

static MPI_Request request;

#if HAVE_PERSISTENT
#define INIT(CALL) CALL
#else
#define INIT(CALL) (void)0
#endif
#define MAKE(NAME, INAME, ...)                                             \
    do {                                                                   \
        if (w->form == BLOCKING)                                           \
            MPI_##NAME(__VA_ARGS__);                                       \
        else if (w->form == NONBLOCKING)                                   \
            MPI_##INAME(__VA_ARGS__, &request);                            \
        else                                                               \
            INIT(MPI_##NAME##_init(__VA_ARGS__, MPI_INFO_NULL, &request)); \
    } while (0)

static void make(const what_t *w, const void *send, void *recv,
                 MPI_Datatype type)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    switch (w->call) {
    case REDUCE:
        MAKE(Reduce, Ireduce, send, recv, w->count, type, w->op, w->root, comm);
        break;
    case ALLREDUCE:
        MAKE(Allreduce, Iallreduce, send, recv, w->count, type, w->op, comm);
        break;
    case SCATTER:
        MAKE(Reduce_scatter, Ireduce_scatter, send, recv, w->counts, type,
             w->op, comm);
        break;
    case BLOCK:
        MAKE(Reduce_scatter_block, Ireduce_scatter_block, send, recv, w->count,
             type, w->op, comm);
        break;
    case SCAN:
        MAKE(Scan, Iscan, send, recv, w->count, type, w->op, comm);
        break;
    default: MAKE(Exscan, Iexscan, send, recv, w->count, type, w->op, comm);
    }
    if (w->form == PERSISTENT)
        MPI_Start(&request);
    if (w->form != BLOCKING)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (w->form == PERSISTENT)
        MPI_Request_free(&request);
}

/* A member's own memory: static, or the heap's. */
static char *memory(rng_t *own, int which)
{
    char *at = rng_one_in(own, 2) ? places[which] : malloc(ROOM);
    memset(at, 0x5a, ROOM);
    return at;
}

static void drop(char *at)
{
    if (at != places[0] && at != places[1])
        free(at);
}

static void check(const char *at, lay_t of, const layout_t *l, size_t n,
                  const what_t *w)
{
    static char right[ROOM];
    memset(right, 0x5a, ROOM);
    for (size_t i = 0; i < n; i++)
        place(right + BEFORE, l, (long)i, expected[i]);
    for (size_t i = 0; i < ROOM; i++)
        CHECK(at[i] == right[i],
              "call %d, form %d, layout %d, %zu elements: "
              "byte %ld is wrong",
              (int)w->call, (int)w->form, (int)of, n, (long)i - BEFORE);
}

static void round_of(uint64_t key)
{
    rng_t all = rng_from(key), own = rng_from(key2(key, world_rank + 1u));
    int n = world_size, counts[64];
    what_t w = {.call = (call_t)rng_below(&all, CALLS),
                .form = (form_t)rng_below(&all, HAVE_PERSISTENT ? 3 : 2),
                .root = (int)rng_below(&all, (size_t)n),
                .counts = counts};
    bool sums = rng_one_in(&all, 2);
    size_t most = rng_size(&all, MOST / (size_t)n), ins = 0, first = 0;
    MPI_Op_create(sums ? sum : follow, sums, &w.op);
    w.count = (int)most;
    for (int m = 0; m < n; m++) {
        counts[m] = (int)rng_below(&all, most + 1);
        first += m < world_rank ? (size_t)counts[m] : 0;
        ins += (size_t)counts[m];
    }
    if (w.call != SCATTER)
        ins = w.call == BLOCK ? most * (size_t)n : most;
    size_t outs = w.call == SCATTER ? (size_t)counts[world_rank] : most;
    if (w.call == BLOCK)
        first = most * (size_t)world_rank;
    else if (w.call != SCATTER)
        first = 0;
    bool gets = !(w.call == REDUCE && world_rank != w.root) &&
                !(w.call == EXSCAN && world_rank == 0);
    bool may_stay = w.call != REDUCE || world_rank == w.root;
    lay_t of = (lay_t)rng_below(&own, taken);
    bool stays = may_stay && (of == ABSOLUTE || rng_one_in(&own, 3));
    char *in = of == ABSOLUTE ? places[0] : memory(&own, 0);
    char *out = stays ? in : memory(&own, 1);
    memset(in, 0x5a, ROOM);
    const layout_t *l = &layouts[of];
    char *base = of == ABSOLUTE ? MPI_BOTTOM : in + BEFORE;
    /* The absolute type's own layout, as seen from the buffer. */
    layout_t seen = *l;
    if (of == ABSOLUTE) {
        seen.at[0] = 4;
        seen.at[1] = 12;
    }
    for (size_t i = 0; i < ins; i++)
        place(in + BEFORE, &seen, (long)i, element(key, world_rank, i));
    make(&w, stays ? MPI_IN_PLACE : base, stays ? base : out + BEFORE, l->type);
    expect(key, sums,
           w.call == SCAN     ? world_rank + 1
           : w.call == EXSCAN ? world_rank
                              : n,
           first, outs);
    if (gets && !(stays && outs < ins)) /* the rest is not defined */
        check(out, of, &seen, outs, &w);
    if (!stays)
        drop(out);
    if (of != ABSOLUTE)
        drop(in);
    MPI_Op_free(&w.op);
}

/* Aliased buffers at one member, where the host takes them there. */
static void aliased(void)
{
    MPI_Comm own, all;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank, 0, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &all); /* errors end the job */
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    /* Open MPI raises the error there. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int count = 1; count < 3000; count = count * 4 + 1) {
        int *one = malloc((size_t)count * sizeof *one), can[3];
        int *two = malloc((size_t)count * sizeof *two);
        for (int i = 0; i < count; i++)
            one[i] = 1;
        can[0] = MPI_Allreduce(one, one, count, MPI_INT, MPI_MAX, own);
        can[1] = MPI_Reduce(one, one, count, MPI_INT, MPI_MAX, 0, own);
        can[2] = MPI_Scan(one, one, count, MPI_INT, MPI_MAX, own);
        for (int who = 0; who < world_size; who++) {
            void *to = who == world_rank ? one : two;
            if (can[0] == MPI_SUCCESS)
                MPI_Allreduce(one, to, count, MPI_INT, MPI_MAX, all);
            if (can[1] == MPI_SUCCESS)
                MPI_Reduce(one, to, count, MPI_INT, MPI_MAX, who, all);
            if (can[2] == MPI_SUCCESS)
                MPI_Scan(one, to, count, MPI_INT, MPI_MAX, all);
        }
        free(one);
        free(two);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&own);
    MPI_Comm_free(&all);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    uint64_t seed = (uint64_t)argument(argc, argv, 1, 1);
    long rounds = argument(argc, argv, 2, 100);
    taken = (size_t)argument(argc, argv, 3, LAYOUTS);
    MPI_Aint there;
    expected = malloc(MOST * sizeof *expected);
    lay(DENSE, 0, 4, 8);
    lay(GAPS, 0, 8, 24);
    lay(BACKWARDS, 4, 0, 8);
    lay(EARLIER, -16, 4, 32);
    MPI_Get_address(places[0] + BEFORE, &there);
    lay(ABSOLUTE, there + 4, there + 12, 24);
    layouts[PAIR] = (layout_t){MPI_2INT, {0, 4}, 8};
    aliased();
    for (long i = 0; i < rounds; i++)
        round_of(key2(seed, (uint64_t)i));
    for (int l = 0; l < LAYOUTS; l++)
        if (l != PAIR)
            MPI_Type_free(&layouts[l].type);
    free(expected);
    test_end();
    return 0;
}
