/*
 * allgather.c - Allgather and Allgatherv. Each member offers its block to all
 * and reads the others' blocks. It starts at its right neighbour, so that
 * readers spread over the owners.
 */
#include "coll.h"

int sw_coll_allgather(sw_ring_t *ring, const sw_data_t *send, size_t bytes,
                      void *recv, const sw_blocks_t *blocks)
{
    uint32_t what = sw_what(SW_COLL_ALLGATHER, 0);
    uint64_t step = ++ring->step;
    sw_exposed_t x;
    bool part = sw_offer(ring, step, what, SW_READ_ALL,
                         sw_eager(ring->team->eager_all, send->layout), send,
                         bytes, &x);
    sw_data_t own = sw_block_data(blocks, recv, ring->me);
    size_t room = sw_block(blocks, ring->me).bytes;
    int rc = bytes > room ? SW_TRUNCATED : SW_OK;
    sw_keep(send, &own, sw_min(bytes, room));
    bool seen_all = true;
    for (int k = 1; k < ring->n; k++) {
        int from = sw_ring_right(ring, k);
        sw_source_t source;
        room = sw_block(blocks, from).bytes;
        if (room == 0) {
            seen_all = false;
            continue;
        }
        sw_data_t to = sw_block_data(blocks, recv, from);
        int bad = sw_source(ring, from, step, what, &source);
        if (!bad)
            bad = sw_source_put(&source, &to, sw_min(source.bytes, room));
        if (!bad && source.bytes > room)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    sw_conclude(ring, step, part, &x, seen_all);
    return rc;
}
