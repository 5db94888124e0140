/*
 * random_elements.h - the elements that messages are made of, and the
 * reductions over them, computed in plain C.
 *
 * An element is a datatype whose bytes we know: a predefined type, or a small
 * derived one that the test treats as a unit. Every reduction is computed a
 * second time here, member by member in rank order. The values are chosen so
 * that the result does not depend on how the sum is bracketed (small whole
 * numbers in floats; complex factors that are real multiples of 2+i, whose
 * products never have a zero part with a sign to differ in): then host,
 * Straightway and this file must agree in every bit.
 */
#ifndef RANDOM_ELEMENTS_H
#define RANDOM_ELEMENTS_H

#include "mpi/test.h"
#include <complex.h>

enum {
    MAX,
    MIN,
    SUM,
    PROD,
    LAND,
    LOR,
    LXOR,
    BAND,
    BOR,
    BXOR,
    MAXLOC,
    MINLOC,
    MODADD,
    MODADD_LARGE,
    AFFINE,
    MATRIX,
    OPS
};

static const char *const op_names[OPS] = {"MAX",
                                          "MIN",
                                          "SUM",
                                          "PROD",
                                          "LAND",
                                          "LOR",
                                          "LXOR",
                                          "BAND",
                                          "BOR",
                                          "BXOR",
                                          "MAXLOC",
                                          "MINLOC",
                                          "user modular sum",
                                          "user modular sum (large)",
                                          "user affine maps",
                                          "user matrices"};
static MPI_Op ops[OPS];

#define ARITHMETIC (1u << MAX | 1u << MIN | 1u << SUM | 1u << PROD)
#define LOGICAL_OPS (1u << LAND | 1u << LOR | 1u << LXOR)
#define BITWISE (1u << BAND | 1u << BOR | 1u << BXOR)
#define PLACES (1u << MAXLOC | 1u << MINLOC)
#define WHOLE (ARITHMETIC | BITWISE)

/* A stretch of bytes inside an element that carries data. */
typedef struct {
    ptrdiff_t at;
    size_t n;
} stretch_t;

typedef struct element {
    const char *name;
    MPI_Datatype type;
    ptrdiff_t lb;     /* MPI's lower bound */
    ptrdiff_t extent; /* MPI's extent */
    size_t packed;    /* bytes in our packed form: a C object */
    size_t align;
    int stretches;
    stretch_t stretch[4];
    bool loose;   /* its gaps may be written or not (padding) */
    unsigned ops; /* which reductions it takes */
    bool derived;
    /* Turn random bytes into values that suit the operation. */
    void (*tame)(int op, void *data, size_t n);
    /* left[i] = left[i] op right[i] */
    void (*fold)(int op, void *left, const void *right, size_t n);
} element_t;

#define ELEMENTS_MAX 96
static element_t elements[ELEMENTS_MAX];
static int element_count;
static bool elements_move_only; /* set it before, to need no reductions */

/* The C arithmetic ------------------------------------------------------ */

#define EACH(expression)           \
    for (size_t i = 0; i < n; i++) \
    a[i] = expression

/* Whole numbers, computed without sign where the sign does not matter so
 * that overflow wraps; but sums of small ones stay small, because Open MPI's
 * vector kernels saturate where its scalar ones wrap. */
