/*
 * random_layouts.h - random derived datatypes whose map of bytes is known.
 *
 * A layout is a datatype of m elements together with our own list of where
 * each of them lies. The test works the list out beside MPI while it builds the
 * type. So it can write and read any message without asking the library that
 * it tests. Two ranks describe the same message with different layouts: the
 * signature (how many elements of which type) is all that must agree.
 *
 * No two elements of a layout overlap, whatever the count, so every layout
 * may receive. Layouts whose items interleave (a column of a matrix, resized
 * to one element) are safe up to the count they were made for.
 */
#ifndef RANDOM_LAYOUTS_H
#define RANDOM_LAYOUTS_H

#include "random_constructors.h"
#include "random_elements.h"

typedef struct {
    const element_t *element;
    MPI_Datatype type;
    bool derived;
    int m;                /* elements in one item */
    ptrdiff_t *disp;      /* bytes from the item's address to each */
    ptrdiff_t lb, extent; /* as the host says */
    ptrdiff_t lo, hi;     /* the bytes really touched by one item */
    bool contiguous;      /* all items are one dense stretch */
    const char *made_by;
} layout_t;

static void layout_measure(layout_t *l)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(l->type, &lb, &extent);
    l->lb = lb;
    l->extent = extent;
    const element_t *e = l->element;
    const stretch_t *last = &e->stretch[e->stretches - 1];
    l->lo = PTRDIFF_MAX;
    l->hi = PTRDIFF_MIN;
    l->contiguous = element_dense(e) && l->disp[0] == 0 &&
                    l->extent == l->m * e->extent;
    for (int i = 0; i < l->m; i++) {
        ptrdiff_t at = l->disp[i];
        if (at < l->lo)
            l->lo = at;
        if (at + last->at + (ptrdiff_t)last->n > l->hi)
            l->hi = at + last->at + (ptrdiff_t)last->n;
        l->contiguous = l->contiguous && at == i * e->extent;
    }
}

static layout_t layout_base(const element_t *e)
{
    layout_t l = {.element = e, .type = e->type, .m = 1, .made_by = e->name};
    l.disp = calloc(1, sizeof *l.disp);
    layout_measure(&l);
    return l;
}

static void layout_drop(layout_t *l)
{
    if (l->derived)
        MPI_Type_free(&l->type);
    free(l->disp);
    l->disp = NULL;
}

static layout_t layout_make(rng_t *r, const element_t *e, int m, int depth);

/* Items of `inner`, placed by one of MPI's constructors. */
static layout_t layout_place(rng_t *r, const element_t *e, int m, int depth)
{
    int inner_m = depth > 0 ? divisor(r, m) : 1;
    layout_t inner = layout_make(r, e, inner_m, depth - 1);
    int n = m / inner_m;
    ptrdiff_t x = inner.extent;
    ptrdiff_t unit = (ptrdiff_t)e->align;
    ptrdiff_t *at = malloc((size_t)n * sizeof *at); /* of each item */
    const char *made_by = "";
    int how = (int)rng_below(r, LAYOUT_CONSTRUCTORS);
    MPI_Datatype type = construct(r, how, false, inner.type, n, x, unit, at,
                                  &made_by);

    layout_t l = {.element = e,
                  .type = type,
                  .derived = true,
                  .m = m,
                  .made_by = made_by};
    l.disp = malloc((size_t)m * sizeof *l.disp);
    for (int i = 0; i < m; i++)
        l.disp[i] = at[i / inner_m] + inner.disp[i % inner_m];
    free(at);
    layout_drop(&inner);
    layout_measure(&l);
    return l;
}

static layout_t layout_make(rng_t *r, const element_t *e, int m, int depth)
{
    if (m == 1 && (depth <= 0 || rng_one_in(r, 2)))
        return layout_base(e);
    layout_t l = layout_place(r, e, m, depth);
    if (rng_one_in(r, 4)) { /* grow it at either end, or both */
        MPI_Datatype old = l.type;
        ptrdiff_t unit = (ptrdiff_t)e->align;
        ptrdiff_t before = (ptrdiff_t)rng_below(r, 3) * unit;
        ptrdiff_t after = (ptrdiff_t)rng_below(r, 3) * unit;
        MPI_Type_create_resized(old, l.lb - before, l.extent + before + after,
                                &l.type);
        MPI_Type_free(&old);
        layout_measure(&l);
    }
    return l;
}

/* A column: m elements `stride` elements apart, resized to one element, so
 * that up to `stride` columns interleave. */
static layout_t layout_column(const element_t *e, int m, int stride)
{
    MPI_Datatype vector;
    layout_t l = {.element = e, .derived = true, .m = m, .made_by = "column"};
    MPI_Type_vector(m, 1, stride, e->type, &vector);
    MPI_Type_create_resized(vector, e->lb, e->extent, &l.type);
    MPI_Type_free(&vector);
    l.disp = malloc((size_t)m * sizeof *l.disp);
    for (int i = 0; i < m; i++)
        l.disp[i] = (ptrdiff_t)i * stride * e->extent;
    layout_measure(&l);
    return l;
}

/* Bytes touched by `count` items from the address 0. */
static void layout_bounds(const layout_t *l, ptrdiff_t count, ptrdiff_t *lo,
                          ptrdiff_t *hi)
{
    *lo = *hi = 0;
    if (count > 0) {
        *lo = l->lo;
        *hi = l->hi + (count - 1) * l->extent;
    }
}

