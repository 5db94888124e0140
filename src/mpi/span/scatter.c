/*
 * scatter.c - Scatter and Scatterv over several nodes.
 *
 * On the root's node the members take their blocks from the root. Each other
 * node's blocks go to its gate, which deals them out. In Scatterv the root alone
 * knows the sizes. So a node's sizes go first, in one letter with the blocks
 * where these are small.
 */
#include "parcel.h"

#include "node/temporary.h"

typedef struct {
    sw_span_t *s;
    sw_gate_t gate;
    bool equal;
    size_t bytes;               /* of this member's block                   */
    sw_mail_t mail;
    int rc;
} scatter_t;

static void note(scatter_t *t, int status)
{
    t->rc = sw_first_bad(t->rc, status);
}

/* The gate of another node receives its node's blocks, and lists them. Returns
 * temporary memory, which the caller frees. */
static char *receive_parcel(scatter_t *t, sw_extent_t *list, char **blocks)
{
    sw_span_t *s = t->s;
    size_t head = (size_t)s->here * sizeof(uint64_t), bytes;
    if (t->equal) {
        bytes = sw_parcel_list(s->here, NULL, t->bytes, list);
        *blocks = sw_temporary(bytes);
        sw_mail_receive(&t->mail, t->gate.home, *blocks, bytes);
        note(t, sw_mail_finish(&t->mail));
        return *blocks;
    }
    char *letter = sw_mail_open(&t->mail, t->gate.home, &bytes);
    if (!letter || bytes < head) {
        note(t, sw_first_bad(sw_mail_finish(&t->mail), SW_MISMATCH));
        sw_parcel_list(s->here, NULL, 0, list);
        return letter;
    }
    *blocks = letter + head;
    bytes = sw_parcel_list(s->here, (const uint64_t *)letter, 0, list);
    if (bytes > SW_PARCEL_SMALL) {
        sw_temporary_free(letter);
        letter = *blocks = sw_temporary(bytes);
        sw_mail_receive(&t->mail, t->gate.home, letter, bytes);
    }
    note(t, sw_mail_finish(&t->mail));
    return letter;
}

/* Another node than the root's. */
static void deal_parcel(scatter_t *t, const sw_data_t *recv)
{
    sw_span_t *s = t->s;
    SW_ARRAY(sw_extent_t, list, s->here);
    char *blocks = NULL, *box = NULL;
    if (t->gate.is_gate)
        box = receive_parcel(t, list, &blocks);
    note(t, sw_coll_scatter(s->ring, t->gate.gate, blocks,
                            &(sw_blocks_t){.list = list}, recv, t->bytes));
    sw_temporary_free(box);
}

/* What goes to the other nodes: for each its sizes, unless all are equal, and
 * its blocks. */
typedef struct {
    uint64_t *sizes;            /* [n] by node; NULL: equal                 */
    char *temporary;            /* or NULL                                  */
    const char *at;
    sw_parts_t parts;           /* of the blocks                            */
    size_t head;                /* of each size; 0: equal                   */
} outgoing_t;

static size_t place_of(const scatter_t *t, const outgoing_t *out, int node)
{
    return out->parts.at[node] + (size_t)t->s->first[node] * out->head;
}

static size_t all_of(const scatter_t *t, const outgoing_t *out)
{
    return out->parts.all + (size_t)t->s->n * out->head;
}

/* The root writes all down, unless its own buffer has it already. */
static void write_down(scatter_t *t, outgoing_t *out, const void *send,
                       const sw_blocks_t *blocks)
{
    sw_span_t *s = t->s;
    bool direct = t->gate.is_gate && t->equal && sw_parcel_is(s, blocks);
    for (int i = 0; i < s->n && out->sizes; i++)
        out->sizes[i] = sw_block(blocks, s->rank[i]).bytes;
    sw_parts_make(&out->parts, s, out->sizes, t->bytes,
                  direct ? -1 : s->node);
    out->at = send;
    if (direct)
        return;
    out->at = out->temporary = sw_temporary(all_of(t, out));
    for (int k = 0; k < s->nodes; k++) {
        char *to = out->temporary + place_of(t, out, k);
        size_t head = (size_t)sw_span_members(s, k) * out->head;
        if (k == s->node)
            continue;
        if (head)
            sw_copy(to, out->sizes + s->first[k], head);
        sw_parcel_fill(s, k, send, blocks, to + head);
    }
}

