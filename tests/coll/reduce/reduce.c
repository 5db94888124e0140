/*
 * reduce.c - every reduction kernel, in every instruction set that this
 * machine has, gives what one plain C operation per element gives: to the bit,
 * for any length, alignment and permitted aliasing, and touches nothing else.
 *
 * Buffers end (or begin) at a page that cannot be touched, so that a read
 * beyond them is fatal. Elements are drawn from random bits, special values
 * (NaN, infinities, -0, denormals, extreme integers) and small numbers, so
 * that ties happen.
 */
#include "coll/reduce/kernel.h"
#include "sanitized.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define fail(...)                                    \
    (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), \
     fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

/* Random elements ---------------------------------------------------- */

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
}

static double special(void)
{
    static const double list[] = {
        0.0,     -0.0,    1.0,      -1.0,         INFINITY,      -INFINITY,
        NAN,     DBL_MIN, DBL_MAX,  -DBL_MAX,     DBL_TRUE_MIN,  -DBL_TRUE_MIN,
        FLT_MIN, FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, -FLT_TRUE_MIN, 65504.0,
        65520.0, 0x1p-24, 0x1p-14,  1.5,          DBL_EPSILON,   FLT_EPSILON,
    };
    return list[draw() % (sizeof list / sizeof *list)];
}

/* How a test draws and compares the bytes of an element. */
typedef enum { INTEGER, HALF, BFLOAT, FLOAT, DOUBLE, EXTENDED, QUAD } kind_t;

typedef struct {
    kind_t kind;
    int size, at[2], count;
} part_t;

#define PART(k, c, n) \
    {.kind = k, .size = sizeof(c), .at = {0, sizeof(c)}, .count = n}
#define PAIR_OF(kv, ki, pair)                                           \
    {                                                                   \
        {.kind = kv, .size = sizeof(((pair *)0)->value), .count = 1},   \
        {                                                               \
            .kind = ki, .size = sizeof(((pair *)0)->index), .count = 1, \
            .at = {offsetof(pair, index)}                               \
        }                                                               \
    }

/* One or two groups of parts of one kind for each type. */
static const part_t parts[SW_TYPE_COUNT][2] = {
    [SW_INT8] = {PART(INTEGER, int8_t, 1)},
    [SW_UINT8] = {PART(INTEGER, int8_t, 1)},
    [SW_INT16] = {PART(INTEGER, int16_t, 1)},
    [SW_UINT16] = {PART(INTEGER, int16_t, 1)},
    [SW_INT32] = {PART(INTEGER, int32_t, 1)},
    [SW_UINT32] = {PART(INTEGER, int32_t, 1)},
    [SW_INT64] = {PART(INTEGER, int64_t, 1)},
    [SW_UINT64] = {PART(INTEGER, int64_t, 1)},
    [SW_BYTE] = {PART(INTEGER, int8_t, 1)},
    [SW_C_BOOL] = {PART(INTEGER, int8_t, 1)},
    [SW_LOGICAL1] = {PART(INTEGER, int8_t, 1)},
    [SW_LOGICAL2] = {PART(INTEGER, int16_t, 1)},
    [SW_LOGICAL4] = {PART(INTEGER, int32_t, 1)},
    [SW_LOGICAL8] = {PART(INTEGER, int64_t, 1)},
    [SW_FLOAT16] = {PART(HALF, uint16_t, 1)},
    [SW_BFLOAT16] = {PART(BFLOAT, uint16_t, 1)},
    [SW_FLOAT] = {PART(FLOAT, float, 1)},
    [SW_DOUBLE] = {PART(DOUBLE, double, 1)},
    [SW_LONG_DOUBLE] = {PART(EXTENDED, long double, 1)},
    [SW_FLOAT128] = {PART(QUAD, sw_float128_t, 1)},
    [SW_COMPLEX_FLOAT16] = {PART(HALF, uint16_t, 2)},
    [SW_COMPLEX_FLOAT] = {PART(FLOAT, float, 2)},
    [SW_COMPLEX_DOUBLE] = {PART(DOUBLE, double, 2)},
    [SW_COMPLEX_LONG_DOUBLE] = {PART(EXTENDED, long double, 2)},
    [SW_PAIR_FLOAT_INT] = PAIR_OF(FLOAT, INTEGER, sw_pair_float_int_t),
    [SW_PAIR_DOUBLE_INT] = PAIR_OF(DOUBLE, INTEGER, sw_pair_double_int_t),
    [SW_PAIR_LONG_INT] = PAIR_OF(INTEGER, INTEGER, sw_pair_long_int_t),
    [SW_PAIR_INT_INT] = PAIR_OF(INTEGER, INTEGER, sw_pair_int_int_t),
    [SW_PAIR_SHORT_INT] = PAIR_OF(INTEGER, INTEGER, sw_pair_short_int_t),
    [SW_PAIR_LONG_DOUBLE_INT] = PAIR_OF(EXTENDED, INTEGER,
                                        sw_pair_long_double_int_t),
    [SW_PAIR_FLOAT_FLOAT] = PAIR_OF(FLOAT, FLOAT, sw_pair_float_float_t),
    [SW_PAIR_DOUBLE_DOUBLE] = PAIR_OF(DOUBLE, DOUBLE, sw_pair_double_double_t),
    [SW_PAIR_INT64_INT64] = PAIR_OF(INTEGER, INTEGER, sw_pair_int64_int64_t),
};

