/*
 * random_neighbours.c - neighbourhood collectives over random topologies, with
 * random datatypes and counts, compared with the host byte by byte.
 *
 *   random_neighbours SEED ROUNDS [MOST [immediate|persistent]]
 *
 * A round is a few calls in a row on communicators of random_topologies.h,
 * with nothing in between but a rank that is late at times: once accelerated,
 * where that can be, and once by the host. What was received, with the gaps
 * and the room around it, must be the same. A rank overwrites what it has sent
 * as soon as the call is back. MOST bounds a block's bytes. With `immediate`
 * the calls of a round are nonblocking. All are under way before a rank waits
 * for them, in an order of its own. With `persistent` a rank starts them in an
 * order of its own, too, and twice: first it sends other bytes.
 *
 * Which block comes on which edge differs between hosts, so the sizes that a
 * receiver expects follow from what the host does. The bytes follow from
 * nothing but the rank and the place: a block that went a wrong way shows.
 */
#include <dlfcn.h>

#include "../../../include/straightway.h"
#include "mpi/random/random_layouts.h"
#include "mpi/random/random_memory.h"
#include "random_topologies.h"

enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, KINDS };
static const char *const kind_names[KINDS] = {
    "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
    "Neighbor_alltoallv", "Neighbor_alltoallw"};

/* MPICH before 4.0.3 mixes up the numbers of edges in and out, where they
 * differ, in MPI_Neighbor_alltoallw. Its large form is right. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000 && \
    MPICH_NUMVERSION < 40003300
#define MIXES_EDGES_UP true
#else
#define MIXES_EDGES_UP false
#endif

#define COMMS 3
#define CALLS_MAX 4
#define MARGIN 64

typedef struct {
    topology_t topology;
    int index[KINDS][EDGES_MAX]; /* of the sender's block, on each edge */
    bool only_large;             /* to be used for Neighbor_alltoallw */
} comm_t;

/* One side of a call. */
typedef struct {
    layout_t layout[EDGES_MAX]; /* one for all, or one each */
    int layouts, blocks;
    int count[EDGES_MAX], place[EDGES_MAX];
    MPI_Aint address[EDGES_MAX];
    MPI_Datatype type[EDGES_MAX];
    MPI_Count large_count[EDGES_MAX];
    MPI_Aint large_place[EDGES_MAX];
    char *image;          /* of the memory it lies in */
    size_t bytes, origin; /* the user's address in it */
    bool bottom;          /* addresses, from MPI_BOTTOM */
} side_t;

typedef struct {
    const comm_t *on;
    int kind, pause; /* ms that this rank is late */
    bool large;
    side_t out, in;
    place_t from, to;
    MPI_Request request;
    char *got; /* the image after the accelerated call */
} call_t;

static comm_t comms[COMMS];
static straightway_accelerate_func_t accelerate;
static size_t most = 100000;
static enum { BLOCKING, IMMEDIATE, PERSISTENT } form;
static uint64_t seed;
static long now;

static void switch_to(int on)
{
    if (accelerate)
        accelerate(on);
}

/* Communicators ---------------------------------------------------------- */

