/*
 * peers.h - how many messages and bytes went to and came from each rank.
 */
#ifndef SW_PROFILE_RECORD_PEERS_H
#define SW_PROFILE_RECORD_PEERS_H

#include "record.h"

typedef enum {
    SW_PEERS_MESSAGES,
    SW_PEERS_ONE_SIDED,
    SW_PEERS_COLLECTIVES, /* those with blocks of different sizes */
    SW_PEERS_KINDS
} sw_peers_kind_t;

typedef struct {
    _Atomic uint64_t sent_messages, sent_bytes, received_messages,
        received_bytes;
} sw_peer_sum_t;

typedef struct {
    sw_peer_sum_t *of[SW_PEERS_KINDS]; /* [ranks], made at need */
} sw_peers_t;

/* How many ranks there are; before the first sum. */
SW_API extern uint32_t sw_peers_ranks;

/* The sums of one peer, a rank in MPI_COMM_WORLD; NULL: there is none. */
SW_API sw_peer_sum_t *sw_peers_make(sw_peers_t *peers, sw_peers_kind_t kind,
                                    int64_t peer);

static inline sw_peer_sum_t *sw_peers_of(sw_peers_t *peers,
                                         sw_peers_kind_t kind, int64_t peer)
{
    if (sw_likely(peers->of[kind] && peer >= 0 && peer < sw_peers_ranks))
        return &peers->of[kind][peer];
    return sw_peers_make(peers, kind, peer);
}

static inline void sw_peers_sent(sw_peers_t *peers, sw_peers_kind_t kind,
                                 int64_t peer, uint64_t bytes)
{
    sw_peer_sum_t *sum = sw_peers_of(peers, kind, peer);
    if (sum) {
        sw_record_bump(&sum->sent_messages, 1);
        sw_record_bump(&sum->sent_bytes, bytes);
    }
}

static inline void sw_peers_received(sw_peers_t *peers, sw_peers_kind_t kind,
                                     int64_t peer, uint64_t bytes)
{
    sw_peer_sum_t *sum = sw_peers_of(peers, kind, peer);
    if (sum) {
        sw_record_bump(&sum->received_messages, 1);
        sw_record_bump(&sum->received_bytes, bytes);
    }
}

#endif
