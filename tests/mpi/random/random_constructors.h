/*
 * random_constructors.h - MPI's constructors of datatypes, each with where it
 * puts the items: worked out beside MPI, from the text of the standard.
 *
 * `construct` lays n items of one datatype by a constructor and random
 * arguments. It tells where each item lies, in the order of the type map. The
 * caller decides what is inside an item (random_layouts.h: elements of one
 * kind; types_make.h: anything).
 */
#ifndef RANDOM_CONSTRUCTORS_H
#define RANDOM_CONSTRUCTORS_H

#include "mpi/test.h"

/* A divisor of m, any. */
static int divisor(rng_t *r, int m)
{
    int d[64], n = 0;
    for (int i = 1; i <= m && n < 64; i++)
        if (m % i == 0)
            d[n++] = i;
    return d[rng_below(r, (size_t)n)];
}

/* Cut `n` items into blocks: lengths in len[], returns how many. */
static int cut(rng_t *r, int n, int *len)
{
    int blocks = 0, longest = 1 + (int)rng_below(r, (size_t)n);
    while (n > 0) {
        int k = rng_one_in(r, 12) ? 0 : 1 + (int)rng_below(r, (size_t)longest);
        len[blocks] = k < n ? k : n;
        n -= len[blocks++];
    }
    return blocks;
}

static void shuffle(rng_t *r, int *order, int n)
{
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)rng_below(r, (size_t)i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* The calls -------------------------------------------------------------- */

/* Each constructor is called by its old name, or by its large-count one, with
 * the same arguments. */
static void *narrowed(const MPI_Count *wide, int n)
{
    int *to = malloc(((size_t)n + 1) * sizeof *to);
    for (int i = 0; i < n; i++)
        to[i] = (int)wide[i];
    return to;
}

static MPI_Aint *as_addresses(const MPI_Count *wide, int n)
{
    MPI_Aint *to = malloc(((size_t)n + 1) * sizeof *to);
    for (int i = 0; i < n; i++)
        to[i] = (MPI_Aint)wide[i];
    return to;
}

#if HAVE_LARGE_COUNT
#define IF_LARGE(call) \
    if (large) {       \
        call;          \
        return type;   \
    }
#else
#define IF_LARGE(call) (void)large;
#endif

static MPI_Datatype make_contiguous(bool large, MPI_Count n, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_contiguous_c(n, old, &type))
    MPI_Type_contiguous((int)n, old, &type);
    return type;
}

static MPI_Datatype make_vector(bool large, MPI_Count n, MPI_Count block,
                                MPI_Count stride, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_vector_c(n, block, stride, old, &type))
    MPI_Type_vector((int)n, (int)block, (int)stride, old, &type);
    return type;
}

static MPI_Datatype make_hvector(bool large, MPI_Count n, MPI_Count block,
                                 MPI_Count stride, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_create_hvector_c(n, block, stride, old, &type))
    MPI_Type_create_hvector((int)n, (int)block, (MPI_Aint)stride, old, &type);
    return type;
}

static MPI_Datatype make_resized(bool large, MPI_Count lb, MPI_Count extent,
                                 MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_create_resized_c(old, lb, extent, &type))
    MPI_Type_create_resized(old, (MPI_Aint)lb, (MPI_Aint)extent, &type);
    return type;
}

static MPI_Datatype make_indexed(bool large, int n, const MPI_Count *len,
                                 const MPI_Count *at, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_indexed_c(n, len, at, old, &type))
    int *l = narrowed(len, n), *d = narrowed(at, n);
    MPI_Type_indexed(n, l, d, old, &type);
    free(l);
    free(d);
    return type;
}

static MPI_Datatype make_hindexed(bool large, int n, const MPI_Count *len,
                                  const MPI_Count *at, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_create_hindexed_c(n, len, at, old, &type))
    int *l = narrowed(len, n);
    MPI_Aint *d = as_addresses(at, n);
    MPI_Type_create_hindexed(n, l, d, old, &type);
    free(l);
    free(d);
    return type;
}

static MPI_Datatype make_struct(bool large, int n, const MPI_Count *len,
                                const MPI_Count *at, const MPI_Datatype *old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_create_struct_c(n, len, at, old, &type))
    int *l = narrowed(len, n);
    MPI_Aint *d = as_addresses(at, n);
    MPI_Type_create_struct(n, l, d, old, &type);
    free(l);
    free(d);
    return type;
}

static MPI_Datatype make_indexed_block(bool large, int n, int block,
                                       const MPI_Count *at, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_create_indexed_block_c(n, block, at, old, &type))
    int *d = narrowed(at, n);
    MPI_Type_create_indexed_block(n, block, d, old, &type);
    free(d);
    return type;
}

