/*
 * deal.h - one member offers others a block each: a scatter from its side. An
 * alltoall is everybody dealing at once, to all or to neighbours.
 *
 * The entry says how. Equal blocks: `bytes` is a block's size, and the payload
 * (inline, staged, or the user's memory as a part) holds them side by side;
 * copies leave the dealer's own block out, a part does not. Listed blocks: a
 * table of the extents comes first, in the entry if all fits there, else in
 * the staging ring; the payload follows it if it fits, else is a part. Blocks
 * with gaps are packed into one of these, or the table shows each.
 */
#ifndef SW_COLL_DEAL_H
#define SW_COLL_DEAL_H

#include "coll.h"

typedef struct {
    int n;              /* blocks                                          */
    int own;            /* the block that stays with the dealer; -1: none  */
    int32_t readers;
    size_t eager;       /* copies up to so many bytes in all               */
    const int *to;      /* [n], or NULL: whose the blocks are. Listed ones */
    int me;             /* ... that are `me`'s stay, too                   */
} sw_hand_t;

/* A block for every member of the group. */
static inline sw_hand_t sw_hand_all(const sw_group_t *g, size_t eager)
{
    return (sw_hand_t){.n = g->n, .own = g->me, .readers = SW_READ_ALL,
                       .eager = eager};
}

/* Deal; true when a part was exposed: then wait for the readers' done and
 * sw_unexpose(x, false). The table of blocks must fit into stage_max. */
bool sw_deal(sw_group_t *g, uint64_t step, uint32_t what,
             const sw_hand_t *hand, const void *send,
             const sw_blocks_t *blocks, sw_exposed_t *x);

/* Wait for a member's deal: block `index` of it; `own` is the one that stays
 * with that member, or -1. Returns SW_OK or SW_MISMATCH. */
int sw_deal_source(sw_group_t *g, int member, uint64_t step, uint32_t what,
                   int index, int own, sw_source_t *to);

/* Wait for a member's deal and put the block meant for us to `to`, which holds
 * `room` bytes. */
int sw_receive_deal(sw_group_t *g, int member, uint64_t step, uint32_t what,
                    const sw_data_t *to, size_t room);

#endif
