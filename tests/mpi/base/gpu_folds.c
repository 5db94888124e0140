/*
 * Reductions of vectors in a device's memory, under a host that knows no
 * devices: the same calls with ordinary memory, on another communicator, give
 * the same bytes. A touch of the device's pages by the host, or by us, ends the
 * program.
 *
 *     gpu_folds DRIVER MODE CALLS
 *
 * MODE is one of:
 *
 *     all     all data are a device's
 *     some    those of some members, or of one side
 *     again   memory is freed and made again between the calls
 *     local   MPI_Reduce_local
 */
#include "gpu_memory.h"

#define MOST ((size_t)300 << 10)
#define GUARD ((size_t)64)
#define ROOM (MOST + 2 * GUARD)

/* What is reduced ---------------------------------------------------------- */

enum { SUM = 1, PROD = 2, ORDER = 4, BITS = 8, LOGICAL = 16, PAIRS = 32 };
enum { NUMBERS = SUM | PROD | ORDER, INTEGERS = NUMBERS | BITS | LOGICAL };
enum { RAW, FLOATS, DOUBLES, TRUTHS, LONGS };

static struct {
    MPI_Op op;
    int sort;
} ops[16];
static int op_count;

static struct {
    MPI_Datatype type;
    size_t bytes;
    int sorts, fill;
} types[32];
static int type_count;

static void add_op(MPI_Op op, int sort)
{
    ops[op_count].op = op;
    ops[op_count++].sort = sort;
}

static void add_type(MPI_Datatype type, int sorts, int fill)
{
    MPI_Aint low, extent;
    if (type == MPI_DATATYPE_NULL)
        return;
    MPI_Type_get_extent(type, &low, &extent);
    types[type_count].type = type;
    types[type_count].bytes = (size_t)extent;
    types[type_count].sorts = sorts;
    types[type_count++].fill = fill;
}

static void list_all(void)
{
    add_op(MPI_SUM, SUM);
    add_op(MPI_PROD, PROD);
    add_op(MPI_MAX, ORDER);
    add_op(MPI_MIN, ORDER);
    add_op(MPI_LAND, LOGICAL);
    add_op(MPI_LOR, LOGICAL);
    add_op(MPI_LXOR, LOGICAL);
    add_op(MPI_BAND, BITS);
    add_op(MPI_BOR, BITS);
    add_op(MPI_BXOR, BITS);
    add_op(MPI_MAXLOC, PAIRS);
    add_type(MPI_SIGNED_CHAR, INTEGERS, RAW);
    add_type(MPI_UINT8_T, INTEGERS, RAW);
    add_type(MPI_SHORT, INTEGERS, RAW);
    add_type(MPI_UINT16_T, INTEGERS, RAW);
    add_type(MPI_INT, INTEGERS, RAW);
    add_type(MPI_UNSIGNED, INTEGERS, RAW);
    add_type(MPI_LONG, INTEGERS, RAW);
    add_type(MPI_UINT64_T, INTEGERS, RAW);
    add_type(MPI_BYTE, BITS, RAW);
    add_type(MPI_C_BOOL, LOGICAL, TRUTHS);
    for (int i = 0; i < 3; i++) {
        add_type(MPI_FLOAT, NUMBERS, FLOATS);
        add_type(MPI_DOUBLE, NUMBERS, DOUBLES);
    }
    add_type(MPI_C_FLOAT_COMPLEX, SUM | PROD, FLOATS);
    add_type(MPI_C_DOUBLE_COMPLEX, SUM, DOUBLES);
    add_type(MPI_LONG_DOUBLE, NUMBERS, LONGS);
    add_type(MPI_2INT, PAIRS, RAW);
}

static void fill_with(char *at, size_t bytes, int fill, uint64_t key)
{
    rng_t r = rng_from(key);
    if (fill == RAW) {
        fill_from(at, bytes, key);
    } else if (fill == TRUTHS) {
        for (size_t i = 0; i < bytes; i++)
            at[i] = (char)rng_below(&r, 2);
    } else {
        size_t one = fill == FLOATS    ? 4
                     : fill == DOUBLES ? 8
                                       : sizeof(long double);
        memset(at, 0, bytes);
        for (size_t i = 0; i + one <= bytes; i += one) {
            double d = ((double)rng_below(&r, 2001) - 1000) / 7;
            float f = (float)d;
            long double l = d;
            if (fill == LONGS)
                memcpy(at + i, &l, 10);
            else
                memcpy(at + i, fill == FLOATS ? (void *)&f : (void *)&d, one);
        }
    }
}