static MPI_Datatype make_hindexed_block(bool large, int n, int block,
                                        const MPI_Count *at, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_create_hindexed_block_c(n, block, at, old, &type))
    MPI_Aint *d = as_addresses(at, n);
    MPI_Type_create_hindexed_block(n, block, d, old, &type);
    free(d);
    return type;
}

static MPI_Datatype make_subarray(bool large, int dims, const MPI_Count *full,
                                  const MPI_Count *sub, const MPI_Count *start,
                                  int order, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(
        MPI_Type_create_subarray_c(dims, full, sub, start, order, old, &type))
    int *f = narrowed(full, dims), *s = narrowed(sub, dims),
        *b = narrowed(start, dims);
    MPI_Type_create_subarray(dims, f, s, b, order, old, &type);
    free(f);
    free(s);
    free(b);
    return type;
}

static MPI_Datatype make_darray(bool large, int size, int rank, int dims,
                                const MPI_Count *full, const int *how,
                                const int *argument_of, const int *grid,
                                int order, MPI_Datatype old)
{
    MPI_Datatype type;
    IF_LARGE(MPI_Type_create_darray_c(size, rank, dims, full, how, argument_of,
                                      grid, order, old, &type))
    int *f = narrowed(full, dims);
    MPI_Type_create_darray(size, rank, dims, f, how, argument_of, grid, order,
                           old, &type);
    free(f);
    return type;
}

/* The constructors ------------------------------------------------------- */

enum {
    CONTIGUOUS,
    VECTOR,
    HVECTOR,
    BLOCKS,
    BLOCKS_2,
    BLOCKS_3,
    INDEXED_BLOCK,
    SUBARRAY,
    DUP,
    LAYOUT_CONSTRUCTORS, /* enough for collectives */
    HINDEXED_BLOCK = LAYOUT_CONSTRUCTORS,
    STRIDES,
    ARRAY,
    DARRAY,
    CONSTRUCTORS
};

#define DIMS_MAX 4

/* n as a product of one to four sizes; how many there are. */
static int draw_dims(rng_t *r, int n, MPI_Count *size)
{
    int dims = 1 + (int)rng_below(r, DIMS_MAX);
    for (int d = 0; d < dims - 1; d++) {
        int k = divisor(r, n);
        size[d] = k;
        n /= k;
    }
    size[dims - 1] = n;
    return dims;
}

/* Where the items of an array lie, whose sizes are `full`: the item with the
 * indices index[d][0 ..], in the order of the type map. */
static void array_places(int dims, const MPI_Count *full, const MPI_Count *sub,
                         MPI_Count *const *index, bool fortran, ptrdiff_t x,
                         int n, ptrdiff_t *at)
{
    for (int i = 0; i < n; i++) {
        ptrdiff_t place = 0, step = 1, rest = i;
        for (int k = 0; k < dims; k++) { /* the fastest one first */
            int d = fortran ? k : dims - 1 - k;
            place += (ptrdiff_t)index[d][rest % sub[d]] * step;
            rest /= sub[d];
            step *= full[d];
        }
        at[i] = place * x;
    }
}

static MPI_Datatype construct_array(rng_t *r, bool large, MPI_Datatype inner,
                                    int n, ptrdiff_t x, ptrdiff_t *at)
{
    MPI_Count sub[DIMS_MAX], full[DIMS_MAX], start[DIMS_MAX];
    MPI_Count *index[DIMS_MAX];
    int dims = draw_dims(r, n, sub);
    bool fortran = rng_one_in(r, 2);
    for (int d = 0; d < dims; d++) {
        start[d] = (MPI_Count)rng_below(r, 3);
        full[d] = start[d] + sub[d] + (MPI_Count)rng_below(r, 3);
        index[d] = malloc((size_t)sub[d] * sizeof *index[d]);
        for (int i = 0; i < sub[d]; i++)
            index[d][i] = start[d] + i;
    }
    array_places(dims, full, sub, index, fortran, x, n, at);
    for (int d = 0; d < dims; d++)
        free(index[d]);
    return make_subarray(large, dims, full, sub, start,
                         fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, inner);
}

/* An array distributed over a grid of processes. This one gets n items. The
 * test draws this process's part of each dimension; the array's size
 * follows. */
