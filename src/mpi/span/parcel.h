/*
 * parcel.h - blocks of several members, side by side in one buffer, as a gate
 * passes them between its node and a lane.
 */
#ifndef SW_MPI_SPAN_PARCEL_H
#define SW_MPI_SPAN_PARCEL_H

#include "gate.h"

/* The host counts in int. A node's part of a buffer begins on a cache line, and
 * the host counts such lines: a type of SW_LINE bytes. */
MPI_Datatype sw_parcel_line(void);

/* The parts of all nodes in one buffer: `count` and `at` in units, as the
 * host's v-procedures take them. */
typedef struct {
    int *count, *at;            /* [nodes]                                  */
    size_t units;               /* of all parts                             */
} sw_parts_t;

#define SW_PARTS(name, nodes)                                           \
    SW_ARRAY(int, name##_count, nodes);                                 \
    SW_ARRAY(int, name##_at, nodes);                                    \
    sw_parts_t name = {name##_count, name##_at, 0}

/* Starts the parts of all nodes at nothing, and adds each node's bytes of
 * `sizes` ([n], by node, then by number; NULL: `bytes` each), in units of
 * `unit`. A skipped node's part (-1: none is) is empty. */
void sw_parts_make(sw_parts_t *p, const sw_span_t *s, const uint64_t *sizes,
                   size_t bytes, size_t unit, int skipped);

/* The blocks of this node's members among those of all. `list` and `data`:
 * [here]. */
sw_blocks_t sw_parcel_near(const sw_span_t *s, const sw_blocks_t *blocks,
                           sw_extent_t *list, sw_data_t *data);

/* Lists blocks of `sizes` (or of `bytes` each, where it is NULL) side by side.
 * Returns the bytes of all. */
size_t sw_parcel_list(int count, const uint64_t *sizes, size_t bytes,
                      sw_extent_t *list);

/* Copies the blocks for a node's members, side by side, to `to`. Returns their
 * bytes. */
size_t sw_parcel_fill(const sw_span_t *s, int node, const void *send,
                      const sw_blocks_t *blocks, char *to);

/* Puts blocks from a node's members, side by side at `from`, where they belong.
 * `sizes`: of that node's; NULL: `bytes` each. Returns SW_OK or SW_TRUNCATED.
 */
int sw_parcel_place(const sw_span_t *s, int node, const char *from,
                    const uint64_t *sizes, size_t bytes, void *recv,
                    const sw_blocks_t *blocks);

/* Are the blocks of all side by side, by node, as they are? */
static inline bool sw_parcel_is(const sw_span_t *s, const sw_blocks_t *blocks)
{
    return s->ordered && !blocks->list && !blocks->data;
}

#endif
