/*
 * neighbours.c - neighbourhood collectives over random graphs: with several
 * edges between two members, edges from a member to itself, and edges that lead
 * nowhere. Members run ahead of those that they do not meet. Other collectives
 * come in between.
 */
#include "scattered.h"

#define EDGES_MAX 40        /* of a member, in either direction            */
#define DRAWN_MAX 200       /* in a graph                                  */

typedef struct {
    int from, to;
    int out, in;            /* their places in the lists of both           */
} edge_t;

/* A graph that every member knows whole. */
typedef struct {
    edge_t edge[DRAWN_MAX];
    int n;
    sw_neighbours_t mine;
    int out[EDGES_MAX], in[EDGES_MAX], reader[EDGES_MAX], index[EDGES_MAX];
} graph_t;

/* An edge from SW_NOBODY, or to it, keeps a place in the other's list. */
static void draw_graph(member_t *m, graph_t *all)
{
    int outs[64] = {0}, ins[64] = {0};
    int n = below(&m->common, 4 * m->n < DRAWN_MAX ? 4 * m->n : DRAWN_MAX);
    all->n = 0;
    for (int i = 0; i < n; i++) {
        edge_t e = {below(&m->common, m->n), below(&m->common, m->n), 0, 0};
        int kind = below(&m->common, 8);
        if (kind == 0)
            e.to = e.from;
        if (kind == 1)
            e.to = SW_NOBODY;
        if (kind == 2)
            e.from = SW_NOBODY;
        if ((e.from >= 0 && outs[e.from] == EDGES_MAX) ||
            (e.to >= 0 && ins[e.to] == EDGES_MAX))
            continue;
        e.out = e.from >= 0 ? outs[e.from]++ : 0;
        e.in = e.to >= 0 ? ins[e.to]++ : 0;
        all->edge[all->n++] = e;
    }
    all->mine = (sw_neighbours_t){.outs = outs[m->me], .ins = ins[m->me],
                                  .out = all->out, .in = all->in,
                                  .reader = all->reader};
    for (int i = 0; i < all->n; i++) {
        const edge_t *e = &all->edge[i];
        if (e->from == m->me)
            all->out[e->out] = e->to;
        if (e->to == m->me) {
            all->in[e->in] = e->from;
            all->index[e->in] = e->out;
        }
    }
    sw_neighbours_sort(&all->mine, m->me);
    m->ring->neighbours = &all->mine;
}

typedef struct {
    char *recv;
    sw_blocks_t blocks;
    sw_extent_t list[EDGES_MAX];
    sw_data_t data[EDGES_MAX];
} recv_t;

/* The size of a block, known to all. */
static size_t size_of(uint64_t round, int from, int out, size_t most)
{
    uint64_t x = key_of(round, from, out + 100);
    return x % 4 == 0 ? 0 : (size_t)(x >> 8) % (most + 1);
}

static size_t lay_out(member_t *m, sw_extent_t *list, int n, int gap)
{
    size_t at = 0;
    for (int i = n - 1; i >= 0; i--) {
        at += (size_t)below(&m->own, gap);
        list[i].offset = (int64_t)at;
        at += list[i].bytes;
    }
    return at;
}

/* What comes on the edges, with the room for it. */
static void expect(member_t *m, const graph_t *all, recv_t *to, uint64_t round,
                   size_t bytes, bool equal, bool gather)
{
    for (int i = 0; i < all->mine.ins; i++) {
        size_t size = equal ? bytes
                      : size_of(round, all->in[i], gather ? 0 : all->index[i],
                                bytes);
        to->list[i].bytes = all->in[i] == SW_NOBODY ? 0 : size;
    }
    to->recv = NULL;
    to->blocks = (sw_blocks_t){.list = to->list};
    if (below(&m->own, 2)) {
        take_blocks(m, to->list, to->data, all->mine.ins);
        to->blocks.data = to->data;
    } else {
        to->recv = take_buffer(m, lay_out(m, to->list, all->mine.ins, 30));
    }
}

static void check(member_t *m, const graph_t *all, const recv_t *to,
                  uint64_t round, bool gather)
{
    for (int i = 0; i < all->mine.ins; i++) {
        sw_data_t block = sw_block_data(&to->blocks, to->recv, i);
        expect_there(m, &block, to->list[i].bytes,
                     key_of(round, all->in[i], gather ? 0 : all->index[i]),
                     gather ? "neighbours' allgather"
                            : "neighbours' alltoall");
    }
}

static void alltoall(member_t *m, const graph_t *all, uint64_t round,
                     size_t bytes, bool equal)
{
    recv_t to;
    sw_extent_t list[EDGES_MAX];
    int outs = all->mine.outs;
    for (int i = 0; i < outs; i++) {
        list[i].bytes = equal ? bytes : size_of(round, m->me, i, bytes);
        list[i].offset = (int64_t)((size_t)i * bytes);
    }
    sw_blocks_t sends = {.bytes = bytes};
    sw_data_t data[EDGES_MAX];
    if (!equal || below(&m->own, 2)) {
        sends.list = list;
        lay_out(m, list, outs, below(&m->own, 3) ? 30 : 5000);
    }
    char *send = NULL;
    if (below(&m->own, 2)) {
        take_blocks(m, list, data, outs);
        sends.data = data;
    } else {
        send = take_buffer(m, (bytes + 5000) * (size_t)outs);
    }
    for (int i = 0; i < outs; i++) {
        sw_data_t block = sw_block_data(&sends, send, i);
        fill_data(&block, list[i].bytes, key_of(round, m->me, i));
    }
    expect(m, all, &to, round, bytes, equal, false);
    expect_ok(m, sw_coll_neighbor_alltoall(m->ring, send, &sends, all->index,
                                           to.recv, &to.blocks));
    check(m, all, &to, round, false);
}

static void allgather(member_t *m, const graph_t *all, uint64_t round,
                      size_t bytes, bool equal)
{
    recv_t to;
    size_t mine = equal ? bytes : size_of(round, m->me, 0, bytes);
    sw_data_t send = take_data(m, mine);
    fill_data(&send, mine, key_of(round, m->me, 0));
    expect(m, all, &to, round, bytes, equal, true);
    expect_ok(m, sw_coll_neighbor_allgather(m->ring, &send, mine, to.recv,
                                            &to.blocks));
    check(m, all, &to, round, true);
}

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 100 : 300);
    graph_t all;
    for (int round = 0; round < count; round++) {
        uint64_t r = (uint64_t)round;
        if (round % 75 == 0) {
            /* No member reads an entry of the old graph any more. */
            expect_ok(m, sw_coll_barrier(m->ring));
            draw_graph(m, &all);
        }
        size_t bytes = pick_size(m, 4);
        bool equal = below(&m->common, 2);
        int what = below(&m->common, 10);
        if (m->n > 9 && bytes > 4000)
            bytes = 4000;
        dawdle(m);
        if (what == 0)
            expect_ok(m, sw_coll_barrier(m->ring));
        else if (what < 4)
            allgather(m, &all, r, bytes, equal);
        else
            alltoall(m, &all, r, bytes, equal);
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