static MPI_Datatype construct_darray(rng_t *r, bool large, MPI_Datatype inner,
                                     int n, ptrdiff_t x, ptrdiff_t *at)
{
    MPI_Count sub[DIMS_MAX], full[DIMS_MAX], *index[DIMS_MAX];
    int how[DIMS_MAX], chunk[DIMS_MAX], grid[DIMS_MAX];
    int dims = draw_dims(r, n, sub), size = 1, rank = 0;
    bool fortran = rng_one_in(r, 2);
    for (int d = 0; d < dims; d++) {
        int mine = (int)sub[d], p = 1 + (int)rng_below(r, 3);
        int me = (int)rng_below(r, (size_t)p), b = mine;
        index[d] = malloc((size_t)mine * sizeof *index[d]);
        chunk[d] = MPI_DISTRIBUTE_DFLT_DARG;
        switch (rng_below(r, 4)) {
        case 0:
            how[d] = MPI_DISTRIBUTE_NONE;
            p = 1;
            me = 0;
            full[d] = mine;
            break;
        case 1: /* the same for everybody */
            how[d] = MPI_DISTRIBUTE_BLOCK;
            full[d] = (MPI_Count)p * mine;
            break;
        case 2: /* ours may be the last, and shorter */
            how[d] = MPI_DISTRIBUTE_BLOCK;
            b = mine + (int)rng_below(r, 3);
            chunk[d] = b;
            full[d] = (MPI_Count)me * b + mine;
            break;
        default: {
            how[d] = MPI_DISTRIBUTE_CYCLIC;
            b = 1 + (int)rng_below(r, 3);
            if (b > 1 || rng_one_in(r, 2))
                chunk[d] = b;
            int turns = mine / b, rest = mine % b;
            full[d] = ((MPI_Count)turns * p + me) * b + rest;
            if (!rest) /* up to our next turn */
                full[d] -= (MPI_Count)rng_below(r, (size_t)((p - 1) * b + 1));
        }
        }
        bool cyclic = how[d] == MPI_DISTRIBUTE_CYCLIC;
        for (int i = 0; i < mine; i++)
            index[d][i] = cyclic ? ((MPI_Count)(i / b) * p + me) * b + i % b
                                 : (MPI_Count)me * b + i;
        grid[d] = p;
        size *= p;
        rank = rank * p + me; /* in C's order, whatever the array's */
    }
    array_places(dims, full, sub, index, fortran, x, n, at);
    for (int d = 0; d < dims; d++)
        free(index[d]);
    return make_darray(large, size, rank, dims, full, how, chunk, grid,
                       fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, inner);
}

/* Blocks of any length in any order with any gaps. */
static MPI_Datatype construct_blocks(rng_t *r, bool large, MPI_Datatype inner,
                                     int n, ptrdiff_t x, ptrdiff_t unit,
                                     ptrdiff_t *at, const char **made_by)
{
    int *len = malloc(2 * ((size_t)n + 64) * sizeof *len);
    int blocks = cut(r, n, len);
    while (blocks > 2 * n + 32) { /* too many empty ones */
        rng_next(r);
        blocks = cut(r, n, len);
    }
    int *order = malloc((size_t)blocks * sizeof *order);
    MPI_Count *length = malloc((size_t)blocks * sizeof *length);
    MPI_Count *index = malloc((size_t)blocks * sizeof *index);
    MPI_Count *byte = malloc((size_t)blocks * sizeof *byte);
    MPI_Datatype *types = malloc((size_t)blocks * sizeof *types), type;
    shuffle(r, order, blocks);
    if (rng_one_in(r, 2))
        for (int i = 0; i < blocks; i++)
            order[i] = i;
    int kind = (int)rng_below(r, 3); /* indexed, hindexed, struct */
    ptrdiff_t position = rng_one_in(r, 4) ? -3 * x : 0;
    for (int k = 0; k < blocks; k++) {
        int b = order[k];
        position += kind ? (ptrdiff_t)rng_below(r, 3) * unit
                         : (ptrdiff_t)rng_below(r, 3) * x;
        byte[b] = position;
        index[b] = x ? position / x : 0;
        length[b] = len[b];
        types[b] = inner;
        position += len[b] * x;
    }
    for (int b = 0, i = 0; b < blocks; b++)
        for (int k = 0; k < len[b]; k++)
            at[i++] = (ptrdiff_t)byte[b] + k * x;
    if (kind == 0) {
        *made_by = "indexed";
        type = make_indexed(large, blocks, length, index, inner);
    } else if (kind == 1) {
        *made_by = "hindexed";
        type = make_hindexed(large, blocks, length, byte, inner);
    } else {
        *made_by = "struct";
        type = make_struct(large, blocks, length, byte, types);
    }
    free(len);
    free(order);
    free(length);
    free(index);
    free(byte);
    free(types);
    return type;
}

