/*
 * allgather.c - Allgather and Allgatherv: each member offers its block to all
 * and reads the others', starting at its right neighbour so that readers spread
 * over the owners.
 */
#include "coll.h"

int sw_coll_allgather(sw_group_t *g, const void *send, size_t bytes,
                      void *recv, const sw_blocks_t *blocks)
{
    uint32_t what = sw_what(SW_COLL_ALLGATHER, 0);
    uint64_t step = ++g->step;
    sw_exposed_t x;
    bool part = sw_offer(g, step, what, SW_READ_ALL, g->eager_all, send,
                         bytes, &x);
    sw_extent_t own = sw_block(blocks, g->me);
    int rc = bytes > own.bytes ? SW_TRUNCATED : SW_OK;
    if ((char *)recv + own.offset != send && own.bytes)
        memmove((char *)recv + own.offset, send, sw_min(bytes, own.bytes));
    bool seen_all = true;
    for (int k = 1; k < g->n; k++) {
        int from = sw_neighbour(g, k);
        sw_extent_t block = sw_block(blocks, from);
        sw_source_t source;
        if (block.bytes == 0) {
            seen_all = false;
            continue;
        }
        int bad = sw_source(g, from, step, what, &source);
        if (!bad)
            bad = sw_source_copy(&source, 0, (char *)recv + block.offset,
                                 sw_min(source.bytes, block.bytes));
        if (!bad && source.bytes > block.bytes)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    sw_conclude(g, step, part, &x, seen_all);
    return rc;
}