/* Calls MPI_Neighbor_NAME, with C behind it, in its form. The request is *q. */
#if HAVE_PERSISTENT
#define CALL(NAME, C, ...)                                              \
    (form == IMMEDIATE ? MPI_Ineighbor_##NAME##C(__VA_ARGS__, q)        \
     : form == PERSISTENT                                               \
         ? MPI_Neighbor_##NAME##_init##C(__VA_ARGS__, MPI_INFO_NULL, q) \
         : MPI_Neighbor_##NAME##C(__VA_ARGS__))
#else
#define CALL(NAME, C, ...)                                       \
    (form == IMMEDIATE ? MPI_Ineighbor_##NAME##C(__VA_ARGS__, q) \
                       : MPI_Neighbor_##NAME##C(__VA_ARGS__))
#endif

/* Carries it out. */
static void complete(MPI_Request *q)
{
    if (form == PERSISTENT)
        MPI_Start(q);
    MPI_Wait(q, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(q);
}

/* What the host does with each edge. */
static void learn(comm_t *c)
{
    topology_t *t = &c->topology;
    int n[EDGES_MAX], place[EDGES_MAX], mine[EDGES_MAX];
    MPI_Aint address[EDGES_MAX];
    MPI_Datatype type[EDGES_MAX];
    MPI_Request q[1] = {MPI_REQUEST_NULL};
    for (int i = 0; i < EDGES_MAX; i++) {
        n[i] = 1;
        mine[i] = place[i] = i;
        address[i] = i * (MPI_Aint)sizeof(int);
        type[i] = MPI_INT;
    }
    memset(c->index, 0, sizeof c->index);
    CALL(alltoall, , mine, 1, MPI_INT, c->index[ALLTOALL], 1, MPI_INT, t->comm);
    complete(q);
    CALL(alltoallv, , mine, n, place, MPI_INT, c->index[ALLTOALLV], n, place,
         MPI_INT, t->comm);
    complete(q);
    int even = t->outs == t->ins, all;
    MPI_Allreduce(&even, &all, 1, MPI_INT, MPI_LAND, t->comm);
    c->only_large = MIXES_EDGES_UP && !all;
#if HAVE_LARGE_COUNT
    if (c->only_large) {
        MPI_Count large[EDGES_MAX];
        for (int i = 0; i < EDGES_MAX; i++)
            large[i] = 1;
        CALL(alltoallw, _c, mine, large, address, type, c->index[ALLTOALLW],
             large, address, type, t->comm);
        complete(q);
        return;
    }
#endif
    CALL(alltoallw, , mine, n, address, type, c->index[ALLTOALLW], n, address,
         type, t->comm);
    complete(q);
}

static void comm_make(rng_t *plan, rng_t *own, comm_t *c)
{
    if (c->topology.comm != MPI_COMM_NULL)
        MPI_Comm_free(&c->topology.comm);
    topology_make(plan, own, &c->topology);
    if (c->topology.comm != MPI_COMM_NULL)
        learn(c);
}

/* Calls ------------------------------------------------------------------ */

static bool listed(int kind)
{
    return kind == ALLGATHERV || kind >= ALLTOALLV;
}

/* Pieces of m elements in a block, of those of a call. */
static int pieces(uint64_t key, int kind, int from, int index, int all)
{
    uint64_t x = key2(key, (uint64_t)(from * 1000 + index));
    return !listed(kind) ? all : x % 4 == 0 ? 0 : (int)(x % (unsigned)all) + 1;
}

/* Draw the layouts and where the blocks lie; s->count holds pieces of m
 * elements. `form`: of the call, for this side. */
static void side_make(rng_t *own, side_t *s, const element_t *e, int m,
                      int form)
{
    ptrdiff_t lo = 0, hi = 0, at = 0;
    int items = 0;
    s->layouts = form == ALLTOALLW || !s->blocks ? s->blocks : 1;
    int largest = 0, how = form == ALLGATHER || form == ALLTOALL ? 0 : TILING;
#ifdef I_MPI_VERSION /* it wants items of the same size on all ranks */
    how |= EXACT;
#endif
    for (int i = 0; i < s->blocks; i++)
        largest = s->count[i] > largest ? s->count[i] : largest;
    for (int i = 0; i < s->layouts; i++)
        s->layout[i] = layout_random(own, e, largest * m, m, s->blocks, how);
    for (int i = 0; i < s->blocks; i++) {
        const layout_t *l = &s->layout[form == ALLTOALLW ? i : 0];
        ptrdiff_t low, high;
        s->count[i] *= m / l->m;
        s->type[i] = l->type;
        if (form == ALLTOALLW) {
            layout_bounds(l, s->count[i], &low, &high);
            s->address[i] = (at - low + 15) / 16 * 16;
            at = s->address[i] + high + (ptrdiff_t)rng_below(own, 64);
            continue;
        }
        items += listed(form) ? (int)rng_below(own, 3) : 0;
        s->place[i] = items;
        items += s->count[i];
        layout_bounds(l, items, &lo, &hi);
    }
    if (form == ALLTOALLW)
        hi = at;
    s->origin = MARGIN + (lo < 0 ? (size_t)((-lo + 63) / 64 * 64) : 0);
    s->bytes = s->origin + (hi > 0 ? (size_t)hi : 0) + MARGIN;
    s->image = malloc(s->bytes);
    fill_from(s->image, s->bytes, rng_next(own));
    for (int i = 0; i < s->blocks; i++) {
        s->large_count[i] = s->count[i];
        s->large_place[i] = s->place[i];
    }
    s->bottom = form == ALLTOALLW && rng_one_in(own, 4);
}

static void side_drop(side_t *s)
{
    for (int i = 0; i < s->layouts; i++)
        layout_drop(&s->layout[i]);
    free(s->image);
}

static void call_make(rng_t *plan, rng_t *own, call_t *c)
{
    *c = (call_t){.on = &comms[rng_below(plan, COMMS)]};
    const topology_t *t = &c->on->topology;
    c->kind = (int)rng_below(plan, KINDS);
    c->large = HAVE_LARGE_COUNT && rng_one_in(plan, 3);
    const element_t *e;
    do
        e = &elements[rng_below(plan, (size_t)element_count)];
    while (e->loose);
    int m = 1 + (int)rng_below(plan, 24);
    size_t piece = (size_t)m * e->packed;
    int all = 1 + (int)(rng_size(plan, most) / piece);
    uint64_t key = rng_next(plan);
    c->pause = rng_one_in(own, 12) ? (int)rng_below(own, 8) : 0;
    if (t->comm == MPI_COMM_NULL)
        return;
    c->large |= c->kind == ALLTOALLW && c->on->only_large;
    bool gather = c->kind <= ALLGATHERV;
    c->out.blocks = gather ? 1 : t->outs;
    c->in.blocks = t->ins;
    /* What is said of an edge that leads nowhere means nothing. */
    for (int i = 0; i < c->out.blocks; i++)
        c->out.count[i] = pieces(key, c->kind, t->rank, i, all);
    for (int i = 0; i < t->ins; i++)
        c->in.count[i] = pieces(key, c->kind, t->in[i],
                                gather ? 0 : c->on->index[c->kind][i], all);
    side_make(own, &c->out, e, m, gather ? ALLGATHER : c->kind);
    side_make(own, &c->in, e, m, c->kind);
    if (!c->out.blocks)
        c->out.count[0] = c->in.count[0];
    if (!c->in.blocks)
        c->in.count[0] = c->out.count[0];
}

static int perform(const call_t *c, void *from, void *to, MPI_Request *q)
{
    const side_t *s = &c->out, *r = &c->in;
    MPI_Comm comm = c->on->topology.comm;
    /* Without blocks the arguments still have to be valid, and Open MPI wants
     * as much sent as received. */
    MPI_Datatype stype = s->layouts   ? s->layout[0].type
                         : r->layouts ? r->layout[0].type
                                      : MPI_INT;
    MPI_Datatype rtype = r->layouts ? r->layout[0].type : stype;
#if HAVE_LARGE_COUNT
    if (c->large)
        switch (c->kind) {
        case ALLGATHER:
            return CALL(allgather, _c, from, s->count[0], stype, to,
                        r->count[0], rtype, comm);
        case ALLGATHERV:
            return CALL(allgatherv, _c, from, s->count[0], stype, to,
                        r->large_count, r->large_place, rtype, comm);
        case ALLTOALL:
            return CALL(alltoall, _c, from, s->count[0], stype, to, r->count[0],
                        rtype, comm);
        case ALLTOALLV:
            return CALL(alltoallv, _c, from, s->large_count, s->large_place,
                        stype, to, r->large_count, r->large_place, rtype, comm);
        default:
            return CALL(alltoallw, _c, from, s->large_count, s->address,
                        s->type, to, r->large_count, r->address, r->type, comm);
        }
#endif
    switch (c->kind) {
    case ALLGATHER:
        return CALL(allgather, , from, s->count[0], stype, to, r->count[0],
                    rtype, comm);
    case ALLGATHERV:
        return CALL(allgatherv, , from, s->count[0], stype, to, r->count,
                    r->place, rtype, comm);
    case ALLTOALL:
        return CALL(alltoall, , from, s->count[0], stype, to, r->count[0],
                    rtype, comm);
    case ALLTOALLV:
        return CALL(alltoallv, , from, s->count, s->place, stype, to, r->count,
                    r->place, rtype, comm);
    default:
        return CALL(alltoallw, , from, s->count, s->address, s->type, to,
                    r->count, r->address, r->type, comm);
    }
}

/* Where the user's address is, with a side's memory at `p`. */
static void *address_of(side_t *s, char *p, int sign)
{
    if (!s->bottom)
        return p + s->origin;
    MPI_Aint at;
    MPI_Get_address(p + s->origin, &at);
    for (int i = 0; i < s->blocks; i++)
        s->address[i] += sign * at;
    return MPI_BOTTOM;
}

/* Some places hold one image at a time: a round's `first` call takes those. */
static place_t image_take(rng_t *own, int role, const side_t *s, bool first)
{
    if (first)
        return place_take(own, role, false, s->image, s->bytes,
                          rng_below(own, 4) * 16);
    place_t heap = {.n = s->bytes, .place = HEAP, .base = malloc(s->bytes)};
    heap.p = heap.base;
    memcpy(heap.p, s->image, s->bytes);
    return heap;
}

static void call_begin(rng_t *own, call_t *c, bool first)
{
    c->from = image_take(own, SEND_ROLE, &c->out, first);
    c->to = image_take(own, RECEIVE_ROLE, &c->in, first);
    if (c->pause)
        usleep((unsigned)c->pause * 1000);
    void *sent = address_of(&c->out, c->from.p, 1);
    void *into = address_of(&c->in, c->to.p, 1);
    c->request = MPI_REQUEST_NULL;
    int rc = perform(c, sent, into, &c->request);
    CHECK(rc == MPI_SUCCESS, "error %d of %s", rc, kind_names[c->kind]);
}

/* The image of what was received. */
static char *call_end(call_t *c)
{
    MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT)
        MPI_Request_free(&c->request);
    address_of(&c->out, c->from.p, -1);
    address_of(&c->in, c->to.p, -1);
    CHECK(!memcmp(c->from.p, c->out.image, c->out.bytes),
          "seed %llu round %ld: %s changed what it sent",
          (unsigned long long)seed, now, kind_names[c->kind]);
    memset(c->from.p, 0x77, c->from.n);
    char *got = malloc(c->in.bytes);
    memcpy(got, c->to.p, c->in.bytes);
    place_give(&c->from);
    place_give(&c->to);
    return got;
}

static void compare(const call_t *c, const char *host)
{
    const topology_t *t = &c->on->topology;
    for (size_t i = 0; i < c->in.bytes; i++)
        CHECK(c->got[i] == host[i],
              "seed %llu round %ld: %s%s on a %s of %d: byte %td of %zu is "
              "%02x, the host's %02x (type: %s)",
              (unsigned long long)seed, now, kind_names[c->kind],
              c->large ? "_c" : "", t->made_by, t->size,
              (ptrdiff_t)(i - c->in.origin), c->in.bytes,
              (unsigned char)c->got[i], (unsigned char)host[i],
              c->in.layouts ? c->in.layout[0].made_by : "none");
}

/* Ends a call that has begun. */
static void conclude(call_t *c, bool host)
{
    char *got = call_end(c);
    if (!host) {
        c->got = got;
        return;
    }
    compare(c, got);
    free(got);
    free(c->got);
    side_drop(&c->out);
    side_drop(&c->in);
}

static bool mine(const call_t *c)
{
    return c->on->topology.comm != MPI_COMM_NULL;
}

/* The order in which a rank starts calls, or ends them. The host's start in the
 * same one everywhere. */
static void order_make(rng_t *own, int *order, int n, bool host)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    if (!host)
        shuffle_list(own, order, n);
}

static void start_all(rng_t *own, call_t *calls, int n, bool host)
{
    int order[CALLS_MAX];
    order_make(own, order, n, host);
    for (int i = 0; i < n; i++)
        if (mine(&calls[order[i]]))
            MPI_Start(&calls[order[i]].request);
}

/* Starts persistent calls with other bytes, and completes them. */
static void rehearse(rng_t *own, call_t *calls, int n, bool host)
{
    int order[CALLS_MAX];
    for (int i = 0; i < n; i++)
        if (mine(&calls[i]))
            memset(calls[i].from.p, 0x33, calls[i].out.bytes);
    start_all(own, calls, n, host);
    order_make(own, order, n, host);
    for (int i = 0; i < n; i++)
        if (mine(&calls[order[i]]))
            MPI_Wait(&calls[order[i]].request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++)
        if (mine(&calls[i])) {
            memcpy(calls[i].from.p, calls[i].out.image, calls[i].out.bytes);
            memcpy(calls[i].to.p, calls[i].in.image, calls[i].in.bytes);
        }
}

static void play(rng_t *plan, rng_t *own)
{
    call_t calls[CALLS_MAX];
    int n = 1 + (int)rng_below(plan, CALLS_MAX), order[CALLS_MAX];
    for (int i = 0; i < n; i++)
        call_make(plan, own, &calls[i]);
    for (int host = 0; host < 2; host++) {
        switch_to(!host);
        for (int i = 0; i < n; i++)
            if (mine(&calls[i])) {
                call_begin(own, &calls[i], i == 0 || form == BLOCKING);
                if (form == BLOCKING)
                    conclude(&calls[i], host);
            }
        if (form == PERSISTENT) {
            rehearse(own, calls, n, host);
            start_all(own, calls, n, host);
        }
        order_make(own, order, n, host);
        for (int i = 0; i < n && form != BLOCKING; i++)
            if (mine(&calls[order[i]]))
                conclude(&calls[order[i]], host);
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    long rounds = argument(argc, argv, 2, 100);
    most = (size_t)argument(argc, argv, 3, (long)most);
    form = argc <= 4                        ? BLOCKING
           : !strcmp(argv[4], "immediate")  ? IMMEDIATE
           : !strcmp(argv[4], "persistent") ? PERSISTENT
                                            : BLOCKING;
    if (form == PERSISTENT && !HAVE_PERSISTENT)
        form = IMMEDIATE; /* this MPI has none */
    accelerate = (straightway_accelerate_func_t)dlsym(
        RTLD_DEFAULT, STRAIGHTWAY_ACCELERATE_SYMBOL);
    CHECK(world_size <= 5, "at most 5 ranks");
    char here[2 * STACK_ROOM];
    stack_room[0] = here;
    stack_room[1] = here + STACK_ROOM;
    elements_move_only = true;
    elements_make();
    for (int i = 0; i < COMMS; i++)
        comms[i].topology.comm = MPI_COMM_NULL;
    for (now = 0; now < rounds; now++) {
        uint64_t key = key2(seed, (uint64_t)now);
        rng_t plan = rng_from(key);
        rng_t own = rng_from(key2(key, 2u + (uint64_t)world_rank));
        switch_to(0);
        for (int i = 0; i < COMMS; i++)
            if (now == 0 || (now % 10 == 0 && rng_one_in(&plan, 2)))
                comm_make(&plan, &own, &comms[i]);
        play(&plan, &own);
    }
    for (int i = 0; i < COMMS; i++)
        if (comms[i].topology.comm != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i].topology.comm);
    elements_free();
    test_end();
    return 0;
}
