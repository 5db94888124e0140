/*
 * neighbours.c - neighbourhood collectives over random graphs: with several
 * edges between two members, edges from a member to itself, and edges that lead
 * nowhere. Members run ahead of those that they do not meet. Other collectives
 * come in between.
 */
#include "graph.h"

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
    expect_ok(m, sw_coll_neighbor_alltoall(m->seq, send, &sends, all->index,
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
    expect_ok(m, sw_coll_neighbor_allgather(m->seq, &send, mine, to.recv,
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
            expect_ok(m, sw_coll_barrier(m->seq));
            draw_graph(m, &all, 4 * m->n);
        }
        size_t bytes = pick_size(m, 4);
        bool equal = below(&m->common, 2);
        int what = below(&m->common, 10);
        if (m->n > 9 && bytes > 4000)
            bytes = 4000;
        dawdle(m);
        if (what == 0)
            expect_ok(m, sw_coll_barrier(m->seq));
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
