/*
 * alltoall.c - Alltoall, Alltoallv and Alltoallw: everybody deals (deal.h) and
 * takes its block from each of the others, starting at the right neighbour.
 */
#include "deal.h"

int sw_coll_alltoall(sw_group_t *g, const void *send, const sw_blocks_t *sends,
                     void *recv, const sw_blocks_t *recvs)
{
    uint32_t what = sw_what(SW_COLL_ALLTOALL, 0);
    uint64_t step = ++g->step;
    sw_exposed_t x;
    sw_hand_t hand = sw_hand_all(g, g->eager_all);
    bool part = sw_deal(g, step, what, &hand, send, sends, &x);
    sw_extent_t from = sw_block(sends, g->me), to = sw_block(recvs, g->me);
    int rc = from.bytes > to.bytes ? SW_TRUNCATED : SW_OK;
    sw_copy((char *)recv + to.offset, (const char *)send + from.offset,
            sw_min(from.bytes, to.bytes));
    bool seen_all = true;
    for (int k = 1; k < g->n; k++) {
        int member = sw_neighbour(g, k);
        sw_extent_t block = sw_block(recvs, member);
        if (block.bytes == 0) {
            seen_all = false;
            continue;
        }
        int bad = sw_receive_deal(g, member, step, what,
                                  (char *)recv + block.offset, block.bytes);
        rc = rc ? rc : bad;
    }
    sw_conclude(g, step, part, &x, seen_all);
    return rc;
}
