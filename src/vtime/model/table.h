/*
 * table.h - measured times of a collective, by ranks and bytes.
 *
 * Between two sizes, and between two numbers of ranks, a time lies on the
 * straight line through the two in logarithms of both. That is a power law: a
 * time that is latency stays what it is, one that is bandwidth grows as the
 * bytes do. The time stays between the two. Where one of them is 0, it lies on
 * the line in the logarithm of bytes, or ranks, alone.
 *
 * Outside of what was measured:
 *
 *     fewer bytes   as the smallest size
 *     more bytes    the rate between the two largest sizes goes on; of a
 *                   single size nothing is known but itself
 *     other ranks   as the nearest number, times log2(n) over its logarithm
 *                   for what goes up and down trees (barrier, bcast, reduce,
 *                   allreduce, scans), times n - 1 over its n - 1 for what
 *                   has a block for every member (all others)
 */
#ifndef SW_VTIME_MODEL_TABLE_H
#define SW_VTIME_MODEL_TABLE_H

#include "vtime/ops/op.h"

#include <math.h>

typedef struct {
    uint32_t ranks;
    uint64_t bytes;
    sw_ps_t waiting, leaving;
} sw_table_point_t;

/* Its points, sorted by ranks, then bytes. */
typedef struct {
    sw_table_point_t *points;
    uint32_t count, room;
} sw_model_table_t;

/* Of bytes, as an axis of a table: 0 up to one byte. */
static inline double sw_table_logarithm(uint64_t bytes)
{
    return bytes > 1 ? log2((double)bytes) : 0;
}

/* The same ranks and bytes again: the last counts. ranks >= 2. False: no
 * memory. */
bool sw_table_add(sw_model_table_t *table, const sw_table_point_t *point);
/* The table has a point; n >= 2. `blocks`: for every member one. */
void sw_table_at(const sw_model_table_t *table, bool blocks, uint32_t n,
                 uint64_t bytes, sw_ps_t *waiting, sw_ps_t *leaving);

#endif
