/*
 * bundle.h - blocks of several members, side by side in one buffer, as a gate
 * passes them between its node and a lane.
 */
#ifndef SW_MPI_SPAN_BUNDLE_H
#define SW_MPI_SPAN_BUNDLE_H

#include "gate.h"
#include "mail.h"

/* The parts of all nodes in one buffer, in bytes. */
typedef struct {
    size_t *bytes, *at; /* [nodes] */
    size_t all;
} sw_parts_t;

#define SW_PARTS(name, nodes)              \
    SW_ARRAY(size_t, name##_bytes, nodes); \
    SW_ARRAY(size_t, name##_at, nodes);    \
    sw_parts_t name = {name##_bytes, name##_at, 0}

/* Lays the parts side by side, whose bytes are known. */
static inline void sw_parts_lay(sw_parts_t *p, int nodes)
{
    p->all = 0;
    for (int k = 0; k < nodes; p->all += p->bytes[k++])
        p->at[k] = p->all;
}

/* The blocks of this node's members among those of all. `list` and `data`:
 * [here]. */
sw_blocks_t sw_bundle_near(const sw_span_t *s, const sw_blocks_t *blocks,
                           sw_extent_t *list, sw_data_t *data);

/* Lists blocks of `sizes` (or of `bytes` each, where it is NULL) side by side.
 * Returns the bytes of all. */
size_t sw_bundle_list(int count, const uint64_t *sizes, size_t bytes,
                      sw_extent_t *list);

/* A letter may hold so many bytes of blocks behind its sizes. */
#define SW_BUNDLE_SMALL ((size_t)256 << 10)

/* Copies the blocks for a node's members, side by side, to `to`. Returns their
 * bytes. */
size_t sw_bundle_fill(const sw_span_t *s, int node, const void *send,
                      const sw_blocks_t *blocks, char *to);

/* Puts blocks from a node's members, side by side at `from`, where they belong.
 * `sizes`: of that node's; NULL: `bytes` each. Returns SW_OK or SW_TRUNCATED.
 */
int sw_bundle_place(const sw_span_t *s, int node, const char *from,
                    const uint64_t *sizes, size_t bytes, void *recv,
                    const sw_blocks_t *blocks);

/* Are the blocks of all side by side, by node, as they are? */
static inline bool sw_bundle_is(const sw_span_t *s, const sw_blocks_t *blocks)
{
    return s->ordered && !blocks->list && !blocks->data;
}

#endif