#ifdef __SIZEOF_FLOAT128__
typedef __float128 binary128_t;
#else
typedef long double binary128_t;
#endif

static void put(kind_t kind, int size, char *to)
{
    uint64_t how = draw() % 4, bits = draw();
    double d = how == 0 ? special() : (double)(int64_t)(bits % 7) - 3;
    if (kind == INTEGER) {
        static const uint64_t edge[] = {
            0,
            1,
            UINT64_MAX,
            0x7f,
            0x80,
            0x7fff,
            0x8000,
            0x7fffffff,
            0x80000000,
            INT64_MAX,
            0x8000000000000000u,
        };
        if (how == 0)
            bits = edge[bits % 11];
        else if (how == 1)
            bits = (uint64_t)((int64_t)(bits % 7) - 3);
        memcpy(to, &bits, (size_t)size);
    } else if (kind == EXTENDED) {
        long double x = how < 2 ? (long double)d
                                : ldexpl((long double)(int64_t)draw(),
                                         (int)(bits % 400) - 200);
        if (how == 3 && bits % 8 == 0)
            x *= LDBL_MIN;
        memset(to, 0, (size_t)size);
        memcpy(to, &x, LDBL_MANT_DIG == 64 ? 10 : sizeof x);
    } else if (kind == QUAD) {
        uint64_t random[2] = {draw(), bits};
        binary128_t x = (binary128_t)d;
        memcpy(to, how < 2 ? (void *)&x : (void *)random, 16);
    } else if (kind == DOUBLE) {
        memcpy(to, how < 2 ? (void *)&d : (void *)&bits, 8);
    } else if (kind == FLOAT) {
        float f = (float)d;
        memcpy(to, how < 2 ? (void *)&f : (void *)&bits, 4);
    } else {
        static const uint16_t small[] = {
            0x3c00, 0xbc00, 0x0001, 0x8001, 0x0400, 0x7bff, 0x7c00,
            0xfc00, 0x7e00, 0x7d01, 0,      0x8000, 0x3f80, 0x7f80,
            0xff80, 0x0080, 0x7f7f, 0x7fc0, 0x03ff, 0x1400};
        memcpy(to, how < 2 ? (void *)&small[bits % 20] : (void *)&bits, 2);
    }
}

static void fill(sw_type_t type, char *to, size_t n)
{
    size_t extent = sw_type_bytes(type);
    for (size_t i = 0; i < n; i++, to += extent) {
        memset(to, 0x5a, extent);
        for (int g = 0; g < 2; g++)
            for (int c = 0; c < parts[type][g].count; c++)
                put(parts[type][g].kind, parts[type][g].size,
                    to + parts[type][g].at[c]);
    }
}

/* The reference ------------------------------------------------------ */

static double narrow_value(uint16_t h, int digits, int emin)
{
    int e = (h & 0x7fff) >> (digits - 1);
    int m = h & ((1 << (digits - 1)) - 1);
    double v = e == (1 << (16 - digits)) - 1
                   ? (m ? (double)NAN : (double)INFINITY)
               : e ? ldexp(m + (1 << (digits - 1)), e - 1 + emin - digits + 1)
                   : ldexp(m, emin - digits + 1);
    return h & 0x8000 ? -v : v;
}

