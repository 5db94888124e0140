/*
 * alltoall.c - Alltoall, Alltoallv and Alltoallw over several nodes.
 *
 * Within a node the members exchange their blocks as ever. What goes to other
 * nodes passes the leaders. Each member gives its leader a *box*: its blocks
 * for the others' members, by node. The leaders exchange one message for each
 * pair of nodes, and each deals out what came. So N nodes send N² messages, and
 * not as many as there are pairs of ranks.
 *
 * In the v and w forms no member knows the others' sizes, nor how large the
 * whole is. Each gives its leader its sizes first, in a *slot* with its box
 * where that is small. The leaders exchange letters (manifest.h) with the
 * sizes, and with the blocks where all of a node's boxes are small. Then all
 * leaders know how large the largest member's part is. They choose the way by
 * that, and tell their teams. So one message for each pair of nodes is enough
 * where all is small.
 */
#include "manifest.h"

#include "node/temporary.h"

/* A member's boxes, as its leader has them side by side. */
typedef struct {
    sw_extent_t *list; /* [here] */
    char *data;
} boxes_t;

typedef struct {
    sw_sizes_t sizes;
    const void *send;
    const sw_blocks_t *sends;
    void *recv;
    const sw_blocks_t *recvs;
    size_t leaving, arriving; /* bytes of this member's boxes */
    int rc;
} alltoall_t;

static void note(alltoall_t *t, int status)
{
    t->rc = sw_await_first_bad(t->rc, status);
}

/* This member's box. */
static void pack_box(const alltoall_t *t, char *to)
{
    const sw_span_t *s = t->sizes.s;
    for (int k = 0; k < s->nodes; k++)
        if (k != s->node)
            to += sw_bundle_fill(s, k, t->send, t->sends, to);
}

static void unpack_box(alltoall_t *t, const char *from)
{
    const sw_span_t *s = t->sizes.s;
    for (int k = 0; k < s->nodes; k++) {
        if (k == s->node)
            continue;
        const uint64_t *in = t->sizes.in;
        note(t, sw_bundle_place(s, k, from, in ? in + s->first[k] : NULL,
                                t->sizes.bytes, t->recv, t->recvs));
        from += sw_sizes_to(&t->sizes, in, k);
    }
}

/* Lists the boxes of this node's members, by a table of their sizes. */
static size_t list_boxes(const alltoall_t *t, const sw_table_t *table,
                         sw_extent_t *list)
{
    size_t at = 0;
    for (int i = 0; i < t->sizes.s->here; i++) {
        size_t all = sw_sizes_away(&t->sizes, sw_table_row(table, i));
        list[i] = (sw_extent_t){(int64_t)at, all};
        at += all;
    }
    return at;
}

/* Copies the boxes into the messages, by sender, then by receiver. */
static void load(const alltoall_t *t, const sw_table_t *out,
                 const boxes_t *boxes, const sw_parts_t *parts, char *message)
{
    const sw_span_t *s = t->sizes.s;
    SW_ARRAY(const char *, from, s->here);
    for (int i = 0; i < s->here; i++)
        from[i] = boxes->data + boxes->list[i].offset;
    for (int k = 0; k < s->nodes; k++) {
        char *to = message + parts->at[k];
        for (int i = 0; i < s->here && k != s->node; i++) {
            size_t bytes = sw_sizes_to(&t->sizes, sw_table_row(out, i), k);
            sw_copy(to, from[i], bytes);
            from[i] += bytes;
            to += bytes;
        }
    }
}

/* Copies a node's message into the boxes of its receivers. `to`: [here],
 * where each box is to go on. */
static void unload(const alltoall_t *t, const sw_table_t *in, int node,
                   const char *message, char **to)
{
    const sw_span_t *s = t->sizes.s;
    for (int sender = s->first[node]; sender < s->first[node + 1]; sender++)
        for (int i = 0; i < s->here; i++) {
            const uint64_t *row = sw_table_row(in, i);
            size_t bytes = row ? row[sender] : t->sizes.bytes;
            sw_copy(to[i], message, bytes);
            to[i] += bytes;
            message += bytes;
        }
}

/* Frames of their own: the deepest chain of calls passes here, and what one
 * needs on its stack the other does not. */
#define APART __attribute__((noinline))
#define FEW 4

/* The leader exchanges messages with the others, but for the blocks that came
 * in letters, and makes the boxes of what came. */
