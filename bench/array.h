/*
 * array.h - an array of words with margins, for a benchmark's messages.
 *
 * The processor fills and checks an array where it is seen. In the memory of a
 * GPU the array has a copy for that, which goes there and back.
 */
#ifndef SW_BENCH_ARRAY_H
#define SW_BENCH_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t *at;   /* what MPI gets */
    uint32_t *seen; /* the same, or the copy */
    size_t bytes;   /* without the margins (places.h) */
} sw_array_t;

/* Zeros. False: no memory. */
bool sw_array_make(sw_array_t *a, size_t bytes, bool in_gpu);
void sw_array_drop(sw_array_t *a);

/* What is seen becomes what MPI gets, and the other way round. */
void sw_array_push(const sw_array_t *a);
void sw_array_pull(const sw_array_t *a);

#endif
