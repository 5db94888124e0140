/*
 * alltoall.c - Alltoall, Alltoallv and Alltoallw over several nodes.
 *
 * Within a node the members exchange their blocks as ever. What goes to other
 * nodes passes the leaders: each member gives its leader the blocks for the
 * others' members, by node; the leaders exchange one message for each pair of
 * nodes; each leader deals out what came. So N nodes send N² messages, and not
 * as many as pairs of ranks. In the v and w forms the sizes take the same road
 * first.
 */
#include "parcel.h"

#include "node/temporary.h"

#include <string.h>

typedef struct {
    sw_span_t *s;
    size_t bytes;               /* of a block, where `out` is NULL          */
    const uint64_t *out, *in;   /* [n] of this member's blocks, by node     */
    int rc;
} alltoall_t;

static void note(alltoall_t *t, int status)
{
    t->rc = sw_first_bad(t->rc, status);
}

/* The bytes of a node's blocks. */
static size_t sum(const alltoall_t *t, const uint64_t *sizes, int node)
{
    const sw_span_t *s = t->s;
    if (!sizes)
        return (size_t)sw_span_members(s, node) * t->bytes;
    size_t all = 0;
    for (int i = s->first[node]; i < s->first[node + 1]; i++)
        all += sizes[i];
    return all;
}

static size_t sum_all(const alltoall_t *t, const uint64_t *sizes)
{
    size_t all = 0;
    for (int k = 0; k < t->s->nodes; k++)
        all += k == t->s->node ? 0 : sum(t, sizes, k);
    return all;
}

/* What a leader knows of its node's members' blocks: `table` has n sizes for
 * each of them, by node; NULL: all are equal. */
typedef struct {
    const uint64_t *table;
    sw_extent_t *list;          /* [here] the members' boxes, side by side  */
    char *data;
} boxes_t;

static const uint64_t *row(const alltoall_t *t, const uint64_t *table, int i)
{
    return table ? table + (size_t)i * (size_t)t->s->n : NULL;
}

static size_t make_boxes(const alltoall_t *t, boxes_t *b)
{
    size_t at = 0;
    for (int i = 0; i < t->s->here; i++) {
        size_t all = sum_all(t, row(t, b->table, i));
        b->list[i] = (sw_extent_t){(int64_t)at, all};
        at += all;
    }
    b->data = sw_temporary(at);
    return at;
}

/* The parts of a message buffer, a node each, for the blocks of a table. */
static void make_parts(const alltoall_t *t, const uint64_t *table,
                       sw_parts_t *parts)
{
    const sw_span_t *s = t->s;
    parts->units = 0;
    for (int k = 0; k < s->nodes; k++) {
        size_t all = 0;
        for (int i = 0; i < s->here && k != s->node; i++)
            all += sum(t, row(t, table, i), k);
        parts->at[k] = (int)parts->units;
        parts->count[k] = (int)((all + SW_LINE - 1) / SW_LINE);
        parts->units += (size_t)parts->count[k];
    }
}

/* Copies between the members' boxes and the message buffer. In the buffer a
 * node's part is ordered by sender, then by receiver. A box lists blocks by
 * node, then by number, so that what one member sends to a node is one piece
 * and what it receives from there is one for each sender. */
static void send_off(const alltoall_t *t, const boxes_t *b, char *buffer,
                     const sw_parts_t *parts)
{
    const sw_span_t *s = t->s;
    for (int i = 0; i < s->here; i++) {
        const char *from = b->data + b->list[i].offset;
        for (int k = 0; k < s->nodes; k++) {
            if (k == s->node)
                continue;
            char *to = buffer + (size_t)parts->at[k] * SW_LINE;
            for (int before = 0; before < i; before++)
                to += sum(t, row(t, b->table, before), k);
            size_t bytes = sum(t, row(t, b->table, i), k);
            sw_copy(to, from, bytes);
            from += bytes;
        }
    }
}

static void bring_in(const alltoall_t *t, const boxes_t *b, const char *buffer,
                     const sw_parts_t *parts)
{
    const sw_span_t *s = t->s;
    SW_ARRAY(char *, to, s->here);
    for (int i = 0; i < s->here; i++)
        to[i] = b->data + b->list[i].offset;
    for (int k = 0; k < s->nodes; k++) {
        if (k == s->node)
            continue;
        const char *from = buffer + (size_t)parts->at[k] * SW_LINE;
        for (int sender = s->first[k]; sender < s->first[k + 1]; sender++)
            for (int i = 0; i < s->here; i++) {
                size_t bytes =
                    b->table ? row(t, b->table, i)[sender] : t->bytes;
                sw_copy(to[i], from, bytes);
                to[i] += bytes;
                from += bytes;
            }
    }
}

static void exchange(alltoall_t *t, const void *out, const sw_parts_t *outs,
                     void *in, const sw_parts_t *ins, MPI_Datatype type)
{
    MPI_Request request;
    int code = host.Ialltoallv(out, outs->count, outs->at, type, in,
                               ins->count, ins->at, type, t->s->lane,
                               &request);
    note(t, sw_span_await(t->s, &request, code));
}

/* The leaders tell each other the sizes. out[i][j]: of what my member i sends
 * to j; in[i][j]: of what it receives from j. */