static APART void carry(alltoall_t *t, sw_manifest_t *m, const boxes_t *out,
                        boxes_t *in)
{
    sw_span_t *s = t->sizes.s;
    sw_mail_t mail = {.s = s};
    SW_PARTS(outs, s->nodes);
    SW_PARTS(ins, s->nodes);
    SW_ARRAY(char *, to, s->here);
    sw_manifest_parts(&t->sizes, &m->out, &outs);
    sw_manifest_parts(&t->sizes, &m->in, &ins);
    char *came = sw_temporary(ins.all);
    char *sent = m->small ? NULL : sw_temporary(outs.all);
    for (int k = 0; k < s->nodes; k++)
        if (k != s->node && !(m->blocks && m->blocks[k]))
            sw_mail_receive(&mail, k, came + ins.at[k], ins.bytes[k]);
    if (sent)
        load(t, &m->out, out, &outs, sent);
    for (int k = 0; k < s->nodes && sent; k++)
        if (k != s->node)
            sw_mail_send(&mail, k, sent + outs.at[k], outs.bytes[k]);
    note(t, sw_mail_finish(&mail));
    in->data = sw_temporary(list_boxes(t, &m->in, in->list));
    for (int i = 0; i < s->here; i++)
        to[i] = in->data + in->list[i].offset;
    for (int k = 0; k < s->nodes; k++)
        if (k != s->node)
            unload(t, &m->in, k,
                   m->blocks && m->blocks[k] ? m->blocks[k] : came + ins.at[k],
                   to);
    sw_temporary_free(sent);
    sw_temporary_free(came);
}

/* The members give their boxes to the leader, which lists them. */
static void collect_boxes(alltoall_t *t, const sw_manifest_t *m, boxes_t *out)
{
    sw_span_t *s = t->sizes.s;
    char *box = sw_temporary(t->leaving);
    sw_data_t data = sw_data_plain(box);
    pack_box(t, box);
    if (s->mine == 0)
        out->data = sw_temporary(list_boxes(t, &m->out, out->list));
    note(t, sw_coll_gatherv(s->sequence, 0, &data, t->leaving, out->data,
                            &(sw_blocks_t){.list = out->list}));
    sw_temporary_free(box);
}

static void deal_boxes(alltoall_t *t, const boxes_t *in)
{
    sw_span_t *s = t->sizes.s;
    char *box = sw_temporary(t->arriving);
    sw_data_t data = sw_data_plain(box);
    note(t,
         sw_coll_scatter(s->sequence, 0, in->data,
                         &(sw_blocks_t){.list = in->list}, &data, t->arriving));
    unpack_box(t, box);
    sw_temporary_free(box);
}

/* Within the node. */
static APART void stay(alltoall_t *t)
{
    sw_span_t *s = t->sizes.s;
    SW_ARRAY_OF(sw_extent_t, out, FEW, s->here);
    SW_ARRAY_OF(sw_extent_t, in, FEW, s->here);
    SW_ARRAY_OF(sw_data_t, from, FEW, s->here);
    SW_ARRAY_OF(sw_data_t, to, FEW, s->here);
    sw_blocks_t sends = sw_bundle_near(s, t->sends, out, from);
    sw_blocks_t recvs = sw_bundle_near(s, t->recvs, in, to);
    note(t, sw_coll_alltoall(s->sequence, t->send, &sends, t->recv, &recvs));
}

static APART void travel(alltoall_t *t, sw_manifest_t *m)
{
    sw_span_t *s = t->sizes.s;
    SW_ARRAY(sw_extent_t, out_list, s->here);
    SW_ARRAY(sw_extent_t, in_list, s->here);
    boxes_t out = {.list = out_list}, in = {.list = in_list};
    if (!m->small)
        collect_boxes(t, m, &out);
    if (s->mine == 0)
        carry(t, m, &out, &in);
    deal_boxes(t, &in);
    sw_temporary_free(out.data);
    sw_temporary_free(in.data);
}

int sw_span_alltoall(sw_span_t *s, const void *send, const sw_blocks_t *sends,
                     void *recv, const sw_blocks_t *recvs)
{
    alltoall_t t = {.sizes = {.s = s, .bytes = sends->bytes},
                    .send = send,
                    .sends = sends,
                    .recv = recv,
                    .recvs = recvs};
    sw_manifest_t none = {.small = false};
    t.leaving = t.arriving = sw_sizes_away(&t.sizes, NULL);
    travel(&t, &none);
    stay(&t);
    return t.rc;
}

int sw_span_alltoallv(sw_span_t *s, sw_collective_t id, const void *send,
                      const sw_blocks_t *sends, void *recv,
                      const sw_blocks_t *recvs)
{
    SW_ARRAY(uint64_t, out, s->n);
    SW_ARRAY(uint64_t, in, s->n);
    for (int i = 0; i < s->n; i++) {
        out[i] = sw_block(sends, s->rank[i]).bytes;
        in[i] = sw_block(recvs, s->rank[i]).bytes;
    }
    alltoall_t t = {.sizes = {.s = s, .out = out, .in = in},
                    .send = send,
                    .sends = sends,
                    .recv = recv,
                    .recvs = recvs};
    sw_manifest_t m = {.small = false};
    t.leaving = sw_sizes_away(&t.sizes, out);
    t.arriving = sw_sizes_away(&t.sizes, in);
    char *slot = sw_manifest_slot(&t.sizes, t.leaving);
    if (t.leaving <= SW_SLOT_SMALL)
        pack_box(&t, slot + sw_manifest_head(s));
    t.rc = sw_manifest_agree(&m, &t.sizes, id, slot);
    if (m.way != SW_WAY_HOST) {
        travel(&t, &m);
        stay(&t);
    }
    sw_manifest_end(&m, s);
    sw_temporary_free(slot);
    return m.way == SW_WAY_HOST ? SW_SPAN_DECLINED : t.rc;
}