/* The number nearest to v, ties to even, with so many digits. */
static uint16_t narrow_round(double v, int digits, int emin)
{
    uint16_t infinity = digits == 11 ? 0x7c00 : 0x7f80;
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v))
        return (uint16_t)(infinity | infinity >> 1 | 1);
    if (isinf(v) || v == 0)
        return (uint16_t)(sign | (v == 0 ? 0 : infinity));
    int e = ilogb(v) < emin ? emin : ilogb(v);
    long bits = (long)(e - emin) * (1 << (digits - 1)) +
                (long)nearbyint(ldexp(fabs(v), digits - 1 - e));
    return (uint16_t)(sign | (bits > infinity ? infinity : bits));
}

#define HALF_OF(h) narrow_value(h, 11, -14)
#define BFLOAT_OF(h) narrow_value(h, 8, -126)

#define CASES_ORDER                        \
    case SW_MAX: z = x > y ? x : y; break; \
    case SW_MIN: z = x < y ? x : y; break;

#define REFER(T, cases)                   \
    {                                     \
        T x, y, z;                        \
        memcpy(&x, a, sizeof x);          \
        memcpy(&y, b, sizeof y);          \
        switch (op) {                     \
            cases default : return false; \
        }                                 \
        memcpy(to, &z, sizeof z);         \
        return true;                      \
    }

#define INTEGERS(T, U)                                                         \
    REFER(T, case SW_SUM : z = (T)(U)((unsigned __int128)x +                   \
                                      (unsigned __int128)y);                   \
          break; case SW_PROD : z = (T)(U)((unsigned __int128)x *              \
                                           (unsigned __int128)y);              \
          break; CASES_ORDER case SW_LAND : z = x && y; break;                 \
          case SW_LOR : z = x || y; break; case SW_LXOR : z = !x != !y; break; \
          case SW_BAND : z = (T)(x & y); break; case SW_BOR : z = (T)(x | y);  \
          break; case SW_BXOR : z = (T)(x ^ y); break;)

#define LOGICALS(T)                                                      \
    REFER(T, case SW_LAND : z = x && y; break; case SW_LOR : z = x || y; \
          break; case SW_LXOR : z = !x != !y; break;)

#define FLOATS(T)                                                             \
    REFER(T, case SW_SUM : z = x + y; break; case SW_PROD : z = x * y; break; \
          CASES_ORDER)

#define COMPLEXES(T)                                  \
    REFER(_Complex T, case SW_SUM : z = x + y; break; \
          case SW_PROD : z = x * y; break;)

/* bfloat16: the float result is rounded; float16: the exact one, because the
 * kernel's rounding twice must not show. */
#define NARROWS(value, precise, digits, emin)                          \
    REFER(uint16_t, case SW_SUM : z = narrow_round(                    \
                        (precise)(value(x) + value(y)), digits, emin); \
          break; case SW_PROD : z = narrow_round(                      \
                     (precise)(value(x) * value(y)), digits, emin);    \
          break; case SW_MAX : z = value(x) > value(y) ? x : y; break; \
          case SW_MIN : z = value(x) < value(y) ? x : y; break;)

#define LOCATE(pair)                            \
    {                                           \
        pair x, y, z;                           \
        memcpy(&x, a, sizeof x);                \
        memcpy(&y, b, sizeof y);                \
        if (op != SW_MAXLOC && op != SW_MINLOC) \
            return false;                       \
        if (x.value == y.value)                 \
            z = x.index <= y.index ? x : y;     \
        else if (op == SW_MAXLOC)               \
            z = x.value > y.value ? x : y;      \
        else                                    \
            z = x.value < y.value ? x : y;      \
        memcpy(to, &z, sizeof z);               \
        return true;                            \
    }

