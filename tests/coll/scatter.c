/*
 * scatter.c - every member has its block of the root's after a Scatter or
 * Scatterv, in place or not; offsets may be negative and blocks may have gaps
 * between them, or overlap.
 */
#include "scattered.h"

static void scatter(member_t *m, int round)
{
    size_t bytes = pick_size(m, m->n - 1);
    int root = below(&m->common, m->n);
    bool in_place = m->me == root && below(&m->common, 2);
    if (m->me != root)
        below(&m->common, 2);
    sw_blocks_t blocks = {.bytes = bytes};
    sw_extent_t list[64];
    sw_data_t data[64], recv = {.at = NULL};
    char *send = NULL;
    if (!in_place)
        recv = take_data(m, bytes);
    if (m->me == root) {
        for (int i = 0; i < m->n; i++)
            list[i] = (sw_extent_t){0, bytes};
        if (below(&m->own, 2)) {
            take_blocks(m, list, data, m->n);
            blocks.data = data;
        } else {
            send = take_buffer(m, bytes * (size_t)m->n);
        }
        for (int i = 0; i < m->n; i++) {
            sw_data_t block = sw_block_data(&blocks, send, i);
            fill_data(&block, bytes, key_of((uint64_t)round, root, i));
        }
    }
    expect_ok(m, sw_coll_scatter(m->seq, root, send, &blocks,
                                 in_place ? NULL : &recv, bytes));
    if (!in_place)
        expect_there(m, &recv, bytes, key_of((uint64_t)round, root, m->me),
                     "scatter");
}

static void scatterv(member_t *m, int round)
{
    sw_extent_t list[64];
    int root = below(&m->common, m->n);
    bool share = below(&m->common, 4) == 0;
    bool wide = below(&m->common, 4) == 0;
    size_t at = 0, all = pick_size(m, 1);
    for (int i = m->n - 1; i >= 0; i--) {
        at += wide ? draw(&m->common) % 9000 : draw(&m->common) % 40;
        list[i].offset = share ? 0 : (int64_t)at;
        list[i].bytes = share                  ? all
                        : below(&m->common, 3) ? pick_size(m, m->n)
                                               : 0;
        at += list[i].bytes;
    }
    size_t mine = list[m->me].bytes;
    sw_blocks_t blocks = {.list = list};
    sw_data_t recv = take_data(m, mine), data[64];
    char *send = NULL;
    if (m->me == root && below(&m->own, 2)) {
        take_blocks(m, list, data, m->n);
        blocks.data = data;
        for (int i = 0; i < m->n; i++)
            fill_data(&data[i], list[i].bytes,
                      key_of((uint64_t)round, root, share ? 0 : i));
    } else if (m->me == root) {
        send = take_buffer(m, share ? all : at);
        for (int i = 0; i < m->n; i++)
            fill(send + list[i].offset, list[i].bytes,
                 key_of((uint64_t)round, root, share ? 0 : i));
        /* Described from the middle: offsets of both signs. */
        size_t middle = at / 2;
        for (int i = 0; i < m->n; i++)
            list[i].offset -= (int64_t)middle;
        send += middle;
    }
    expect_ok(m, sw_coll_scatter(m->seq, root, send, &blocks, &recv, mine));
    expect_there(m, &recv, mine,
                 key_of((uint64_t)round, root, share ? 0 : m->me), "scatterv");
}

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 30 : 60);
    for (int round = 0; round < count; round++) {
        dawdle(m);
        if (below(&m->common, 2))
            scatter(m, round);
        else
            scatterv(m, round);
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