/* Memory ------------------------------------------------------------------- */

typedef struct {
    char *user, *seen; /* for MPI, and for the processor */
    bool device;
} memory_t;

static memory_t make(bool device)
{
    memory_t m = {.device = device};
    unsigned long long at = 0;
    if (device && device_real) {
        m.user = device_allocate(ROOM, 0);
        m.seen = device_alias(m.user);
    } else if (device) {
        CHECK(gpu_call.cuMemAlloc_v2(&at, ROOM) == 0, "no memory of a device");
        m.user = (char *)(uintptr_t)at;
        m.seen = device_alias(m.user);
    } else {
        m.user = m.seen = malloc(ROOM);
    }
    CHECK(m.seen, "no memory");
    return m;
}

static void end(memory_t *m)
{
    if (m->device)
        device_free(m->user);
    else
        free(m->user);
}

static memory_t in[2], out[2], plain_in, plain_out;

/* Calls -------------------------------------------------------------------- */

enum { ALLREDUCE, REDUCE, SCATTER, BLOCK, SCAN, EXSCAN, PROCEDURES };
static const char *const names[PROCEDURES] = {
    "Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block",
    "Scan",      "Exscan"};

typedef struct {
    int proc, op, type, root;
    int n; /* elements of an operand */
    int counts[16];
    bool in_place;
} call_t;

static void call(const call_t *c, const char *from, char *to, MPI_Comm comm)
{
    const void *send = from;
    MPI_Datatype type = types[c->type].type;
    MPI_Op op = ops[c->op].op;
    if (c->in_place)
        send = MPI_IN_PLACE;
    switch (c->proc) {
    case ALLREDUCE: MPI_Allreduce(send, to, c->n, type, op, comm); break;
    case REDUCE:
        MPI_Reduce(world_rank == c->root ? send
                   : c->in_place         ? to
                                         : from,
                   to, c->n, type, op, c->root, comm);
        break;
    case SCATTER:
        MPI_Reduce_scatter(send, to, c->counts, type, op, comm);
        break;
    case BLOCK:
        MPI_Reduce_scatter_block(send, to, c->counts[0], type, op, comm);
        break;
    case SCAN: MPI_Scan(send, to, c->n, type, op, comm); break;
    default: MPI_Exscan(send, to, c->n, type, op, comm); break;
    }
}

static call_t draw(rng_t *r)
{
    call_t c = {.proc = (int)rng_below(r, PROCEDURES)};
    do {
        c.type = (int)rng_below(r, (size_t)type_count);
        c.op = (int)rng_below(r, (size_t)op_count);
    } while (!(types[c.type].sorts & ops[c.op].sort));
    size_t most = MOST / types[c.type].bytes;
    c.n = (int)(rng_one_in(r, 8)   ? 0
                : rng_one_in(r, 4) ? rng_size(r, most)
                                   : most / 4 + rng_below(r, most * 3 / 4));
    c.root = (int)rng_below(r, (size_t)world_size);
    c.in_place = rng_one_in(r, 3);
    int rest = c.n;
    for (int i = 0; i < world_size; i++) {
        c.counts[i] = i + 1 == world_size ? rest
                      : rng_one_in(r, 4)  ? 0
                                          : (int)rng_below(r, (size_t)rest + 1);
        rest -= c.counts[i];
    }
    if (c.proc == BLOCK) {
        c.counts[0] = c.n / world_size;
        c.n = c.counts[0] * world_size;
    }
    return c;
}

static void compare(const char *a, const char *b, const call_t *c, long i,
                    const char *what)
{
    size_t bytes = types[c->type].bytes;
    for (size_t k = 0; k < ROOM; k++)
        if (a[k] != b[k] && !(types[c->type].fill == LONGS && k >= GUARD &&
                              (k - GUARD) % bytes >= 10))
            fail("call %ld, %s, op %d, type %d, %d elements%s: %s differs at "
                 "byte %zu",
                 i, names[c->proc], c->op, c->type, c->n,
                 c->in_place ? ", in place" : "", what, k);
}