/* One element. False where MPI does not define the pair. */
static bool refer(sw_op_t op, sw_type_t type, void *to, const void *a,
                  const void *b)
{
    switch (type) {
    case SW_INT8: INTEGERS(int8_t, uint8_t)
    case SW_UINT8: INTEGERS(uint8_t, uint8_t)
    case SW_INT16: INTEGERS(int16_t, uint16_t)
    case SW_UINT16: INTEGERS(uint16_t, uint16_t)
    case SW_INT32: INTEGERS(int32_t, uint32_t)
    case SW_UINT32: INTEGERS(uint32_t, uint32_t)
    case SW_INT64: INTEGERS(int64_t, uint64_t)
    case SW_UINT64: INTEGERS(uint64_t, uint64_t)
    case SW_BYTE:
        if (op != SW_BAND && op != SW_BOR && op != SW_BXOR)
            return false;
        INTEGERS(uint8_t, uint8_t)
    case SW_C_BOOL:
    case SW_LOGICAL1: LOGICALS(uint8_t)
    case SW_LOGICAL2: LOGICALS(uint16_t)
    case SW_LOGICAL4: LOGICALS(uint32_t)
    case SW_LOGICAL8: LOGICALS(uint64_t)
    case SW_FLOAT16: NARROWS(HALF_OF, double, 11, -14)
    case SW_BFLOAT16: NARROWS(BFLOAT_OF, float, 8, -126)
    case SW_FLOAT: FLOATS(float)
    case SW_DOUBLE: FLOATS(double)
    case SW_LONG_DOUBLE: FLOATS(long double)
    case SW_FLOAT128: FLOATS(binary128_t)
    case SW_COMPLEX_FLOAT16: {
        const uint16_t *p = a, *q = b;
        uint16_t *z = to;
        _Complex float x, y;
        __real__ x = (float)HALF_OF(p[0]), __imag__ x = (float)HALF_OF(p[1]);
        __real__ y = (float)HALF_OF(q[0]), __imag__ y = (float)HALF_OF(q[1]);
        if (op != SW_SUM && op != SW_PROD)
            return false;
        x = op == SW_SUM ? x + y : x * y;
        z[0] = narrow_round(__real__ x, 11, -14);
        z[1] = narrow_round(__imag__ x, 11, -14);
        return true;
    }
    case SW_COMPLEX_FLOAT: COMPLEXES(float)
    case SW_COMPLEX_DOUBLE: COMPLEXES(double)
    case SW_COMPLEX_LONG_DOUBLE: COMPLEXES(long double)
    case SW_PAIR_FLOAT_INT: LOCATE(sw_pair_float_int_t)
    case SW_PAIR_DOUBLE_INT: LOCATE(sw_pair_double_int_t)
    case SW_PAIR_LONG_INT: LOCATE(sw_pair_long_int_t)
    case SW_PAIR_INT_INT: LOCATE(sw_pair_int_int_t)
    case SW_PAIR_SHORT_INT: LOCATE(sw_pair_short_int_t)
    case SW_PAIR_LONG_DOUBLE_INT: LOCATE(sw_pair_long_double_int_t)
    case SW_PAIR_FLOAT_FLOAT: LOCATE(sw_pair_float_float_t)
    case SW_PAIR_DOUBLE_DOUBLE: LOCATE(sw_pair_double_double_t)
    case SW_PAIR_INT64_INT64: LOCATE(sw_pair_int64_int64_t)
    default: return false;
    }
}

static bool is_nan(kind_t kind, const char *p)
{
    float f;
    double d;
    long double l;
    binary128_t q;
    uint16_t h;
    switch (kind) {
    case HALF: memcpy(&h, p, 2); return (h & 0x7fff) > 0x7c00;
    case BFLOAT: memcpy(&h, p, 2); return (h & 0x7fff) > 0x7f80;
    case FLOAT: memcpy(&f, p, sizeof f); return f != f;
    case DOUBLE: memcpy(&d, p, sizeof d); return d != d;
    case EXTENDED: memcpy(&l, p, sizeof l); return l != l;
    case QUAD: memcpy(&q, p, sizeof q); return q != q;
    default: return false;
    }
}

/* Equal to the bit; only the payload of a computed NaN is free. */
static bool same(sw_op_t op, sw_type_t type, const char *p, const char *q)
{
    for (int g = 0; g < 2; g++) {
        const part_t *part = &parts[type][g];
        size_t size = (size_t)part->size;
        if (part->kind == EXTENDED && LDBL_MANT_DIG == 64)
            size = 10;
        for (int c = 0; c < part->count; c++) {
            const char *x = p + part->at[c], *y = q + part->at[c];
            if (memcmp(x, y, size) &&
                !((op == SW_SUM || op == SW_PROD) && is_nan(part->kind, x) &&
                  is_nan(part->kind, y)))
                return false;
        }
    }
    return true;
}

/* Buffers ------------------------------------------------------------ */

#define ROOM (1 << 19)
#define MOST (ROOM / 32 - 8) /* elements of the widest type */
#define GUARD 64