static void exchange_sizes(alltoall_t *t, const uint64_t *out, uint64_t *in)
{
    const sw_span_t *s = t->s;
    size_t here = (size_t)s->here, n = (size_t)s->n;
    uint64_t *message = sw_temporary(2 * here * n * sizeof *message);
    uint64_t *answer = message + here * n, *at = message;
    SW_PARTS(parts, s->nodes);
    sw_parts_make(&parts, s, NULL, here * sizeof *message, 1, -1);
    for (int k = 0; k < s->nodes; k++)
        for (int i = 0; i < s->here; i++)
            for (int j = s->first[k]; j < s->first[k + 1]; j++)
                *at++ = row(t, out, i)[j];
    exchange(t, message, &parts, answer, &parts, MPI_BYTE);
    at = answer;
    for (int j = 0; j < s->n; j++)
        for (size_t i = 0; i < here; i++)
            in[i * n + (size_t)j] = *at++;
    sw_temporary_free(message);
}

/* The leader's part of it all. */
static void carry(alltoall_t *t, boxes_t *out, boxes_t *in)
{
    SW_PARTS(outs, t->s->nodes);
    SW_PARTS(ins, t->s->nodes);
    make_parts(t, out->table, &outs);
    make_parts(t, in->table, &ins);
    char *sent = sw_temporary(outs.units * SW_LINE);
    char *came = sw_temporary(ins.units * SW_LINE);
    send_off(t, out, sent, &outs);
    exchange(t, sent, &outs, came, &ins, sw_parcel_line());
    make_boxes(t, in);
    bring_in(t, in, came, &ins);
    sw_temporary_free(sent);
    sw_temporary_free(came);
}

/* Between the nodes. */
static void travel(alltoall_t *t, const void *send, const sw_blocks_t *sends,
                   void *recv, const sw_blocks_t *recvs)
{
    sw_span_t *s = t->s;
    bool leads = s->mine == 0, equal = !t->out;
    size_t sizes = (size_t)s->n * sizeof(uint64_t);
    SW_ARRAY(sw_extent_t, out_list, s->here);
    SW_ARRAY(sw_extent_t, in_list, s->here);
    boxes_t out = {.list = out_list}, in = {.list = in_list};
    uint64_t *tables = NULL, *coming = NULL;
    size_t table = (size_t)s->here * sizes;
    sw_blocks_t rows = {.bytes = sizes};
    if (!equal) {
        sw_data_t mine = sw_data_plain(t->out);
        tables = leads ? sw_temporary(2 * table) : NULL;
        note(t, sw_coll_gather(s->ring, 0, &mine, sizes, tables, &rows));
        coming = tables ? tables + table / sizeof *tables : NULL;
        if (leads)
            exchange_sizes(t, tables, coming);
        sw_data_t to = sw_data_plain(t->in);
        note(t, sw_coll_scatter(s->ring, 0, coming, &rows, &to, sizes));
    }
    size_t leaving = sum_all(t, t->out), arriving = sum_all(t, t->in), at = 0;
    char *box = sw_temporary(leaving);
    for (int k = 0; k < s->nodes; k++)
        if (k != s->node)
            at += sw_parcel_fill(s, k, send, sends, box + at);
    if (leads) {
        out.table = tables;
        in.table = coming;
        make_boxes(t, &out);
    }
    sw_data_t data = sw_data_plain(box);
    note(t, sw_coll_gatherv(s->ring, 0, &data, leaving, out.data,
                            &(sw_blocks_t){.list = out.list}));
    sw_temporary_free(box);
    if (leads)
        carry(t, &out, &in);
    box = sw_temporary(arriving);
    data = sw_data_plain(box);
    note(t, sw_coll_scatter(s->ring, 0, in.data,
                            &(sw_blocks_t){.list = in.list}, &data, arriving));
    at = 0;
    for (int k = 0; k < s->nodes; k++) {
        if (k == s->node)
            continue;
        note(t, sw_parcel_place(s, k, box + at,
                                t->in ? t->in + s->first[k] : NULL, t->bytes,
                                recv, recvs));
        at += sum(t, t->in, k);
    }
    sw_temporary_free(box);
    sw_temporary_free(out.data);
    sw_temporary_free(in.data);
    sw_temporary_free(tables);
}

/* Within the node. */
static void stay(alltoall_t *t, const void *send, const sw_blocks_t *sends,
                 void *recv, const sw_blocks_t *recvs)
{
    sw_span_t *s = t->s;
    SW_ARRAY(sw_extent_t, out, s->here);
    SW_ARRAY(sw_extent_t, in, s->here);
    SW_ARRAY(sw_data_t, from, s->here);
    SW_ARRAY(sw_data_t, to, s->here);
    sw_blocks_t near_sends = sw_parcel_near(s, sends, out, from);
    sw_blocks_t near_recvs = sw_parcel_near(s, recvs, in, to);
    note(t, sw_coll_alltoall(s->ring, send, &near_sends, recv, &near_recvs));
}

int sw_span_alltoall(sw_span_t *s, const void *send, const sw_blocks_t *sends,
                     void *recv, const sw_blocks_t *recvs)
{
    alltoall_t t = {.s = s, .bytes = sends->bytes};
    travel(&t, send, sends, recv, recvs);
    stay(&t, send, sends, recv, recvs);
    return t.rc;
}

int sw_span_alltoallv(sw_span_t *s, const void *send, const sw_blocks_t *sends,
                      void *recv, const sw_blocks_t *recvs)
{
    SW_ARRAY(uint64_t, out, s->n);
    SW_ARRAY(uint64_t, in, s->n);
    for (int i = 0; i < s->n; i++)
        out[i] = sw_block(sends, s->rank[i]).bytes;
    alltoall_t t = {.s = s, .out = out, .in = in};
    travel(&t, send, sends, recv, recvs);
    stay(&t, send, sends, recv, recvs);
    return t.rc;
}
