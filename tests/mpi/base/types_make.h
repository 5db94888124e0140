/*
 * types_make.h - random datatypes of a given sequence of basic types, nested
 * to any depth, with our own list of where each basic element lies.
 *
 * The maker works the list out beside MPI, constructor by constructor. It asks
 * the host for lower bound and extent alone: a host may pad structures as it
 * likes. `made_trusted` tells a host's own error from an error in a message: it
 * has the host pack and unpack each type first.
 *
 * The maker works from the outside. If the sequence repeats itself, any
 * constructor may place the repetitions, each described by another random
 * type. If it does not, the maker makes a structure of its pieces. No two
 * elements of a receiver's type overlap; a sender's may, if the caller says so.
 */
#ifndef TYPES_MAKE_H
#define TYPES_MAKE_H

#include "mpi/random/p2p_buffers.h"
#include "types_signature.h"

#define ELEMENTS_CAP 3000  /* basic elements of one type */
#define SPAN_MAX (6 << 20) /* bytes from the first to the last */
#define DEPTH_MAX 6

/* How to make a type. */
typedef struct {
    rng_t *r;
    bool overlap; /* bytes may be read twice */
    bool odd;     /* displacements of any bytes */
    bool plain;   /* nothing that needs luck */
    bool tiling;  /* items must not interleave */
    bool whole;   /* no pair whose halves are turns */
    int column;   /* items that may interleave */
} maker_t;

/* A datatype: n basic elements, element i at the byte at[i]. */
typedef struct {
    MPI_Datatype type;
    bool mine;          /* to be freed */
    bool pairs, darray; /* such types are in it */
    bool backwards;     /* items in it touch, the last first */
    int n, size;
    short *basic;
    ptrdiff_t *at;
    ptrdiff_t lb, extent; /* as the host says */
    ptrdiff_t lo, hi;     /* the bytes really touched */
    stretch_t *run;       /* the same, adjoining ones together */
    int runs;
    char made_by[200];
} made_t;

static int (*accelerate)(int on);     /* Straightway's switch, or NULL */
static bool verbose;                  /* say which types are not trusted */
static _Thread_local long mistrusted; /* types the host gets wrong */

static void made_measure(made_t *d)
{
    MPI_Aint lb = 0, extent = 0;
    MPI_Type_get_extent(d->type, &lb, &extent);
    d->lb = lb;
    d->extent = extent;
    d->lo = d->n ? PTRDIFF_MAX : 0;
    d->hi = d->n ? PTRDIFF_MIN : 0;
    d->size = 0;
    for (int i = 0; i < d->n; i++) {
        ptrdiff_t end = d->at[i] + basics[d->basic[i]].size;
        d->lo = d->at[i] < d->lo ? d->at[i] : d->lo;
        d->hi = end > d->hi ? end : d->hi;
        d->size += basics[d->basic[i]].size;
    }
}

static void made_runs(made_t *d)
{
    d->run = malloc(((size_t)d->n + 1) * sizeof *d->run);
    d->runs = 0;
    for (int i = 0; i < d->n; i++) {
        size_t n = (size_t)basics[d->basic[i]].size;
        stretch_t *last = &d->run[d->runs - 1];
        if (d->runs && last->at + (ptrdiff_t)last->n == d->at[i])
            last->n += n;
        else
            d->run[d->runs++] = (stretch_t){d->at[i], n};
    }
}

static void made_drop(made_t *d)
{
    if (d->mine && d->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&d->type);
    free(d->basic);
    free(d->at);
    free(d->run);
    *d = (made_t){.type = MPI_DATATYPE_NULL};
}

static made_t made_of(const short *basic, int n)
{
    made_t d = {.type = MPI_DATATYPE_NULL, .mine = true, .n = n};
    d.basic = malloc(((size_t)n + 1) * sizeof *d.basic);
    d.at = calloc((size_t)n + 1, sizeof *d.at);
    memcpy(d.basic, basic, (size_t)n * sizeof *d.basic);
    return d;
}

static void made_named(made_t *d, const char *name, const made_t *inner)
{
    snprintf(d->made_by, sizeof d->made_by, "%s(%s)", name, inner->made_by);
}

