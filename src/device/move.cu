/*
 * move.cu - the kernels that move datatypes; see move.h.
 *
 * Three compilers take this one source: nvcc, NVRTC, and a C compiler for the
 * processor after a header that makes threads of loops. So it is C, includes
 * nothing but move.h, and has macros where CUDA would have templates.
 *
 * A block takes a tile of SW_THREADS x SW_UNROLL units, then the tile that lies
 * a grid further. Neighbouring threads move neighbouring units. A thread
 * computes all its addresses and starts all its loads before its first store,
 * so that several loads are in flight.
 *
 * Shape, unit and width are constants of each kernel: the compiler drops the
 * branches on them.
 */
#include "move.h"

#ifdef __CUDACC__
/* One kernel alone leaves most functions without a caller. */
#pragma nv_diag_suppress 177
#define SW_DEVICE static __device__ __forceinline__
#define SW_KERNEL extern "C" __global__ void __launch_bounds__(SW_THREADS)
#define SW_PARAMETER __grid_constant__
#define SW_UNROLLED _Pragma("unroll")
#define SW_READ(at) __ldg(at)
#ifndef SW_LOAD
#define SW_LOAD(at) __ldca(at)
#define SW_STORE(at, unit) __stwb(at, unit)
#endif
#define SW_PRODUCT(a, b) sw_product(a, b)
#define SW_HIGH_32(a, b) __umulhi(a, b)
#define SW_HIGH_64(a, b) __umul64hi(a, b)
#define SW_FUNNEL(low, high, bits) __funnelshift_r(low, high, bits)
typedef unsigned char sw_unit_1_t;
typedef unsigned short sw_unit_2_t;
typedef unsigned int sw_unit_4_t;
typedef unsigned long long sw_unit_8_t;
typedef uint4 sw_unit_16_t;

/* One instruction, where the compiler would make four of a product in C. */
SW_DEVICE long long sw_product(int a, int b)
{
    long long product;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
}
#endif

#ifndef SW_UNROLL
#define SW_UNROLL 4
#endif

typedef unsigned int sw_u32_t;
typedef unsigned long long sw_u64_t;

/* n / d, from the multiplier of d > 1. Narrow: n < 2^31. Wide: n < 2^63. */
SW_DEVICE sw_u64_t sw_quotient_wide(sw_u64_t n, const sw_level_t *d)
{
    return SW_HIGH_64(n, d->multiplier) >> d->shift;
}

SW_DEVICE sw_u32_t sw_quotient_narrow(sw_u32_t n, const sw_level_t *d)
{
    return SW_HIGH_32(n, (sw_u32_t)d->multiplier) >> d->shift;
}

/* A count times a stride. */
SW_DEVICE long long sw_times_wide(sw_u64_t n, long long stride)
{
    return (long long)n * stride;
}

SW_DEVICE long long sw_times_narrow(sw_u32_t n, long long stride)
{
    return SW_PRODUCT((int)n, (int)stride);
}

/* The address of a unit, and how many bytes of its run begin there (only a
 * loose kernel asks). */
