/*
 * heap.h - what heap.c and heap_mpi.c share.
 */
#ifndef SW_BENCH_HEAP_H
#define SW_BENCH_HEAP_H

#include <stddef.h>

#define HEAP_MIB ((size_t)1 << 20)
#define HEAP_REFUSED 3 /* exit status: the system does not allow this */

/* Seconds, of a clock that only goes on. */
double heap_now(void);

/* `mib` MiB times the scale, in whole pages, at least one. */
size_t heap_bytes(size_t mib, double scale);

/* A block from malloc; without memory the program ends. */
void *heap_block(size_t size);

void heap_touch(volatile char *p, size_t size);

/* The figure of a program of heap.c; -1: unknown name. */
double heap_run(const char *what, double scale);

#endif
