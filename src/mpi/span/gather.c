/*
 * gather.c - Gather and Gatherv over several nodes.
 *
 * On the root's node the members give their blocks to the root. On any other,
 * the gate collects its node's blocks and sends them to the gate of the root's
 * node. In Gatherv each member knows its own size alone. So a node's sizes go
 * first, in one letter with the blocks where these are small.
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
} gather_t;

static void note(gather_t *g, int status)
{
    g->rc = sw_first_bad(g->rc, status);
}

/* The gate sends its node's blocks, which lie behind their sizes. */
static void post(gather_t *g, const uint64_t *sizes, size_t all)
{
    size_t head = (size_t)g->s->here * sizeof *sizes;
    const char *blocks = (const char *)sizes + head;
    bool small = all <= SW_PARCEL_SMALL;
    if (!g->equal)
        sw_mail_send_letter(&g->mail, g->gate.home, sizes,
                            head + (small ? all : 0));
    if (g->equal || !small)
        sw_mail_send(&g->mail, g->gate.home, blocks, all);
    note(g, sw_mail_finish(&g->mail));
}

/* Another node than the root's. */
static void send_parcel(gather_t *g, const sw_data_t *send)
{
    sw_span_t *s = g->s;
    SW_ARRAY(uint64_t, size, s->here);
    SW_ARRAY(sw_extent_t, list, s->here);
    size_t all = 0, head = (size_t)s->here * sizeof *size;
    char *box = NULL;
    if (!g->equal) {
        uint64_t mine = g->bytes;
        sw_data_t data = sw_data_plain(&mine);
        note(g, sw_coll_gather(s->ring, g->gate.gate, &data, sizeof mine,
                               size, &(sw_blocks_t){.bytes = sizeof mine}));
    }
    if (g->gate.is_gate) {
        all = sw_parcel_list(s->here, g->equal ? NULL : size, g->bytes, list);
        box = sw_temporary(head + all);
        if (!g->equal)
            sw_copy(box, size, head);
    }
    note(g, sw_coll_gatherv(s->ring, g->gate.gate, send, g->bytes,
                            box ? box + head : NULL,
                            &(sw_blocks_t){.list = list}));
    if (g->gate.is_gate)
        post(g, (const uint64_t *)box, all);
    sw_temporary_free(box);
}

/* What has come from the other nodes: the sizes and blocks of all, by node. */
typedef struct {
    uint64_t *sizes;            /* NULL: all are equal                      */
    char *blocks;
    sw_parts_t parts;
} parcels_t;

/* Blocks of known sizes. `direct`: to their places in the result. */
static void receive_equal(gather_t *g, parcels_t *p, void *direct)
{
    sw_span_t *s = g->s;
    p->blocks = direct ? direct : sw_temporary(p->parts.all);
    for (int k = 0; k < s->nodes; k++)
        if (k != s->node)
            sw_mail_receive(&g->mail, k, p->blocks + p->parts.at[k],
                            p->parts.bytes[k]);
    note(g, sw_mail_finish(&g->mail));
}

/* The sizes in a letter, which a letter too short does not have. */
static void read_sizes(gather_t *g, int node, const char *letter, size_t bytes,
                       uint64_t *sizes)
{
    sw_span_t *s = g->s;
    size_t head = (size_t)sw_span_members(s, node) * sizeof *sizes;
    if (letter && bytes >= head)
        sw_copy(sizes + s->first[node], letter, head);
    else
        note(g, SW_MISMATCH);
}

static void receive_letters(gather_t *g, parcels_t *p)
{
    sw_span_t *s = g->s;
    SW_ARRAY(char *, letter, s->nodes);
    for (int i = 0; i < s->n; i++)
        p->sizes[i] = 0;
    for (int k = 0; k < s->nodes; k++) {
        size_t bytes;
        letter[k] = NULL;
        if (k == s->node)
            continue;
        letter[k] = sw_mail_open(&g->mail, k, &bytes);
        read_sizes(g, k, letter[k], bytes, p->sizes);
    }
    sw_parts_make(&p->parts, s, p->sizes, 0, s->node);
    p->blocks = sw_temporary(p->parts.all);
    for (int k = 0; k < s->nodes; k++) {
        size_t bytes = p->parts.bytes[k];
        char *to = p->blocks + p->parts.at[k];
        if (bytes > SW_PARCEL_SMALL)
            sw_mail_receive(&g->mail, k, to, bytes);
        else if (letter[k])
            sw_copy(to, letter[k] + (size_t)sw_span_members(s, k) *
                                        sizeof *p->sizes, bytes);
        sw_temporary_free(letter[k]);
    }
    note(g, sw_mail_finish(&g->mail));
}

