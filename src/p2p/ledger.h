/*
 * ledger.h - counts that the ranks of a node keep for each other.
 *
 * A channel is what a communicator and a tag hash to. Every process has a
 * ledger in its control segment, in lines of SW_LINE bytes, with two lines for
 * each place on the node:
 *
 *     doorbell                        set by any sender, cleared by the owner
 *     offers [places]                 written by the sender of that place:
 *       | total | channel 0 | .. 14 |   messages offered to the owner
 *     heard  [places]                 written by the owner: messages as long as
 *       | -     | channel 0 | .. 14 |   a descriptor that came from that place
 *
 * The owner counts for itself what it has taken of the offers. Where both
 * counts agree nothing is on offer, so no posted receive can show a
 * descriptor. Where they differ the channel tells which receives may.
 *
 * The sender counts for itself what it has sent of the length of a
 * descriptor. Where its count and `heard` agree, none of these is under way on
 * that channel.
 *
 * While the owner does not look, the sender's line stays in the sender's cache,
 * and the doorbell stays set: an offer costs next to nothing.
 *
 * Memory order. Each word but the doorbell has one writing process. A sender
 * counts its offer (release), then sets the doorbell if it is not; the owner
 * clears the doorbell (acquire), then reads the counts. The sender may see a
 * doorbell that is just being cleared, and its offer be missed. So the owner
 * reads the counts now and then anyway. They decide when a receive is looked
 * at, never what it got.
 */
#ifndef SW_P2P_LEDGER_H
#define SW_P2P_LEDGER_H

#include "node/peer.h"

#define SW_CHANNELS 15

typedef _Atomic uint32_t sw_count_t;

typedef struct {
    _Alignas(SW_LINE) sw_count_t total, channel[SW_CHANNELS];
} sw_counts_t;

/* A sender's lines in another process's ledger. */
typedef struct {
    sw_count_t *doorbell;
    sw_counts_t *offers, *heard;
} sw_row_t;

/* Do several threads of this process count? */
extern SW_API bool sw_ledger_shared;
extern SW_API sw_count_t *sw_ledger_doorbell;
extern SW_API _Atomic bool sw_ledger_stale;

static inline unsigned sw_channel(uint64_t context_id, int tag)
{
    uint64_t x = (context_id ^ (uint32_t)tag) * 0x9e3779b97f4a7c15u;
    return (unsigned)((x >> 32) * SW_CHANNELS >> 32);
}

static inline void sw_count(sw_count_t *at, uint32_t by)
{
    (void)sw_counter_add(at, by, sw_ledger_shared, memory_order_release);
}

/* This process's ledger: its offset in the segment; 0: there is no room. Made
 * once. */
SW_API uint64_t sw_ledger_open(int places);

/* The row of the process at place `me` in a peer's ledger. */
SW_API sw_row_t sw_ledger_row(const sw_peer_t *peer, uint64_t ledger,
                              int places, int me);

/* The sender offers a message (1), or withdraws it (-1). */
static inline void sw_row_offer(const sw_row_t *row, unsigned channel, int by)
{
    sw_count(&row->offers->channel[channel], (uint32_t)by);
    sw_count(&row->offers->total, (uint32_t)by);
    if (!atomic_load_explicit(row->doorbell, memory_order_relaxed))
        atomic_store_explicit(row->doorbell, 1, memory_order_release);
}

/* The owner has taken an offer of the sender at `place`. */
SW_API void sw_ledger_take(int place, unsigned channel);

/* The owner has received a message as long as a descriptor. */
SW_API void sw_ledger_hear(int place, unsigned channel);

/* May anything have been offered or taken since sw_ledger_due? */
static inline bool sw_ledger_rung(void)
{
    return atomic_load_explicit(&sw_ledger_stale, memory_order_relaxed) ||
           atomic_load_explicit(sw_ledger_doorbell, memory_order_relaxed);
}

/* Let it be true. */
static inline void sw_ledger_recount(void)
{
    atomic_store_explicit(&sw_ledger_stale, true, memory_order_relaxed);
}

/* Call `each` for every place that has something on offer, with a bit for each
 * channel. The caller has the lock of its tracks, where it needs one. */
SW_API void sw_ledger_due(void (*each)(int place, unsigned channels));

#endif