#define DEFINE_WHOLE(name, type, unsigned_type)                               \
    static void tame_##name(int op, void *data, size_t n)                     \
    {                                                                         \
        type *a = data;                                                       \
        if (op == SUM && sizeof(type) <= 2)                                   \
            EACH((type)(a[i] / 16))                                           \
                ;                                                             \
    }                                                                         \
    static void fold_##name(int op, void *left, const void *right, size_t n)  \
    {                                                                         \
        type *a = left;                                                       \
        const type *b = right;                                                \
        switch (op) {                                                         \
        case MAX:                                                             \
            EACH(a[i] > b[i] ? a[i] : b[i])                                   \
                ;                                                             \
            break;                                                            \
        case MIN:                                                             \
            EACH(a[i] < b[i] ? a[i] : b[i])                                   \
                ;                                                             \
            break;                                                            \
        case SUM:                                                             \
            EACH((type)((unsigned_type)a[i] + (unsigned_type)b[i]))           \
                ;                                                             \
            break;                                                            \
        case PROD:                                                            \
            EACH((type)((unsigned long long)a[i] * (unsigned long long)b[i])) \
                ;                                                             \
            break;                                                            \
        case LAND:                                                            \
            EACH(a[i] && b[i])                                                \
                ;                                                             \
            break;                                                            \
        case LOR:                                                             \
            EACH(a[i] || b[i])                                                \
                ;                                                             \
            break;                                                            \
        case LXOR:                                                            \
            EACH(!a[i] != !b[i])                                              \
                ;                                                             \
            break;                                                            \
        case BAND:                                                            \
            EACH(a[i] & b[i])                                                 \
                ;                                                             \
            break;                                                            \
        case BOR:                                                             \
            EACH(a[i] | b[i])                                                 \
                ;                                                             \
            break;                                                            \
        case BXOR:                                                            \
            EACH(a[i] ^ b[i])                                                 \
                ;                                                             \
            break;                                                            \
        }                                                                     \
    }
DEFINE_WHOLE(i8, int8_t, uint8_t)
DEFINE_WHOLE(u8, uint8_t, uint8_t)
DEFINE_WHOLE(i16, int16_t, uint16_t)
DEFINE_WHOLE(u16, uint16_t, uint16_t)
DEFINE_WHOLE(i32, int32_t, uint32_t)
DEFINE_WHOLE(u32, uint32_t, uint32_t)
DEFINE_WHOLE(i64, int64_t, uint64_t)
DEFINE_WHOLE(u64, uint64_t, uint64_t)

/* Addresses and offsets: Open MPI compares them without sign. */
static void tame_address(int op, void *data, size_t n)
{
    int64_t *a = data;
    if (op == MAX || op == MIN)
        EACH(a[i] & INT64_MAX)
            ;
}
#define fold_address fold_i64

/* Truth values: 0 and 1 only. */
#define DEFINE_TRUTH(name, type)                                             \
    static void tame_##name(int op, void *data, size_t n)                    \
    {                                                                        \
        (void)op;                                                            \
        unsigned char raw;                                                   \
        for (size_t i = 0; i < n; i++) {                                     \
            memcpy(&raw, (char *)data + i * sizeof(type), 1);                \
            ((type *)data)[i] = raw & 1;                                     \
        }                                                                    \
    }                                                                        \
    static void fold_##name(int op, void *left, const void *right, size_t n) \
    {                                                                        \
        type *a = left;                                                      \
        const type *b = right;                                               \
        switch (op) {                                                        \
        case LAND:                                                           \
            EACH(a[i] && b[i])                                               \
                ;                                                            \
            break;                                                           \
        case LOR:                                                            \
            EACH(a[i] || b[i])                                               \
                ;                                                            \
            break;                                                           \
        case LXOR:                                                           \
            EACH(!a[i] != !b[i])                                             \
                ;                                                            \
            break;                                                           \
        }                                                                    \
    }
DEFINE_TRUTH(bool, _Bool)
DEFINE_TRUTH(logical, int32_t)

