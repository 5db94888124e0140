/*
 * random_rma.c - one-sided communication at random, written down.
 *
 *   random_rma SEED ROUNDS [others] --log FILE
 *
 * Windows are of MPI_Win_create and in memory that peers reach, or `others`.
 * Each rank writes to FILE.rank what its window holds after each round, and
 * what it got. The same seed gives the same log, by the host or by Straightway:
 * a round's operations write to places of their origin alone, or they all
 * accumulate with one operation and one type whose result knows no order.
 *
 * The window's memory, on each rank:
 *
 *   | part of origin 0 | part of origin 1 | ... | part of all |
 */
#include "mpi/test.h"

#include <sys/mman.h>

enum { PART = 24576, OPS = 6, UNIT = 8, MOST = 96 };
enum { FENCE, RING, SHARED, EXCLUSIVE, ALL, UNCHECKED, EPOCHS };
enum { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP, TOGETHER, KINDS };

static int me, n;
static char *memory;
static size_t bytes;
static MPI_Win window;
static FILE *logged;
static char fixed[8 * PART + PART];
static MPI_Aint places[8], unit; /* displacements: where, and of what */

typedef struct {
    MPI_Datatype type;
    bool floats, pairs;
} basic_t;

static basic_t basics[12];
static const MPI_Op integer_ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,
                                     MPI_BAND, MPI_BOR,  MPI_BXOR, MPI_LAND,
                                     MPI_LOR,  MPI_LXOR};
static const MPI_Op float_ops[] = {MPI_SUM, MPI_MAX, MPI_MIN};
static const MPI_Op pair_ops[] = {MPI_MINLOC, MPI_MAXLOC};

static void fill_basics(void)
{
    const basic_t all[] = {
        {MPI_INT, false, false},      {MPI_LONG, false, false},
        {MPI_DOUBLE, true, false},    {MPI_FLOAT, true, false},
        {MPI_SHORT, false, false},    {MPI_SIGNED_CHAR, false, false},
        {MPI_UINT64_T, false, false}, {MPI_UNSIGNED, false, false},
        {MPI_2INT, false, true},      {MPI_DOUBLE_INT, false, true},
        {MPI_LONG_INT, false, true},  {MPI_INT, false, false}};
    memcpy(basics, all, sizeof all);
}

static MPI_Op op_of(const basic_t *b, rng_t *r)
{
    return b->pairs    ? pair_ops[rng_below(r, LENGTH(pair_ops))]
           : b->floats ? float_ops[rng_below(r, LENGTH(float_ops))]
                       : integer_ops[rng_below(r, LENGTH(integer_ops))];
}

static size_t extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(type, &low, &extent);
    return (size_t)extent;
}

/* Values that no order of sums changes. */
static void values(const basic_t *b, char *to, size_t count, uint64_t key)
{
    size_t extent = extent_of(b->type);
    memset(to, 0, count * extent);
    for (size_t i = 0; i < count; i++) {
        int small = (int)(key2(key, i) % 1000) - 300;
        char *at = to + i * extent;
        if (b->type == MPI_DOUBLE || b->type == MPI_DOUBLE_INT)
            *(double *)(void *)at = small;
        else if (b->type == MPI_FLOAT)
            *(float *)(void *)at = (float)small;
        else if (b->type == MPI_LONG || b->type == MPI_UINT64_T ||
                 b->type == MPI_LONG_INT)
            *(long *)(void *)at = small * 1000003L;
        else if (b->type == MPI_INT || b->type == MPI_UNSIGNED ||
                 b->type == MPI_2INT)
            *(int *)(void *)at = small;
        else if (b->type == MPI_SHORT)
            *(short *)(void *)at = (short)small;
        else
            *at = (char)small;
        if (b->pairs)
            *(int *)(void *)(at + (b->type == MPI_2INT
                                       ? 4
                                       : 8)) = (int)(key2(key, i + 7) % 5);
    }
}