#define SW_PLACE(width, index_t, offset_t, before_t)                           \
    SW_DEVICE sw_u64_t sw_place_##width(const sw_side_t *s, int shape,         \
                                        int unit, index_t i, sw_u64_t *left)   \
    {                                                                          \
        sw_u64_t at = s->base;                                                 \
        const sw_level_t *level = s->level;                                    \
        i += (index_t)s->skip;                                                 \
        *left = SW_LOOSE;                                                      \
        if (shape == SW_PLANE || shape == SW_BOX) {                            \
            SW_UNROLLED                                                        \
            for (int d = 0; d < (shape == SW_PLANE ? 1 : SW_LEVELS); d++)      \
                if (shape == SW_PLANE || d < (int)s->divided) {                \
                    index_t q = sw_quotient_##width(i, &level[d]);             \
                    index_t r = i - q * (index_t)level[d].count;               \
                    at += (sw_u64_t)sw_times_##width(r, level[d].stride);      \
                    if (d == 0)                                                \
                        *left = level[0].count - r;                            \
                    i = q;                                                     \
                }                                                              \
        } else if (shape == SW_LIST) {                                         \
            index_t j = i, r = 0;                                              \
            if (level[0].count > 1) {                                          \
                j = sw_quotient_##width(i, &level[0]);                         \
                r = i - j * (index_t)level[0].count;                           \
            }                                                                  \
            *left = level[0].count - r;                                        \
            i = 0;                                                             \
            if (s->divided > 1) {                                              \
                i = level[1].count > 1 ? sw_quotient_##width(j, &level[1])     \
                                       : j;                                    \
                j -= i * (index_t)level[1].count;                              \
            }                                                                  \
            at += (sw_u64_t)sw_times_##width(                                  \
                      (index_t)SW_READ((const offset_t *)s->at + j),           \
                      s->scale) +                                              \
                  (sw_u64_t)r * unit;                                          \
        } else if (shape == SW_RUNS) {                                         \
            index_t e = 0;                                                     \
            if (s->divided > 0) {                                              \
                e = level[0].count > 1 ? sw_quotient_##width(i, &level[0])     \
                                       : i;                                    \
                i -= e * (index_t)level[0].count;                              \
            }                                                                  \
            const before_t *before = (const before_t *)s->before;              \
            const sw_u32_t *first = (const sw_u32_t *)s->first;                \
            sw_u64_t byte = (sw_u64_t)i * unit;                                \
            sw_u64_t stretch = byte >> s->shift;                               \
            sw_u32_t low = SW_READ(first + stretch);                           \
            sw_u32_t high = SW_READ(first + stretch + 1);                      \
            while (low < high) {                                               \
                sw_u32_t middle = low + (high - low + 1) / 2;                  \
                if ((sw_u64_t)SW_READ(before + middle) * s->scale <= byte)     \
                    low = middle;                                              \
                else                                                           \
                    high = middle - 1;                                         \
            }                                                                  \
            at += (sw_u64_t)sw_times_##width(                                  \
                      (index_t)SW_READ((const offset_t *)s->at + low),         \
                      s->scale) +                                              \
                  byte - (sw_u64_t)SW_READ(before + low) * s->scale;           \
            if (unit == 1)                                                     \
                *left = (sw_u64_t)SW_READ(before + low + 1) * s->scale - byte; \
            i = e;                                                             \
        }                                                                      \
        return at + (sw_u64_t)sw_times_##width(i, s->stride);                  \
    }

SW_PLACE(narrow, sw_u32_t, int, sw_u32_t)
SW_PLACE(wide, sw_u64_t, long long, sw_u64_t)

/* Tiles of units. What a tile has beyond the message is its last unit again: no
 * load or store needs a branch, and equal stores do not harm. */
#define SW_TILES(width, index_t, bytes)                                       \
    SW_DEVICE void sw_tiles_##width##_##bytes(const sw_move_t *m, int source, \
                                              int target)                     \
    {                                                                         \
        const index_t units = (index_t)m->units,                              \
                      tile = SW_THREADS * SW_UNROLL;                          \
        sw_u64_t left;                                                        \
        for (index_t i = (index_t)blockIdx.x * tile + threadIdx.x; i < units; \
             i += (index_t)gridDim.x * tile) {                                \
            sw_unit_##bytes##_t unit[SW_UNROLL];                              \
            SW_UNROLLED                                                       \
            for (int k = 0; k < SW_UNROLL; k++) {                             \
                index_t j = i + (index_t)k * SW_THREADS;                      \
                j = j < units ? j : units - 1;                                \
                unit[k] = SW_LOAD(                                            \
                    (const sw_unit_##bytes##_t *)sw_place_##width(            \
                        &m->source, source, bytes, j, &left));                \
            }                                                                 \
            SW_UNROLLED                                                       \
            for (int k = 0; k < SW_UNROLL; k++) {                             \
                index_t j = i + (index_t)k * SW_THREADS;                      \
                j = j < units ? j : units - 1;                                \
                SW_STORE((sw_unit_##bytes##_t *)sw_place_##width(             \
                             &m->target, target, bytes, j, &left),            \
                         unit[k]);                                            \
            }                                                                 \
        }                                                                     \
    }