/* n items of `inner`, x bytes apart when they lie one after the other, by the
 * constructor `how`. Displacements in bytes are multiples of `unit`. */
static MPI_Datatype construct(rng_t *r, int how, bool large, MPI_Datatype inner,
                              int n, ptrdiff_t x, ptrdiff_t unit, ptrdiff_t *at,
                              const char **made_by)
{
    MPI_Datatype type;
    switch (how) {
    case CONTIGUOUS:
        *made_by = "contiguous";
        for (int i = 0; i < n; i++)
            at[i] = i * x;
        return make_contiguous(large, n, inner);
    case VECTOR: {
        *made_by = "vector";
        int block = divisor(r, n), stride = block + (int)rng_below(r, 3);
        for (int i = 0; i < n; i++)
            at[i] = (i / block * stride + i % block) * x;
        return make_vector(large, n / block, block, stride, inner);
    }
    case HVECTOR: {
        *made_by = "hvector";
        int block = divisor(r, n);
        ptrdiff_t stride = block * x + (ptrdiff_t)rng_below(r, 4) * unit;
        if (rng_one_in(r, 3))
            stride = -stride;
        for (int i = 0; i < n; i++)
            at[i] = i / block * stride + i % block * x;
        return make_hvector(large, n / block, block, stride, inner);
    }
    case BLOCKS:
    case BLOCKS_2:
    case BLOCKS_3:
        return construct_blocks(r, large, inner, n, x, unit, at, made_by);
    case INDEXED_BLOCK:
    case HINDEXED_BLOCK: {
        bool bytes = how == HINDEXED_BLOCK;
        *made_by = bytes ? "hindexed_block" : "indexed_block";
        int block = divisor(r, n), blocks = n / block;
        int *order = malloc((size_t)blocks * sizeof *order);
        MPI_Count *index = malloc((size_t)blocks * sizeof *index);
        int gap = (int)rng_below(r, 3);
        ptrdiff_t step = bytes ? block * x + gap * unit : block + gap;
        shuffle(r, order, blocks);
        for (int b = 0; b < blocks; b++)
            index[b] = order[b] * step;
        for (int i = 0; i < n; i++)
            at[i] = (ptrdiff_t)index[i / block] * (bytes ? 1 : x) +
                    i % block * x;
        type = bytes ? make_hindexed_block(large, blocks, block, index, inner)
                     : make_indexed_block(large, blocks, block, index, inner);
        free(order);
        free(index);
        return type;
    }
    case SUBARRAY: { /* of two dimensions */
        *made_by = "subarray";
        int columns = divisor(r, n), rows = n / columns;
        MPI_Count start[2] = {(int)rng_below(r, 3), (int)rng_below(r, 3)};
        MPI_Count sub[2] = {rows, columns};
        MPI_Count full[2] = {rows + start[0] + (int)rng_below(r, 2),
                             columns + start[1] + (int)rng_below(r, 2)};
        bool fortran = rng_one_in(r, 2);
        MPI_Count f_start[2] = {start[1], start[0]};
        MPI_Count f_sub[2] = {columns, rows};
        MPI_Count f_full[2] = {full[1], full[0]};
        for (int i = 0; i < n; i++)
            at[i] = (ptrdiff_t)((i / columns + start[0]) * full[1] +
                                i % columns + start[1]) *
                    x;
        if (fortran)
            return make_subarray(large, 2, f_full, f_sub, f_start,
                                 MPI_ORDER_FORTRAN, inner);
        return make_subarray(large, 2, full, sub, start, MPI_ORDER_C, inner);
    }
    case STRIDES: { /* backwards, and over itself: for senders */
        *made_by = "vector";
        int block = divisor(r, n);
        int stride = (int)rng_below(r, (size_t)block + 4);
        if (rng_one_in(r, 2))
            stride = -stride;
        for (int i = 0; i < n; i++)
            at[i] = (i / block * stride + i % block) * x;
        return make_vector(large, n / block, block, stride, inner);
    }
    case ARRAY:
        *made_by = "subarray";
        return construct_array(r, large, inner, n, x, at);
    case DARRAY:
        *made_by = "darray";
        return construct_darray(r, large, inner, n, x, at);
    default:
        *made_by = "dup";
        for (int i = 0; i < n; i++)
            at[i] = i * x;
        MPI_Datatype first = make_contiguous(large, n, inner);
        MPI_Type_dup(first, &type);
        MPI_Type_free(&first);
        return type;
    }
}

#endif
