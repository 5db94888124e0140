/*
 * deal.h - one member, the dealer, offers others a block each. A scatter is
 * one deal. In an alltoall each member deals, to all or to its neighbours.
 *
 * The entry says how. Equal blocks: `bytes` is a block's size, and the payload
 * (inline, staged, or the user's memory as a part) holds them side by side.
 * Copies leave the dealer's own block out, a part does not. Listed blocks: a
 * table of the extents comes first, in the entry if all fits there, else in
 * the staging. The payload follows it if it fits, else is a part. Blocks with
 * gaps are packed into one of these, or the table shows each.
 */
#ifndef SW_COLL_DEAL_H
#define SW_COLL_DEAL_H

#include "coll.h"

typedef struct {
    int n;   /* blocks */
    int own; /* the block that stays with the dealer; -1: none */
    int32_t readers;
    size_t eager;  /* copies up to so many bytes in all */
    const int *to; /* [n] receivers of the blocks, or NULL */
    int me;        /* listed blocks to `me` stay, too */
} sw_hand_t;

/* A block for every member of the team. */
static inline sw_hand_t sw_hand_all(const sw_sequence_t *seq, size_t eager)
{
    return (sw_hand_t){
        .n = seq->n, .own = seq->me, .readers = SW_READ_ALL, .eager = eager};
}

/* Deals. True when it exposed a part: the caller then waits for the readers'
 * done and calls sw_expose_end(x, false). The table of blocks must fit into
 * stage_max. */
bool sw_deal(sw_sequence_t *seq, uint64_t step, uint32_t what,
             const sw_hand_t *hand, const void *send, const sw_blocks_t *blocks,
             sw_exposed_t *x);

/* Waits for a member's deal and describes its block `index`. `own` is the one
 * that stays with that member, or -1. Returns SW_OK or SW_MISMATCH. */
int sw_deal_source(sw_sequence_t *seq, int member, uint64_t step, uint32_t what,
                   int index, int own, sw_source_t *to);

/* Waits for a member's deal and puts the block meant for us to `to`, which
 * holds `room` bytes. */
int sw_receive_deal(sw_sequence_t *seq, int member, uint64_t step,
                    uint32_t what, const sw_data_t *to, size_t room);

#endif
