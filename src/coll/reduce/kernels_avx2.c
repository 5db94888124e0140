/*
 * kernels_avx2.c - the kernels for AVX2: x86-64 machines since 2013.
 */
#if defined(__x86_64__)
#define SW_TARGET __attribute__((target("avx2")))
#define SW_TABLE sw_kernels_avx2
#include "kernels.inc"
#endif
