/*
 * alltoall.c - Alltoall, Alltoallv and Alltoallw. Each member deals (deal.h)
 * and takes its block from each of the others, starting at its right
 * neighbour.
 */
#include "deal.h"

int sw_coll_alltoall(sw_sequence_t *seq, const void *send,
                     const sw_blocks_t *sends, void *recv,
                     const sw_blocks_t *recvs)
{
    uint32_t what = sw_sequence_what(SW_COLL_ALLTOALL, 0);
    uint64_t step = ++seq->step;
    sw_exposed_t x;
    sw_hand_t hand = sw_hand_all(
        seq, sw_payload_eager(seq->team->eager_all, sends->data));
    bool part = sw_deal(seq, step, what, &hand, send, sends, &x);
    size_t out = sw_block(sends, seq->me).bytes;
    size_t in = sw_block(recvs, seq->me).bytes;
    sw_data_t from = sw_block_data(sends, send, seq->me);
    sw_data_t own = sw_block_data(recvs, recv, seq->me);
    int rc = out > in ? SW_TRUNCATED : SW_OK;
    sw_source_keep(&from, &own, sw_min(out, in));
    bool seen_all = true;
    for (int k = 1; k < seq->n; k++) {
        int member = sw_sequence_right(seq, k);
        size_t room = sw_block(recvs, member).bytes;
        if (room == 0) {
            seen_all = false;
            continue;
        }
        sw_data_t to = sw_block_data(recvs, recv, member);
        int bad = sw_receive_deal(seq, member, step, what, &to, room);
        rc = rc ? rc : bad;
    }
    sw_payload_conclude(seq, step, part, &x, seen_all);
    return rc;
}
