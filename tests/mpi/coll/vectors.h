/*
 * vectors.h - the input and the output of collectives whose results are checked
 * element by element.
 */
#ifndef VECTORS_H
#define VECTORS_H

#include "mpi/test.h"

static int n; /* elements of each */
static int64_t *in, *out;

static inline int64_t value(int rank, int64_t i)
{
    return (int64_t)(mix((uint64_t)i * 64 + (uint64_t)rank) >> 8);
}

/* Of the ranks [0, to). */
static inline int64_t sum(int to, int64_t i)
{
    int64_t all = 0;
    for (int k = 0; k < to; k++)
        all += value(k, i);
    return all;
}

static inline void prepare(void)
{
    for (int i = 0; i < n; i++) {
        in[i] = value(world_rank, i);
        out[i] = -1;
    }
}

/* The input, also where the output is to come: what `in` means in place. */
static inline void prepare_in_place(void)
{
    prepare();
    memcpy(out, in, (size_t)n * sizeof *in);
}

static inline void check(const char *what, int64_t i, int64_t want)
{
    CHECK(out[i] == want, "%s: element %lld is %lld instead of %lld", what,
          (long long)i, (long long)out[i], (long long)want);
}

/* Blocks of `each` elements, from each rank in turn. */
static inline void check_blocks(const char *what, int each, int first)
{
    for (int i = 0; i < each * world_size; i++)
        check(what, i, value(i / each, first + i % each));
}

#endif