SW_TILES(narrow, sw_u32_t, 1)
SW_TILES(narrow, sw_u32_t, 2)
SW_TILES(narrow, sw_u32_t, 4)
SW_TILES(narrow, sw_u32_t, 8)
SW_TILES(narrow, sw_u32_t, 16)
SW_TILES(wide, sw_u64_t, 1)
SW_TILES(wide, sw_u64_t, 2)
SW_TILES(wide, sw_u64_t, 4)
SW_TILES(wide, sw_u64_t, 8)
SW_TILES(wide, sw_u64_t, 16)

/* 16 bytes between any two alignments. The target's words decide: up to three
 * bytes before them, three or four words, and the bytes that remain. A word is
 * put together from the two aligned words of the source in which it lies. Every
 * load holds a byte of the run, so none leaves the allocation's last word. */
SW_DEVICE void sw_sixteen(sw_u64_t from, sw_u64_t to)
{
    const sw_u32_t head = (sw_u32_t)(0 - to) & 3;
    const sw_u32_t turn = (sw_u32_t)((from + head) & 3) * 8;
    const sw_unit_4_t *w = (const sw_unit_4_t *)((from + head) & ~(sw_u64_t)3);
    const sw_unit_1_t *byte = (const sw_unit_1_t *)from;
    sw_unit_1_t edge[4] = {0, 0, 0, 0};
    sw_u32_t word[5] = {SW_LOAD(w), SW_LOAD(w + 1), SW_LOAD(w + 2), 0, 0};
    if (!head || turn)
        word[3] = SW_LOAD(w + 3);
    if (!head && turn)
        word[4] = SW_LOAD(w + 4);
    if (head) {
        SW_UNROLLED
        for (sw_u32_t k = 0; k < 4; k++)
            edge[k] = SW_LOAD(byte + (k < head ? k : k + 12));
    }
    sw_unit_4_t *whole = (sw_unit_4_t *)(to + head);
    SW_UNROLLED
    for (int k = 0; k < 3; k++)
        SW_STORE(whole + k, SW_FUNNEL(word[k], word[k + 1], turn));
    if (!head) {
        SW_STORE(whole + 3, SW_FUNNEL(word[3], word[4], turn));
    } else {
        SW_UNROLLED
        for (sw_u32_t k = 0; k < 4; k++)
            SW_STORE((sw_unit_1_t *)to + (k < head ? k : k + 12), edge[k]);
    }
}

/* Tiles of 16 bytes of the message each, whatever runs they lie in. */
#define SW_TILES_LOOSE(width, index_t)                                    \
    SW_DEVICE void sw_tiles_##width##_32(const sw_move_t *m, int source,  \
                                         int target)                      \
    {                                                                     \
        const index_t bytes = (index_t)m->units;                          \
        const index_t pieces = bytes / 16 + (bytes % 16 != 0);            \
        for (index_t p = (index_t)blockIdx.x * SW_THREADS + threadIdx.x;  \
             p < pieces; p += (index_t)gridDim.x * SW_THREADS) {          \
            index_t i = p * 16;                                           \
            sw_u64_t n = bytes - i < 16 ? bytes - i : 16;                 \
            while (n) {                                                   \
                sw_u64_t left, right, from, to, k = n;                    \
                from = sw_place_##width(&m->source, source, 1, i, &left); \
                to = sw_place_##width(&m->target, target, 1, i, &right);  \
                k = k < left ? k : left;                                  \
                k = k < right ? k : right;                                \
                if (k == 16)                                              \
                    sw_sixteen(from, to);                                 \
                else                                                      \
                    for (sw_u64_t b = 0; b < k; b++)                      \
                        SW_STORE((sw_unit_1_t *)to + b,                   \
                                 SW_LOAD((const sw_unit_1_t *)from + b)); \
                i += (index_t)k;                                          \
                n -= k;                                                   \
            }                                                             \
        }                                                                 \
    }

SW_TILES_LOOSE(narrow, sw_u32_t)
SW_TILES_LOOSE(wide, sw_u64_t)

#define SW_MOVE(width, source, target, unit)                     \
    SW_KERNEL sw_move_##width##_##source##_##target##_##unit(    \
        const SW_PARAMETER sw_move_t m)                          \
    {                                                            \
        sw_tiles_##width##_##unit(&m, SW_##source, SW_##target); \
    }

/* A program that needs one kernel defines SW_MOVES as that one. */
#ifndef SW_MOVES
#define SW_MOVES SW_KERNELS(SW_MOVE)
#endif
SW_MOVES
