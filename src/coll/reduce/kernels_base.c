/*
 * kernels_base.c - the kernels in the instructions that every machine of the
 * architecture has: SSE2 on x86-64, NEON on aarch64. Types that no vector unit
 * knows are here alone.
 */
#define SW_TARGET
#define SW_SCALAR
#define SW_TABLE sw_kernels_base
#include "kernels.inc"
