/*
 * random_collectives.c - random programs of collective calls, checked byte by
 * byte.
 *
 *   random_collectives SEED CALLS [--log PREFIX] [--max BYTES] [--trace]
 *                      [--only NAME] [--plain] [--from INDEX] [--large]
 *                      [--form blocking|immediate|persistent|mixed] [--meet]
 *                      [--device DRIVER]
 *
 * All members draw the same call from (SEED, index): which collective, on which
 * communicator, root, element, operation, how many of them. Each member draws
 * its part from (SEED, index, rank): its derived datatype, its displacements,
 * where its buffer lies, whether it is late. The data sent are a function of
 * (SEED, index, sender, receiver), so every rank knows what it must receive.
 * It compares its whole buffer: the data, the gaps of the datatype, the guards
 * around.
 *
 * With --log every rank also writes, for each call, the return code and a
 * digest of what its buffers hold into PREFIX.rank: a run on the host alone
 * and a run with Straightway must write the same files.
 *
 * --only draws one collective alone; --plain leaves out derived datatypes,
 * odd memory and other communicators' traffic; --from starts at an index (the
 * communicators made before are then missing: use it with --plain); --trace
 * says each call before a rank makes it; --large draws sizes of the order of
 * --max, and blocks of it. --form draws nonblocking or persistent calls, of
 * which several are under way at a time; each rank completes them in an order
 * and by means of its own. --meet has a barrier on each new communicator: until
 * its first blocking collective the host serves many. --device puts some of the
 * buffers into memory of a device that the stand-in DRIVER has; of reductions
 * those whose elements have kernels, and none of a member that is alone. No
 * host may touch it.
 */
#include "mpi/random/random_comms.h"
#include "mpi/random/random_device.h"
#include "mpi/random/random_elements.h"
#include "mpi/random/random_layouts.h"
#include "mpi/random/random_memory.h"
#include <alloca.h>

enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    PROCEDURES
};

static const char *const names[PROCEDURES] = {
    "Barrier",   "Bcast",          "Gather",
    "Gatherv",   "Scatter",        "Scatterv",
    "Allgather", "Allgatherv",     "Alltoall",
    "Alltoallv", "Alltoallw",      "Reduce",
    "Allreduce", "Reduce_scatter", "Reduce_scatter_block",
    "Scan",      "Exscan"};

/* Options. */
static uint64_t seed;
static long calls, from;
static size_t max_bytes = 1 << 20;
static bool trace, plain, large, meet;
static int only = -1;
enum { BLOCKING, IMMEDIATE, PERSISTENT, MIXED, FORMS };
static const char *const form_names[FORMS] = {"blocking", "immediate",
                                              "persistent", "mixed"};
static int form = BLOCKING;
static FILE *log_file;

/* The plan of a call: the same on all members. */
typedef struct {
    long index;
    uint64_t key;
    int proc;
    int form;   /* BLOCKING, IMMEDIATE, PERSISTENT */
    bool large; /* the _c form */
    slot_t *slot;
    int size, rank; /* of the communicator, in it */
    int root;
    const element_t *element;
    int op;
    int grain;          /* counts are multiples of it */
    int most;           /* most elements in one block */
    bool in_place;      /* where all members must agree on it */
    bool mine_in_place; /* as this member calls */
    rng_t own;          /* this rank's private draws */
} call_t;

static call_t *now; /* the one at hand */
static char note[256];

static const char *describe(void)
{
    static char text[512];
    snprintf(
        text, sizeof text,
        "seed %llu call %ld: %s%s (%s) on slot %d (%s, rank %d of %d), root "
        "%d, %s, %s, at most %d elements, grain %d%s; %s",
        (unsigned long long)seed, now->index, names[now->proc],
        now->large ? "_c" : "", form_names[now->form], (int)(now->slot - slots),
        now->slot->made_by, now->rank, now->size, now->root,
        now->element ? now->element->name : "-",
        now->op >= 0 ? op_names[now->op] : "moves", now->most, now->grain,
        now->mine_in_place ? ", in place" : "", note);
    return text;
}

/* Scratch memory that grows: the last three are a flight's own. */
enum { PACKED, FOLDED, OTHER, SEND_IMAGE, RECEIVE_IMAGE, WANTED, SCRATCHES };
typedef struct {
    char *at[SCRATCHES];
    size_t size[SCRATCHES];
} scratches_t;
static scratches_t common, *own;

static char *scratch(int which, size_t n)
{
    scratches_t *s = which < SEND_IMAGE ? &common : own;
    n += 64;
    if (n > s->size[which]) {
        free(s->at[which]);
        s->size[which] = n + n / 2;
        s->at[which] = malloc(s->size[which]);
        CHECK(s->at[which], "no memory");
    }
    return s->at[which];
}

/* Sides: what a rank sends, what it receives ---------------------------- */

typedef struct {
    layout_t *layout;
    ptrdiff_t at; /* bytes from the user's address */
    size_t k;     /* elements */
} block_t;

#define SIDE_MAX 64 /* members at most */

typedef struct {
    bool used;
    int n; /* blocks */
    block_t block[SIDE_MAX];
    layout_t layout[SIDE_MAX];
    int layouts;
    int count[SIDE_MAX], disp[SIDE_MAX]; /* arguments, as needed */
    MPI_Datatype type[SIDE_MAX];
    MPI_Count count_c[SIDE_MAX];
    MPI_Aint disp_c[SIDE_MAX];
    ptrdiff_t lo, hi;
    char *image;
    size_t size; /* of the image */
    place_t place;
    device_t *device; /* where the memory is, or NULL */
    void *user;       /* the argument */
} side_t;

static side_t *out, *in; /* of the call at hand */

/* A call that has begun. Several may be under way. */
typedef struct {
    call_t call;
    side_t out, in;
    scratches_t own;
    char *want;
    int total, mine; /* elements in all; of this member's block */
    bool started;
    MPI_Request request;
} flight_t;

