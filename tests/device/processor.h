/*
 * processor.h - the kernels of src/device/move.cu and reduce.cu, run by the
 * processor: the threads of a grid are the passes of two loops.
 */
#ifndef PROCESSOR_H
#define PROCESSOR_H

#include <stdint.h>

#include "device/move.h"

/* The compiler need not specialise each kernel. */
#define SW_DEVICE static __attribute__((noinline))
#define SW_KERNEL static void
#define SW_PARAMETER
#define SW_UNROLLED
#ifndef SW_LOAD
#define SW_READ(at) (*(at))
#define SW_LOAD(at) (*(at))
#define SW_STORE(at, unit) (*(at) = (unit))
#endif
#define SW_PRODUCT(a, b) ((long long)(a) * (b))
#define SW_HIGH_32(a, b) ((sw_u32_t)(((sw_u64_t)(a) * (b)) >> 32))
#define SW_HIGH_64(a, b) ((sw_u64_t)(((unsigned __int128)(a) * (b)) >> 64))
#define SW_FUNNEL(low, high, bits) \
    ((sw_u32_t)((((sw_u64_t)(high) << 32) | (low)) >> (bits)))

/* A message's bytes have any type. */
#define SW_ANY __attribute__((may_alias))
typedef uint8_t SW_ANY sw_unit_1_t;
typedef uint16_t SW_ANY sw_unit_2_t;
typedef uint32_t SW_ANY sw_unit_4_t;
typedef unsigned long long SW_ANY sw_unit_8_t;
typedef struct {
    unsigned long long low, high;
} __attribute__((aligned(16))) SW_ANY sw_unit_16_t;

static _Thread_local struct {
    unsigned x;
} threadIdx, blockIdx, gridDim;

#include "device/move.cu"
#include "device/reduce.cu"

typedef void kernel_t(sw_move_t m);

#define KERNEL(width, source, target, unit) \
    sw_move_##width##_##source##_##target##_##unit,
static kernel_t *const processor_kernel[] = {SW_KERNELS(KERNEL)};

/* Launch a kernel, by its number, with a grid of so many blocks. */
static void processor_launch(int kernel, unsigned blocks, const sw_move_t *m)
{
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < SW_THREADS; threadIdx.x++)
            processor_kernel[kernel](*m);
}

typedef void reduce_t(sw_reduce_t r);

#define REDUCE(op, type) sw_reduce_##op##_##type,
static reduce_t *const processor_reduce[] = {SW_REDUCTIONS(REDUCE)};

static void __attribute__((unused)) processor_launch_reduce(
    int kernel, unsigned blocks, const sw_reduce_t *r)
{
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < SW_REDUCE_THREADS; threadIdx.x++)
            processor_reduce[kernel](*r);
}

#endif
