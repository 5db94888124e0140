/*
 * peers.c - see peers.h.
 */
#include "peers.h"

#include "profile/base/memory.h"

uint32_t sw_peers_ranks;

sw_peer_sum_t *sw_peers_make(sw_peers_t *peers, sw_peers_kind_t kind,
                             int64_t peer)
{
    if (peer < 0 || peer >= sw_peers_ranks)
        return NULL;
    if (!peers->of[kind]) {
        sw_peer_sum_t *sums = sw_profile_memory(sw_peers_ranks * sizeof *sums);
        __atomic_store_n(&peers->of[kind], sums, __ATOMIC_RELEASE);
    }
    return peers->of[kind] ? &peers->of[kind][peer] : NULL;
}
