/*
 * alltoall.c - Alltoall, Alltoallv and Alltoallw. Each member deals (deal.h)
 * and takes its block from each of the others, starting at its right
 * neighbour.
 */
#include "deal.h"

int sw_coll_alltoall(sw_ring_t *ring, const void *send,
                     const sw_blocks_t *sends, void *recv,
                     const sw_blocks_t *recvs)
{
    uint32_t what = sw_what(SW_COLL_ALLTOALL, 0);
    uint64_t step = ++ring->step;
    sw_exposed_t x;
    sw_hand_t hand =
        sw_hand_all(ring, sw_eager(ring->team->eager_all, sends->data));
    bool part = sw_deal(ring, step, what, &hand, send, sends, &x);
    size_t out = sw_block(sends, ring->me).bytes;
    size_t in = sw_block(recvs, ring->me).bytes;
    sw_data_t from = sw_block_data(sends, send, ring->me);
    sw_data_t own = sw_block_data(recvs, recv, ring->me);
    int rc = out > in ? SW_TRUNCATED : SW_OK;
    sw_keep(&from, &own, sw_min(out, in));
    bool seen_all = true;
    for (int k = 1; k < ring->n; k++) {
        int member = sw_ring_right(ring, k);
        size_t room = sw_block(recvs, member).bytes;
        if (room == 0) {
            seen_all = false;
            continue;
        }
        sw_data_t to = sw_block_data(recvs, recv, member);
        int bad = sw_receive_deal(ring, member, step, what, &to, room);
        rc = rc ? rc : bad;
    }
    sw_conclude(ring, step, part, &x, seen_all);
    return rc;
}
