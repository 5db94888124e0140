/*
 * reduce.h - what a kernel is told about vectors that it reduces.
 *
 * Each of `sources` vectors has `n` elements. A thread loads element i of all
 * vectors, and combines these in the order of the vectors. The result becomes
 * element i of the target. The host tells how they are associated:
 *
 *   line   one after the other
 *   tree   the first `pairs` pairs become one item each, every other vector is
 *          an item; then neighbouring items are combined, neighbouring results,
 *          and so on. The items are a power of two.
 *
 * The rules for a single operation are those of the processor's kernels
 * (coll/reduce/kernel.h), so both give the same bits. The one exception: which
 * NaN a sum or a product gives is left to the machine.
 *
 * The target may be one of the sources, from the same element on. All vectors
 * are aligned to an element. The host fills this structure, and the launch
 * carries it by value.
 *
 * NVRTC compiles this file too: it includes nothing.
 */
#ifndef SW_DEVICE_REDUCE_H
#define SW_DEVICE_REDUCE_H

#define SW_REDUCE_THREADS 256 /* of a block */
#define SW_REDUCE_UNROLL 4    /* elements that a thread takes at a time */
#define SW_REDUCE_LEVELS 6    /* results of a tree that wait for others */
#define SW_REDUCE_SOURCES 64  /* at most: 2^SW_REDUCE_LEVELS */

typedef struct {
    unsigned long long target; /* addresses */
    unsigned long long n;
    int sources, pairs, line, unused;
    unsigned long long source[SW_REDUCE_SOURCES];
} sw_reduce_t;

/* Every kernel there is: R(operation, type). An operation that does not ask for
 * the sign takes the unsigned type. */
#define SW_REDUCTIONS_OF_BITS(R, type) \
    R(SUM, type)                       \
    R(PROD, type)                      \
    R(LAND, type)                      \
    R(LOR, type)                       \
    R(LXOR, type) R(BAND, type) R(BOR, type) R(BXOR, type)
#define SW_REDUCTIONS_OF_ORDER(R, type) R(MAX, type) R(MIN, type)
#define SW_REDUCTIONS_OF_FLOATS(R, type) \
    R(SUM, type) R(PROD, type) SW_REDUCTIONS_OF_ORDER(R, type)
#define SW_REDUCTIONS(R)              \
    SW_REDUCTIONS_OF_BITS(R, UINT8)   \
    SW_REDUCTIONS_OF_BITS(R, UINT16)  \
    SW_REDUCTIONS_OF_BITS(R, UINT32)  \
    SW_REDUCTIONS_OF_BITS(R, UINT64)  \
    SW_REDUCTIONS_OF_ORDER(R, INT8)   \
    SW_REDUCTIONS_OF_ORDER(R, UINT8)  \
    SW_REDUCTIONS_OF_ORDER(R, INT16)  \
    SW_REDUCTIONS_OF_ORDER(R, UINT16) \
    SW_REDUCTIONS_OF_ORDER(R, INT32)  \
    SW_REDUCTIONS_OF_ORDER(R, UINT32) \
    SW_REDUCTIONS_OF_ORDER(R, INT64)  \
    SW_REDUCTIONS_OF_ORDER(R, UINT64) \
    SW_REDUCTIONS_OF_FLOATS(R, FLOAT) \
    SW_REDUCTIONS_OF_FLOATS(R, DOUBLE)

/* Places in this list. */
enum {
#define SW_PLACE_OF(op, type) SW_REDUCE_##op##_##type,
    SW_REDUCTIONS(SW_PLACE_OF)
#undef SW_PLACE_OF
        SW_REDUCE_COUNT
};

#endif
