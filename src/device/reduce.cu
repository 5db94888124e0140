/*
 * reduce.cu - the kernels that reduce vectors; see reduce.h.
 *
 * The same three compilers take it as move.cu: nvcc, NVRTC, and a C compiler
 * for the processor after a header that makes threads of loops.
 *
 * A block takes a tile of threads x SW_REDUCE_UNROLL elements, then the tile
 * that lies a grid further. Neighbouring threads take neighbouring elements. A
 * thread starts the loads of several elements before it uses one. It alone
 * touches its elements, and stores each after all its loads.
 *
 * A tree is the work of a counter in binary: bit l of an item's number says
 * whether a result of 2^l items waits at level l. The levels are unrolled, so
 * that what waits stays in registers.
 *
 * No kernel both multiplies and adds, so nothing can be fused.
 */
#include "reduce.h"

#ifdef __CUDACC__
#define SW_KERNEL \
    extern "C" __global__ void __launch_bounds__(SW_REDUCE_THREADS)
#define SW_PARAMETER __grid_constant__
#define SW_UNROLLED _Pragma("unroll")
#define SW_ANY
#endif
#ifndef SW_LOAD
#define SW_LOAD(at) (*(at))
#define SW_STORE(at, unit) (*(at) = (unit))
#endif

/* An element, and what it is computed in: unsigned integers wrap around. */
typedef signed char SW_ANY sw_element_INT8;
typedef unsigned char SW_ANY sw_element_UINT8;
typedef short SW_ANY sw_element_INT16;
typedef unsigned short SW_ANY sw_element_UINT16;
typedef int SW_ANY sw_element_INT32;
typedef unsigned int SW_ANY sw_element_UINT32;
typedef long long SW_ANY sw_element_INT64;
typedef unsigned long long SW_ANY sw_element_UINT64;
typedef float SW_ANY sw_element_FLOAT;
typedef double SW_ANY sw_element_DOUBLE;
typedef unsigned int sw_wide_UINT8;
typedef unsigned int sw_wide_UINT16;
typedef unsigned int sw_wide_UINT32;
typedef unsigned long long sw_wide_UINT64;
typedef float sw_wide_FLOAT;
typedef double sw_wide_DOUBLE;

/* Where neither is greater, as with NaN or with +0 and -0, y is taken. */
#define SW_OF_SUM(type, x, y) ((sw_wide_##type)(x) + (sw_wide_##type)(y))
#define SW_OF_PROD(type, x, y) ((sw_wide_##type)(x) * (sw_wide_##type)(y))
#define SW_OF_MAX(type, x, y) ((x) > (y) ? (x) : (y))
#define SW_OF_MIN(type, x, y) ((x) < (y) ? (x) : (y))
#define SW_OF_LAND(type, x, y) (((x) != 0) & ((y) != 0))
#define SW_OF_LOR(type, x, y) (((x) != 0) | ((y) != 0))
#define SW_OF_LXOR(type, x, y) (((x) != 0) ^ ((y) != 0))
#define SW_OF_BAND(type, x, y) ((x) & (y))
#define SW_OF_BOR(type, x, y) ((x) | (y))
#define SW_OF_BXOR(type, x, y) ((x) ^ (y))

/* y[k] = x[k] op y[k] */
#define SW_COMBINED(op, type, x, y)            \
    SW_UNROLLED                                \
    for (int k = 0; k < SW_REDUCE_UNROLL; k++) \
    y[k] = (sw_element_##type)SW_OF_##op(type, x[k], y[k])

#define SW_TAKEN(to, from)                     \
    SW_UNROLLED                                \
    for (int k = 0; k < SW_REDUCE_UNROLL; k++) \
    to[k] = from[k]

/* Elements i, i + SW_REDUCE_THREADS, ... of the next source. */
#define SW_LOADED(type, to)                                                 \
    SW_UNROLLED                                                             \
    for (int k = 0; k < SW_REDUCE_UNROLL; k++) {                            \
        const unsigned long long j = i + (unsigned long long)k *            \
                                             SW_REDUCE_THREADS;             \
        to[k] = 0;                                                          \
        if (j < r.n)                                                        \
            to[k] = SW_LOAD((const sw_element_##type *)r.source[next] + j); \
    }                                                                       \
    next++

/* A result of 2^level items waits until the next one is there. */
#define SW_ADDED(op, type, item)                           \
    int waits = 0;                                         \
    SW_UNROLLED                                            \
    for (int level = 0; level < SW_REDUCE_LEVELS; level++) \
        if (!waits && (item >> level & 1)) {               \
            SW_COMBINED(op, type, kept[level], v);         \
        } else if (!waits) {                               \
            SW_TAKEN(kept[level], v);                      \
            waits = 1;                                     \
        }

#define SW_REDUCE(op, type)                                                   \
    SW_KERNEL sw_reduce_##op##_##type(const SW_PARAMETER sw_reduce_t r)       \
    {                                                                         \
        const unsigned long long tile = SW_REDUCE_THREADS * SW_REDUCE_UNROLL; \
        sw_element_##type kept[SW_REDUCE_LEVELS][SW_REDUCE_UNROLL] = {{0}};   \
        sw_element_##type v[SW_REDUCE_UNROLL] = {0}, w[SW_REDUCE_UNROLL];     \
        for (unsigned long long i = blockIdx.x * tile + threadIdx.x; i < r.n; \
             i += gridDim.x * tile) {                                         \
            int next = 0;                                                     \
            for (int item = 0; next < r.sources; item++) {                    \
                SW_LOADED(type, v);                                           \
                if (item < r.pairs) {                                         \
                    SW_TAKEN(w, v);                                           \
                    SW_LOADED(type, v);                                       \
                    SW_COMBINED(op, type, w, v);                              \
                }                                                             \
                if (r.line) {                                                 \
                    if (item > 0) {                                           \
                        SW_COMBINED(op, type, kept[0], v);                    \
                    }                                                         \
                    SW_TAKEN(kept[0], v);                                     \
                } else {                                                      \
                    SW_ADDED(op, type, item)                                  \
                }                                                             \
            }                                                                 \
            SW_UNROLLED                                                       \
            for (int k = 0; k < SW_REDUCE_UNROLL; k++) {                      \
                const unsigned long long j = i + (unsigned long long)k *      \
                                                     SW_REDUCE_THREADS;       \
                if (j < r.n)                                                  \
                    SW_STORE((sw_element_##type *)r.target + j, v[k]);        \
            }                                                                 \
        }                                                                     \
    }

/* A program that needs one kernel defines SW_REDUCES as that one. */
#ifndef SW_REDUCES
#define SW_REDUCES SW_REDUCTIONS(SW_REDUCE)
#endif
SW_REDUCES
