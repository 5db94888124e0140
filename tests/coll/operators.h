/*
 * operators.h - operations to reduce with, and what their results must be.
 *
 * Each has exact arithmetic, so that the result depends on the operands' order
 * alone, and not on their grouping. Sums of doubles are the exception. Up to
 * SW_FLAT members they have the bits of recursive doubling, and scans those of
 * adding one after the other. Beyond, all members have the same bits.
 */
#ifndef SW_TEST_COLL_OPERATORS_H
#define SW_TEST_COLL_OPERATORS_H

#include "members.h"

typedef struct {
    const char *name;
    sw_reducer_t r;
    bool exact;
} operator_t;

/* x -> a x + b, composed: associative, not commutative. */
typedef struct {
    uint32_t a, b;
} affine_t;

static void compose(const sw_reducer_t *r, const void *in, void *inout,
                    size_t n)
{
    const affine_t *f = in;
    affine_t *g = inout;
    for (size_t i = 0; i < n; i++)
        g[i] = (affine_t){f[i].a * g[i].a, f[i].b * g[i].a + g[i].b};
}

/* 2 by 2 matrices modulo 2^32. */
typedef struct {
    uint32_t x[4];
} matrix_t;

static void multiply(const sw_reducer_t *r, const void *in, void *inout,
                     size_t n)
{
    const matrix_t *a = in;
    matrix_t *b = inout;
    for (size_t i = 0; i < n; i++) {
        const uint32_t *p = a[i].x, *q = b[i].x;
        b[i] = (matrix_t){{p[0] * q[0] + p[1] * q[2], p[0] * q[1] + p[1] * q[3],
                           p[2] * q[0] + p[3] * q[2],
                           p[2] * q[1] + p[3] * q[3]}};
    }
}

/* Bytes added, in elements of an odd size; and of one bigger than a block. */
static void add_bytes(const sw_reducer_t *r, const void *in, void *inout,
                      size_t n)
{
    const uint8_t *a = in;
    uint8_t *b = inout;
    for (size_t i = 0; i < n * r->elem; i++)
        b[i] = (uint8_t)(b[i] + a[i]);
}

#define OPERATORS 6

static inline operator_t operator_of(int which)
{
    switch (which) {
    case 0:
        return (operator_t){"SUM of int64",
                            {8, true, sw_reduce_kernel(SW_SUM, SW_INT64), NULL},
                            true};
    case 1:
        return (operator_t){
            "SUM of double",
            {8, true, sw_reduce_kernel(SW_SUM, SW_DOUBLE), NULL},
            false};
    case 2: return (operator_t){"affine maps", {8, false, NULL, compose}, true};
    case 3: return (operator_t){"matrices", {16, false, NULL, multiply}, true};
    case 4: return (operator_t){"7 bytes", {7, true, NULL, add_bytes}, true};
    default:
        return (operator_t){
            "20000 bytes", {20000, true, NULL, add_bytes}, true};
    }
}

/* A member's operand. Doubles get a value whose sums round. */
static inline void operand(const operator_t *o, void *to, size_t n,
                           uint64_t key)
{
    fill(to, n * o->r.elem, key);
    if (o->exact)
        return;
    for (size_t i = 0; i < n; i++) {
        double x = (double)(int32_t)(mix(key + i) >> 16) / 3.0;
        memcpy((char *)to + 8 * i, &x, 8);
    }
}

/* left = left op right, on buffers that are aligned. */
static inline void combine(const operator_t *o, void *left, const void *right,
                           void *spare, size_t n)
{
    if (o->r.kernel) {
        o->r.kernel(left, left, right, n);
        return;
    }
    memcpy(spare, right, n * o->r.elem);
    o->r.user(&o->r, left, spare, n);
    memcpy(left, spare, n * o->r.elem);
}

/* The result of members first..last's operands, one after the other,
 * malloced. */
static inline char *in_line(const operator_t *o, uint64_t round, int first,
                            int last, size_t n)
{
    size_t bytes = n * o->r.elem + 1;
    char *left = malloc(bytes), *right = malloc(bytes);
    char *spare = malloc(bytes);
    if (!left || !right || !spare)
        abort();
    operand(o, left, n, key_of(round, first, 0));
    for (int i = first + 1; i <= last; i++) {
        operand(o, right, n, key_of(round, i, 0));
        combine(o, left, right, spare, n);
    }
    free(right);
    free(spare);
    return left;
}

/* The same of `items` items of recursive doubling, of which the first are
 * pairs of members. */
static inline char *doubled(const operator_t *o, uint64_t round, int pairs,
                            int first, int items, size_t n)
{
    if (items == 1)
        return first < pairs
                   ? in_line(o, round, 2 * first, 2 * first + 1, n)
                   : in_line(o, round, first + pairs, first + pairs, n);
    char *left = doubled(o, round, pairs, first, items / 2, n);
    char *right = doubled(o, round, pairs, first + items / 2, items / 2, n);
    char *spare = malloc(n * o->r.elem + 1);
    if (!spare)
        abort();
    combine(o, left, right, spare, n);
    free(right);
    free(spare);
    return left;
}

/* The result of all `members` operands. */
static inline char *in_tree(const operator_t *o, uint64_t round, int members,
                            size_t n)
{
    int items = 1;
    while (2 * items <= members)
        items *= 2;
    return doubled(o, round, members - items, 0, items, n);
}

/* Is `got` the expected result? `near`: other groupings of the operands may do,
 * and the caller compares the members' bits. */
static inline bool right_result(const operator_t *o, const char *got,
                                const char *want, size_t n, bool near)
{
    if (o->exact || !near)
        return memcmp(got, want, n * o->r.elem) == 0;
    for (size_t i = 0; i < n; i++) {
        double a, b;
        memcpy(&a, got + 8 * i, 8);
        memcpy(&b, want + 8 * i, 8);
        double off = a > b ? a - b : b - a;
        if (!(off <= 1e-3)) /* operands are below 2^31, 53 bits */
            return false;
    }
    return true;
}

#endif
