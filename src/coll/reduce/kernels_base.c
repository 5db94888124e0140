/*
 * kernels_base.c - the kernels in the instructions that every machine of the
 * architecture has (SSE2 on x86-64, NEON on aarch64), and all of the types
 * that no vector unit knows.
 */
#define SW_TARGET
#define SW_SCALAR
#define SW_TABLE sw_kernels_base
#include "kernels.inc"