/* Floats: whole numbers for sums, powers of two for products. */
#define DEFINE_FLOAT(name, type, range)                                      \
    static void tame_##name(int op, void *data, size_t n)                    \
    {                                                                        \
        static const float factor[8] = {1, 2, -1, .5f, -2, 1, -.5f, -1};     \
        uint16_t raw;                                                        \
        for (size_t i = 0; i < n; i++) {                                     \
            memcpy(&raw, (char *)data + i * sizeof(type), 2);                \
            type value = op == PROD ? (type)factor[raw & 7]                  \
                                    : (type)(raw % range) - range / 2;       \
            memset((char *)data + i * sizeof(type), 0, sizeof(type));        \
            ((type *)data)[i] = value;                                       \
        }                                                                    \
    }                                                                        \
    static void fold_##name(int op, void *left, const void *right, size_t n) \
    {                                                                        \
        type *a = left;                                                      \
        const type *b = right;                                               \
        switch (op) {                                                        \
        case MAX:                                                            \
            EACH(a[i] > b[i] ? a[i] : b[i])                                  \
                ;                                                            \
            break;                                                           \
        case MIN:                                                            \
            EACH(a[i] < b[i] ? a[i] : b[i])                                  \
                ;                                                            \
            break;                                                           \
        case SUM:                                                            \
            EACH((type)(a[i] + b[i]))                                        \
                ;                                                            \
            break;                                                           \
        case PROD:                                                           \
            EACH((type)(a[i] * b[i]))                                        \
                ;                                                            \
            break;                                                           \
        }                                                                    \
    }
DEFINE_FLOAT(f32, float, 60000)
DEFINE_FLOAT(f64, double, 60000)
DEFINE_FLOAT(f80, long double, 60000)
#if defined(MPIX_C_FLOAT16) && defined(__FLT16_MAX__)
#define HAVE_HALF 1
DEFINE_FLOAT(f16, _Float16, 128)
#endif

#define DEFINE_COMPLEX(name, type, part)                                      \
    static void tame_##name(int op, void *data, size_t n)                     \
    {                                                                         \
        static const int factor[4] = {1, -1, 2, -2};                          \
        uint16_t raw[2];                                                      \
        for (size_t i = 0; i < n; i++) {                                      \
            char *at = (char *)data + i * sizeof(type);                       \
            memcpy(raw, at, sizeof raw);                                      \
            memset(at, 0, sizeof(type));                                      \
            part *to = (part *)at;                                            \
            if (op == PROD) {                                                 \
                to[0] = 2 * factor[raw[0] & 3];                               \
                to[1] = factor[raw[0] & 3];                                   \
            } else {                                                          \
                to[0] = (part)(raw[0] % 60000) - 30000;                       \
                to[1] = (part)(raw[1] % 60000) - 30000;                       \
            }                                                                 \
        }                                                                     \
    }                                                                         \
    static void fold_##name(int op, void *left, const void *right, size_t n)  \
    {                                                                         \
        part *a = left;                                                       \
        const part *b = right;                                                \
        for (size_t i = 0; i < 2 * n; i += 2) {                               \
            part re = a[i], im = a[i + 1];                                    \
            a[i] = op == SUM ? re + b[i] : re * b[i] - im * b[i + 1];         \
            a[i + 1] = op == SUM ? im + b[i + 1] : re * b[i + 1] + im * b[i]; \
        }                                                                     \
    }
DEFINE_COMPLEX(c32, float complex, float)
DEFINE_COMPLEX(c64, double complex, double)
DEFINE_COMPLEX(c80, long double complex, long double)

