/*
 * types.h - datatypes to measure.
 */
#ifndef TYPES_H
#define TYPES_H

#include "gpu.h"

#define MIB ((size_t)1 << 20)

typedef struct {
    const char *name;
    sw_shape_t shape;
    int64_t *offset;
    uint64_t *length;
    uint64_t bytes, blocks;
} type_t;

/* `levels` of repetition of a run. */
type_t type_nest(const char *name, uint64_t run, int levels, int64_t count0,
                 int64_t stride0, int64_t count1, int64_t stride1);
/* Runs twice their length apart. */
type_t type_vector(const char *name, uint64_t run, uint64_t bytes);
/* The same as a list, in memory order or mixed, its table at `table`. Unequal
 * runs have from 1 to 2 run / grain - 1 grains. */
type_t type_list(const char *name, uint64_t run, uint64_t grain, bool mixed,
                 bool equal, uint64_t bytes, at_t table);
/* Columns of a matrix of complex numbers, one after another. */
type_t type_transpose(uint64_t bytes);
void type_end(type_t *t);

/* Where block i begins in the type's memory, and its bytes. */
uint64_t type_block(const type_t *t, uint64_t i);
uint64_t type_block_bytes(const type_t *t, uint64_t i);

#endif
