/*
 * kernels_avx512.c - the kernels for AVX-512, with 64-byte vectors.
 */
#if defined(__x86_64__)
#define SW_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define SW_TABLE sw_kernels_avx512
#include "kernels.inc"
#endif