/* A type of `k` basic elements in all, and how far it reaches, in elements. */
static MPI_Datatype derived(const basic_t *b, rng_t *r, int *k, int *reach)
{
    MPI_Datatype type, inner;
    int a = 1 + (int)rng_below(r, 5), l = 1 + (int)rng_below(r, 3);
    int lengths[5], at[5];
    /* Intel MPI is wrong, now and then, on types that are made of pairs. */
    switch (b->pairs ? 0 : rng_below(r, 5)) {
    case 0: *k = *reach = 1; return b->type;
    case 1:
        MPI_Type_contiguous(a, b->type, &type);
        *k = *reach = a;
        break;
    case 2:
        MPI_Type_vector(a, l, l + 1, b->type, &type);
        *k = a * l;
        *reach = a * (l + 1);
        break;
    case 3:
        *k = *reach = 0;
        for (int i = 0; i < a; i++) {
            *reach += (int)rng_below(r, 3);
            at[i] = *reach;
            lengths[i] = 1 + (int)rng_below(r, 3);
            *k += lengths[i];
            *reach += lengths[i];
        }
        MPI_Type_indexed(a, lengths, at, b->type, &type);
        break;
    default:
        MPI_Type_vector(2, l, l + 2, b->type, &inner);
        MPI_Type_create_resized(
            inner, 0, (MPI_Aint)((size_t)(2 * l + 3) * extent_of(b->type)),
            &type);
        MPI_Type_free(&inner);
        *k = 2 * l;
        *reach = 2 * l + 3;
    }
    MPI_Type_commit(&type);
    return type;
}

static void forget(const basic_t *b, MPI_Datatype *type)
{
    if (*type != b->type)
        MPI_Type_free(type);
}

static uint64_t hash_of(uint64_t h, const void *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        h = mix(h ^ ((const unsigned char *)p)[i]) + i;
    return h;
}

/* Of basic elements, without what lies between a pair's two. */
static uint64_t hash_elements(const basic_t *b, const void *p, int count)
{
    static char packed[PART];
    int at = 0;
    MPI_Pack(p, count, b->type, packed, sizeof packed, &at, MPI_COMM_SELF);
    return hash_of(1, packed, (size_t)at);
}

typedef struct {
    char send[PART], got[PART];
    MPI_Request request;
    const basic_t *basic;
} op_buffers_t;

static op_buffers_t buffers[OPS];

/* Sides of an operation: `total` basic elements by two types. */
typedef struct {
    MPI_Datatype type;
    int count;
} side_t;

static side_t side(const basic_t *b, rng_t *r, int total, int room)
{
    int k, reach;
    side_t s = {derived(b, r, &k, &reach), 0};
    if (total % k == 0 && total / k * reach <= room) {
        s.count = total / k;
        return s;
    }
    forget(b, &s.type);
    return (side_t){b->type, total};
}

static void operation(uint64_t its, uint64_t key, int k, int target, int epoch)
{
    rng_t r = rng_from(key2(its, (uint64_t)k)), all = rng_from(key);
    op_buffers_t *u = &buffers[k];
    int kind = (int)rng_below(&r, KINDS);
    bool passive = epoch >= SHARED, together = kind == TOGETHER;
    const basic_t *b = together ? &basics[rng_below(&all, LENGTH(basics))]
                                : &basics[rng_below(&r, LENGTH(basics))];
    MPI_Op op = together ? op_of(b, &all) : op_of(b, &r);
    size_t extent = extent_of(b->type);
    int total = 1 + (int)rng_below(&r, rng_one_in(&r, 3) ? MOST : 6);
    /* Each operation of an epoch has a place of its own, but for those that
     * are in order anyway. */
    size_t place = (size_t)(PART / OPS) * (size_t)k;
    int room = (int)(PART / OPS / extent);
    MPI_Aint at = together ? (MPI_Aint)n * PART
                           : (MPI_Aint)me * PART + (MPI_Aint)place;
    at = at / UNIT + (together ? 0 : (MPI_Aint)rng_below(&r, 2));
    at = places[target] + at * UNIT / unit;
    room -= (int)(UNIT / extent) + 1;
    if (total > room / 3)
        total = room / 3;
    side_t from = side(b, &r, total, room), to = side(b, &r, total, room),
           into = side(b, &r, total, room);
    bool requested = passive && rng_one_in(&r, 3);
    values(b, u->send, PART / extent, key2(its, (uint64_t)k));
    memset(u->got, 0, sizeof u->got);
    u->request = MPI_REQUEST_NULL;
    u->basic = b;
    /* What lies there may be no number, of which hosts choose either. */
    if (!together && (rng_one_in(&r, 4) || b->floats || b->pairs))
        op = rng_one_in(&r, 2) ? MPI_REPLACE : MPI_NO_OP;
    if ((kind == FETCH || kind == SWAP) && extent > 8)
        kind = GET;
    if (kind == SWAP && (b->floats || b->pairs))
        kind = FETCH;
    switch (kind) {
    case PUT:
        if (requested)
            MPI_Rput(u->send, from.count, from.type, target, at, to.count,
                     to.type, window, &u->request);
        else
            MPI_Put(u->send, from.count, from.type, target, at, to.count,
                    to.type, window);
        break;
    case GET:
        if (requested)
            MPI_Rget(u->got, into.count, into.type, target, at, to.count,
                     to.type, window, &u->request);
        else
            MPI_Get(u->got, into.count, into.type, target, at, to.count,
                    to.type, window);
        break;
    case GET_ACCUMULATE:
        if (requested)
            MPI_Rget_accumulate(u->send, from.count, from.type, u->got,
                                into.count, into.type, target, at, to.count,
                                to.type, op, window, &u->request);
        else
            MPI_Get_accumulate(u->send, from.count, from.type, u->got,
                               into.count, into.type, target, at, to.count,
                               to.type, op, window);
        break;
    case FETCH:
        MPI_Fetch_and_op(u->send, u->got, b->type, target, at, op, window);
        break;
    case SWAP:
        MPI_Compare_and_swap(u->send, u->send + extent, u->got, b->type, target,
                             at, window);
        break;
    default:
        if (op == MPI_NO_OP)
            op = MPI_REPLACE;
        if (requested)
            MPI_Raccumulate(u->send, from.count, from.type, target, at,
                            to.count, to.type, op, window, &u->request);
        else
            MPI_Accumulate(u->send, from.count, from.type, target, at, to.count,
                           to.type, op, window);
    }
    if (passive && rng_one_in(&r, 3)) {
        if (rng_one_in(&r, 2))
            MPI_Win_flush(target, window);
        else
            MPI_Win_flush_local_all(window);
    }
    forget(b, &from.type);
    forget(b, &to.type);
    forget(b, &into.type);
}

