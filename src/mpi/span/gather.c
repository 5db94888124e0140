/*
 * gather.c - Gather and Gatherv over several nodes.
 *
 * On the root's node the members give their blocks to the root. On any other,
 * the gate collects its node's blocks, and one message takes them to the gate
 * of the root's node. In Gatherv their sizes go first, since each member knows
 * its own alone.
 */
#include "parcel.h"

#include "node/temporary.h"

typedef struct {
    sw_span_t *s;
    sw_gate_t gate;
    bool equal;
    size_t bytes;               /* of this member's block                   */
    size_t unit;
    uint64_t *sizes;            /* [n] by node; NULL: equal                 */
    int rc;
} gather_t;

static MPI_Datatype type_of(const gather_t *g)
{
    return g->equal ? MPI_BYTE : sw_parcel_line();
}

static void note(gather_t *g, int status)
{
    g->rc = sw_first_bad(g->rc, status);
}

/* Between the gates: `mine` bytes of each, in units, to all parts. */
static void collect(gather_t *g, const void *mine, size_t units, void *all,
                    const sw_parts_t *parts, MPI_Datatype type)
{
    sw_span_t *s = g->s;
    MPI_Request request;
    int code = host.Igatherv(g->gate.is_home ? MPI_IN_PLACE : mine,
                             (int)units, type, all, parts ? parts->count : NULL,
                             parts ? parts->at : NULL, type, g->gate.home,
                             s->lane, &request);
    note(g, sw_span_await(s, &request, code));
}

/* Another node than the root's. */
static void send_parcel(gather_t *g, const sw_data_t *send)
{
    sw_span_t *s = g->s;
    int here = s->here;
    SW_ARRAY(uint64_t, sizes, here);
    SW_ARRAY(sw_extent_t, list, here);
    size_t all = 0;
    char *box = NULL;
    if (!g->equal) {
        uint64_t mine = g->bytes;
        sw_data_t size = sw_data_plain(&mine);
        note(g, sw_coll_gather(s->ring, g->gate.gate, &size, sizeof mine,
                               sizes, &(sw_blocks_t){.bytes = sizeof mine}));
    }
    if (g->gate.is_gate) {
        all = sw_parcel_list(here, g->equal ? NULL : sizes, g->bytes, list);
        box = sw_temporary(sw_round_up(all, SW_LINE));
    }
    note(g, sw_coll_gatherv(s->ring, g->gate.gate, send, g->bytes, box,
                            &(sw_blocks_t){.list = list}));
    if (!g->gate.is_gate)
        return;
    if (!g->equal)
        collect(g, sizes, (size_t)here * sizeof *sizes, NULL, NULL, MPI_BYTE);
    collect(g, box, (all + g->unit - 1) / g->unit, NULL, NULL, type_of(g));
    sw_temporary_free(box);
}

/* The root's node, and what comes from the others. */
static void receive_parcels(gather_t *g, void *recv,
                            const sw_blocks_t *blocks)
{
    sw_span_t *s = g->s;
    const sw_gate_t *gate = &g->gate;
    size_t sizes = (size_t)s->n * sizeof(uint64_t);
    SW_PARTS(parts, s->nodes);
    char *all = NULL;
    /* Into the result at once, where it lies by node. */
    bool direct = gate->is_root && gate->is_gate && g->equal &&
                  sw_parcel_is(s, blocks);
    if (!g->equal) {
        g->sizes = sw_temporary(sizes);
        sw_parts_make(&parts, s, NULL, sizeof(uint64_t), 1, -1);
        if (gate->is_gate)
            collect(g, NULL, 0, g->sizes, &parts, MPI_BYTE);
        for (int i = s->first[s->node]; i < s->first[s->node + 1]; i++)
            g->sizes[i] = 0;
        if (gate->gate != gate->root && (gate->is_gate || gate->is_root))
            note(g, sw_gate_hand(s, gate->gate, gate->root, g->sizes, g->sizes,
                                 sizes));
        else if (gate->gate != gate->root)
            note(g, sw_gate_hand(s, gate->gate, gate->root, NULL, NULL, 0));
    }
    bool has = gate->is_gate || gate->is_root;
    if (has) {
        sw_parts_make(&parts, s, g->sizes, g->bytes, g->unit,
                      direct ? -1 : s->node);
        all = direct ? recv : sw_temporary(parts.units * g->unit);
    }
    if (gate->is_gate)
        collect(g, NULL, 0, all, &parts, type_of(g));
    if (gate->gate != gate->root)
        note(g, sw_gate_hand(s, gate->gate, gate->root, all, all,
                             has ? parts.units * g->unit : 0));
    for (int k = 0; k < s->nodes && gate->is_root && !direct; k++)
        if (k != s->node)
            note(g, sw_parcel_place(
                        s, k, all + (size_t)parts.at[k] * g->unit,
                        g->sizes ? g->sizes + s->first[k] : NULL, g->bytes,
                        recv, blocks));
    if (!direct)
        sw_temporary_free(all);
    sw_temporary_free(g->sizes);
}

static int gather(sw_span_t *s, bool equal, int root, const sw_data_t *send,
                  size_t bytes, void *recv, const sw_blocks_t *blocks)
{
    gather_t g = {.s = s, .gate = sw_gate(s, root), .equal = equal,
                  .bytes = bytes, .unit = equal ? 1 : SW_LINE};
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