static void made_contains(made_t *d, const made_t *inner)
{
    d->pairs = d->pairs || inner->pairs;
    d->darray = d->darray || inner->darray;
    d->backwards = d->backwards || inner->backwards;
}

static made_t made_base(short basic)
{
    made_t d = made_of(&basic, 1);
    d.type = basics[basic].type;
    d.mine = false;
    snprintf(d.made_by, sizeof d.made_by, "%s", basics[basic].name);
    made_measure(&d);
    return d;
}

static made_t make(maker_t *m, const short *seq, int n, int depth);

static bool draw_large(maker_t *m)
{
    return HAVE_LARGE_COUNT && has("large") && rng_one_in(m->r, 3);
}

/* Bytes that displacements are multiples of, for items of this type. */
static ptrdiff_t draw_unit(maker_t *m, const short *seq, int n)
{
    int unit = 1;
    if (m->odd)
        return 1;
    for (int i = 0; i < n; i++)
        if (basics[seq[i]].size > unit)
            unit = basics[seq[i]].size;
    return unit;
}

/* One of MPI's constructors, of repetitions of the same. */
static made_t make_repeated(maker_t *m, const short *seq, int n, int p,
                            int depth)
{
    static const char *const leave[CONSTRUCTORS] = {
        [SUBARRAY] = "subarray",
        [DUP] = "dup",
        [ARRAY] = "subarray",
        [HINDEXED_BLOCK] = "hindexed_block",
        [DARRAY] = "darray"};
    int q = depth > 0 ? p * divisor(m->r, n / p) : p;
    if (q == n && p < n)
        q = p;
    made_t inner = make(m, seq, q, depth - 1), d = made_of(seq, n);
    int items = n / q, how;
    do
        how = (int)rng_below(m->r, CONSTRUCTORS);
    while ((how == STRIDES && !m->overlap) || (leave[how] && !has(leave[how])));
    if (m->plain)
        how = CONTIGUOUS;
    ptrdiff_t *at = malloc((size_t)items * sizeof *at);
    const char *name = "";
    d.type = construct(m->r, how, draw_large(m), inner.type, items,
                       inner.extent, draw_unit(m, seq, q), at, &name);
    for (int i = 0; i < n; i++)
        d.at[i] = at[i / q] + inner.at[i % q];
    for (int i = 1; i < items; i++)
        d.backwards = d.backwards || at[i] == at[i - 1] - inner.extent;
    made_contains(&d, &inner);
    d.darray = d.darray || how == DARRAY;
    made_named(&d, name, &inner);
    free(at);
    made_drop(&inner);
    made_measure(&d);
    return d;
}

/* A structure of pieces, each of them repetitions of a type, in any order and
 * with any gaps; some of no length. */
