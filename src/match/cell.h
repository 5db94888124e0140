/*
 * cell.h - a message as it lies in a pipe (pipe.h).
 *
 * A message takes one cell of a cache line, or several in a row. The first one
 * begins with the envelope. The payload follows it without a gap, through the
 * end of the last cell:
 *
 *   offset  bytes  field
 *        0      4  turn      which use of this cell; written last
 *        4      4  size      bytes of payload * SW_CELL_KINDS + kind
 *        8      8  context   the communicator's name (mpi/base/context_id.h)
 *       16      4  source    the sender's rank in that communicator
 *       20      4  tag
 *       24     40  payload   its first bytes
 *       64      .  payload   the rest: whole cells
 *
 * So a message of up to 40 bytes costs the receiver one line of the sender's.
 */
#ifndef SW_MATCH_CELL_H
#define SW_MATCH_CELL_H

#include "node/base/base.h"

enum {
    SW_CELL_DATA,   /* the payload is the message */
    SW_CELL_OFFER,  /* the payload tells where the message lies */
    SW_CELL_PULL,   /* between the rooms above: none of the program's */
    SW_CELL_PIECE,  /* the same */
    SW_CELL_SKIP,   /* the next message is at the ring's beginning */
    SW_CELL_CHAIN,  /* ... in a chunk, whose offset is the payload */
    SW_CELL_RETURN, /* ... in the ring again, behind SW_CELL_CHAIN */
    SW_CELL_KINDS,
};

#define SW_CELL_HEAD 24

typedef struct {
    _Alignas(SW_LINE) _Atomic uint32_t turn;
    uint32_t size;
    uint64_t context;
    int32_t source, tag;
    char payload[SW_LINE - SW_CELL_HEAD];
} sw_cell_t;

_Static_assert(sizeof(sw_cell_t) == SW_LINE &&
                   offsetof(sw_cell_t, payload) == SW_CELL_HEAD,
               "the format is fixed");

static inline uint32_t sw_cell_kind(const sw_cell_t *cell)
{
    return cell->size % SW_CELL_KINDS;
}

static inline uint32_t sw_cell_bytes(const sw_cell_t *cell)
{
    return cell->size / SW_CELL_KINDS;
}

/* So many cells hold a message with this payload. */
static inline uint32_t sw_cell_count(size_t bytes)
{
    return (uint32_t)((bytes + SW_CELL_HEAD + SW_LINE - 1) / SW_LINE);
}

/* Has the sender written it? Then the whole message is there. */
static inline bool sw_cell_is(const sw_cell_t *cell, uint32_t turn)
{
    return atomic_load_explicit(&((sw_cell_t *)(uintptr_t)cell)->turn,
                                memory_order_acquire) == turn;
}

#endif