#define FLIGHTS 12
static flight_t flights[FLIGHTS], *flight;
static int in_flight; /* of this rank */

static void take_up(flight_t *f)
{
    flight = f;
    now = &f->call;
    out = &f->out;
    in = &f->in;
    own = &f->own;
}

static void side_clear(side_t *s)
{
    s->used = false;
    s->n = s->layouts = 0;
    s->lo = s->hi = 0;
    s->user = NULL;
    s->device = NULL;
}

static void side_add(side_t *s, layout_t *l, ptrdiff_t at, size_t k)
{
    ptrdiff_t lo, hi;
    s->block[s->n++] = (block_t){l, at, k};
    if (!k)
        return;
    layout_bounds(l, (ptrdiff_t)(k / (size_t)l->m), &lo, &hi);
    bool first = s->lo == s->hi;
    if (at + lo < s->lo || first)
        s->lo = at + lo;
    if (at + hi > s->hi || first)
        s->hi = at + hi;
}

static layout_t draw_layout(int k, int blocks, int how)
{
    if (plain || now->op >= 0) /* reductions: the element is the datatype */
        return layout_base(now->element);
#ifdef OMPI_MAJOR_VERSION
    /* Two limits of this host. A broadcast is cut into segments, and the
     * algorithm of an allgatherv is chosen, by each rank's own datatype: the
     * sizes must agree. In a tree, others' blocks are held in the own
     * datatype, one after the other. */
    if (now->proc == BCAST || now->proc == ALLGATHERV)
        how |= EXACT;
    if (now->proc == GATHER || now->proc == SCATTER)
        how |= TILING;
#endif
#ifdef I_MPI_VERSION
    /* This host cuts messages, and holds others', by the own datatype; where
     * it gathers with a derived one it frees what it has overrun. */
    if (now->proc == GATHER)
        return layout_base(now->element);
    how |= EXACT | TILING;
#endif
    return layout_random(&now->own, now->element, k, now->grain, blocks, how);
}

/* n blocks of k elements one after the other, one count and one type. */
static void side_regular(side_t *s, int n, size_t k)
{
    s->used = true;
    s->layouts = 1;
    s->layout[0] = draw_layout((int)k, n, 0);
    layout_t *l = &s->layout[0];
    s->count[0] = (int)k / l->m;
    s->type[0] = l->type;
    s->lo = s->hi = 0;
    for (int i = 0; i < n; i++)
        side_add(s, l, i * s->count[0] * l->extent, k);
}

/* n blocks of k[i] elements, anywhere, one type. */
static void side_spread(side_t *s, int n, const int *k)
{
    int order[SIDE_MAX];
    s->used = true;
    s->layouts = 1;
    s->layout[0] = draw_layout(now->grain, 1, TILING);
    layout_t *l = &s->layout[0];
    s->type[0] = l->type;
    shuffle(&now->own, order, n);
    if (rng_one_in(&now->own, 3)) /* the usual order */
        for (int i = 0; i < n; i++)
            order[i] = i;
    int next = rng_one_in(&now->own, 8) ? -(int)rng_below(&now->own, 9) : 0;
    int gap = (int)rng_below(&now->own, 3);
    for (int i = 0; i < n; i++) {
        int b = order[i];
        s->count[b] = k[b] / l->m;
        s->disp[b] = next + (int)rng_below(&now->own, (size_t)gap + 1);
        next = s->disp[b] + s->count[b];
    }
    s->lo = s->hi = 0;
    for (int b = 0; b < n; b++)
        side_add(s, l, s->disp[b] * l->extent, (size_t)k[b]);
}

/* n blocks of k[i] elements, anywhere, each with a type of its own. */
static void side_free_types(side_t *s, int n, const int *k)
{
    int order[SIDE_MAX];
    ptrdiff_t next = 0, align = (ptrdiff_t)now->element->align;
    s->used = true;
    s->layouts = n;
    shuffle(&now->own, order, n);
    for (int i = 0; i < n; i++) {
        int b = order[i];
        layout_t *l = &s->layout[b];
        ptrdiff_t lo, hi;
        *l = draw_layout(k[b], 1, 0);
        s->type[b] = l->type;
        s->count[b] = k[b] / l->m;
        layout_bounds(l, s->count[b], &lo, &hi);
        next += (ptrdiff_t)rng_below(&now->own, 3) * align;
        /* Open MPI 5.0 forgets Alltoallw's displacements in a communicator
         * of one. */
        s->disp[b] = n > 1 ? (int)(next - lo) : 0;
        next += hi - lo + align;
        next -= next % align;
    }
    s->lo = s->hi = 0;
    for (int b = 0; b < n; b++)
        side_add(s, &s->layout[b], s->disp[b], (size_t)k[b]);
}

static void side_image(side_t *s, int which)
{
    s->size = (size_t)(s->hi - s->lo) + 2 * GUARD;
    s->image = scratch(which, s->size);
    fill(s->image, s->size,
         key2(now->key, 1000003u * (uint64_t)which + (uint64_t)world_rank));
}

static char *block_at(const side_t *s, char *image, int b)
{
    return image + GUARD - s->lo + s->block[b].at;
}

static void side_write(side_t *s, char *image, int b, const char *packed)
{
    layout_scatter(s->block[b].layout, block_at(s, image, b), packed,
                   s->block[b].k);
}

static void side_place(side_t *s, int role, bool read_only)
{
    size_t shift = 0;
    if (!plain && rng_one_in(&now->own, 3))
        shift = rng_below(&now->own, 16) *
                (now->op >= 0 ? now->element->align : 1);
    bool served = now->op < 0 || now->element < &elements[4];
    s->device = NULL;
    if (driver && now->size > 1 && served && !rng_one_in(&now->own, 3))
        s->device = device_take(s->size + shift);
    if (s->device) {
        s->place = (place_t){.p = s->device->seen + shift,
                             .n = s->size + shift};
        memcpy(s->place.p, s->image, s->size);
        device_put(s->device->at);
    } else if (plain || now->form != BLOCKING) { /* rooms hold one at a time */
        s->place = (place_t){.n = s->size + shift, .place = HEAP};
        s->place.base = malloc(s->size + shift);
        s->place.p = (char *)s->place.base + shift;
        memcpy(s->place.p, s->image, s->size);
    } else {
        s->place = place_take(&now->own, role, read_only, s->image, s->size,
                              shift);
    }
    s->user = (s->device ? s->device->at + shift : s->place.p) + GUARD - s->lo;
    if (s->lo == s->hi && rng_one_in(&now->own, 4))
        s->user = NULL; /* nothing there, no address */
}

