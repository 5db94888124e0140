/*
 * decode.c - see decode.h.
 */
#include "decode.h"

#include "layout/build.h"

#include <stdlib.h>
#include <string.h>

/* One level of a type. A type made with large counts gives them, and all that
 * is counted in the same unit, apart from its other integers. */
typedef struct {
    int combiner;
    MPI_Count ni, na, nl, nd;
    MPI_Aint *a; /* all of them in one block, which begins here */
    MPI_Count *l;
    MPI_Datatype *type;
    int *i;
} level_t;

typedef struct {
    sw_build_t *b;
    bool unknown;
    sw_doubts_t doubts;
} decode_t;

static sw_layout_place_t decode(decode_t *d, MPI_Datatype type);

static sw_layout_place_t unknown(decode_t *d)
{
    d->unknown = true;
    return (sw_layout_place_t){0, 0};
}

/* Reading a level --------------------------------------------------------- */

static bool envelope(MPI_Datatype type, level_t *v)
{
    *v = (level_t){0};
#ifdef SW_HAS_Type_get_envelope_c
    if (host.Type_get_envelope_c && host.Type_get_contents_c)
        return host.Type_get_envelope_c(type, &v->ni, &v->na, &v->nl, &v->nd,
                                        &v->combiner) == MPI_SUCCESS;
#endif
    int ni, na, nd;
    if (host.Type_get_envelope(type, &ni, &na, &nd, &v->combiner) !=
        MPI_SUCCESS)
        return false;
    v->ni = ni;
    v->na = na;
    v->nd = nd;
    return true;
}

static bool contents(MPI_Datatype type, level_t *v)
{
    v->a = malloc((size_t)v->na * sizeof *v->a + (size_t)v->nl * sizeof *v->l +
                  (size_t)v->nd * sizeof *v->type +
                  (size_t)v->ni * sizeof *v->i + 1);
    if (!v->a)
        return false;
    v->l = (MPI_Count *)(void *)(v->a + v->na);
    v->type = (MPI_Datatype *)(void *)(v->l + v->nl);
    v->i = (int *)(void *)(v->type + v->nd);
#ifdef SW_HAS_Type_get_envelope_c
    if (host.Type_get_envelope_c && host.Type_get_contents_c)
        return host.Type_get_contents_c(type, v->ni, v->na, v->nl, v->nd, v->i,
                                        v->a, v->l, v->type) == MPI_SUCCESS;
#endif
    return host.Type_get_contents(type, (int)v->ni, (int)v->na, (int)v->nd,
                                  v->i, v->a, v->type) == MPI_SUCCESS;
}

static void forget(level_t *v, bool types)
{
    bool named;
    for (MPI_Count k = 0; types && k < v->nd; k++)
        if (!sw_decode_predefined(v->type[k], &named))
            host.Type_free(&v->type[k]);
    free(v->a);
}

/* The kth count, of those that become large. */
static int64_t count_at(const level_t *v, MPI_Count k)
{
    return v->nl ? v->l[k] : v->i[k];
}

/* The kth address, which follows `counts` counts where those are large. */
static int64_t address_at(const level_t *v, MPI_Count counts, MPI_Count k)
{
    return v->nl ? v->l[counts + k] : v->a[k];
}

static int64_t extent_of(MPI_Datatype type)
{
    MPI_Count low, extent;
    host.Type_get_extent_x(type, &low, &extent);
    return extent;
}

uint64_t sw_decode_bytes(MPI_Datatype type)
{
    MPI_Count size = 0;
    host.Type_size_x(type, &size);
    return size > 0 ? (uint64_t)size : 0;
}

static bool predefined(const level_t *v)
{
    return v->combiner == MPI_COMBINER_NAMED ||
           v->combiner == MPI_COMBINER_F90_REAL ||
           v->combiner == MPI_COMBINER_F90_COMPLEX ||
           v->combiner == MPI_COMBINER_F90_INTEGER;
}

bool sw_decode_predefined(MPI_Datatype type, bool *named)
{
    level_t v;
    bool known = envelope(type, &v);
    *named = known && v.combiner == MPI_COMBINER_NAMED;
    return known && predefined(&v);
}

/* Basic types ------------------------------------------------------------- */

