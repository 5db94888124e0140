/*
 * deal.h - one member offers every other member a block of its own: a scatter
 * from its side. An alltoall is everybody dealing at once.
 *
 * The entry says how. Equal blocks: `bytes` is a block's size, and the payload
 * (inline, staged, or the user's memory as a part) holds them side by side;
 * copies leave the dealer's own block out, a part does not. Listed blocks: a
 * table of n extents comes first, in the entry if all fits there, else in the
 * staging ring; the payload follows it if it fits, else is a part.
 */
#ifndef SW_DEAL_H
#define SW_DEAL_H

#include "coll.h"

/* Deal, with copies up to `eager` bytes in all; true when a part was exposed:
 * then wait for the readers' done and sw_unexpose(x, false). */
bool sw_deal(sw_group_t *g, uint64_t step, uint32_t what, size_t eager,
             const void *send, const sw_blocks_t *blocks, sw_exposed_t *x);

/* Wait for a member's deal and copy the block meant for us to `to`, which
 * holds `room` bytes. */
int sw_receive_deal(sw_group_t *g, int member, uint64_t step, uint32_t what,
                    void *to, size_t room);

#endif
