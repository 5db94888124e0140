/*
 * computing.h - calls as a program makes them: each after a computation, not
 * right after the one before.
 *
 * A rank writes the data to send, reads the received data and goes through
 * other memory. The library's own lines leave the caches to the same degree.
 * Then all ranks begin at the same moment, which they agreed upon before the
 * computation: a meeting in MPI would bring the library's lines back.
 */
#ifndef SW_BENCH_COMPUTING_H
#define SW_BENCH_COMPUTING_H

#include <stdbool.h>
#include <stddef.h>

/* Allocate the memory to go through, on all ranks; false: no memory. */
bool sw_computing_prepare(size_t bytes);
/* Compute on both buffers, and wait for the moment, which is the result. */
double sw_computing(void *sent, size_t sent_bytes, const void *received,
                    size_t received_bytes);

#endif