/* Two values, the second at `at`. */
static sw_layout_place_t pair(decode_t *d, size_t one, size_t at, size_t two)
{
    sw_layout_place_t both[2] = {
        sw_build_run(d->b, one),
        sw_place_moved(sw_build_run(d->b, two), (int64_t)at),
    };
    return sw_build_list(d->b, 2, both);
}

static bool vague(MPI_Datatype type)
{
    const MPI_Datatype vague[] = {
        MPI_PACKED,
        MPI_LONG_DOUBLE,
        MPI_LONG_DOUBLE_INT,
        MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_REAL16,
        MPI_COMPLEX32,
#ifdef MPI_CXX_LONG_DOUBLE_COMPLEX
        MPI_CXX_LONG_DOUBLE_COMPLEX,
#endif
    };
    for (size_t i = 0; i < sizeof vague / sizeof *vague; i++)
        if (type == vague[i])
            return true;
    return false;
}

#define PAIR(TYPE)                                                            \
    do {                                                                      \
        struct {                                                              \
            TYPE value;                                                       \
            int index;                                                        \
        } p;                                                                  \
        return pair(d, sizeof p.value,                                        \
                    (size_t)((char *)&p.index - (char *)&p), sizeof p.index); \
    } while (0)

static sw_layout_place_t basic(decode_t *d, MPI_Datatype type)
{
    MPI_Count size = 0;
    host.Type_size_x(type, &size);
    if (size < 0)
        return unknown(d);
    d->doubts.vague = d->doubts.vague || vague(type);
    if (type == MPI_FLOAT_INT)
        PAIR(float);
    if (type == MPI_DOUBLE_INT)
        PAIR(double);
    if (type == MPI_LONG_INT)
        PAIR(long);
    if (type == MPI_SHORT_INT)
        PAIR(short);
    if (type == MPI_LONG_DOUBLE_INT)
        PAIR(long double);
    return sw_build_run(d->b, (uint64_t)size);
}

/* Constructors ------------------------------------------------------------ */

static sw_layout_place_t vector(decode_t *d, int64_t count, int64_t length,
                                int64_t stride, MPI_Datatype of)
{
    sw_layout_place_t block = sw_build_repeat(d->b, length, extent_of(of),
                                              decode(d, of));
    return sw_build_repeat(d->b, count, stride, block);
}

/* Blocks of few lengths are made once. */
#define LENGTHS 16

/* Blocks: of the lengths from `lengths` on, or all of `fixed`; at the addresses
 * or counts from `at` on, times `unit`. */
static sw_layout_place_t indexed(decode_t *d, const level_t *v, int64_t count,
                                 int64_t fixed, MPI_Count lengths,
                                 bool addresses, MPI_Count at, int64_t unit)
{
    struct {
        int64_t length;
        sw_layout_place_t place;
    } made[LENGTHS] = {{0}};
    int64_t extent = extent_of(v->type[0]);
    sw_layout_place_t one = decode(d, v->type[0]);
    sw_layout_place_t *place = malloc((size_t)(count + 1) * sizeof *place);
    if (!place)
        return unknown(d);
    for (int64_t k = 0; k < count; k++) {
        int64_t length = fixed >= 0 ? fixed : count_at(v, lengths + k);
        int64_t by = addresses ? address_at(v, at, k) : count_at(v, at + k);
        size_t m = (size_t)length % LENGTHS;
        if (made[m].length != length) {
            made[m].length = length;
            made[m].place = sw_build_repeat(d->b, length, extent, one);
        }
        if (__builtin_mul_overflow(by, unit, &by)) {
            free(place);
            return unknown(d);
        }
        place[k] = sw_place_moved(made[m].place, by);
    }
    sw_layout_place_t all = sw_build_list(d->b, count, place);
    free(place);
    return all;
}