static void side_large(side_t *s)
{
    for (int i = 0; i < SIDE_MAX; i++) {
        s->count_c[i] = s->count[i];
        s->disp_c[i] = s->disp[i];
    }
}

static void side_give(side_t *s)
{
    if (s->device)
        s->device->taken = false;
    else if (plain || now->form != BLOCKING)
        free(s->place.base);
    else
        place_give(&s->place);
}

static void side_drop(side_t *s)
{
    for (int i = 0; i < s->layouts; i++)
        layout_drop(&s->layout[i]);
    side_clear(s);
}

/* Data ------------------------------------------------------------------ */

/* What `from` sends to `to` (ranks in the communicator), k elements. */
static const char *message(int from, int to, size_t k)
{
    size_t n = k * now->element->packed;
    char *packed = scratch(PACKED, n);
    fill(packed, n,
         key2(now->key, 4096u * (uint64_t)now->slot->member[from] +
                            (uint64_t)now->slot->member[to]));
    return packed;
}

/* What member i brings to a reduction. */
static char *contribution(int which, int i, size_t k)
{
    size_t n = k * now->element->packed;
    char *packed = scratch(which, n);
    fill(packed, n, key2(now->key, (uint64_t)now->slot->member[i]));
    now->element->tame(now->op, packed, k);
    return packed;
}

/* members first .. last-1, combined in rank order */
static char *folded(int last, size_t k)
{
    char *left = contribution(FOLDED, 0, k);
    for (int i = 1; i < last; i++)
        now->element->fold(now->op, left, contribution(OTHER, i, k), k);
    return left;
}

/* Counts ---------------------------------------------------------------- */

/* Elements that member i has in a v-call. */
static int count_of(int i)
{
    rng_t r = rng_from(key2(now->key, 77u + (uint64_t)i));
    if (rng_one_in(&r, 6))
        return 0;
    size_t most = (size_t)(now->most / now->grain);
    return (int)(large ? rng_below(&r, most + 1) : rng_size(&r, most)) *
           now->grain;
}

/* Elements that i sends to j; in place the matrix must be symmetric. */
static int count_between(int i, int j)
{
    if (now->in_place && i > j) {
        int t = i;
        i = j;
        j = t;
    }
    return count_of(i * 257 + j);
}

/* The call -------------------------------------------------------------- */

static void check_call(int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    if (rc == MPI_SUCCESS)
        return;
    MPI_Error_string(rc, text, &n);
    fail("%s\n  %s", text, describe());
}

#define ARGUMENTS(...) __VA_ARGS__
#define WITH(arguments, ...) (ARGUMENTS arguments, __VA_ARGS__)
#if HAVE_LARGE_COUNT
#define LARGE(name, arguments) now->large ? MPI_##name##_c arguments:
#define LARGE_I(name, arguments) \
    now->large ? MPI_I##name##_c WITH(arguments, q):
#define LARGE_INIT(Name, arguments) \
    now->large ? MPI_##Name##_init_c WITH(arguments, MPI_INFO_NULL, q):
#else
#define LARGE(name, arguments)
#define LARGE_I(name, arguments)
#define LARGE_INIT(Name, arguments)
#endif
#if HAVE_PERSISTENT
#define PERSISTS(Name, plain_arguments, large_arguments) \
    LARGE_INIT(Name, large_arguments)                    \
    MPI_##Name##_init WITH(plain_arguments, MPI_INFO_NULL, q)
#else
#define PERSISTS(Name, plain_arguments, large_arguments) MPI_ERR_OTHER
#endif

/* Calls the procedure in the form that was drawn: its name, and the same in
 * lower case. */