/* The gate of the root's node hands all to the root. */
static void hand_on(gather_t *g, parcels_t *p)
{
    sw_span_t *s = g->s;
    int from = g->gate.gate, to = g->gate.root;
    bool has = g->gate.is_gate || g->gate.is_root;
    if (!g->equal)
        note(g, sw_gate_hand(s, from, to, p->sizes, p->sizes,
                             has ? (size_t)s->n * sizeof *p->sizes : 0));
    if (g->gate.is_root) {
        sw_parts_make(&p->parts, s, p->sizes, g->bytes, s->node);
        p->blocks = sw_temporary(p->parts.all);
    }
    note(g, sw_gate_hand(s, from, to, p->blocks, p->blocks,
                         has ? p->parts.all : 0));
}

/* The root's node, and what comes from the others. */
static void receive_parcels(gather_t *g, void *recv,
                            const sw_blocks_t *blocks)
{
    sw_span_t *s = g->s;
    const sw_gate_t *gate = &g->gate;
    SW_PARTS(parts, s->nodes);
    parcels_t p = {.parts = parts};
    bool direct = gate->is_root && gate->is_gate && g->equal &&
                  sw_parcel_is(s, blocks);
    if (!g->equal && (gate->is_gate || gate->is_root))
        p.sizes = sw_temporary((size_t)s->n * sizeof *p.sizes);
    if (gate->is_gate && g->equal) {
        sw_parts_make(&p.parts, s, NULL, g->bytes, direct ? -1 : s->node);
        receive_equal(g, &p, direct ? recv : NULL);
    } else if (gate->is_gate) {
        receive_letters(g, &p);
    }
    if (gate->gate != gate->root)
        hand_on(g, &p);
    for (int k = 0; k < s->nodes && gate->is_root && !direct; k++)
        if (k != s->node)
            note(g, sw_parcel_place(s, k, p.blocks + p.parts.at[k],
                                    p.sizes ? p.sizes + s->first[k] : NULL,
                                    g->bytes, recv, blocks));
    if (!direct)
        sw_temporary_free(p.blocks);
    sw_temporary_free(p.sizes);
}

static int gather(sw_span_t *s, bool equal, int root, const sw_data_t *send,
                  size_t bytes, void *recv, const sw_blocks_t *blocks)
{
    gather_t g = {.s = s, .gate = sw_gate(s, root), .equal = equal,
                  .bytes = bytes, .mail = {.s = s}};
    if (!g.gate.is_home) {
        send_parcel(&g, send);
        return g.rc;
    }
    SW_ARRAY(sw_extent_t, list, s->here);
    SW_ARRAY(sw_data_t, data, s->here);
    sw_blocks_t near = {.list = list};
    if (g.gate.is_root)
        near = sw_parcel_near(s, blocks, list, data);
    note(&g, sw_coll_gatherv(s->ring, g.gate.root, send, bytes, recv, &near));
    if (g.gate.is_gate || g.gate.is_root || g.gate.gate != g.gate.root)
        receive_parcels(&g, recv, blocks);
    return g.rc;
}

int sw_span_gather(sw_span_t *s, int root, const sw_data_t *send, size_t bytes,
                   void *recv, const sw_blocks_t *blocks)
{
    return gather(s, true, root, send, bytes, recv, blocks);
}

int sw_span_gatherv(sw_span_t *s, int root, const sw_data_t *send,
                    size_t bytes, void *recv, const sw_blocks_t *blocks)
{
    return gather(s, false, root, send, bytes, recv, blocks);
}
