/*
 * plan.h - from two shapes to one launch.
 *
 * A shape says where the bytes of one side of a message lie, in bytes. The plan
 * chooses the unit: the largest power of two, up to 16, that divides all
 * addresses, strides and lengths of both sides. It then brings each side into
 * the form that a kernel takes (move.h), and names that kernel.
 *
 * Where alignments leave a small unit and runs are long, the plan takes a loose
 * kernel: 16 bytes at a time from any alignment.
 *
 * The plan of a message is arithmetic only: it asks no driver, and allocates
 * nothing. The table of a list is made once for each datatype.
 */
#ifndef SW_DEVICE_PLAN_H
#define SW_DEVICE_PLAN_H

#include "node/base/base.h"
#include "move.h"

enum { SW_SHAPE_NEST, SW_SHAPE_LIST, SW_SHAPE_RUNS };

#define SW_SHAPE_LEVELS 4

/* How a list's table lies in memory, and what is true of all its runs. One
 * block holds the offsets, then of RUNS the bytes before each run and the runs
 * by stretch. */
typedef struct {
    uint64_t runs;          /* of an element */
    uint64_t run;           /* bytes, if all are equal; else 0 */
    uint64_t data;          /* bytes of an element's data */
    uint32_t scale;         /* of the entries; it divides all lengths */
    uint32_t shift;         /* a stretch has 2^shift bytes */
    bool wide;              /* entries of 64 bits */
    uint64_t before, first; /* where these begin in the block */
    uint64_t bytes;         /* of the block */
} sw_table_t;

/* Describe the table of `n` runs at `offset`; `length` is NULL if each has
 * `run` bytes. A run has at least one byte. */
SW_API void sw_table_describe(const int64_t *offset, const uint64_t *length,
                              uint64_t run, uint64_t n, bool wide,
                              sw_table_t *t);

/* Write the block of t->bytes bytes for the same runs. */
SW_API void sw_table_write(const sw_table_t *t, const int64_t *offset,
                           const uint64_t *length, void *block);

/* One side of a message. Level 0 is the innermost. The levels of a list are its
 * elements: one level at most. */
typedef struct {
    int kind;
    uint64_t base; /* address that offsets count from */
    uint64_t run;  /* NEST: contiguous bytes */
    int levels;
    struct {
        int64_t count, stride;
    } level[SW_SHAPE_LEVELS];
    sw_table_t table; /* LIST, RUNS */
    uint64_t block;   /* where the device has the table */
} sw_shape_t;

typedef struct {
    sw_move_t move;
    int kernel; /* its place in SW_KERNELS */
    int unit;
    uint64_t tiles; /* blocks, of one tile each, that cover all */
} sw_plan_t;

/* A test may wish for a wide kernel, beside the largest unit. */
enum { SW_WISH_WIDE = 64 };

/* Plan to move `bytes` bytes: the source's from byte `source_skip` of its data
 * on, to the target's from `target_skip` on. `wish` is 0, or a test's wish: the
 * largest unit to take, or SW_LOOSE. `unroll` is how the kernels were compiled.
 * False: a side's table has narrow entries, and the message needs a
 * wide kernel; or a loose kernel was wished for and cannot serve. */
SW_API bool sw_plan(const sw_shape_t *source, uint64_t source_skip,
                    const sw_shape_t *target, uint64_t target_skip,
                    uint64_t bytes, int wish, int unroll, sw_plan_t *plan);

/* The name of a plan's kernel. */
SW_API const char *sw_plan_kernel(const sw_plan_t *plan);

#endif