static made_t make_pieces(maker_t *m, const short *seq, int n, int depth)
{
    int *len = malloc(2 * ((size_t)n + 64) * sizeof *len), pieces = 0;
    if (depth > 0) {
        do
            pieces = cut(m->r, n, len);
        while (pieces > 2 * n + 32);
    } else { /* runs of one basic type */
        for (int i = 0; i < n; i++)
            if (i && seq[i] == seq[i - 1])
                len[pieces - 1]++;
            else
                len[pieces++] = 1;
    }
    made_t *inner = malloc((size_t)pieces * sizeof *inner);
    MPI_Count *times = malloc((size_t)pieces * sizeof *times);
    MPI_Count *byte = malloc((size_t)pieces * sizeof *byte);
    MPI_Datatype *type = malloc((size_t)pieces * sizeof *type);
    int *order = malloc((size_t)pieces * sizeof *order);
    made_t d = made_of(seq, n);
    for (int k = 0, from = 0; k < pieces; from += len[k++]) {
        int q = len[k] ? period(seq + from, len[k]) : 1;
        if (len[k])
            q *= divisor(m->r, len[k] / q);
        times[k] = len[k] / q;
        inner[k] = make(m, seq + (len[k] ? from : 0), q, depth - 1);
        type[k] = inner[k].type;
        made_contains(&d, &inner[k]);
    }
    shuffle(m->r, order, pieces);
    if (rng_one_in(m->r, 2))
        for (int k = 0; k < pieces; k++)
            order[k] = k;
    ptrdiff_t unit = draw_unit(m, seq, n), position = 0;
    if (rng_one_in(m->r, 4))
        position = -unit * (ptrdiff_t)rng_below(m->r, 20);
    bool tight = m->odd && rng_one_in(m->r, 2);
    for (int i = 0; i < pieces; i++) {
        int k = order[i];
        ptrdiff_t span = times[k]
                             ? inner[k].hi - inner[k].lo +
                                   ((ptrdiff_t)times[k] - 1) * inner[k].extent
                             : 0;
        if (!tight)
            position += (ptrdiff_t)rng_below(m->r, 3) * unit;
        byte[k] = position - inner[k].lo;
        ptrdiff_t off = (ptrdiff_t)byte[k] % unit;
        if (off)
            byte[k] += off > 0 ? unit - off : -off;
        position = (ptrdiff_t)byte[k] + inner[k].lo + span;
        if (m->overlap && rng_one_in(m->r, 4))
            position -= span / 2;
    }
    for (int k = 0, i = 0; k < pieces; k++)
        for (int t = 0; t < times[k]; t++)
            for (int e = 0; e < inner[k].n; e++)
                d.at[i++] = (ptrdiff_t)byte[k] + t * inner[k].extent +
                            inner[k].at[e];
    d.type = make_struct(draw_large(m), pieces, times, byte, type);
    made_named(&d, "struct", &inner[0]);
    for (int k = 0; k < pieces; k++)
        made_drop(&inner[k]);
    free(len);
    free(inner);
    free(times);
    free(byte);
    free(type);
    free(order);
    made_measure(&d);
    return d;
}

/* The same elements in another envelope. */
static made_t make_wrapped(maker_t *m, const short *seq, int n, int depth)
{
    made_t inner = make(m, seq, n, depth - 1), d = made_of(seq, n);
    ptrdiff_t unit = draw_unit(m, seq, n), shift = 0;
    memcpy(d.at, inner.at, (size_t)n * sizeof *d.at);
    const char *name = "resized";
    MPI_Count once = 1, byte = 0;
    int how = (int)rng_below(m->r, 5);
    if (!has("resized") && how >= 2)
        how = 0;
    switch (how) {
    case 0:
        name = "dup";
        MPI_Type_dup(inner.type, &d.type);
        break;
    case 1: /* somewhere else */
        name = "hindexed";
        byte = shift = ((ptrdiff_t)rng_below(m->r, 9) - 4) * unit;
        d.type = make_hindexed(draw_large(m), 1, &once, &byte, inner.type);
        break;
    default: {
        /* Grown at either end; or what lies in it, and no more; or less, so
         * that items interleave, where there is room between elements. */
        ptrdiff_t lb = inner.lb, extent = inner.extent;
        if (how == 2) {
            lb = inner.lo;
            extent = inner.hi - inner.lo;
        } else if (how == 3 && n > 1) {
            extent = (ptrdiff_t)(1 + rng_below(m->r, 4)) * unit;
        } else {
            ptrdiff_t before = (ptrdiff_t)rng_below(m->r, 3) * unit;
            lb -= before;
            extent += before + (ptrdiff_t)rng_below(m->r, 3) * unit;
        }
        d.type = make_resized(draw_large(m), lb, extent, inner.type);
    }
    }
    for (int i = 0; i < n; i++)
        d.at[i] += shift;
    made_contains(&d, &inner);
    made_named(&d, name, &inner);
    made_drop(&inner);
    made_measure(&d);
    return d;
}

/* Columns: repetitions so far from each other that `m->column` items lie in
 * between, and as many items interleave. */
static made_t make_column(maker_t *m, const short *seq, int n, int p)
{
    made_t inner = make(m, seq, p, 0), d = made_of(seq, n);
    int stride = m->column + (int)rng_below(m->r, 3);
    MPI_Datatype vector = make_vector(draw_large(m), n / p, 1, stride,
                                      inner.type);
    d.type = make_resized(draw_large(m), inner.lb, inner.extent, vector);
    MPI_Type_free(&vector);
    for (int i = 0; i < n; i++)
        d.at[i] = (ptrdiff_t)(i / p) * stride * inner.extent + inner.at[i % p];
    made_contains(&d, &inner);
    made_named(&d, "column", &inner);
    made_drop(&inner);
    made_measure(&d);
    return d;
}