/* Memory between two pages that cannot be touched. */
static char *fenced(void)
{
    char *p = mmap(NULL, ROOM + 2 * SW_PAGE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, SW_PAGE, PROT_NONE) ||
        mprotect(p + SW_PAGE + ROOM, SW_PAGE, PROT_NONE))
        fail("cannot fence memory");
    return p + SW_PAGE;
}

static char *area[3]; /* to, a, b */
static char want[ROOM], kept[2][ROOM];

/* Where an operand lies: ending `shift` bytes before the upper fence, or
 * beginning that far after the lower. */
static char *place(int which, size_t bytes, size_t shift, bool low)
{
    return low ? area[which] + shift : area[which] + ROOM - bytes - shift;
}

enum { APART, TO_IS_A, TO_IS_B, A_IS_B, ALL_ONE, ALIASINGS };

static void check(sw_op_t op, sw_type_t type, size_t n, const size_t shift[3],
                  bool low, int aliasing)
{
    sw_reduce_func_t f = sw_reduce_kernel(op, type);
    size_t extent = sw_type_bytes(type), bytes = n * extent;
    char *to = place(0, bytes, shift[0], low);
    char *a = place(1, bytes, shift[1], low);
    char *b = place(2, bytes, shift[2], low);
    if (aliasing == A_IS_B || aliasing == ALL_ONE)
        b = a;
    if (aliasing == TO_IS_A || aliasing == ALL_ONE)
        to = a;
    if (aliasing == TO_IS_B)
        to = b;

    fill(type, a, n);
    if (b != a)
        fill(type, b, n);
    if (to != a && to != b)
        memset(to, 0xa5, bytes);
    /* Guard bytes beside `to`, as many as there is room for. */
    size_t before = sw_min(GUARD, (size_t)(to - area[0]));
    size_t after = sw_min(GUARD, (size_t)(area[0] + ROOM - to) - bytes);
    bool guarded = to != a && to != b;
    if (guarded) {
        memset(to - before, 0xc3, before);
        memset(to + bytes, 0xc3, after);
    }
    memcpy(kept[0], a, bytes);
    memcpy(kept[1], b, bytes);
    memset(want, 0, bytes);
    for (size_t i = 0; i < n; i++) {
        _Alignas(16) char x[32], y[32], z[32] = {0};
        memcpy(x, a + i * extent, extent);
        memcpy(y, b + i * extent, extent);
        if (!refer(op, type, z, x, y))
            fail("no reference");
        memcpy(want + i * extent, z, extent);
    }

    f(to, a, b, n);

    const char *what = "";
    size_t at = 0;
    for (size_t i = 0; i < n && !*what; i++)
        if (!same(op, type, to + i * extent, want + i * extent))
            what = "wrong result", at = i;
    if (guarded) {
        for (size_t i = 0; i < before; i++)
            if ((unsigned char)to[-1 - (long)i] != 0xc3)
                what = "wrote before the buffer", at = i;
        for (size_t i = 0; i < after; i++)
            if ((unsigned char)to[bytes + i] != 0xc3)
                what = "wrote beyond the buffer", at = i;
    }
    if ((to != a && memcmp(a, kept[0], bytes)) ||
        (to != b && memcmp(b, kept[1], bytes)))
        what = "changed an input";
    if (*what) {
        fprintf(stderr,
                "%s %s %s: %s: element %zu of %zu, shifts %zu %zu "
                "%zu, aliasing %d\n",
                sw_isa_name(sw_reduce_isa()), sw_op_name(op),
                sw_type_name(type), what, at, n, shift[0], shift[1], shift[2],
                aliasing);
        const char *from[4] = {kept[0], kept[1], to, want};
        static const char *const name[4] = {"a", "b", "got", "want"};
        for (int k = 0; k < 4; k++) {
            fprintf(stderr, "%5s:", name[k]);
            for (size_t i = 0; n && i < extent; i++)
                fprintf(stderr, " %02x",
                        (unsigned char)from[k][at * extent + i]);
            fputc('\n', stderr);
        }
        exit(1);
    }
}

