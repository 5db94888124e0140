/*
 * scatter.c - Scatter and Scatterv over several nodes.
 *
 * On the root's node the members take their blocks from the root. Its gate
 * sends the other nodes' blocks to their gates. A root that is not the gate
 * lends its buffer to it. The other gates receive large blocks into their
 * members' buffers, which these lend, and deal out small ones (rooted.h). In
 * Scatterv a gate alone knows which, and calls where it will borrow.
 */
#include "rooted.h"

#include "node/temporary.h"

/* Much of the stack is below these functions. */
#define FEW 4

/* A member's own place: its buffer, or, where that has gaps, memory that stands
 * in. */
static sw_spot_t own_place(const sw_data_t *recv, size_t bytes)
{
    sw_spot_t own = {.at = recv->at, .bytes = bytes};
    if (recv->layout && bytes)
        own.at = own.copy = sw_temporary(bytes);
    return own;
}

static void take_own(sw_rooted_t *r, const sw_spot_t *own,
                     const sw_data_t *recv)
{
    sw_data_t from = sw_data_plain(own->at);
    size_t bytes = sw_min(own->came, own->bytes);
    if (own->copy && bytes)
        sw_data_copy(&from, recv, 0, bytes);
    sw_temporary_free(own->copy);
    if (own->came > own->bytes)
        sw_rooted_note(r, SW_TRUNCATED);
}

/* The gate of another node than the root's receives large blocks where its
 * members lend room. `place`: with the blocks' sizes. */
static void receive_apart(sw_rooted_t *r, sw_spot_t *place, char *letter,
                          const sw_data_t *recv)
{
    sw_span_t *s = r->s;
    SW_ARRAY_OF(sw_loan_t, loan, FEW, s->here);
    sw_spot_t *own = &place[s->mine];
    uint64_t came = own->came;
    *own = own_place(recv, r->bytes);
    own->came = came;
    if (!r->equal)
        sw_lend_call(s->sequence);
    sw_loan_begin(s->sequence);
    for (int i = 0; i < s->here; i++)
        if (i != s->mine)
            sw_rooted_note(
                r, sw_loan_take(s->sequence, i, true, &place[i], 1, &loan[i]));
    char *box = sw_rooted_receive(r, r->gate.home, place, letter);
    sw_rooted_note(r, sw_mail_finish(&r->mail));
    sw_rooted_unpack(r, r->gate.home, place, box);
    for (int i = 0; i < s->here; i++)
        if (i != s->mine)
            sw_rooted_note(
                r, sw_loan_return(s->sequence, true, &place[i], &loan[i]));
    sw_loan_end(s->sequence);
    take_own(r, own, recv);
}

/* ... or receives the bundle, and deals it out. */
static void receive_bundle(sw_rooted_t *r, sw_spot_t *place, char *letter,
                           const sw_data_t *recv)
{
    sw_span_t *s = r->s;
    SW_ARRAY_OF(sw_extent_t, list, FEW, s->here);
    int64_t at = 0;
    for (int i = 0; i < s->here; i++) {
        list[i] = (sw_extent_t){at, place[i].came};
        at += (int64_t)place[i].came;
    }
    char *box = sw_rooted_receive(r, r->gate.home, place, letter);
    sw_rooted_note(r, sw_mail_finish(&r->mail));
    sw_rooted_note(r, sw_coll_scatter(s->sequence, r->gate.gate,
                                      box + sw_rooted_head(r, r->gate.home),
                                      &(sw_blocks_t){.list = list}, recv,
                                      r->bytes));
    sw_temporary_free(box);
}

static void receive(sw_rooted_t *r, const sw_data_t *recv)
{
    sw_span_t *s = r->s;
    size_t all = 0;
    SW_ARRAY_OF(sw_spot_t, place, FEW, s->here);
    for (int i = 0; i < s->here; i++)
        place[i] = (sw_spot_t){.at = NULL};
    char *letter = sw_rooted_open(r, r->gate.home, place);
    for (int i = 0; i < s->here; i++)
        all += place[i].came;
    if (sw_rooted_apart(all, s->here))
        receive_apart(r, place, letter, recv);
    else
        receive_bundle(r, place, letter, recv);
}