static bool make_pair(maker_t *m, const short *seq, made_t *d)
{
    for (int i = 0; i < pair_count; i++) {
        const pair_t *p = &pairs[i];
        if (p->first != seq[0] || p->second != seq[1] || m->plain ||
            (m->whole && p->first == p->second) || !has("pairs") ||
            rng_one_in(m->r, 2))
            continue;
        *d = made_of(seq, 2);
        d->type = p->type;
        d->mine = false;
        d->pairs = true;
        d->at[1] = p->at;
        snprintf(d->made_by, sizeof d->made_by, "%s", p->name);
        made_measure(d);
        return true;
    }
    return false;
}

static made_t make(maker_t *m, const short *seq, int n, int depth)
{
    made_t d;
    if (n == 1 && (depth <= 0 || rng_one_in(m->r, 2)))
        return made_base(seq[0]);
    if (n == 2 && make_pair(m, seq, &d))
        return d;
    if (depth > 0 && rng_one_in(m->r, 3))
        return make_wrapped(m, seq, n, depth);
    int p = period(seq, n);
    if (p < n && m->column > 1 && m->column < 1000 && rng_one_in(m->r, 6))
        return make_column(m, seq, n, p);
    if (p == n ? n == 1 : depth <= 0 || !rng_one_in(m->r, 4))
        return make_repeated(m, seq, n, p, depth);
    return make_pieces(m, seq, n, depth);
}

/* What a type is good for ------------------------------------------------ */

/* Copy `n` packed bytes into the items of a type from `to` on, or out. */
static void made_put(const made_t *d, char *to, const char *packed, size_t n)
{
    for (ptrdiff_t item = 0; n > 0; item++)
        for (int i = 0; i < d->runs && n > 0; i++) {
            size_t k = d->run[i].n < n ? d->run[i].n : n;
            memcpy(to + item * d->extent + d->run[i].at, packed, k);
            packed += k;
            n -= k;
        }
}

static void made_get(const made_t *d, const char *from, char *packed, size_t n)
{
    for (ptrdiff_t item = 0; n > 0; item++)
        for (int i = 0; i < d->runs && n > 0; i++) {
            size_t k = d->run[i].n < n ? d->run[i].n : n;
            memcpy(packed, from + item * d->extent + d->run[i].at, k);
            packed += k;
            n -= k;
        }
}

/* Make what carries no value zero: it may come or not. `at`: the items, or,
 * packed, their elements one after the other. */
static void made_forget(const made_t *d, char *at, int count, bool packed)
{
    bool loose = false;
    for (int i = 0; i < d->n && !loose; i++)
        loose = basics[d->basic[i]].data < basics[d->basic[i]].size;
    for (int item = 0; item < count && loose; item++) {
        char *to = at + item * (packed ? d->size : d->extent);
        size_t sum = 0;
        for (int i = 0; i < d->n; i++) {
            const basic_t *b = &basics[d->basic[i]];
            memset(to + (packed ? (ptrdiff_t)sum : d->at[i]) + b->data, 0,
                   (size_t)(b->size - b->data));
            sum += (size_t)b->size;
        }
    }
}

/* The bytes that `count` items touch, from their address. */
static void made_bounds(const made_t *d, int count, ptrdiff_t *lo,
                        ptrdiff_t *hi)
{
    ptrdiff_t last = count > 0 ? (count - 1) * d->extent : 0;
    *lo = *hi = 0;
    if (count > 0 && d->n > 0) {
        *lo = d->lo + (last < 0 ? last : 0);
        *hi = d->hi + (last > 0 ? last : 0);
    }
}

/* Mark the bytes of `count` items in `seen`; false if one was marked. */
static bool made_mark(const made_t *d, int count, char *seen)
{
    for (int item = 0; item < count; item++)
        for (int i = 0; i < d->runs; i++) {
            char *at = seen + item * d->extent + d->run[i].at;
            if (memchr(at, 1, d->run[i].n))
                return false;
            memset(at, 1, d->run[i].n);
        }
    return true;
}