static void wait_for_all(int count, rng_t *r)
{
    MPI_Request all[OPS + 1];
    int done = 0, some, which[OPS + 1], token = me, got = -1;
    MPI_Request message[2];
    MPI_Irecv(&got, 1, MPI_INT, me, 3, MPI_COMM_WORLD, &message[0]);
    MPI_Isend(&token, 1, MPI_INT, me, 3, MPI_COMM_WORLD, &message[1]);
    for (int k = 0; k < count; k++)
        all[k] = buffers[k].request;
    all[count++] = message[0];
    switch (rng_below(r, 3)) {
    case 0: MPI_Waitall(count, all, MPI_STATUSES_IGNORE); break;
    case 1:
        do {
            MPI_Testsome(count, all, &some, which, MPI_STATUSES_IGNORE);
            done += some == MPI_UNDEFINED ? 0 : some;
        } while (some != MPI_UNDEFINED);
        break;
    default:
        for (int k = 0; k < count; k++)
            MPI_Wait(&all[k], MPI_STATUS_IGNORE);
    }
    MPI_Wait(&message[1], MPI_STATUS_IGNORE);
    CHECK(got == me, "a message among the requests: %d", got);
}

static void round_of(uint64_t key, int number)
{
    int epoch = (int)(key % EPOCHS);
    uint64_t its = key2(key, (uint64_t)me);
    rng_t r = rng_from(its), all = rng_from(key);
    int right = (me + 1) % n, left = (me + n - 1) % n, flag = 0;
    int ops = (int)rng_below(&r, OPS + 1);
    int target = epoch == RING ? right : (int)rng_below(&r, (size_t)n);
    MPI_Group world, to, from;
    /* What all accumulate to holds numbers of their type. */
    const basic_t *b = &basics[rng_below(&all, LENGTH(basics))];
    for (int i = 0; i <= n; i++)
        values(b, memory + i * PART, PART / extent_of(b->type),
               key2(key, (uint64_t)(i + me)));
    for (int k = 0; k < OPS; k++)
        buffers[k].request = MPI_REQUEST_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    switch (epoch) {
    case FENCE: MPI_Win_fence(MPI_MODE_NOPRECEDE, window); break;
    case RING:
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 1, &right, &to);
        MPI_Group_incl(world, 1, &left, &from);
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
        MPI_Group_free(&to);
        MPI_Group_free(&from);
        MPI_Group_free(&world);
        break;
    case SHARED: MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window); break;
    case EXCLUSIVE: MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window); break;
    default: MPI_Win_lock_all(epoch == ALL ? 0 : MPI_MODE_NOCHECK, window);
    }
    for (int k = 0; k < ops; k++)
        operation(its, key, k, target, epoch);
    if (epoch >= SHARED)
        wait_for_all(ops, &r);
    switch (epoch) {
    case FENCE: MPI_Win_fence(MPI_MODE_NOSUCCEED, window); break;
    case RING:
        MPI_Win_complete(window);
        if (its % 2)
            MPI_Win_wait(window);
        else
            while (!flag)
                MPI_Win_test(window, &flag);
        break;
    case SHARED:
    case EXCLUSIVE: MPI_Win_unlock(target, window); break;
    default: MPI_Win_unlock_all(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, window);
    uint64_t parts = 0;
    for (int i = 0; i < n; i++) {
        /* A pair's elements alone are compared: what lies in between may be
         * written or not. Ranks know which type the others took. */
        rng_t its_ops = rng_from(key2(key, (uint64_t)i));
        int count = (int)rng_below(&its_ops, OPS + 1);
        for (int k = 0; k < OPS; k++) {
            rng_t o = rng_from(key2(key2(key, (uint64_t)i), (uint64_t)k));
            rng_t a = rng_from(key);
            bool together = rng_below(&o, KINDS) == TOGETHER;
            const basic_t *t = together
                                   ? &basics[rng_below(&a, LENGTH(basics))]
                                   : &basics[rng_below(&o, LENGTH(basics))];
            if (k >= count || !t->pairs)
                parts = hash_of(parts, memory + i * PART + k * (PART / OPS),
                                PART / OPS - 64);
        }
    }
    rng_t a = rng_from(key);
    const basic_t *t = &basics[rng_below(&a, LENGTH(basics))];
    uint64_t sums = hash_elements(t, memory + n * PART, MOST);
    MPI_Win_unlock(me, window);
    uint64_t got = 0;
    for (int k = 0; k < ops; k++)
        got = mix(got ^
                  hash_elements(buffers[k].basic, buffers[k].got,
                                PART / (int)extent_of(buffers[k].basic->type)));
    fprintf(logged,
            "round %d epoch %d ops %d: parts %016llx sums %016llx "
            "got %016llx\n",
            number, epoch, ops, (unsigned long long)parts,
            (unsigned long long)sums, (unsigned long long)got);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Several kinds of memory. */
enum {
    CREATED,
    ALLOCATED_MEMORY,
    STATIC,
    ALLOCATED,
    SHARED_MEMORY,
    DYNAMIC,
    ATTACHED_MAPPING,
    LAST
};

static char *mapping(void)
{
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED, "no memory");
    return p;
}