/* Another member of that node. */
static void take(sw_rooted_t *r, const sw_data_t *recv)
{
    sw_sequence_t *seq = r->s->sequence;
    int gate = r->gate.gate;
    if (r->equal ? sw_rooted_apart(r->bytes, 1) : sw_lend_called(seq, gate)) {
        sw_spot_t own = own_place(recv, r->bytes);
        sw_lend(seq, gate, &own, 1, true);
        take_own(r, &own, recv);
    } else {
        sw_rooted_note(r,
                       sw_coll_scatter(seq, gate, NULL, NULL, recv, r->bytes));
    }
}

/* The gate of the root's node starts to send. `box`: [nodes]. */
static void send_blocks(sw_rooted_t *r, const sw_spot_t *place, char **box)
{
    sw_span_t *s = r->s;
    for (int k = 0; k < s->nodes; k++)
        box[k] = k == s->node
                     ? NULL
                     : sw_rooted_send(r, k, place + sw_rooted_first(r, k));
}

static void finish(sw_rooted_t *r, char **box)
{
    sw_rooted_note(r, sw_mail_finish(&r->mail));
    for (int k = 0; k < r->s->nodes; k++)
        sw_temporary_free(box[k]);
}

/* The gate, which is not the root, sends what the root lends. */
static void send_for_root(sw_rooted_t *r, sw_spot_t *place, char **box)
{
    sw_sequence_t *seq = r->s->sequence;
    sw_loan_t loan;
    sw_loan_begin(seq);
    sw_rooted_note(r, sw_loan_take(seq, r->gate.root, false, place,
                                   sw_rooted_far(r), &loan));
    send_blocks(r, place, box);
    finish(r, box);
    sw_rooted_note(r, sw_loan_return(seq, false, place, &loan));
    sw_loan_end(seq);
}

/* The root's node. */
static void send(sw_rooted_t *r, const void *buffer, const sw_blocks_t *blocks,
                 const sw_data_t *recv)
{
    sw_span_t *s = r->s;
    const sw_gate_t *g = &r->gate;
    int far = g->is_root || g->is_gate ? sw_rooted_far(r) : 0;
    SW_ARRAY_OF(sw_spot_t, place, FEW, far);
    SW_ARRAY(char *, box, s->nodes);
    SW_ARRAY_OF(sw_extent_t, list, FEW, s->here);
    SW_ARRAY_OF(sw_data_t, data, FEW, s->here);
    sw_blocks_t near = {.list = list};
    char *listed = NULL;
    if (g->is_root) {
        near = sw_bundle_near(s, blocks, list, data);
        listed = sw_rooted_list(r, buffer, blocks, place, true);
        if (g->is_gate)
            send_blocks(r, place, box);
    }
    sw_rooted_note(r, sw_coll_scatter(s->sequence, g->root, buffer, &near, recv,
                                      r->bytes));
    if (g->is_root && g->is_gate)
        finish(r, box);
    else if (g->is_gate)
        send_for_root(r, place, box);
    else if (g->gate != g->root)
        sw_lend(s->sequence, g->gate, place, far, false);
    sw_temporary_free(listed);
}

static int scatter(sw_rooted_t *r, int root, const void *buffer,
                   const sw_blocks_t *blocks, const sw_data_t *recv)
{
    r->gate = sw_gate(r->s, root);
    r->mail.s = r->s;
    if (r->gate.is_home)
        send(r, buffer, blocks, recv);
    else if (r->gate.is_gate)
        receive(r, recv);
    else
        take(r, recv);
    return r->rc;
}

int sw_span_scatter(sw_span_t *s, int root, const void *send,
                    const sw_blocks_t *blocks, const sw_data_t *recv,
                    size_t bytes)
{
    sw_rooted_t r = {.s = s, .equal = true, .bytes = bytes};
    return scatter(&r, root, send, blocks, recv);
}

int sw_span_scatterv(sw_span_t *s, int root, const void *send,
                     const sw_blocks_t *blocks, const sw_data_t *recv,
                     size_t bytes)
{
    sw_rooted_t r = {.s = s, .bytes = bytes};
    return scatter(&r, root, send, blocks, recv);
}
