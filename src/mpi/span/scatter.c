/*
 * scatter.c - Scatter and Scatterv over several nodes.
 *
 * On the root's node the members take their blocks from the root. Each other
 * node's blocks go to its gate in one message, which deals them out. In
 * Scatterv their sizes go first, since the root alone knows them.
 */
#include "parcel.h"

#include "node/temporary.h"

typedef struct {
    sw_span_t *s;
    sw_gate_t gate;
    bool equal;
    size_t unit;
    MPI_Request request[2];     /* under way between the gates             */
    int code[2];
    int count;
    int rc;
} scatter_t;

static void note(scatter_t *t, int status)
{
    t->rc = sw_first_bad(t->rc, status);
}

static void start(scatter_t *t, const void *all, const sw_parts_t *parts,
                  void *mine, size_t units, MPI_Datatype type)
{
    t->code[t->count] = host.Iscatterv(
        all, parts ? parts->count : NULL, parts ? parts->at : NULL, type,
        t->gate.is_home ? MPI_IN_PLACE : mine, (int)units, type, t->gate.home,
        t->s->lane, &t->request[t->count]);
    t->count++;
}

static void finish(scatter_t *t)
{
    for (int i = 0; i < t->count; i++)
        note(t, sw_span_await(t->s, &t->request[i], t->code[i]));
    t->count = 0;
}

static MPI_Datatype type_of(const scatter_t *t)
{
    return t->equal ? MPI_BYTE : sw_parcel_line();
}

/* Another node than the root's. */
static void deal_parcel(scatter_t *t, const sw_data_t *recv, size_t bytes)
{
    sw_span_t *s = t->s;
    SW_ARRAY(uint64_t, sizes, s->here);
    SW_ARRAY(sw_extent_t, list, s->here);
    char *box = NULL;
    if (t->gate.is_gate) {
        if (!t->equal) {
            start(t, NULL, NULL, sizes, (size_t)s->here * sizeof *sizes,
                  MPI_BYTE);
            finish(t);
        }
        size_t all = sw_parcel_list(s->here, t->equal ? NULL : sizes, bytes,
                                    list);
        box = sw_temporary(sw_round_up(all, SW_LINE));
        start(t, NULL, NULL, box, (all + t->unit - 1) / t->unit, type_of(t));
        finish(t);
    }
    note(t, sw_coll_scatter(s->ring, t->gate.gate, box,
                            &(sw_blocks_t){.list = list}, recv, bytes));
    sw_temporary_free(box);
}

/* The root's node: what goes to the others. Returns memory that is in use until
 * `finish`, or NULL. */
typedef struct {
    uint64_t *sizes;
    char *all;
} outgoing_t;

static void send_parcels(scatter_t *t, const void *send,
                         const sw_blocks_t *blocks, size_t bytes,
                         outgoing_t *out)
{
    sw_span_t *s = t->s;
    const sw_gate_t *g = &t->gate;
    SW_PARTS(parts, s->nodes);
    size_t sizes = (size_t)s->n * sizeof(uint64_t);
    bool has = g->is_gate || g->is_root, handed = g->gate != g->root;
    if (!t->equal && has) {
        out->sizes = sw_temporary(sizes);
        for (int i = 0; i < s->n && g->is_root; i++)
            out->sizes[i] = sw_block(blocks, s->rank[i]).bytes;
    }
    if (!t->equal && handed)
        note(t, sw_gate_hand(s, g->root, g->gate, out->sizes, out->sizes,
                             has ? sizes : 0));
    if (!t->equal && g->is_gate) {
        sw_parts_make(&parts, s, NULL, sizeof(uint64_t), 1, -1);
        start(t, out->sizes, &parts, NULL, 0, MPI_BYTE);
    }
    const char *all = NULL;
    if (has) {
        bool direct = g->is_root && g->is_gate && t->equal &&
                      sw_parcel_is(s, blocks);
        sw_parts_make(&parts, s, out->sizes, bytes, t->unit,
                      direct ? -1 : s->node);
        all = send;
        if (!direct)
            all = out->all = sw_temporary(parts.units * t->unit);
        for (int k = 0; k < s->nodes && g->is_root && !direct; k++)
            if (k != s->node)
                sw_parcel_fill(s, k, send, blocks,
                               out->all + (size_t)parts.at[k] * t->unit);
    }
    if (handed)
        note(t, sw_gate_hand(s, g->root, g->gate, all, out->all,
                             has ? parts.units * t->unit : 0));
    if (g->is_gate)
        start(t, all, &parts, NULL, 0, type_of(t));
}

static int scatter(sw_span_t *s, bool equal, int root, const void *send,
                   const sw_blocks_t *blocks, const sw_data_t *recv,
                   size_t bytes)
{
    scatter_t t = {.s = s, .gate = sw_gate(s, root), .equal = equal,
                   .unit = equal ? 1 : SW_LINE};
    if (!t.gate.is_home) {
        deal_parcel(&t, recv, bytes);
        return t.rc;
    }
    outgoing_t out = {NULL, NULL};
    SW_ARRAY(sw_extent_t, list, s->here);
    SW_ARRAY(sw_data_t, data, s->here);
    sw_blocks_t near = {.list = list};
    if (t.gate.is_root)
        near = sw_parcel_near(s, blocks, list, data);
    send_parcels(&t, send, blocks, bytes, &out);
    note(&t, sw_coll_scatter(s->ring, t.gate.root, send, &near, recv, bytes));
    finish(&t);
    sw_temporary_free(out.sizes);
    sw_temporary_free(out.all);
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