/* The root hands all to the gate of its node. */
static void hand_on(scatter_t *t, outgoing_t *out)
{
    sw_span_t *s = t->s;
    int from = t->gate.root, to = t->gate.gate;
    bool has = t->gate.is_gate || t->gate.is_root;
    if (!t->equal)
        note(t, sw_gate_hand(s, from, to, out->sizes, out->sizes,
                             has ? (size_t)s->n * sizeof *out->sizes : 0));
    if (t->gate.is_gate) {
        sw_parts_make(&out->parts, s, out->sizes, t->bytes, s->node);
        out->at = out->temporary = sw_temporary(all_of(t, out));
    }
    note(t, sw_gate_hand(s, from, to, out->at, out->temporary,
                         has ? all_of(t, out) : 0));
}

static void post(scatter_t *t, const outgoing_t *out)
{
    sw_span_t *s = t->s;
    for (int k = 0; k < s->nodes; k++) {
        const char *at = out->at + place_of(t, out, k);
        size_t head = (size_t)sw_span_members(s, k) * out->head;
        size_t bytes = out->parts.bytes[k];
        bool small = bytes <= SW_PARCEL_SMALL;
        if (k == s->node)
            continue;
        if (!t->equal)
            sw_mail_send_letter(&t->mail, k, at, head + (small ? bytes : 0));
        if (t->equal || !small)
            sw_mail_send(&t->mail, k, at + head, bytes);
    }
}

static int scatter(sw_span_t *s, bool equal, int root, const void *send,
                   const sw_blocks_t *blocks, const sw_data_t *recv,
                   size_t bytes)
{
    scatter_t t = {.s = s, .gate = sw_gate(s, root), .equal = equal,
                   .bytes = bytes, .mail = {.s = s}};
    if (!t.gate.is_home) {
        deal_parcel(&t, recv);
        return t.rc;
    }
    SW_PARTS(parts, s->nodes);
    SW_ARRAY(sw_extent_t, list, s->here);
    SW_ARRAY(sw_data_t, data, s->here);
    outgoing_t out = {.parts = parts,
                      .head = equal ? 0 : sizeof *out.sizes};
    sw_blocks_t near = {.list = list};
    if (!equal && (t.gate.is_gate || t.gate.is_root))
        out.sizes = sw_temporary((size_t)s->n * sizeof *out.sizes);
    if (t.gate.is_root) {
        near = sw_parcel_near(s, blocks, list, data);
        write_down(&t, &out, send, blocks);
    }
    if (t.gate.gate != t.gate.root)
        hand_on(&t, &out);
    if (t.gate.is_gate)
        post(&t, &out);
    note(&t, sw_coll_scatter(s->ring, t.gate.root, send, &near, recv, bytes));
    if (t.gate.is_gate)
        note(&t, sw_mail_finish(&t.mail));
    sw_temporary_free(out.sizes);
    sw_temporary_free(out.temporary);
    return t.rc;
}

int sw_span_scatter(sw_span_t *s, int root, const void *send,
                    const sw_blocks_t *blocks, const sw_data_t *recv,
                    size_t bytes)
{
    return scatter(s, true, root, send, blocks, recv, bytes);
}

int sw_span_scatterv(sw_span_t *s, int root, const void *send,
                     const sw_blocks_t *blocks, const sw_data_t *recv,
                     size_t bytes)
{
    return scatter(s, false, root, send, blocks, recv, bytes);
}