/* Pairs of a value and a place: few values, so that ties are common. */
#define DEFINE_PAIR(name, value_type, place_type)                       \
    typedef struct {                                                    \
        value_type value;                                               \
        place_type place;                                               \
    } pair_##name;                                                      \
    static void tame_pair_##name(int op, void *data, size_t n)          \
    {                                                                   \
        (void)op;                                                       \
        uint8_t raw[2];                                                 \
        for (size_t i = 0; i < n; i++) {                                \
            char *at = (char *)data + i * sizeof(pair_##name);          \
            memcpy(raw, at, sizeof raw);                                \
            memset(at, 0, sizeof(pair_##name));                         \
            ((pair_##name *)at)->value = (value_type)(raw[0] % 5) - 2;  \
            ((pair_##name *)at)->place = (place_type)(raw[1] % 7);      \
        }                                                               \
    }                                                                   \
    static void fold_pair_##name(int op, void *left, const void *right, \
                                 size_t n)                              \
    {                                                                   \
        pair_##name *a = left;                                          \
        const pair_##name *b = right;                                   \
        for (size_t i = 0; i < n; i++) {                                \
            if (a[i].value == b[i].value) {                             \
                if (b[i].place < a[i].place)                            \
                    a[i].place = b[i].place;                            \
            } else if ((a[i].value < b[i].value) == (op == MAXLOC)) {   \
                a[i].value = b[i].value;                                \
                a[i].place = b[i].place;                                \
            }                                                           \
        }                                                               \
    }
DEFINE_PAIR(float, float, int)
DEFINE_PAIR(double, double, int)
DEFINE_PAIR(long, long, int)
DEFINE_PAIR(int, int, int)
DEFINE_PAIR(short, short, int)
DEFINE_PAIR(f80, long double, int)
DEFINE_PAIR(2real, float, float)
DEFINE_PAIR(2double, double, double)

/* User operations ------------------------------------------------------- */

#define PRIME 65521u

/* Sums modulo a prime: associative and commutative. */
static void tame_mod(int op, void *data, size_t n)
{
    (void)op;
    for (size_t i = 0; i < n; i++)
        ((uint32_t *)data)[i] %= PRIME;
}
static void fold_mod(int op, void *left, const void *right, size_t n)
{
    (void)op;
    uint32_t *a = left;
    const uint32_t *b = right;
    EACH((a[i] + b[i]) % PRIME)
        ;
}

/* x -> p x + q as (p, q), composed: associative, not commutative. */
static void tame_affine(int op, void *data, size_t n)
{
    if (op == AFFINE)
        tame_mod(op, data, 2 * n);
}
static void fold_affine(int op, void *left, const void *right, size_t n)
{
    if (op != AFFINE) {
        fold_u64(op, left, right, n);
        return;
    }
    uint32_t (*a)[2] = left;
    const uint32_t (*b)[2] = right;
    for (size_t i = 0; i < n; i++) {
        uint64_t p = a[i][0], q = a[i][1];
        a[i][0] = (uint32_t)(p * b[i][0] % PRIME);
        a[i][1] = (uint32_t)((p * b[i][1] + q) % PRIME);
    }
}
static void fold_u32_user(int op, void *left, const void *right, size_t n)
{
    if (op >= MODADD)
        fold_mod(op, left, right, n);
    else
        fold_u32(op, left, right, n);
}
static void tame_u32_user(int op, void *data, size_t n)
{
    if (op >= MODADD)
        tame_mod(op, data, n);
}

/* 2x2 matrices modulo the prime: associative, not commutative. */
static void tame_matrix(int op, void *data, size_t n)
{
    tame_mod(op, data, 4 * n);
}
static void matrix_product(uint32_t out[4], const uint32_t a[4],
                           const uint32_t b[4])
{
    uint32_t c[4];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            c[2 * i + j] = (uint32_t)(((uint64_t)a[2 * i] * b[j] +
                                       (uint64_t)a[2 * i + 1] * b[2 + j]) %
                                      PRIME);
    memcpy(out, c, sizeof c);
}
static void fold_matrix(int op, void *left, const void *right, size_t n)
{
    (void)op;
    for (size_t i = 0; i < n; i++)
        matrix_product((uint32_t *)left + 4 * i, (uint32_t *)left + 4 * i,
                       (const uint32_t *)right + 4 * i);
}

/* The functions MPI calls: inout = in op inout. */
static void user_mod(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    fold_mod(MODADD, inout, in, (size_t)*n);
}
#if HAVE_LARGE_COUNT
static void user_mod_large(void *in, void *inout, MPI_Count *n,
                           MPI_Datatype *type)
{
    (void)type;
    fold_mod(MODADD, inout, in, (size_t)*n);
}
#endif
static void user_affine(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    uint32_t (*a)[2] = in, (*b)[2] = inout;
    for (int i = 0; i < *n; i++) {
        uint32_t left[2] = {a[i][0], a[i][1]};
        fold_affine(AFFINE, left, b[i], 1);
        memcpy(b[i], left, sizeof left);
    }
}
/* Asks MPI for the extent, which tells this test's three layouts apart. */
static void user_matrix(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    int gap = extent == 24 ? 1 : 0; /* one word between the rows */
    for (int i = 0; i < *n; i++) {
        uint32_t *a = (uint32_t *)((char *)in + i * extent);
        uint32_t *b = (uint32_t *)((char *)inout + i * extent);
        uint32_t l[4] = {a[0], a[1], a[2 + gap], a[3 + gap]};
        uint32_t r[4] = {b[0], b[1], b[2 + gap], b[3 + gap]};
        matrix_product(r, l, r);
        b[0] = r[0], b[1] = r[1], b[2 + gap] = r[2], b[3 + gap] = r[3];
    }
}

/* Moves only. */
static void tame_none(int op, void *data, size_t n)
{
    (void)op, (void)data, (void)n;
}

/* The table ------------------------------------------------------------- */

static element_t *element_add(const char *name, MPI_Datatype type,
                              size_t packed, size_t align, unsigned ops_mask,
                              void (*tame)(int, void *, size_t),
                              void (*fold)(int, void *, const void *, size_t))
{
    int size;
    MPI_Aint lb, extent;
    /* A host built without Fortran has its types as MPI_DATATYPE_NULL, or
     * with size 0, or refuses them. */
    if (type == MPI_DATATYPE_NULL || element_count == ELEMENTS_MAX ||
        MPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0 ||
        MPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS)
        return NULL;
    if ((size_t)extent != packed && !(ops_mask & 1u << MATRIX))
        return NULL;
    element_t *e = &elements[element_count++];
    *e = (element_t){.name = name,
                     .type = type,
                     .lb = lb,
                     .extent = extent,
                     .packed = packed,
                     .align = align,
                     .stretches = 1,
                     .stretch = {{0, packed}},
                     .tame = tame,
                     .fold = fold};
    /* Not every host takes every pair that the standard names: ask. The
     * answer is the host's alone, the same on all ranks. */
    for (int op = 0; op < OPS && !elements_move_only; op++) {
        char a[64] __attribute__((aligned(16))) = {0};
        char b[64] __attribute__((aligned(16))) = {0};
        if (ops_mask & 1u << op && ops[op] != MPI_OP_NULL &&
            MPI_Reduce_local(a + 16, b + 16, 1, type, ops[op]) == MPI_SUCCESS)
            e->ops |= 1u << op;
    }
    return e;
}

#define ADD(mpi, c, mask, functions)                                       \
    element_add(#mpi, mpi, sizeof(c), _Alignof(c), mask, tame_##functions, \
                fold_##functions)

static void element_loose(element_t *e, size_t first, ptrdiff_t second,
                          size_t second_n)
{
    if (!e)
        return;
    e->loose = true;
    e->stretch[0].n = first;
    if (second_n)
        e->stretch[e->stretches++] = (stretch_t){second, second_n};
}

/* x87 long doubles carry 10 bytes of 16. */
#define F80_BYTES (__LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double))

static void elements_make(void)
{
    MPI_Op predefined[] = {MPI_MAX,  MPI_MIN,  MPI_SUM,    MPI_PROD,
                           MPI_LAND, MPI_LOR,  MPI_LXOR,   MPI_BAND,
                           MPI_BOR,  MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
    memcpy(ops, predefined, sizeof predefined);
    MPI_Op_create(user_mod, 1, &ops[MODADD]);
    ops[MODADD_LARGE] = MPI_OP_NULL;
#if HAVE_LARGE_COUNT
    MPI_Op_create_c(user_mod_large, 1, &ops[MODADD_LARGE]);
#endif
    MPI_Op_create(user_affine, 0, &ops[AFFINE]);
    MPI_Op_create(user_matrix, 0, &ops[MATRIX]);

    unsigned c_whole = WHOLE | LOGICAL_OPS;
    ADD(MPI_INT, int32_t, c_whole, i32);
    ADD(MPI_DOUBLE, double, ARITHMETIC, f64);
    ADD(MPI_FLOAT, float, ARITHMETIC, f32);
    ADD(MPI_BYTE, uint8_t, BITWISE, u8);
    ADD(MPI_SIGNED_CHAR, int8_t, c_whole, i8);
    ADD(MPI_UNSIGNED_CHAR, uint8_t, c_whole, u8);
    ADD(MPI_SHORT, int16_t, c_whole, i16);
    ADD(MPI_UNSIGNED_SHORT, uint16_t, c_whole, u16);
    ADD(MPI_UNSIGNED, uint32_t, c_whole, u32);
    ADD(MPI_LONG, int64_t, c_whole, i64);
    ADD(MPI_UNSIGNED_LONG, uint64_t, c_whole, u64);
    ADD(MPI_LONG_LONG, int64_t, c_whole, i64);
    ADD(MPI_UNSIGNED_LONG_LONG, uint64_t, c_whole, u64);
    ADD(MPI_INT8_T, int8_t, c_whole, i8);
    ADD(MPI_UINT8_T, uint8_t, c_whole, u8);
    ADD(MPI_INT16_T, int16_t, c_whole, i16);
    ADD(MPI_UINT16_T, uint16_t, c_whole, u16);
    ADD(MPI_INT32_T, int32_t, c_whole, i32);
    ADD(MPI_UINT32_T, uint32_t, c_whole | 1u << MODADD | 1u << MODADD_LARGE,
        u32_user);
    ADD(MPI_INT64_T, int64_t, c_whole, i64);
    element_add("MPI_UINT64_T", MPI_UINT64_T, 8, 8, c_whole | 1u << AFFINE,
                tame_affine, fold_affine);
    ADD(MPI_AINT, int64_t, WHOLE, address);
    ADD(MPI_COUNT, int64_t, WHOLE, address);
    ADD(MPI_OFFSET, int64_t, WHOLE, address);
    ADD(MPI_C_BOOL, _Bool, LOGICAL_OPS, bool);
    ADD(MPI_C_FLOAT_COMPLEX, float complex, 1u << SUM | 1u << PROD, c32);
    ADD(MPI_C_DOUBLE_COMPLEX, double complex, 1u << SUM | 1u << PROD, c64);
    ADD(MPI_INTEGER, int32_t, WHOLE, i32);
    ADD(MPI_INTEGER1, int8_t, WHOLE, i8);
    ADD(MPI_INTEGER2, int16_t, WHOLE, i16);
    ADD(MPI_INTEGER4, int32_t, WHOLE, i32);
    ADD(MPI_INTEGER8, int64_t, WHOLE, i64);
    ADD(MPI_REAL, float, ARITHMETIC, f32);
    ADD(MPI_DOUBLE_PRECISION, double, ARITHMETIC, f64);
    ADD(MPI_REAL4, float, ARITHMETIC, f32);
    ADD(MPI_REAL8, double, ARITHMETIC, f64);
    ADD(MPI_COMPLEX, float complex, 1u << SUM | 1u << PROD, c32);
    ADD(MPI_DOUBLE_COMPLEX, double complex, 1u << SUM | 1u << PROD, c64);
    ADD(MPI_LOGICAL, int32_t, LOGICAL_OPS, logical);
#ifdef MPI_CXX_BOOL
    ADD(MPI_CXX_BOOL, _Bool, LOGICAL_OPS, bool);
#endif
#ifdef HAVE_HALF
    ADD(MPIX_C_FLOAT16, _Float16, ARITHMETIC, f16);
#endif
    ADD(MPI_2INT, pair_int, PLACES, pair_int);
    ADD(MPI_2INTEGER, pair_int, PLACES, pair_int);
    ADD(MPI_2REAL, pair_2real, PLACES, pair_2real);
    ADD(MPI_2DOUBLE_PRECISION, pair_2double, PLACES, pair_2double);
    ADD(MPI_FLOAT_INT, pair_float, PLACES, pair_float);
    element_loose(ADD(MPI_DOUBLE_INT, pair_double, PLACES, pair_double), 12, 0,
                  0);
    element_loose(ADD(MPI_LONG_INT, pair_long, PLACES, pair_long), 12, 0, 0);
    element_loose(ADD(MPI_SHORT_INT, pair_short, PLACES, pair_short), 2, 4, 4);
    element_loose(ADD(MPI_LONG_DOUBLE_INT, pair_f80, PLACES, pair_f80),
                  F80_BYTES, 16, 4);
    element_loose(ADD(MPI_LONG_DOUBLE, long double, ARITHMETIC, f80), F80_BYTES,
                  0, 0);
    element_loose(ADD(MPI_C_LONG_DOUBLE_COMPLEX, long double complex,
                      1u << SUM | 1u << PROD, c80),
                  F80_BYTES, 16, F80_BYTES);

    /* Moves only. */
    element_add("MPI_CHAR", MPI_CHAR, 1, 1, 0, tame_none, NULL);
    element_add("MPI_WCHAR", MPI_WCHAR, sizeof(wchar_t), _Alignof(wchar_t), 0,
                tame_none, NULL);

    /* A structure of an int and a double, with its gap. */
    MPI_Datatype type, other;
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                           (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type);
    MPI_Type_commit(&type);
    element_t *e = element_add("struct{int,double}", type, 16, 8, 0, tame_none,
                               NULL);
    e->derived = true;
    e->stretches = 2;
    e->stretch[0].n = 4;
    e->stretch[1] = (stretch_t){8, 8};

    /* Matrices: dense, with a gap between the rows, with a margin on both
     * sides. The packed form is four words. */
    MPI_Type_contiguous(4, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    element_add("matrix", type, 16, 4, 1u << MATRIX, tame_matrix, fold_matrix)
        ->derived = true;
    MPI_Type_vector(2, 2, 3, MPI_UINT32_T, &other);
    MPI_Type_create_resized(other, 0, 24, &type);
    MPI_Type_free(&other);
    MPI_Type_commit(&type);
    e = element_add("matrix with a gap", type, 16, 4, 1u << MATRIX, tame_matrix,
                    fold_matrix);
    e->derived = true;
    e->stretches = 2;
    e->stretch[0].n = 8;
    e->stretch[1] = (stretch_t){12, 8};
    MPI_Type_contiguous(4, MPI_UINT32_T, &other);
    MPI_Type_create_resized(other, -8, 32, &type);
    MPI_Type_free(&other);
    MPI_Type_commit(&type);
    element_add("matrix with margins", type, 16, 4, 1u << MATRIX, tame_matrix,
                fold_matrix)
        ->derived = true;
}

static void elements_free(void)
{
    for (int i = 0; i < element_count; i++)
        if (elements[i].derived)
            MPI_Type_free(&elements[i].type);
    for (int op = MODADD; op < OPS; op++)
        if (ops[op] != MPI_OP_NULL)
            MPI_Op_free(&ops[op]);
}

/* Where the data of one element lies in the packed form: C objects keep
 * their inner gaps, the others are dense. */
static inline ptrdiff_t element_packed_at(const element_t *e, int stretch)
{
    if (e->loose || (size_t)e->extent == e->packed)
        return e->stretch[stretch].at;
    ptrdiff_t at = 0;
    for (int i = 0; i < stretch; i++)
        at += (ptrdiff_t)e->stretch[i].n;
    return at;
}

static inline bool element_dense(const element_t *e)
{
    return e->stretches == 1 && e->stretch[0].n == (size_t)e->extent;
}

/* Random bytes, n of them, from a key. */
static void fill(void *to, size_t n, uint64_t key)
{
    char *p = to;
    uint64_t word;
    for (size_t i = 0; i < n; i += 8) {
        word = mix(key + i);
        if (n - i >= 8)
            memcpy(p + i, &word, 8);
        else
            memcpy(p + i, &word, n - i);
    }
}

#endif
