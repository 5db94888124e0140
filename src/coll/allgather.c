/*
 * allgather.c - Allgather and Allgatherv. Each member offers its block to all
 * and reads the others' blocks. It starts at its right neighbour, so that
 * readers spread over the owners.
 */
#include "coll.h"

int sw_coll_allgather(sw_sequence_t *seq, const sw_data_t *send, size_t bytes,
                      void *recv, const sw_blocks_t *blocks)
{
    uint32_t what = sw_sequence_what(SW_COLL_ALLGATHER, 0);
    uint64_t step = ++seq->step;
    sw_exposed_t x;
    bool part = sw_payload_offer(
        seq, step, what, SW_READ_ALL,
        sw_payload_eager(seq->team->eager_all, send->layout), send, bytes, &x);
    sw_data_t own = sw_block_data(blocks, recv, seq->me);
    size_t room = sw_block(blocks, seq->me).bytes;
    int rc = bytes > room ? SW_TRUNCATED : SW_OK;
    sw_source_keep(send, &own, sw_min(bytes, room));
    bool seen_all = true;
    for (int k = 1; k < seq->n; k++) {
        int from = sw_sequence_right(seq, k);
        sw_source_t source;
        room = sw_block(blocks, from).bytes;
        if (room == 0) {
            seen_all = false;
            continue;
        }
        sw_data_t to = sw_block_data(blocks, recv, from);
        int bad = sw_source(seq, from, step, what, &source);
        if (!bad)
            bad = sw_source_put(&source, &to, sw_min(source.bytes, room));
        if (!bad && source.bytes > room)
            bad = SW_TRUNCATED;
        rc = rc ? rc : bad;
    }
    sw_payload_conclude(seq, step, part, &x, seen_all);
    return rc;
}
