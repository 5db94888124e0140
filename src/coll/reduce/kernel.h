/*
 * kernel.h - reduction kernels: to[i] = a[i] op b[i], for every predefined
 * MPI operation and type.
 *
 * A kernel is elementwise: no reassociation, no fused multiply-add, the same
 * IEEE arithmetic in the vector body as in the loop's tail. So the same input
 * gives the same bits on every rank. Vector width, alignment and the cuts
 * between a collective's slices do not matter. In detail:
 *
 *   integers      wrap around
 *   MAX, MIN      a > b ? a : b (a < b ? a : b): where neither is greater, as
 *                 with NaN or with +0 and -0, b is taken
 *   LAND ...      0 or 1 in the type
 *   MAXLOC ...    the greater value; of equal values the pair with the lower
 *                 index; where the values compare neither way (NaN), b
 *   FLOAT16,      computed in float and rounded to nearest even after each
 *   BFLOAT16      operation (a complex product: after each component)
 *   complex PROD  C's: inf and NaN after Annex G
 *
 * Only which of two NaN operands lends its payload to a sum or a product is
 * left to the machine.
 *
 * Operands need no alignment. `to` may be a or b exactly; other overlaps are
 * errors. Padding inside pairs and long doubles may or may not be copied;
 * nothing beyond element n - 1 is touched.
 */
#ifndef SW_COLL_REDUCE_KERNEL_H
#define SW_COLL_REDUCE_KERNEL_H

#include "order.h"

/* MINLOC and MAXLOC work on {value, index}. C's pairs, and Fortran's, whose
 * two members have one type: MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER
 * (INT_INT, or INT64_INT64 where the compiler's INTEGER has 8 bytes). */
typedef struct {
    float value;
    int index;
} sw_pair_float_int_t;
typedef struct {
    double value;
    int index;
} sw_pair_double_int_t;
typedef struct {
    long value;
    int index;
} sw_pair_long_int_t;
typedef struct {
    int value;
    int index;
} sw_pair_int_int_t;
typedef struct {
    short value;
    int index;
} sw_pair_short_int_t;
typedef struct {
    long double value;
    int index;
} sw_pair_long_double_int_t;
typedef struct {
    float value;
    float index;
} sw_pair_float_float_t;
typedef struct {
    double value;
    double index;
} sw_pair_double_double_t;
typedef struct {
    int64_t value;
    int64_t index;
} sw_pair_int64_int64_t;

typedef struct {
    uint16_t re, im;
} sw_complex_float16_t;
/* IEEE quadruple precision, as the bytes that a program's REAL(16) has. */
typedef struct {
    _Alignas(16) unsigned char bytes[16];
} sw_float128_t;

/* X(name, what occupies an element). The value classes that MPI distinguishes:
 * BYTE has bitwise operations alone, C_BOOL and LOGICALk (Fortran's, of k
 * bytes) logical ones alone. MPI_AINT, MPI_COUNT and the like are the integer
 * of their size. */
#define SW_TYPES(X)                                    \
    X(INT8, int8_t)                                    \
    X(UINT8, uint8_t)                                  \
    X(INT16, int16_t)                                  \
    X(UINT16, uint16_t)                                \
    X(INT32, int32_t)                                  \
    X(UINT32, uint32_t)                                \
    X(INT64, int64_t)                                  \
    X(UINT64, uint64_t)                                \
    X(BYTE, uint8_t)                                   \
    X(C_BOOL, uint8_t)                                 \
    X(LOGICAL1, uint8_t)                               \
    X(LOGICAL2, uint16_t)                              \
    X(LOGICAL4, uint32_t)                              \
    X(LOGICAL8, uint64_t)                              \
    X(FLOAT16, uint16_t)                               \
    X(BFLOAT16, uint16_t)                              \
    X(FLOAT, float)                                    \
    X(DOUBLE, double)                                  \
    X(LONG_DOUBLE, long double)                        \
    X(FLOAT128, sw_float128_t)                         \
    X(COMPLEX_FLOAT16, sw_complex_float16_t)           \
    X(COMPLEX_FLOAT, _Complex float)                   \
    X(COMPLEX_DOUBLE, _Complex double)                 \
    X(COMPLEX_LONG_DOUBLE, _Complex long double)       \
    X(PAIR_FLOAT_INT, sw_pair_float_int_t)             \
    X(PAIR_DOUBLE_INT, sw_pair_double_int_t)           \
    X(PAIR_LONG_INT, sw_pair_long_int_t)               \
    X(PAIR_INT_INT, sw_pair_int_int_t)                 \
    X(PAIR_SHORT_INT, sw_pair_short_int_t)             \
    X(PAIR_LONG_DOUBLE_INT, sw_pair_long_double_int_t) \
    X(PAIR_FLOAT_FLOAT, sw_pair_float_float_t)         \
    X(PAIR_DOUBLE_DOUBLE, sw_pair_double_double_t)     \
    X(PAIR_INT64_INT64, sw_pair_int64_int64_t)

#define SW_OPS(X) \
    X(SUM)        \
    X(PROD)       \
    X(MAX)        \
    X(MIN) X(LAND) X(LOR) X(LXOR) X(BAND) X(BOR) X(BXOR) X(MINLOC) X(MAXLOC)

typedef enum {
#define X(name, element) SW_##name,
    SW_TYPES(X)
#undef X
        SW_TYPE_COUNT
} sw_type_t;

typedef enum {
#define X(name) SW_##name,
    SW_OPS(X)
#undef X
        SW_OP_COUNT
} sw_op_t;

/* to[i] = a[i] op b[i] for n elements, in MPI's order: a is the operand of the
 * lower rank. */
typedef void (*sw_reduce_func_t)(void *to, const void *a, const void *b,
                                 size_t n);

/* The kernel for this machine, or NULL where MPI does not define the pair (or
 * this compiler lacks the type): the host then serves, or raises its error. */
SW_API sw_reduce_func_t sw_reduce_kernel(sw_op_t op, sw_type_t type);

/* An element's extent in bytes, padding included. */
SW_API size_t sw_type_bytes(sw_type_t type);
/* "SUM", "FLOAT": for reports and tests. */
SW_API const char *sw_op_name(sw_op_t op);
SW_API const char *sw_type_name(sw_type_t type);

/* to = in[0] op in[1] ... op in[count - 1], combined in this order, for n
 * elements of `elem` bytes (1 to 4096). It goes block by block, and a block's
 * intermediate results stay in the first cache: every input is read once and
 * `to` written once. `to` may be any in[k] exactly. count >= 1. `room` holds
 * the intermediate results, sw_reduce_room(order, count) bytes. */
SW_API void sw_reduce_many(sw_reduce_func_t f, size_t elem, sw_order_t order,
                           void *to, const void *const *in, int count, size_t n,
                           char *room);

/* Of each intermediate result. */
#define SW_REDUCE_BLOCK 4096

static inline size_t sw_reduce_room(sw_order_t order, int count)
{
    return (size_t)sw_order_depth(order, count) * SW_REDUCE_BLOCK;
}

/* The instruction sets that kernels are compiled for, best last. */
typedef enum {
    SW_ISA_BASE, /* what every machine of the architecture has */
    SW_ISA_AVX2,
    SW_ISA_AVX512,
    SW_ISA_COUNT
} sw_isa_t;

/* The one in use: the best that this machine runs well, unless a test has
 * asked for another. */
SW_API sw_isa_t sw_reduce_isa(void);
SW_API const char *sw_isa_name(sw_isa_t isa);
/* For tests: use this one from now on; false where the machine cannot. */
SW_API bool sw_reduce_use_isa(sw_isa_t isa);

#endif