/* May `count` items of it receive? */
static bool made_separate(const made_t *d, int count)
{
    ptrdiff_t lo, hi;
    made_bounds(d, count, &lo, &hi);
    char *seen = calloc(1, (size_t)(hi - lo) + 1);
    bool separate = made_mark(d, count, seen - lo);
    free(seen);
    return separate;
}

/* n bytes of packed data and a place in there, by either form of the calls. */
static void packed_by(bool large, char *at, int count, MPI_Datatype type,
                      char *data, size_t n, int *place, bool unpack)
{
#if HAVE_LARGE_COUNT
    MPI_Count where = *place;
    if (large && unpack)
        MPI_Unpack_c(data, (MPI_Count)n, &where, at, count, type,
                     MPI_COMM_SELF);
    else if (large)
        MPI_Pack_c(at, count, type, data, (MPI_Count)n, &where, MPI_COMM_SELF);
    if (large) {
        *place = (int)where;
        return;
    }
#endif
    (void)large;
    if (unpack)
        MPI_Unpack(data, (int)n, place, at, count, type, MPI_COMM_SELF);
    else
        MPI_Pack(at, count, type, data, (int)n, place, MPI_COMM_SELF);
}

/* Pack and unpack, by the host alone and by Straightway, which looks at a type
 * when it has been packed a few times; at bytes that differ everywhere. Says
 * what is not the same. Without the switch nothing is done. */
static const char *made_packed(const made_t *d, int count, bool overlap)
{
    enum { BEFORE = 3, TIMES = 64, MARGIN = 1 << 12 };
    size_t n = (size_t)count * (size_t)d->size + BEFORE;
    ptrdiff_t lo, hi;
    if (!accelerate)
        return NULL;
    made_bounds(d, count, &lo, &hi);
    lo -= MARGIN; /* for a host that misses */
    size_t span = (size_t)(hi - lo) + MARGIN;
    char *memory = malloc(span), *data[2], *back[2];
    const char *wrong = NULL;
    int on = accelerate(-1), at[2] = {BEFORE, BEFORE}, nowhere = 0;
    bool large = (count + d->size) % 2;
    fill(memory, span, 99);
    for (int who = 0; who < 2; who++) {
        accelerate(who ? on : 0);
        data[who] = calloc(1, n);
        back[who] = calloc(1, span);
        for (int i = 0; i < TIMES; i++)
            MPI_Pack(memory - lo, 0, d->type, data[who], (int)n, &nowhere,
                     MPI_COMM_SELF);
        packed_by(large, memory - lo, count, d->type, data[who], n, &at[who],
                  false);
        int from = BEFORE;
        if (!overlap)
            packed_by(large, back[who] - lo, count, d->type, data[0], n, &from,
                      true);
    }
    if (at[0] != at[1] || memcmp(data[0], data[1], n))
        wrong = "packed";
    else if (memcmp(back[0], back[1], span))
        wrong = "unpacked";
    for (int who = 0; who < 2; who++) {
        free(data[who]);
        free(back[who]);
    }
    free(memory);
    return wrong;
}

/* Does the host know where the elements lie? Its size, true extent, packed
 * form, and what it unpacks, must be ours. */