static sw_layout_place_t structure(decode_t *d, const level_t *v)
{
    int64_t count = count_at(v, 0);
    sw_layout_place_t *place = malloc((size_t)(count + 1) * sizeof *place);
    if (!place)
        return unknown(d);
    for (int64_t k = 0; k < count; k++) {
        int64_t length = count_at(v, 1 + k);
        sw_layout_place_t one = {0, 0};
        if (length > 0) /* of nothing, the type does not matter */
            one = k && v->type[k] == v->type[k - 1] && count_at(v, k) == length
                      ? sw_place_moved(place[k - 1],
                                       -address_at(v, 1 + count, k - 1))
                      : sw_build_repeat(d->b, length, extent_of(v->type[k]),
                                        decode(d, v->type[k]));
        place[k] = sw_place_moved(one, address_at(v, 1 + count, k));
    }
    sw_layout_place_t all = sw_build_list(d->b, count, place);
    free(place);
    return all;
}

/* Dimension `k` of those in the order from the one that varies fastest. */
static int dimension(int order, int n, int k)
{
    return order == MPI_ORDER_FORTRAN ? k : n - 1 - k;
}

static sw_layout_place_t subarray(decode_t *d, const level_t *v)
{
    int n = v->i[0];
    MPI_Count first = v->nl ? 0 : 1;
    int order = v->i[v->ni - 1];
    int64_t extent = extent_of(v->type[0]);
    sw_layout_place_t all = decode(d, v->type[0]);
    for (int k = 0; k < n; k++) {
        int at = dimension(order, n, k);
        int64_t size = count_at(v, first + at), by;
        int64_t part = count_at(v, first + n + at);
        int64_t start = count_at(v, first + 2 * n + at);
        all = sw_build_repeat(d->b, part, extent, all);
        if (__builtin_mul_overflow(start, extent, &by) ||
            __builtin_mul_overflow(extent, size, &extent))
            return unknown(d);
        all = sw_place_moved(all, by);
    }
    return all;
}

/* One dimension of a distributed array: the elements that process `me` of `of`
 * has, in blocks of `block`. */
static sw_layout_place_t dealt(decode_t *d, sw_layout_place_t one,
                               int64_t extent, int64_t size, int64_t block,
                               int64_t me, int64_t of)
{
    int64_t whole = size / block, rest = size % block;
    int64_t mine = whole / of + (me < whole % of);
    int64_t begin = me * block * extent, step = of * block * extent;
    sw_layout_place_t part[2] = {
        sw_build_repeat(d->b, mine, step,
                        sw_build_repeat(d->b, block, extent, one)),
        {0, 0},
    };
    part[0] = sw_place_moved(part[0], begin);
    if (rest && whole % of == me)
        part[1] = sw_place_moved(sw_build_repeat(d->b, rest, extent, one),
                                 begin + mine * step);
    return sw_build_list(d->b, 2, part);
}

static sw_layout_place_t darray(decode_t *d, const level_t *v)
{
    int ranks = v->i[0], rank = v->i[1], n = v->i[2];
    const int *rest = v->i + 3 + (v->nl ? 0 : n);
    const int *distribution = rest, *argument = rest + n;
    const int *processes = rest + 2 * n;
    int order = v->i[v->ni - 1];
    MPI_Count sizes = v->nl ? 0 : 3;
    int64_t extent = extent_of(v->type[0]);
    sw_layout_place_t all = decode(d, v->type[0]);
    for (int k = 0; k < n; k++) {
        int at = dimension(order, n, k), below = ranks, me = rank;
        for (int j = 0; j <= at; j++) { /* the grid is row-major */
            below /= processes[j];
            if (j < at)
                me %= below;
        }
        me /= below;
        int64_t size = count_at(v, sizes + at), of = processes[at];
        int64_t block = argument[at];
        if (distribution[at] == MPI_DISTRIBUTE_NONE) {
            block = size;
            me = 0;
            of = 1;
        } else if (block == MPI_DISTRIBUTE_DFLT_DARG) {
            block = distribution[at] == MPI_DISTRIBUTE_BLOCK
                        ? (size + of - 1) / of
                        : 1;
        }
        if (block <= 0)
            return unknown(d);
        all = dealt(d, all, extent, size, block, me, of);
        if (__builtin_mul_overflow(extent, size, &extent))
            return unknown(d);
    }
    return all;
}