static void check_kernel(sw_op_t op, sw_type_t type)
{
    size_t shift[3];
    for (size_t n = 0; n <= 130; n++)
        for (int aliasing = 0; aliasing < ALIASINGS; aliasing++) {
            uint64_t r = draw();
            for (int k = 0; k < 3; k++, r >>= 6)
                shift[k] = r & 1 ? r & 63 : 0;
            check(op, type, n, shift, r & 1, aliasing);
        }
    for (int moved = 0; moved < 3; moved++)
        for (size_t by = 1; by < 64; by++) {
            memset(shift, 0, sizeof shift);
            shift[moved] = by;
            check(op, type, 35, shift, by & 1, APART);
        }
    for (int k = 0; k < 3; k++)
        shift[k] = draw() & 63;
    check(op, type, 1000 + draw() % 4000, shift, true, APART);
    check(op, type, MOST, shift, true, TO_IS_A);
}

/* All of a half's values through conversion and back: 1 * x is x. */
static void check_every_half(sw_type_t type, uint16_t one, uint16_t infinity)
{
    uint16_t *a = (uint16_t *)area[1], *b = (uint16_t *)area[2];
    uint16_t *to = (uint16_t *)area[0];
    for (size_t i = 0; i < 65536; i++)
        a[i] = (uint16_t)i, b[i] = one;
    sw_reduce_kernel(SW_PROD, type)(to, a, b, 65536);
    for (size_t i = 0; i < 65536; i++) {
        bool nan = (a[i] & 0x7fff) > infinity;
        if (nan ? (to[i] & 0x7fff) <= infinity : to[i] != a[i])
            fail("%s: 1 * %04x gave %04x", sw_type_name(type), a[i], to[i]);
    }
}

/* Many inputs -------------------------------------------------------- */

/* Element i of the inputs as recursive doubling combines them, by its
 * definition: items first .. first + items - 1, of which the first ones are
 * pairs. */
static void refer_tree(sw_op_t op, sw_type_t type, char *const *in, int pairs,
                       int first, int items, size_t i, char *z)
{
    _Alignas(16) char x[32], y[32];
    size_t extent = sw_type_bytes(type);
    int k = first < pairs ? 2 * first : first + pairs;
    if (items > 1) {
        refer_tree(op, type, in, pairs, first, items / 2, i, x);
        refer_tree(op, type, in, pairs, first + items / 2, items / 2, i, y);
    } else {
        memcpy(x, in[k] + i * extent, extent);
        memcpy(y, in[k + (first < pairs)] + i * extent, extent);
    }
    if (items > 1 || first < pairs)
        refer(op, type, z, x, y);
    else
        memcpy(z, x, extent);
}

/* One after the other. */
static void refer_line(sw_op_t op, sw_type_t type, char *const *in, int count,
                       size_t i, char *z)
{
    _Alignas(16) char x[32], y[32];
    size_t extent = sw_type_bytes(type);
    memcpy(z, in[0] + i * extent, extent);
    for (int k = 1; k < count; k++) {
        memcpy(x, z, extent);
        memcpy(y, in[k] + i * extent, extent);
        refer(op, type, z, x, y);
    }
}

#define INPUTS 17

static void check_many(sw_order_t order, sw_op_t op, sw_type_t type, int count,
                       size_t n, int alias)
{
    static char *in[INPUTS], *result;
    size_t extent = sw_type_bytes(type);
    for (int k = 0; k < INPUTS; k++)
        if (!in[k] && !(in[k] = malloc(ROOM)))
            fail("no memory");
    if (!result && !(result = malloc(ROOM)))
        fail("no memory");
    for (int k = 0; k < count; k++)
        fill(type, in[k], n);
    int items = 1;
    while (2 * items <= count)
        items *= 2;
    for (size_t i = 0; i < n; i++) {
        _Alignas(16) char z[32] = {0};
        if (order == SW_ORDER_TREE)
            refer_tree(op, type, in, count - items, 0, items, i, z);
        else
            refer_line(op, type, in, count, i, z);
        memcpy(want + i * extent, z, extent);
    }
    size_t bytes = sw_reduce_room(order, count);
    char *room = aligned_alloc(64, bytes);
    if (!room)
        fail("no memory");
    char *to = alias < 0 ? result : in[alias];
    memset(result + n * extent, 0xc3, GUARD);
    sw_reduce_many(sw_reduce_kernel(op, type), extent, order, to,
                   (const void *const *)in, count, n, room);
    free(room);
    for (size_t i = 0; i < n; i++)
        if (!same(op, type, to + i * extent, want + i * extent))
            fail("%s %s of %d inputs, order %d, to is in[%d]: element %zu of "
                 "%zu",
                 sw_op_name(op), sw_type_name(type), count, (int)order, alias,
                 i, n);
    for (size_t i = 0; to == result && i < GUARD; i++)
        if ((unsigned char)result[n * extent + i] != 0xc3)
            fail("sw_reduce_many wrote beyond `to`");
}