static void one(long i, const char *mode, MPI_Comm comm, MPI_Comm plain)
{
    rng_t r = rng_from(key2(77, (uint64_t)i));
    rng_t own = rng_from(key2((uint64_t)i, (uint64_t)world_rank + 1));
    call_t c = draw(&r);
    bool some = !strcmp(mode, "some") && !rng_one_in(&r, 3);
    bool again = !strcmp(mode, "again");
    memory_t *from = &in[some ? rng_below(&own, 2) : 0];
    memory_t *to = &out[some ? rng_below(&own, 2) : 0];
    uint64_t key = key2(5, (uint64_t)i * 64 + (uint64_t)world_rank);
    if (again) {
        end(from);
        end(to);
        *from = make(true);
        *to = make(true);
    }
    fill_from(from->seen, ROOM, 1);
    fill_with(from->seen + GUARD, MOST, types[c.type].fill, key);
    if (c.in_place)
        memcpy(to->seen, from->seen, ROOM);
    else
        fill_from(to->seen, ROOM, 2);
    memcpy(plain_in.seen, from->seen, ROOM);
    memcpy(plain_out.seen, to->seen, ROOM);
    /* An exclusive scan leaves the first member's result alone, and MPI the
     * rest of a scattered one in place to chance. */
    device_put(from->user);
    device_put(to->user);
    call(&c, from->user + GUARD, to->user + GUARD, comm);
    device_get(from->user);
    device_get(to->user);
    call(&c, plain_in.user + GUARD, plain_out.user + GUARD, plain);
    if (c.in_place && (c.proc == SCATTER || c.proc == BLOCK)) {
        size_t mine = (size_t)c.counts[c.proc == BLOCK ? 0 : world_rank] *
                      types[c.type].bytes;
        size_t all = (size_t)c.n * types[c.type].bytes;
        memset(to->seen + GUARD + mine, 0, all - mine);
        memset(plain_out.seen + GUARD + mine, 0, all - mine);
    }
    compare(from->seen, plain_in.seen, &c, i, "the operand");
    compare(to->seen, plain_out.seen, &c, i, "the result");
}

/* By the host, for comparison. Open MPI saturates sums of small integers, where
 * others, and we, wrap around: MPI says nothing of an overflow. */
static void local(long i)
{
    rng_t r = rng_from(key2((uint64_t)i, (uint64_t)world_rank));
    call_t c;
    do
        c = draw(&r);
    while (types[c.type].bytes < 4 && ops[c.op].sort & (SUM | PROD));
    memory_t *from = &in[rng_below(&r, 2)], *to = &out[rng_below(&r, 2)];
    MPI_Datatype type = types[c.type].type;
    fill_with(from->seen, ROOM, types[c.type].fill, key2(7, (uint64_t)i));
    fill_with(to->seen, ROOM, types[c.type].fill, key2(8, (uint64_t)i));
    memcpy(plain_in.seen, from->seen, ROOM);
    memcpy(plain_out.seen, to->seen, ROOM);
    device_put(from->user);
    device_put(to->user);
    MPI_Reduce_local(from->user + GUARD, to->user + GUARD, c.n, type,
                     ops[c.op].op);
    device_get(from->user);
    device_get(to->user);
    MPI_Reduce_local(plain_in.user + GUARD, plain_out.user + GUARD, c.n, type,
                     ops[c.op].op);
    compare(from->seen, plain_in.seen, &c, i, "the operand");
    compare(to->seen, plain_out.seen, &c, i, "the result");
}

int main(int argc, char **argv)
{
    MPI_Comm plain;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &plain);
    device_load(argv[1]);
    const char *some = getenv("STANDIN_DEVICES");
    int devices = some ? atoi(some) : 1; /* a member has one of them */
    void *context;
    CHECK(gpu_call.cuInit(0) == 0 &&
              gpu_call.cuDevicePrimaryCtxRetain(&context,
                                                world_rank % devices) == 0 &&
              gpu_call.cuCtxSetCurrent(context) == 0,
          "no context");
    list_all();
    for (int i = 0; i < 2; i++) {
        in[i] = make(i == 0);
        out[i] = make(i == 0);
    }
    plain_in = make(false);
    plain_out = make(false);
    long calls = atol(argv[3]);
    for (long i = 0; i < calls; i++) {
        if (!strcmp(argv[2], "local"))
            local(i);
        else
            one(i, argv[2], MPI_COMM_WORLD, plain);
    }
    /* What lies side by side is copied: the launches are reductions. */
    unsigned long long mine = device_count("cuLaunchKernel"), most;
    MPI_Reduce(&mine, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, 0, plain);
    MPI_Barrier(plain);
    if (world_rank == 0)
        printf("launches %llu\nall is well\n", most);
    MPI_Comm_free(&plain);
    MPI_Finalize();
    return 0;
}