static sw_layout_place_t construct(decode_t *d, const level_t *v)
{
    MPI_Datatype of = v->nd ? v->type[0] : MPI_DATATYPE_NULL;
    int64_t n = v->nl || v->ni ? count_at(v, 0) : 0;
    switch (v->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return decode(d, of);
    case MPI_COMBINER_CONTIGUOUS: return vector(d, 1, n, 0, of);
    case MPI_COMBINER_VECTOR:
        return vector(d, n, count_at(v, 1), count_at(v, 2) * extent_of(of), of);
    case MPI_COMBINER_HVECTOR:
        return vector(d, n, count_at(v, 1), address_at(v, 2, 0), of);
    case MPI_COMBINER_INDEXED:
        return indexed(d, v, n, -1, 1, false, 1 + n, extent_of(of));
    case MPI_COMBINER_HINDEXED: return indexed(d, v, n, -1, 1, true, 1 + n, 1);
    case MPI_COMBINER_INDEXED_BLOCK:
        return indexed(d, v, n, count_at(v, 1), 0, false, 2, extent_of(of));
    case MPI_COMBINER_HINDEXED_BLOCK:
        return indexed(d, v, n, count_at(v, 1), 0, true, 2, 1);
    case MPI_COMBINER_STRUCT: return structure(d, v);
    case MPI_COMBINER_SUBARRAY: return subarray(d, v);
    case MPI_COMBINER_DARRAY: return darray(d, v);
    default: return unknown(d);
    }
}

/* Open MPI takes a type without gaps for contiguous, even if its pieces are out
 * of order; MPICH and its kin misplace some distributed arrays. */
static bool odd(const decode_t *d, MPI_Datatype type, const level_t *v,
                sw_layout_place_t place)
{
    MPI_Count low = 0, extent = 0;
    if (v->combiner == MPI_COMBINER_DARRAY || extent_of(type) < 0)
        return true;
    if (sw_build_is_run(d->b, place))
        return false;
    host.Type_get_true_extent_x(type, &low, &extent);
    return (uint64_t)extent <= sw_decode_bytes(type);
}

static sw_layout_place_t decode(decode_t *d, MPI_Datatype type)
{
    level_t v;
    if (d->unknown || !envelope(type, &v))
        return unknown(d);
    if (predefined(&v))
        return basic(d, type);
    bool known = contents(type, &v);
    sw_layout_place_t place = known ? construct(d, &v) : unknown(d);
    d->doubts.odd = d->doubts.odd || odd(d, type, &v, place);
    forget(&v, known);
    return place;
}

/* What the host says of the type. */
static bool agrees(const sw_layout_t *l, MPI_Datatype type)
{
    MPI_Count size = -1, low = 0, extent = 0;
    host.Type_size_x(type, &size);
    host.Type_get_true_extent_x(type, &low, &extent);
    return size == (MPI_Count)l->size &&
           (!size || (low == l->low && low + extent == l->high));
}

sw_layout_t *sw_decode(MPI_Datatype type, sw_doubts_t *doubts)
{
    decode_t d = {.b = sw_build_new()};
    bool named;
    if (!d.b)
        return NULL;
    sw_layout_place_t root = decode(&d, type);
    sw_layout_t *l = sw_build_end(d.b, root, extent_of(type));
    *doubts = d.doubts;
    if (l && (d.unknown ||
              (!sw_decode_predefined(type, &named) && !agrees(l, type)))) {
        free(l);
        l = NULL;
    }
    return l;
}

/* Basic elements -------------------------------------------------- */

/* Bytes of data in the kth part of a structure. */
static uint64_t part_bytes(const level_t *v, MPI_Count k)
{
    return (uint64_t)count_at(v, 1 + k) * sw_decode_bytes(v->type[k]);
}

MPI_Datatype sw_decode_only_basic(MPI_Datatype type)
{
    level_t v;
    if (!envelope(type, &v))
        return MPI_DATATYPE_NULL;
    if (predefined(&v))
        return type;
    MPI_Datatype only = MPI_DATATYPE_NULL;
    bool read = contents(type, &v), same = true;
    for (MPI_Count k = 0; read && k < v.nd && same; k++) {
        if (v.combiner == MPI_COMBINER_STRUCT && part_bytes(&v, k) == 0)
            continue;
        MPI_Datatype basic = sw_decode_only_basic(v.type[k]);
        same = only == MPI_DATATYPE_NULL || basic == only;
        only = same ? basic : MPI_DATATYPE_NULL;
    }
    forget(&v, read);
    return only;
}