/* Write k packed elements to where the layout puts them from `at` on. */
static void layout_scatter(const layout_t *l, char *at, const char *packed,
                           size_t k)
{
    const element_t *e = l->element;
    if (l->contiguous) {
        memcpy(at, packed, k * e->packed);
        return;
    }
    for (size_t i = 0; i < k; i++) {
        char *to = at + (ptrdiff_t)(i / (size_t)l->m) * l->extent +
                   l->disp[i % (size_t)l->m];
        for (int s = 0; s < e->stretches; s++)
            memcpy(to + e->stretch[s].at,
                   packed + i * e->packed + element_packed_at(e, s),
                   e->stretch[s].n);
    }
}

/* Make the padding of k loose elements zero: it may hold anything. */
static void layout_forget_padding(const layout_t *l, char *at, size_t k)
{
    const element_t *e = l->element;
    if (!e->loose)
        return;
    for (size_t i = 0; i < k; i++) {
        char *to = at + (ptrdiff_t)(i / (size_t)l->m) * l->extent +
                   l->disp[i % (size_t)l->m];
        size_t from = 0;
        for (int s = 0; s <= e->stretches; s++) {
            size_t end = s < e->stretches ? (size_t)e->stretch[s].at
                                          : (size_t)e->extent;
            memset(to + from, 0, end - from);
            if (s < e->stretches)
                from = end + e->stretch[s].n;
        }
    }
}

/* Does the host read and write `count` items of this type where it should?
 * Open MPI 5.0 mixes the order of some interleaved complex types up: such a
 * type proves nothing about collectives. */
static bool layout_trusted(const layout_t *l, int count)
{
    const element_t *e = l->element;
    size_t k = (size_t)count * (size_t)l->m, span;
    ptrdiff_t lo, hi;
    if (!l->derived || e->loose || count == 0)
        return !l->derived || !e->loose;
    layout_bounds(l, count, &lo, &hi);
    span = (size_t)(hi - lo);
    /* Room on both sides for a host that misses. */
    enum { ROOM = 1 << 16 };
    char *wanted = calloc(1, span + 2 * ROOM), *want = wanted + ROOM;
    char *gotten = calloc(1, span + 2 * ROOM), *got = gotten + ROOM;
    char *packed = malloc(k * e->packed), *dense = malloc(k * e->packed);
    char *back = malloc(k * e->packed + ROOM);
    size_t n = 0;
    fill(packed, k * e->packed, 4711);
    for (size_t i = 0; i < k; i++)
        for (int s = 0; s < e->stretches; s++) {
            memcpy(dense + n, packed + i * e->packed + element_packed_at(e, s),
                   e->stretch[s].n);
            n += e->stretch[s].n;
        }
    layout_scatter(l, want - lo, packed, k);
    int at = 0, from = 0;
    MPI_Pack(want - lo, count, l->type, back, (int)n, &at, MPI_COMM_SELF);
    MPI_Unpack(dense, (int)n, &from, got - lo, count, l->type, MPI_COMM_SELF);
    bool right = (size_t)at == n && !memcmp(back, dense, n) &&
                 (size_t)from == n && !memcmp(gotten, wanted, span + 2 * ROOM);
    free(wanted);
    free(gotten);
    free(packed);
    free(dense);
    free(back);
    return right;
}

/* m elements, one after the other. */
static layout_t layout_dense(const element_t *e, int m)
{
    layout_t l = {.element = e, .derived = true, .m = m, .made_by = "dense"};
    MPI_Type_contiguous(m, e->type, &l.type);
    MPI_Type_commit(&l.type);
    l.disp = malloc((size_t)m * sizeof *l.disp);
    for (int i = 0; i < m; i++)
        l.disp[i] = i * e->extent;
    layout_measure(&l);
    return l;
}

/* A random layout for messages of k elements, of which `blocks` will lie one
 * after the other as MPI places them. Its m divides `grain`, which divides k.
 * TILING: items must not interleave (displacements will be free). EXACT: m is
 * the grain, on all ranks. */
enum { TILING = 1, EXACT = 2 };

static layout_t layout_random(rng_t *r, const element_t *e, int k, int grain,
                              int blocks, int how)
{
    layout_t l;
    bool tiling = how & TILING, exact = how & EXACT;
    if (!exact && (k == 0 || rng_one_in(r, 2))) {
        l = layout_base(e);
    } else {
        int m = exact ? grain : divisor(r, grain);
        if (!tiling && m > 1 && rng_one_in(r, 5)) {
            long long items = (long long)(k / m) * blocks;
            if (items < 1)
                items = 1;
            l = layout_column(e, m, (int)items + (int)rng_below(r, 3));
        } else {
            l = layout_make(r, e, m, (int)rng_below(r, 3));
        }
        if (l.derived)
            MPI_Type_commit(&l.type);
        /* A type that spreads its elements too far is no use. */
        ptrdiff_t span = l.extent * (ptrdiff_t)(k / l.m) * blocks;
        if (span > (4 << 20) || l.hi - l.lo > (4 << 20) ||
            !layout_trusted(&l, k / l.m * blocks)) {
            layout_drop(&l);
            l = exact ? layout_dense(e, grain) : layout_base(e);
        }
    }
    return l;
}

#endif
