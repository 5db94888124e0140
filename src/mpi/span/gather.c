/*
 * gather.c - Gather and Gatherv over several nodes.
 *
 * On the root's node the members give their blocks to the root. On any other
 * they hand them in to the gate, which sends them to the gate of the root's
 * node. That one receives them into the root's buffer, which the root lends to
 * the gate where they are two members (rooted.h).
 */
#include "rooted.h"

#include "node/temporary.h"

/* The gate of another node than the root's. */
static void send_blocks(sw_rooted_t *r, const sw_data_t *send)
{
    sw_span_t *s = r->s;
    SW_ARRAY(sw_spot_t, place, s->here);
    sw_rooted_note(r, sw_lend_collect(s->sequence, send, r->bytes,
                                      r->equal ? &r->bytes : NULL, place));
    char *box = sw_rooted_send(r, r->gate.home, place);
    sw_rooted_note(r, sw_mail_finish(&r->mail));
    sw_lend_collect_end(s->sequence, place);
    sw_temporary_free(box);
}

/* The gate of the root's node. `place`: of the other nodes' blocks. */
static void receive_blocks(sw_rooted_t *r, sw_spot_t *place)
{
    sw_span_t *s = r->s;
    SW_ARRAY(char *, box, s->nodes);
    for (int k = 0; k < s->nodes; k++) {
        sw_spot_t *at = place + sw_rooted_first(r, k);
        if (k != s->node)
            box[k] = sw_rooted_receive(r, k, at, sw_rooted_open(r, k, at));
    }
    sw_rooted_note(r, sw_mail_finish(&r->mail));
    for (int k = 0; k < s->nodes; k++)
        if (k != s->node)
            sw_rooted_unpack(r, k, place + sw_rooted_first(r, k), box[k]);
}

/* The root takes what does not lie in its place yet. */
static void settle(sw_rooted_t *r, void *recv, const sw_blocks_t *blocks,
                   const sw_spot_t *place)
{
    for (int i = 0; i < sw_rooted_far(r); i++) {
        sw_data_t to = sw_block_data(blocks, recv, sw_rooted_rank(r, i));
        sw_data_t from = sw_data_plain(place[i].at);
        size_t bytes = sw_min(place[i].came, place[i].bytes);
        if (bytes && (to.layout || from.at != to.at))
            sw_data_copy(&from, &to, 0, bytes);
        if (place[i].came > place[i].bytes)
            sw_rooted_note(r, SW_TRUNCATED);
    }
}

/* The gate, which is not the root, receives into what the root lends. */
static void receive_for_root(sw_rooted_t *r, sw_spot_t *place)
{
    sw_sequence_t *seq = r->s->sequence;
    sw_loan_t loan;
    sw_loan_begin(seq);
    sw_rooted_note(r, sw_loan_take(seq, r->gate.root, true, place,
                                   sw_rooted_far(r), &loan));
    receive_blocks(r, place);
    sw_rooted_note(r, sw_loan_return(seq, true, place, &loan));
    sw_loan_end(seq);
}

/* The root's node, and what comes from the others. */
static void receive(sw_rooted_t *r, void *recv, const sw_blocks_t *blocks)
{
    const sw_gate_t *g = &r->gate;
    int far = g->is_root || g->is_gate ? sw_rooted_far(r) : 0;
    SW_ARRAY(sw_spot_t, place, far);
    char *box = g->is_root ? sw_rooted_list(r, recv, blocks, place, false)
                           : NULL;
    if (g->gate == g->root && g->is_gate)
        receive_blocks(r, place);
    else if (g->gate != g->root && g->is_gate)
        receive_for_root(r, place);
    else if (g->gate != g->root)
        sw_lend(r->s->sequence, g->gate, place, far, true);
    if (g->is_root)
        settle(r, recv, blocks, place);
    sw_temporary_free(box);
}

static int gather(sw_rooted_t *r, int root, const sw_data_t *send, void *recv,
                  const sw_blocks_t *blocks)
{
    sw_span_t *s = r->s;
    r->gate = sw_gate(s, root);
    r->mail.s = s;
    if (r->gate.is_gate && !r->gate.is_home) {
        send_blocks(r, send);
    } else if (!r->gate.is_home) {
        sw_lend_block(s->sequence, r->gate.gate, send, r->bytes);
    } else {
        SW_ARRAY(sw_extent_t, list, s->here);
        SW_ARRAY(sw_data_t, data, s->here);
        sw_blocks_t near = {.list = list};
        if (r->gate.is_root)
            near = sw_bundle_near(s, blocks, list, data);
        sw_rooted_note(r, sw_coll_gatherv(s->sequence, r->gate.root, send,
                                          r->bytes, recv, &near));
        receive(r, recv, blocks);
    }
    return r->rc;
}

int sw_span_gather(sw_span_t *s, int root, const sw_data_t *send, size_t bytes,
                   void *recv, const sw_blocks_t *blocks)
{
    sw_rooted_t r = {.s = s, .equal = true, .bytes = bytes};
    return gather(&r, root, send, recv, blocks);
}

int sw_span_gatherv(sw_span_t *s, int root, const sw_data_t *send, size_t bytes,
                    void *recv, const sw_blocks_t *blocks)
{
    sw_rooted_t r = {.s = s, .bytes = bytes};
    return gather(&r, root, send, recv, blocks);
}