/* 1 and three times 2^-53: the tree sees two of the small ones together. */
static void check_orders_differ(void)
{
    const double one = 1, tiny = 0x1p-53;
    const void *in[4] = {&one, &tiny, &tiny, &tiny};
    static _Alignas(64) char room[4 * SW_REDUCE_BLOCK];
    double tree, line;
    sw_reduce_func_t sum = sw_reduce_kernel(SW_SUM, SW_DOUBLE);
    sw_reduce_many(sum, 8, SW_ORDER_TREE, &tree, in, 4, 1, room);
    sw_reduce_many(sum, 8, SW_ORDER_LINE, &line, in, 4, 1, room);
    if (tree != 1 + 0x1p-52 || line != 1)
        fail("1 + 3 * 2^-53: %a by the tree, %a in line", tree, line);
}

static void check_all_many(void)
{
    static const struct {
        sw_op_t op;
        sw_type_t type;
    } some[] = {
        {SW_SUM, SW_DOUBLE},
        {SW_SUM, SW_FLOAT16},
        {SW_MAXLOC, SW_PAIR_SHORT_INT},
        {SW_PROD, SW_COMPLEX_FLOAT},
        {SW_SUM, SW_INT8},
        {SW_MINLOC, SW_PAIR_LONG_DOUBLE_INT},
    };
    for (size_t s = 0; s < sizeof some / sizeof *some; s++) {
        size_t block = 8192 / sw_type_bytes(some[s].type);
        const size_t lengths[] = {
            0, 1, 3, block - 1, block, block + 1, sw_min(2 * block + 5, MOST)};
        for (int count = 1; count <= INPUTS; count++)
            for (size_t k = 0; k < 7; k++)
                check_many(draw() % 4 ? SW_ORDER_TREE : SW_ORDER_LINE,
                           some[s].op, some[s].type, count, lengths[k],
                           (int)(draw() % (uint64_t)(count + 1)) - 1);
        for (int alias = -1; alias < 5; alias++)
            check_many(SW_ORDER_TREE, some[s].op, some[s].type, 5, block + 3,
                       alias);
    }
    check_orders_differ();
}

/* The choice --------------------------------------------------------- */

static void *first_question(void *seen)
{
    *(sw_reduce_func_t *)seen = sw_reduce_kernel(SW_SUM, SW_DOUBLE);
    return NULL;
}

static void check_choice(void)
{
    pthread_t thread[4];
    sw_reduce_func_t seen[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, first_question, &seen[i]))
            fail("no thread");
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++)
        if (!seen[i] || seen[i] != seen[0])
            fail("threads that ask at once get different kernels");
    if (sw_reduce_kernel(SW_OP_COUNT, SW_DOUBLE) ||
        sw_reduce_kernel(SW_SUM, SW_TYPE_COUNT))
        fail("a kernel for what does not exist");
}

int main(void)
{
    check_choice();
    if (THREAD_SANITIZED) /* what follows has one thread */
        return 0;
    for (int i = 0; i < 3; i++)
        area[i] = fenced();
    int kernels = 0;
    for (int isa = 0; isa < SW_ISA_COUNT; isa++) {
        if (!sw_reduce_use_isa((sw_isa_t)isa))
            continue;
        for (int op = 0; op < SW_OP_COUNT; op++)
            for (int type = 0; type < SW_TYPE_COUNT; type++) {
                _Alignas(16) char x[32] = {0}, z[32];
                bool have = sw_reduce_kernel((sw_op_t)op, (sw_type_t)type);
                if (have != refer((sw_op_t)op, (sw_type_t)type, z, x, x))
                    fail("%s %s: kernel or no kernel?", sw_op_name((sw_op_t)op),
                         sw_type_name((sw_type_t)type));
                if (have) {
                    check_kernel((sw_op_t)op, (sw_type_t)type);
                    kernels++;
                }
            }
        check_every_half(SW_FLOAT16, 0x3c00, 0x7c00);
        check_every_half(SW_BFLOAT16, 0x3f80, 0x7f80);
        check_all_many();
        printf("%s: %d kernels\n", sw_isa_name((sw_isa_t)isa), kernels);
        kernels = 0;
    }
    return 0;
}