#define BOTH(Name, name, plain_arguments, large_arguments)                   \
    rc = now->form == IMMEDIATE ? (LARGE_I(name, large_arguments)            \
                                       MPI_I##name WITH(plain_arguments, q)) \
         : now->form == PERSISTENT                                           \
             ? (PERSISTS(Name, plain_arguments, large_arguments))            \
             : (LARGE(Name, large_arguments) MPI_##Name plain_arguments)

static int invoke(void *sent)
{
    MPI_Comm comm = now->slot->comm;
    MPI_Op op = now->op >= 0 ? ops[now->op] : MPI_OP_NULL;
    MPI_Datatype type = now->element->type;
    int rc = MPI_SUCCESS, root = now->root;
    MPI_Request *q = &flight->request;
    int k = out->used && out->n ? (int)out->block[0].k
            : in->used && in->n ? (int)in->block[0].k
                                : 0;
    int *sc = out->count, *sd = out->disp, *rcv = in->count, *rd = in->disp;
    MPI_Datatype st = out->used ? out->type[0] : MPI_DATATYPE_NULL;
    MPI_Datatype rt = in->used ? in->type[0] : MPI_DATATYPE_NULL;

    /* Arguments that are not significant: anything that is not wrong. */
    if (!out->used)
        st = type;
    if (!in->used)
        rt = type;
    switch (now->proc) {
    case BARRIER:
        rc = now->form == IMMEDIATE ? MPI_Ibarrier(comm, q)
#if HAVE_PERSISTENT
             : now->form == PERSISTENT
                 ? MPI_Barrier_init(comm, MPI_INFO_NULL, q)
#endif
                 : MPI_Barrier(comm);
        break;
    case BCAST: {
        side_t *s = now->rank == root ? out : in;
        BOTH(Bcast, bcast, (s->user, s->count[0], s->type[0], root, comm),
             (s->user, s->count[0], s->type[0], root, comm));
        break;
    }
    case GATHER:
        BOTH(Gather, gather,
             (sent, sc[0], st, in->user, rcv[0], rt, root, comm),
             (sent, sc[0], st, in->user, rcv[0], rt, root, comm));
        break;
    case GATHERV:
        BOTH(Gatherv, gatherv,
             (sent, sc[0], st, in->user, rcv, rd, rt, root, comm),
             (sent, sc[0], st, in->user, in->count_c, in->disp_c, rt, root,
              comm));
        break;
    case SCATTER:
        BOTH(Scatter, scatter,
             (out->user, sc[0], st, sent, rcv[0], rt, root, comm),
             (out->user, sc[0], st, sent, rcv[0], rt, root, comm));
        break;
    case SCATTERV:
        BOTH(Scatterv, scatterv,
             (out->user, sc, sd, st, sent, rcv[0], rt, root, comm),
             (out->user, out->count_c, out->disp_c, st, sent, rcv[0], rt, root,
              comm));
        break;
    case ALLGATHER:
        BOTH(Allgather, allgather,
             (sent, sc[0], st, in->user, rcv[0], rt, comm),
             (sent, sc[0], st, in->user, rcv[0], rt, comm));
        break;
    case ALLGATHERV:
        BOTH(Allgatherv, allgatherv,
             (sent, sc[0], st, in->user, rcv, rd, rt, comm),
             (sent, sc[0], st, in->user, in->count_c, in->disp_c, rt, comm));
        break;
    case ALLTOALL:
        BOTH(Alltoall, alltoall, (sent, sc[0], st, in->user, rcv[0], rt, comm),
             (sent, sc[0], st, in->user, rcv[0], rt, comm));
        break;
    case ALLTOALLV:
        BOTH(Alltoallv, alltoallv,
             (sent, sc, sd, st, in->user, rcv, rd, rt, comm),
             (sent, out->count_c, out->disp_c, st, in->user, in->count_c,
              in->disp_c, rt, comm));
        break;
    case ALLTOALLW:
        BOTH(Alltoallw, alltoallw,
             (sent, sc, sd, out->type, in->user, rcv, rd, in->type, comm),
             (sent, out->count_c, out->disp_c, out->type, in->user, in->count_c,
              in->disp_c, in->type, comm));
        break;
    case REDUCE:
        BOTH(Reduce, reduce, (sent, in->user, k, type, op, root, comm),
             (sent, in->user, k, type, op, root, comm));
        break;
    case ALLREDUCE:
        BOTH(Allreduce, allreduce, (sent, in->user, k, type, op, comm),
             (sent, in->user, k, type, op, comm));
        break;
    case REDUCE_SCATTER:
        BOTH(Reduce_scatter, reduce_scatter,
             (sent, in->user, rcv, type, op, comm),
             (sent, in->user, in->count_c, type, op, comm));
        break;
    case REDUCE_SCATTER_BLOCK:
        BOTH(Reduce_scatter_block, reduce_scatter_block,
             (sent, in->user, rcv[0], type, op, comm),
             (sent, in->user, rcv[0], type, op, comm));
        break;
    case SCAN:
        BOTH(Scan, scan, (sent, in->user, k, type, op, comm),
             (sent, in->user, k, type, op, comm));
        break;
    case EXSCAN:
        BOTH(Exscan, exscan, (sent, in->user, k, type, op, comm),
             (sent, in->user, k, type, op, comm));
        break;
    }
    return rc;
}

/* The bytes of a side are others, or what they were. */
static void side_turn(const side_t *s, bool others)
{
    char *p = s->place.p;
    for (size_t i = 0; s->used && i < s->size; i++)
        p[i] = (char)(others ? s->image[i] + 1 : s->image[i]);
    if (s->used && s->device)
        device_put(s->device->at);
}

/* Starts a persistent call; before that up to three times with other data, as
 * all ranks draw alike. */
static void start(void)
{
    rng_t r = rng_from(key2(now->key, 1u << 28));
    for (int more = (int)rng_below(&r, 4); more; more--) {
        side_turn(out, true);
        side_turn(in, true);
        check_call(MPI_Start(&flight->request));
        check_call(MPI_Wait(&flight->request, MPI_STATUS_IGNORE));
        side_turn(out, false);
        side_turn(in, false);
    }
    check_call(MPI_Start(&flight->request));
}

/* One block of zeros over another: what the standard leaves undefined. */
static void forget(side_t *s, char *image, ptrdiff_t at, size_t k)
{
    block_t *b = &s->block[s->n];
    *b = (block_t){&s->layout[0], at, k};
    char *zeros = scratch(OTHER, k * now->element->packed);
    memset(zeros, 0, k * now->element->packed);
    side_write(s, image, s->n, zeros);
}

static uint64_t digest(uint64_t h, const char *p, size_t n)
{
    uint64_t word;
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&word, p, 8);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 29;
    }
    for (; n; p++, n--)
        h = (h ^ (unsigned char)*p) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static void compare(const char *what, side_t *s, const char *got,
                    const char *want)
{
    if (!memcmp(got, want, s->size))
        return;
    size_t i = 0, last = s->size - 1, wrong = 0;
    while (got[i] == want[i])
        i++;
    while (got[last] == want[last])
        last--;
    for (size_t j = i; j <= last; j++)
        wrong += got[j] != want[j];
    const char *where = i < GUARD              ? "in the guard before"
                        : i >= s->size - GUARD ? "in the guard after"
                                               : "inside";
    char text[256];
    int n = 0;
    for (size_t j = i; j < i + 8 && j < s->size; j++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %02x/%02x",
                      (unsigned char)got[j], (unsigned char)want[j]);
    fail("%s buffer (%s): %zu bytes wrong, first at %td, last at %td of %td "
         "(%s); got/want%s\n  %s; type %s of %d, extent %td, true [%td, %td)",
         what, place_names[s->place.place], wrong, (ptrdiff_t)i - GUARD,
         (ptrdiff_t)last - GUARD, s->hi - s->lo, where, text, describe(),
         s->layouts ? s->layout[0].made_by : "-",
         s->layouts ? s->layout[0].m : 0, s->layouts ? s->layout[0].extent : 0,
         s->layouts ? s->layout[0].lo : 0, s->layouts ? s->layout[0].hi : 0);
}

static void begin(void)
{
    int p = now->size, me = now->rank, root = now->root, k = now->most;
    int counts[SIDE_MAX], others[SIDE_MAX], total = 0;
    bool at_root = me == root, replaced[SIDE_MAX] = {false};
    void *in_place = NULL;
    char *want = NULL;

    side_clear(out);
    side_clear(in);
    for (int i = 0; i < p; i++)
        total += counts[i] = count_of(i);

    /* Each side's shape. */
    switch (now->proc) {
    case BCAST: side_regular(at_root ? out : in, 1, (size_t)k); break;
    case GATHER:
        if (!(now->mine_in_place = now->mine_in_place && at_root))
            side_regular(out, 1, (size_t)k);
        if (at_root)
            side_regular(in, p, (size_t)k);
        break;
    case GATHERV:
        if (!(now->mine_in_place = now->mine_in_place && at_root))
            side_regular(out, 1, (size_t)counts[me]);
        if (at_root)
            side_spread(in, p, counts);
        break;
    case SCATTER:
        if (!(now->mine_in_place = now->mine_in_place && at_root))
            side_regular(in, 1, (size_t)k);
        if (at_root)
            side_regular(out, p, (size_t)k);
        break;
    case SCATTERV:
        if (!(now->mine_in_place = now->mine_in_place && at_root))
            side_regular(in, 1, (size_t)counts[me]);
        if (at_root)
            side_spread(out, p, counts);
        break;
    case ALLGATHER:
    case ALLGATHERV:
        now->mine_in_place = now->in_place;
        if (!now->in_place)
            side_regular(out, 1,
                         now->proc == ALLGATHER ? (size_t)k
                                                : (size_t)counts[me]);
        if (now->proc == ALLGATHER)
            side_regular(in, p, (size_t)k);
        else
            side_spread(in, p, counts);
        break;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        now->mine_in_place = now->in_place;
        for (int i = 0; i < p; i++) {
            counts[i] = count_between(me, i);
            others[i] = count_between(i, me);
        }
        if (now->proc == ALLTOALL) {
            if (!now->in_place)
                side_regular(out, p, (size_t)k);
            side_regular(in, p, (size_t)k);
        } else if (now->proc == ALLTOALLV) {
            if (!now->in_place)
                side_spread(out, p, counts);
            side_spread(in, p, others);
        } else {
            if (!now->in_place)
                side_free_types(out, p, counts);
            side_free_types(in, p, others);
        }
        break;
    case REDUCE:
        if (!(now->mine_in_place = now->mine_in_place && at_root))
            side_regular(out, 1, (size_t)k);
        if (at_root)
            side_regular(in, 1, (size_t)k);
        break;
    case ALLREDUCE:
        now->mine_in_place = now->in_place;
        /* fall through */
    case SCAN:
    case EXSCAN:
        if (!now->mine_in_place)
            side_regular(out, 1, (size_t)k);
        side_regular(in, 1, (size_t)k);
        break;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        now->mine_in_place = now->in_place;
        if (now->proc == REDUCE_SCATTER_BLOCK) {
            for (int i = 0; i < p; i++)
                counts[i] = k;
            total = k * p;
        }
        if (!now->in_place)
            side_regular(out, 1, (size_t)total);
        side_regular(in, 1, (size_t)(now->in_place ? total : counts[me]));
        for (int i = 0; i < p; i++)
            in->count[i] = counts[i];
        break;
    }
    if (now->large) {
        side_large(out);
        side_large(in);
    }

    /* What is sent. */
    if (out->used) {
        side_image(out, SEND_IMAGE);
        for (int b = 0; b < out->n; b++) {
            size_t n = out->block[b].k;
            const char *data = now->op >= 0 ? contribution(PACKED, me, n)
                               : now->proc == BCAST ? message(root, root, n)
                               : now->proc == GATHER || now->proc == GATHERV
                                   ? message(me, root, n)
                               : now->proc == ALLGATHER ||
                                       now->proc == ALLGATHERV
                                   ? message(me, me, n)
                                   : message(me, b, n);
            side_write(out, out->image, b, data);
        }
        /* MPICH writes to the root's buffer in a Bcast, with what is there. */
        side_place(out, SEND_ROLE, now->proc != BCAST);
    }
    /* What is there before, and what must be there after. */
    if (in->used) {
        side_image(in, RECEIVE_IMAGE);
        if (now->mine_in_place)
            for (int b = 0; b < in->n; b++) {
                size_t n = in->block[b].k;
                if (now->op >= 0)
                    side_write(in, in->image, b, contribution(PACKED, me, n));
                else if (now->proc == GATHER || now->proc == GATHERV) {
                    if (b == me)
                        side_write(in, in->image, b, message(me, root, n));
                } else if (now->proc == ALLGATHER || now->proc == ALLGATHERV) {
                    if (b == me)
                        side_write(in, in->image, b, message(me, me, n));
                } else
                    side_write(in, in->image, b, message(me, b, n));
            }
        want = scratch(WANTED, in->size);
        memcpy(want, in->image, in->size);
        for (int b = 0; b < in->n; b++) {
            size_t n = in->block[b].k;
            switch (now->proc) {
            case BCAST: side_write(in, want, b, message(root, root, n)); break;
            case GATHER:
            case GATHERV: side_write(in, want, b, message(b, root, n)); break;
            case SCATTER:
            case SCATTERV: side_write(in, want, b, message(root, me, n)); break;
            case ALLGATHER:
            case ALLGATHERV: side_write(in, want, b, message(b, b, n)); break;
            case ALLTOALL:
            case ALLTOALLV:
            case ALLTOALLW: side_write(in, want, b, message(b, me, n)); break;
            case REDUCE:
            case ALLREDUCE: side_write(in, want, b, folded(p, n)); break;
            case SCAN: side_write(in, want, b, folded(me + 1, n)); break;
            case EXSCAN:
                if (me > 0)
                    side_write(in, want, b, folded(me, n));
                break;
            case REDUCE_SCATTER:
            case REDUCE_SCATTER_BLOCK: {
                size_t first = 0, all = (size_t)total;
                for (int i = 0; i < me; i++)
                    first += (size_t)counts[i];
                char *result = folded(p, all);
                in->block[b].k = (size_t)counts[me];
                side_write(in, want, b, result + first * now->element->packed);
                break;
            }
            }
            replaced[b] = true;
        }
        side_place(in, RECEIVE_ROLE, false);
    }
    (void)replaced;

    if (now->mine_in_place)
        in_place = MPI_IN_PLACE;
    void *sent = in_place ? in_place : out->user;
    if (now->proc == SCATTER || now->proc == SCATTERV)
        sent = in_place ? in_place : in->user;

    if (!plain && rng_one_in(&now->own, 150))
        usleep((useconds_t)rng_below(&now->own, 400));
    flight->want = want;
    flight->total = total;
    flight->mine = counts[me];
    check_call(invoke(sent));
    if (now->form == PERSISTENT)
        start();
}

/* The call has ended: what must be in its buffers? */
static void conclude(void)
{
    uint64_t h = 1;
    char *want = flight->want;
    if (out->used && out->device)
        device_get(out->device->at);
    if (in->used && in->device)
        device_get(in->device->at);
    if (out->used) {
        compare("send", out, out->place.p, out->image);
        side_give(out);
    }
    if (in->used) {
        char *got = in->image; /* its old content is not needed */
        memcpy(got, in->place.p, in->size);
        side_give(in);
        if (now->in_place && (now->proc == REDUCE_SCATTER ||
                              now->proc == REDUCE_SCATTER_BLOCK)) {
            size_t rest = (size_t)(flight->total - flight->mine);
            ptrdiff_t at = flight->mine * in->layout[0].extent;
            forget(in, got, at, rest);
            forget(in, want, at, rest);
        }
        for (int b = 0; b < in->n; b++) {
            layout_forget_padding(in->block[b].layout, block_at(in, got, b),
                                  in->block[b].k);
            layout_forget_padding(in->block[b].layout, block_at(in, want, b),
                                  in->block[b].k);
        }
        compare("receive", in, got, want);
        h = digest(h, got, in->size);
    }
    if (log_file)
        fprintf(log_file, "%ld %s%s %d/%d %d %016llx\n", now->index,
                names[now->proc], now->large ? "_c" : "", now->rank, now->size,
                MPI_SUCCESS, (unsigned long long)h);
    side_drop(out);
    side_drop(in);
}

/* Several under way ------------------------------------------------------ */

/* Completes one of the calls under way, or more of them, by means that this
 * rank draws. */
static void land(rng_t *r)
{
    MPI_Request q[FLIGHTS];
    int which[FLIGHTS], n = 0, done = 0, ended[FLIGHTS];
    for (int i = 0; i < FLIGHTS; i++)
        if (flights[i].started) {
            which[n] = i;
            q[n++] = flights[i].request;
        }
    int one = (int)rng_below(r, (size_t)n), flag = 0;
    switch (rng_below(r, 8)) {
    case 0:
        MPI_Wait(&q[one], MPI_STATUS_IGNORE);
        ended[done++] = one;
        break;
    case 1:
        while (!flag)
            MPI_Test(&q[one], &flag, MPI_STATUS_IGNORE);
        ended[done++] = one;
        break;
    case 2: MPI_Waitany(n, q, &ended[done++], MPI_STATUS_IGNORE); break;
    case 3: MPI_Waitsome(n, q, &done, ended, MPI_STATUSES_IGNORE); break;
    case 4:
        while (!flag)
            MPI_Request_get_status(q[one], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&q[one], MPI_STATUS_IGNORE);
        ended[done++] = one;
        break;
    case 5:
        while (!flag)
            MPI_Testany(n, q, &ended[0], &flag, MPI_STATUS_IGNORE);
        done = 1;
        break;
    case 6:
        while (!flag)
            MPI_Testall(n, q, &flag, MPI_STATUSES_IGNORE);
        for (; done < n; done++)
            ended[done] = done;
        break;
    default:
        MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
        for (; done < n; done++)
            ended[done] = done;
    }
    for (int i = 0; i < n; i++)
        flights[which[i]].request = q[i];
    for (int i = 0; i < done; i++) {
        take_up(&flights[which[ended[i]]]);
        if (flight->request != MPI_REQUEST_NULL)
            MPI_Request_free(&flight->request);
        flight->started = false;
        in_flight--;
        conclude();
    }
}

static void land_all(void)
{
    for (int i = 0; in_flight; i++) {
        rng_t r = rng_from(key2(seed, 1u << 29 | (uint64_t)i));
        land(&r);
    }
}

/* The call that was drawn into the flight at hand. */
static void carry_out(void)
{
    begin();
    if (now->form == BLOCKING) {
        conclude();
        return;
    }
    flight->started = true;
    rng_t r = now->own;
    if (++in_flight == FLIGHTS || rng_one_in(&r, 3))
        land(&r);
}

static void find_flight(void)
{
    for (int i = 0; i < FLIGHTS; i++)
        if (!flights[i].started)
            take_up(&flights[i]);
}

/* Draw a call. */
static bool draw(long index)
{
    uint64_t key = key2(seed, (uint64_t)index);
    rng_t r = rng_from(key);
    /* Programs repeat themselves: a third of the calls are like the other
     * calls of their stretch, so that some ranks get ahead in a stream. */
    rng_t like = rng_from(key2(seed, 1u << 30 | (uint64_t)index / 16));
    rng_t *shape = rng_one_in(&r, 3) ? &like : &r;

    *now = (call_t){.index = index, .key = key, .op = -1};
    now->proc = only >= 0 ? only : (int)rng_below(shape, PROCEDURES);
    now->slot = &slots[rng_one_in(shape, 3) ? 0 : rng_below(shape, SLOTS)];
    if (plain)
        now->slot = &slots[0];
    size_t which = rng_next(shape), how_op = rng_next(&r);
    now->large = HAVE_LARGE_COUNT && rng_one_in(&r, 3);
    now->form = form < MIXED ? form : (int)(mix(key) % MIXED);
    if (!HAVE_PERSISTENT && now->form == PERSISTENT)
        now->form = IMMEDIATE;
    size_t bytes = rng_size(&r, rng_one_in(&r, 10)  ? max_bytes
                                : max_bytes < 16384 ? max_bytes
                                                    : 16384);
    if (large)
        bytes = max_bytes / 4 + rng_below(&r, max_bytes - max_bytes / 4);
    uint64_t root = rng_next(&r), grain = rng_next(&r);
    now->in_place = now->mine_in_place = rng_one_in(&r, 4);
    if (now->slot->comm == MPI_COMM_NULL || now->slot->size > SIDE_MAX)
        return false;

    now->size = now->slot->size;
    now->rank = now->slot->rank;
    /* The host serves a member alone, which Intel MPI does wrongly. */
    if (now->size == 1 && now->form == PERSISTENT)
        now->form = IMMEDIATE;
    now->root = (int)(root % (uint64_t)now->size);
    now->own = rng_from(key2(key, 4000000007u + (uint64_t)world_rank));
    if (now->proc == SCAN || now->proc == EXSCAN)
        now->mine_in_place = rng_one_in(&now->own, 4);

    /* Half of the time the types that most programs use. */
    now->element = &elements[which % 2 ? (which >> 1) % 4
                                       : (which >> 1) % (size_t)element_count];
    if (now->proc >= REDUCE) {
        while (!now->element->ops)
            now->element = &elements[(size_t)(now->element - elements + 1) %
                                     (size_t)element_count];
        int set = __builtin_popcount(now->element->ops);
        int n = (int)(how_op % (size_t)set);
        for (now->op = 0;; now->op++)
            if (now->element->ops & 1u << now->op && n-- == 0)
                break;
    }
    /* MPICH and its kin size a temporary by the true extent here. */
    if (now->op == MATRIX &&
        (now->proc == REDUCE_SCATTER || now->proc == REDUCE_SCATTER_BLOCK))
        while (
            !(now->element->ops & 1u << MATRIX && now->element->extent == 16))
            now->element = &elements[(size_t)(now->element - elements + 1) %
                                     (size_t)element_count];
    static const int grains[] = {1, 1, 2, 3, 4, 6, 8, 12, 30, 64, 100};
    now->grain = now->op >= 0 ? 1 : grains[grain % LENGTH(grains)];
    size_t blocks = now->proc == BCAST || now->proc == REDUCE ||
                            now->proc == ALLREDUCE || now->proc == SCAN ||
                            now->proc == EXSCAN
                        ? 1
                        : (size_t)now->size;
    now->most = (int)(bytes /
                      (now->element->packed * blocks * (size_t)now->grain)) *
                now->grain;
    return true;
}

/* Traffic of the host under way across our calls ------------------------- */

#define PENDING_MAX 4

typedef struct {
    MPI_Request request[2];
    int kind, size, rank, n;
    unsigned char *a, *b;
    uint64_t key;
} pending_t;

static pending_t pending[PENDING_MAX];
static int pending_count; /* of this rank */
static int pending_drawn; /* of all ranks: some hold no communicator */

static void pending_finish(void)
{
    for (int i = 0; i < pending_count; i++) {
        pending_t *q = &pending[i];
        MPI_Waitall(2, q->request, MPI_STATUSES_IGNORE);
        switch (q->kind) {
        case 1:
            for (int j = 0; j < q->n; j++)
                CHECK(q->b[j] == (unsigned char)(q->size * (j % 7)),
                      "Iallreduce under way across our calls: wrong at %d", j);
            break;
        case 2:
            for (int j = 0; j < q->n; j++)
                CHECK(q->a[j] == (unsigned char)(q->key + (uint64_t)j),
                      "Ibcast under way across our calls: wrong at %d", j);
            break;
        case 3:
            for (int j = 0; j < q->n; j++)
                CHECK(q->b[j] == (unsigned char)(q->key + (uint64_t)j),
                      "message under way across our calls: wrong at %d", j);
            break;
        }
        free(q->a);
        free(q->b);
    }
    pending_count = pending_drawn = 0;
}

static void pending_start(rng_t *r)
{
    pending_drawn++;
    slot_t *s = &slots[rng_below(r, SLOTS)];
    pending_t q = {.kind = (int)rng_below(r, 4),
                   .key = rng_next(r),
                   .request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    q.n = (int)rng_size(r, rng_one_in(r, 4) ? 1 << 18 : 1 << 12);
    uint64_t root = rng_next(r);
    if (s->comm == MPI_COMM_NULL)
        return;
    q.size = s->size;
    q.rank = s->rank;
    if (q.n > 0 || q.kind == 0) {
        q.a = malloc((size_t)q.n + 1);
        q.b = malloc((size_t)q.n + 1);
        int next = (q.rank + 1) % q.size, last = (q.rank + q.size - 1) % q.size;
        switch (q.kind) {
        case 0: MPI_Ibarrier(s->comm, &q.request[0]); break;
        case 1:
            for (int j = 0; j < q.n; j++)
                q.a[j] = (unsigned char)(j % 7);
            MPI_Iallreduce(q.a, q.b, q.n, MPI_UNSIGNED_CHAR, MPI_SUM, s->comm,
                           &q.request[0]);
            break;
        case 2:
            for (int j = 0; j < q.n; j++)
                q.a[j] = (int)(root % (uint64_t)q.size) == q.rank
                             ? (unsigned char)(q.key + (uint64_t)j)
                             : 0;
            MPI_Ibcast(q.a, q.n, MPI_UNSIGNED_CHAR,
                       (int)(root % (uint64_t)q.size), s->comm, &q.request[0]);
            break;
        case 3:
            for (int j = 0; j < q.n; j++)
                q.a[j] = (unsigned char)(q.key + (uint64_t)j);
            MPI_Irecv(q.b, q.n, MPI_UNSIGNED_CHAR, last, 5, s->comm,
                      &q.request[0]);
            MPI_Isend(q.a, q.n, MPI_UNSIGNED_CHAR, next, 5, s->comm,
                      &q.request[1]);
            break;
        }
        pending[pending_count++] = q;
    }
}

/* Two halves of the world talk to each other ----------------------------- */

static void intercommunicator(rng_t *r)
{
    if (world_size < 2)
        return;
    int half = 1 + (int)rng_below(r, (size_t)world_size - 1);
    int side = world_rank >= half, n = 1 + (int)rng_below(r, 3000);
    int remote_size = side ? half : world_size - half;
    uint64_t key = rng_next(r);
    MPI_Comm local, inter, merged;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : half, 23, &inter);
    int rank;
    MPI_Comm_rank(local, &rank);
    int *a = malloc((size_t)n * sizeof(int));
    int *b = malloc((size_t)n * sizeof(int) * (size_t)world_size);
    for (int i = 0; i < n; i++)
        a[i] = world_rank * 1000 + i;
    MPI_Barrier(inter);
    MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, inter);
    for (int j = 0; j < remote_size; j++)
        for (int i = 0; i < n; i++)
            CHECK(b[j * n + i] == ((side ? 0 : half) + j) * 1000 + i,
                  "Allgather between two groups: wrong from %d at %d", j, i);
    MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, inter);
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int j = 0; j < remote_size; j++)
            sum += ((side ? 0 : half) + j) * 1000 + i;
        CHECK(b[i] == sum, "Allreduce between two groups: wrong at %d", i);
    }
    int root_side = (int)(key & 1);
    int root = side != root_side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    memcpy(b, a, (size_t)n * sizeof(int));
    MPI_Bcast(b, n, MPI_INT, root, inter);
    for (int i = 0; i < n; i++)
        CHECK(b[i] == (side == root_side ? a[i]
                                         : (root_side ? half : 0) * 1000 + i),
              "Bcast between two groups: wrong at %d", i);
    MPI_Intercomm_merge(inter, side, &merged);
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, merged);
    CHECK(all == world_size, "Allreduce after a merge: %d", all);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    calls = argument(argc, argv, 2, 1000);
    for (int i = 3; i < argc; i++) {
        if (!strcmp(argv[i], "--log") && i + 1 < argc) {
            char name[4096];
            snprintf(name, sizeof name, "%s.%d", argv[++i], world_rank);
            log_file = fopen(name, "w");
            CHECK(log_file, "cannot write %s", name);
        } else if (!strcmp(argv[i], "--max") && i + 1 < argc) {
            max_bytes = strtoull(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--from") && i + 1 < argc) {
            from = strtol(argv[++i], NULL, 0);
        } else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
            for (i++, only = PROCEDURES - 1; only >= 0; only--)
                if (!strcmp(names[only], argv[i]))
                    break;
            CHECK(only >= 0, "no collective called %s", argv[i]);
        } else if (!strcmp(argv[i], "--form") && i + 1 < argc) {
            for (i++, form = FORMS - 1; form >= 0; form--)
                if (!strcmp(form_names[form], argv[i]))
                    break;
            CHECK(form >= 0, "no form called %s", argv[i]);
        } else if (!strcmp(argv[i], "--device") && i + 1 < argc) {
            device_begin(argv[++i]);
        } else if (!strcmp(argv[i], "--trace")) {
            trace = true;
        } else if (!strcmp(argv[i], "--plain")) {
            plain = true;
        } else if (!strcmp(argv[i], "--large")) {
            large = true;
        } else if (!strcmp(argv[i], "--meet")) {
            meet = true;
        } else {
            fail("option %s is not known", argv[i]);
        }
    }
    stack_room[0] = alloca(STACK_ROOM);
    stack_room[1] = alloca(STACK_ROOM);
    elements_make();
    slots_start();
    for (int i = 0; i < SLOTS && meet; i++)
        MPI_Barrier(slots[i].comm);

    long done = 0, shared = 0;
    for (long i = from; i < from + calls; i++) {
        rng_t r = rng_from(key2(seed, 1u << 31 | (uint64_t)i));
        if (!plain) {
            if (rng_one_in(&r, 60)) {
                land_all();
                pending_finish();
                slot_t *slot = &slots[2 + rng_below(&r, SLOTS - 2)];
                slot_make(&r, slot);
                if (meet && slot->comm != MPI_COMM_NULL)
                    MPI_Barrier(slot->comm);
            }
            if (rng_one_in(&r, 500)) {
                land_all();
                pending_finish();
                intercommunicator(&r);
            }
            if (pending_drawn == PENDING_MAX || rng_one_in(&r, 12))
                pending_finish();
            else if (rng_one_in(&r, 6))
                pending_start(&r);
        }
        find_flight();
        if (!draw(i))
            continue;
        if (trace)
            fprintf(stderr, "[%d] %s\n", world_rank, describe());
        carry_out();
        done++;
        shared += now->size > 1;
    }
    land_all();
    pending_finish();
    if (driver)
        device_report();
    slots_end();
    elements_free();
    if (log_file)
        fclose(log_file);
    MPI_Finalize();
    if (world_rank == 0)
        printf("seed %llu: %ld calls right, %ld of them with company\n",
               (unsigned long long)seed, done, shared);
    return 0;
}
