/*
 * graph.h - what the tests of neighbourhood collectives share: random graphs,
 * with several edges between two members, edges from a member to itself, and
 * edges that lead nowhere. A block's size and bytes follow from its edge.
 */
#ifndef SW_TEST_COLL_GRAPH_H
#define SW_TEST_COLL_GRAPH_H

#include "scattered.h"

#ifndef EDGES_MAX
#define EDGES_MAX 40 /* of a member, in either direction */
#endif
#define DRAWN_MAX (5 * EDGES_MAX) /* in a graph */

typedef struct {
    int from, to;
    int out, in; /* their places in the lists of both */
} edge_t;

/* A graph that every member knows whole. */
typedef struct {
    edge_t edge[DRAWN_MAX];
    int n;
    sw_neighbours_t mine;
    int out[EDGES_MAX], in[EDGES_MAX], reader[EDGES_MAX], index[EDGES_MAX];
} graph_t;

/* Draws fewer than `most` edges. One from SW_NOBODY, or to it, keeps a place in
 * the other's list. */
static inline void draw_graph(member_t *m, graph_t *all, int most)
{
    int outs[64] = {0}, ins[64] = {0};
    int n = below(&m->common, most < DRAWN_MAX ? most : DRAWN_MAX);
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
    all->mine = (sw_neighbours_t){.outs = outs[m->me],
                                  .ins = ins[m->me],
                                  .out = all->out,
                                  .in = all->in,
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
    m->seq->neighbours = &all->mine;
}

typedef struct {
    char *recv;
    sw_blocks_t blocks;
    sw_extent_t list[EDGES_MAX];
    sw_data_t data[EDGES_MAX];
} recv_t;

/* The size of a block, known to all. */
static inline size_t size_of(uint64_t round, int from, int out, size_t most)
{
    uint64_t x = key_of(round, from, out + 100);
    return x % 4 == 0 ? 0 : (size_t)(x >> 8) % (most + 1);
}

static inline size_t lay_out(member_t *m, sw_extent_t *list, int n, int gap)
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
static inline void expect(member_t *m, const graph_t *all, recv_t *to,
                          uint64_t round, size_t bytes, bool equal, bool gather)
{
    for (int i = 0; i < all->mine.ins; i++) {
        size_t size = equal ? bytes
                            : size_of(round, all->in[i],
                                      gather ? 0 : all->index[i], bytes);
        to->list[i].bytes = all->in[i] == SW_NOBODY ? 0 : size;
    }
    to->recv = NULL;
    to->blocks = (sw_blocks_t){.list = to->list};
    if (m->held + all->mine.ins < BUFFERS / 2 && below(&m->own, 2)) {
        take_blocks(m, to->list, to->data, all->mine.ins);
        to->blocks.data = to->data;
    } else {
        to->recv = take_buffer(m, lay_out(m, to->list, all->mine.ins, 30));
    }
}

static inline void check(member_t *m, const graph_t *all, const recv_t *to,
                         uint64_t round, bool gather)
{
    for (int i = 0; i < all->mine.ins; i++) {
        sw_data_t block = sw_block_data(&to->blocks, to->recv, i);
        expect_there(m, &block, to->list[i].bytes,
                     key_of(round, all->in[i], gather ? 0 : all->index[i]),
                     gather ? "neighbours' allgather" : "neighbours' alltoall");
    }
}

#endif
