/*
 * scatter.c - Scatter and Scatterv: the root deals (deal.h), the others take.
 *
 * The root deals small blocks as copies and leaves. The members read large ones
 * from the root's memory, all at once.
 */
#include "deal.h"

static void keep_own(const void *send, const sw_blocks_t *blocks, int root,
                     const sw_data_t *recv, size_t bytes)
{
    sw_data_t own = sw_block_data(blocks, send, root);
    if (recv)
        sw_source_keep(&own, recv, sw_min(sw_block(blocks, root).bytes, bytes));
}

int sw_coll_scatter(sw_sequence_t *seq, int root, const void *send,
                    const sw_blocks_t *blocks, const sw_data_t *recv,
                    size_t bytes)
{
    uint32_t what = sw_sequence_what(SW_COLL_SCATTER, root);
    uint64_t step = ++seq->step;
    if (seq->me != root) {
        /* A member that receives nothing does not wait. */
        int rc = bytes ? sw_receive_deal(seq, root, step, what, recv, bytes)
                       : SW_OK;
        sw_sequence_done(seq, step);
        return rc;
    }
    sw_exposed_t x = {.copy = NULL};
    sw_hand_t hand = sw_hand_all(
        seq, sw_payload_eager(seq->team->eager, blocks->data));
    bool part = sw_deal(seq, step, what, &hand, send, blocks, &x);
    sw_sequence_done(seq, step);
    /* A root that receives into what it sends (some hosts bear with it) must
     * leave the others' blocks alone until they have been read. */
    bool last = part && !x.copy && !x.packed && recv && recv->at == send;
    if (!last)
        keep_own(send, blocks, root, recv, bytes);
    if (part) {
        sw_sequence_await_done_all(seq, step);
        sw_expose_end(&x, false);
    }
    if (last)
        keep_own(send, blocks, root, recv, bytes);
    return recv && sw_block(blocks, root).bytes > bytes ? SW_TRUNCATED : SW_OK;
}