static const char *made_wrong(const made_t *d, int count, bool overlap)
{
    ptrdiff_t lo, hi;
    MPI_Aint true_lb, true_extent;
    int size = 0, before = 5, room = 0;
    size_t n = (size_t)count * (size_t)d->size;
    MPI_Type_size(d->type, &size);
    if (size != d->size)
        return "size";
    MPI_Type_get_true_extent(d->type, &true_lb, &true_extent);
    if (true_lb != d->lo || true_extent != d->hi - d->lo)
        return "true extent";
    MPI_Pack_size(count, d->type, MPI_COMM_WORLD, &room);
    if ((size_t)room < n)
        return "Pack_size";
    made_bounds(d, count, &lo, &hi);
    enum { MARGIN = 1 << 12 }; /* for a host that misses */
    size_t span = (size_t)(hi - lo) + 2 * MARGIN;
    char *want = malloc(span), *got = malloc(span);
    char *packed = malloc(n + 16), *back = malloc((size_t)room + 16);
    fill(packed, n + 16, 4711);
    memset(want, 'w', span);
    made_put(d, want + MARGIN - lo, packed, n);
    if (overlap)
        made_get(d, want + MARGIN - lo, packed, n);
    const char *wrong = NULL;
    int at = before, from = before;
    memset(back, 'w', (size_t)room + 16);
    if (MPI_Pack(want + MARGIN - lo, count, d->type, back, room + before, &at,
                 MPI_COMM_WORLD) != MPI_SUCCESS ||
        (size_t)(at - before) != n)
        wrong = "Pack's position";
    made_forget(d, back + before, count, true);
    made_forget(d, packed, count, true);
    if (!wrong && memcmp(back + before, packed, n))
        wrong = "Pack";
    if (!wrong && !overlap) {
        memmove(back + before, packed, n);
        memset(got, 'w', span);
        memset(want, 'w', span);
        made_put(d, want + MARGIN - lo, packed, n);
        if (MPI_Unpack(back, before + (int)n, &from, got + MARGIN - lo, count,
                       d->type, MPI_COMM_WORLD) != MPI_SUCCESS ||
            (size_t)(from - before) != n)
            wrong = "Unpack's position";
        made_forget(d, got + MARGIN - lo, count, false);
        made_forget(d, want + MARGIN - lo, count, false);
        if (!wrong && memcmp(got, want, span))
            wrong = "Unpack";
    }
    free(want);
    free(got);
    free(packed);
    free(back);
    return wrong;
}

/* Items that would lie on each other, moved apart: a type with an explicit
 * bound in it, far inside, is often shorter than what it touches. */
static void made_spread(made_t *d)
{
    MPI_Datatype inner = d->type;
    d->type = make_resized(false, d->lo, d->hi - d->lo, inner);
    if (d->mine)
        MPI_Type_free(&inner);
    d->mine = true;
    made_measure(d);
}

/* May the host err in it? Such a type proves nothing, and is not used if the
 * host does. */
static bool known_quirk(const made_t *d)
{
#ifdef OMPI_MAJOR_VERSION
    /* Open MPI takes what touches for contiguous, whatever the order. */
    return d->backwards;
#else
    /* MPICH and its kin misplace some distributed arrays. */
    return d->darray;
#endif
}

/* A committed type of the sequence, of which `count` items are used. */
static made_t make_type(maker_t *m, const short *seq, int n, int count)
{
    int depth = (int)rng_below(m->r, DEPTH_MAX + 1);
    for (int attempt = 0;; attempt++) {
        bool last = attempt == 12;
        maker_t plain = {.r = m->r, .plain = true};
        made_t d = last ? make_pieces(&plain, seq, n, 0)
                        : make(m, seq, n, depth);
        made_runs(&d);
        bool shorter = d.extent < d.hi - d.lo;
        if (m->tiling
                ? shorter
                : count > 1 && (d.extent <= 0 || (!m->overlap && shorter &&
                                                  !made_separate(&d, count))))
            made_spread(&d);
        if (d.mine)
            MPI_Type_commit(&d.type);
        ptrdiff_t lo, hi;
        made_bounds(&d, count, &lo, &hi);
        const char *wrong = NULL;
        if (hi - lo <= SPAN_MAX)
            wrong = made_packed(&d, count,
                                m->overlap || !made_separate(&d, count));
        CHECK(!wrong, "not %s as by the host: %d of %s", wrong, count,
              d.made_by);
        if ((d.extent > 0 || count == 1) && hi - lo <= SPAN_MAX &&
            lo > -SPAN_MAX && hi < SPAN_MAX &&
            (m->overlap || made_separate(&d, count)) &&
            !(wrong = made_wrong(&d, count, m->overlap)))
            return d;
        if (wrong) {
            mistrusted++;
            if (verbose || !known_quirk(&d))
                fprintf(stderr,
                        "[%d] the host's %s is wrong for %d of %d "
                        "elements: %s\n",
                        world_rank, wrong, count, n, d.made_by);
            CHECK(known_quirk(&d), "and this host is not known for it");
        }
        CHECK(!last, "nothing describes %d elements %d times: %s", n, count,
              wrong ? wrong : "no room");
        made_drop(&d);
        if (attempt % 2 && depth > 0)
            depth--;
    }
}

#endif
