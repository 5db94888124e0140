/*
 * arithmetic.h - computing of a known length.
 *
 * The length is a count of turns of a loop in registers. The loop reads no
 * clock, makes no system call and touches no memory: it leaves the core and
 * the caches to whatever works beside it.
 */
#ifndef SW_BENCH_ARITHMETIC_H
#define SW_BENCH_ARITHMETIC_H

#include <stddef.h>

/* Measure a turn, on all ranks at once: cores that work together may be
 * slower than one alone. */
void sw_arithmetic_prepare(void);

/* The turns that take so long when nothing disturbs them. */
size_t sw_arithmetic_turns(double seconds);

void sw_arithmetic_do(size_t turns);

#endif