static void make(int w)
{
    bool dynamic = w == DYNAMIC || w == ATTACHED_MAPPING;
    memset(places, 0, sizeof places);
    unit = dynamic ? 1 : UNIT;
    if (w == ALLOCATED)
        MPI_Win_allocate((MPI_Aint)bytes, UNIT, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &memory, &window);
    else if (w == SHARED_MEMORY)
        MPI_Win_allocate_shared((MPI_Aint)bytes, UNIT, MPI_INFO_NULL,
                                MPI_COMM_WORLD, &memory, &window);
    else if (w == ALLOCATED_MEMORY)
        MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
    else
        memory = w == STATIC             ? fixed
                 : w == ATTACHED_MAPPING ? mapping()
                                         : malloc(bytes);
    if (w < ALLOCATED)
        MPI_Win_create(memory, (MPI_Aint)bytes, UNIT, MPI_INFO_NULL,
                       MPI_COMM_WORLD, &window);
    if (dynamic) {
        MPI_Aint at;
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, memory, (MPI_Aint)bytes);
        MPI_Get_address(memory, &at);
        MPI_Allgather(&at, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
    }
}

static void unmake(int w)
{
    if (w == DYNAMIC || w == ATTACHED_MAPPING)
        MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
    if (w == ALLOCATED_MEMORY)
        MPI_Free_mem(memory);
    else if (w == ATTACHED_MAPPING)
        munmap(memory, bytes);
    else if (w == CREATED || w == DYNAMIC)
        free(memory);
}

int main(int argc, char **argv)
{
    char name[4096];
    test_start(&argc, &argv);
    me = world_rank;
    n = world_size;
    CHECK(n <= 8, "too many ranks");
    fill_basics();
    uint64_t seed = (uint64_t)argument(argc, argv, 1, 1);
    long rounds = argument(argc, argv, 2, 20);
    snprintf(name, sizeof name, "%s.%d", argc > 4 ? argv[argc - 1] : "log", me);
    logged = fopen(name, "w");
    CHECK(logged != NULL, "cannot write %s", name);
    bytes = (size_t)(n + 1) * PART;
    bool others = argc > 5;
    for (int w = others ? ALLOCATED : CREATED; w < (others ? LAST : ALLOCATED);
         w++) {
        make(w);
        for (long i = 0; i < rounds; i++)
            round_of(key2(key2(seed, (uint64_t)w), (uint64_t)i), (int)i);
        unmake(w);
    }
    fclose(logged);
    test_end();
    return 0;
}
