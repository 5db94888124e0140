/*
 * layout.h - where the bytes of a datatype lie.
 *
 * A datatype says which bytes of memory make up its data, and in which order.
 * A layout says so, alike for all constructors that make the same type. It is
 * a tree of
 *
 *   RUN      `unit` contiguous bytes
 *   REPEAT   `count` times its child, `stride` bytes apart
 *   BLOCKS   `count` runs of `unit` bytes, each at an offset of its own
 *   LIST     `count` children, each at an offset of its own
 *
 * in canonical form (build.h): runs that touch are one, an indexed type with
 * equal steps is a REPEAT, equal subtrees are one node. So the tree of a
 * regular type is small, however many blocks it has.
 *
 * A layout is one block of memory without pointers: it may be copied, and read
 * in another process.
 *
 *   +--------+------------------+----------------------------------+
 *   | header | nodes            | words: of BLOCKS the offsets; of |
 *   |        | (children before | LIST offset, data before, child  |
 *   |        |  their parents)  | for each entry                   |
 *   +--------+------------------+----------------------------------+
 */
#ifndef SW_LAYOUT_LAYOUT_H
#define SW_LAYOUT_LAYOUT_H

#include "node/base/base.h"

typedef enum {
    SW_NODE_EMPTY,
    SW_NODE_RUN,
    SW_NODE_REPEAT,
    SW_NODE_BLOCKS,
    SW_NODE_LIST,
} sw_node_kind_t;

typedef struct {
    uint32_t kind;
    uint32_t child; /* REPEAT: a node; BLOCKS, LIST: the first word */
    int64_t count;
    int64_t stride; /* REPEAT: bytes */
    uint64_t unit;  /* bytes of a run; of REPEAT: data of the child */
    uint64_t size;  /* bytes of data in all */
} sw_layout_node_t;

/* Words of an entry of a LIST. */
enum { SW_ENTRY_AT, SW_ENTRY_BEFORE, SW_ENTRY_NODE, SW_ENTRY_WORDS };

typedef struct {
    uint64_t bytes;         /* of the whole block */
    uint64_t serial;        /* of its process; 0: not shared */
    _Atomic uint32_t users; /* in its own process: see share.h */
    _Atomic uint32_t kept;  /* beside it: see share.h */
    uint64_t size;          /* data of an element */
    uint64_t runs;          /* in so many pieces */
    int64_t extent;         /* from an element to the next */
    int64_t at;             /* where the root begins */
    int64_t low, high;      /* the bytes of an element lie in between */
    uint32_t root, nodes;
    uint64_t words;
    sw_layout_node_t node[];
} sw_layout_t;

static inline const int64_t *sw_layout_words(const sw_layout_t *l)
{
    return (const int64_t *)(const void *)(l->node + l->nodes);
}

/* The lowest and the highest of n offsets, n > 0. */
static inline void sw_layout_offsets_span(const int64_t *at, int64_t n,
                                          int64_t *low, int64_t *high)
{
    *low = *high = at[0];
    for (int64_t i = 1; i < n; i++) {
        *low = at[i] < *low ? at[i] : *low;
        *high = at[i] > *high ? at[i] : *high;
    }
}

/* Is an element `size` contiguous bytes from its address on, and the next one
 * behind it? */
static inline bool sw_layout_dense(const sw_layout_t *l)
{
    return l->extent == (int64_t)l->size && l->at == 0 &&
           l->node[l->root].kind == SW_NODE_RUN;
}

/* Where `count` elements at address 0 begin and end. */
static inline void sw_layout_span(const sw_layout_t *l, int64_t count,
                                  int64_t *low, int64_t *high)
{
    int64_t last = (count - 1) * l->extent;
    *low = l->low + (last < 0 ? last : 0);
    *high = l->high + (last > 0 ? last : 0);
}

/* Copy the bytes [from, to) of the data of `count` elements at `base` to `data`
 * (which gets to - from bytes), or back. */
SW_API void sw_layout_pack(const sw_layout_t *l, const void *base,
                           int64_t count, uint64_t from, uint64_t to,
                           void *data);
SW_API void sw_layout_unpack(const sw_layout_t *l, void *base, int64_t count,
                             uint64_t from, uint64_t to, const void *data);

/* Copy the bytes [begin, end) of the data from elements to elements of another
 * layout: in one pass if both are regular (pair.h), else through a small buffer
 * that stays in the cache. */
SW_API void sw_layout_transfer(const sw_layout_t *from, const void *source,
                               int64_t source_count, const sw_layout_t *to,
                               void *target, int64_t target_count,
                               uint64_t begin, uint64_t end);

/* Is a block of `bytes` bytes, from another process, a layout that can be
 * walked? Walks of one that passes touch memory between low and high only. */
SW_API bool sw_layout_valid(const sw_layout_t *l, uint64_t bytes);

#endif
