/*
 * gather.c - the root of a Gather or Gatherv has every member's block in the
 * place that it named, in place or not. Nothing beside the blocks changes.
 */
#include "scattered.h"

static void gather(member_t *m, int round)
{
    size_t bytes = pick_size(m, below(&m->common, 2) ? 1 : m->n);
    int root = below(&m->common, m->n);
    bool in_place = below(&m->common, 2), gaps = below(&m->own, 2);
    sw_extent_t list[64];
    sw_data_t data[64];
    sw_blocks_t blocks = {.bytes = bytes};
    for (int i = 0; i < m->n; i++)
        list[i] = (sw_extent_t){0, bytes};
    char *recv = NULL;
    if (m->me == root && gaps) {
        take_blocks(m, list, data, m->n);
        blocks.data = data;
    } else if (m->me == root) {
        recv = take_buffer(m, bytes * (size_t)m->n);
    }
    sw_data_t send = m->me == root && in_place
                         ? sw_block_data(&blocks, recv, root)
                         : take_data(m, bytes);
    fill_data(&send, bytes, key_of((uint64_t)round, m->me, root));
    expect_ok(m, sw_coll_gather(m->seq, root, &send, bytes, recv, &blocks));
    expect_there(m, &send, bytes, key_of((uint64_t)round, m->me, root), "sent");
    for (int i = 0; m->me == root && i < m->n; i++) {
        sw_data_t block = sw_block_data(&blocks, recv, i);
        expect_there(m, &block, bytes, key_of((uint64_t)round, i, root),
                     "gather");
    }
}

static void gatherv(member_t *m, int round)
{
    sw_extent_t list[64];
    int root = below(&m->common, m->n);
    bool in_place = below(&m->common, 2);
    size_t at = 0;
    for (int k = 0; k < m->n; k++) {
        int i = (k * 7 + root) % m->n;
        if (m->n % 7 == 0)
            i = k;
        at += draw(&m->common) % 40;
        list[i].offset = (int64_t)at;
        list[i].bytes = below(&m->common, 3) ? pick_size(m, m->n) : 0;
        at += list[i].bytes;
    }
    size_t mine = list[m->me].bytes;
    bool gaps = m->me == root && below(&m->own, 2);
    sw_data_t data[64];
    sw_blocks_t blocks = {.list = list};
    if (gaps) {
        take_blocks(m, list, data, m->n);
        blocks.data = data;
    }
    char *recv = m->me == root && !gaps ? take_buffer(m, at) : NULL;
    sw_data_t send = m->me == root && in_place
                         ? sw_block_data(&blocks, recv, root)
                         : take_data(m, mine);
    fill_data(&send, mine, key_of((uint64_t)round, m->me, root));
    expect_ok(m, sw_coll_gatherv(m->seq, root, &send, mine, recv, &blocks));
    for (int i = 0; gaps && i < m->n; i++)
        expect_there(m, &data[i], list[i].bytes,
                     key_of((uint64_t)round, i, root), "gatherv");
    if (!recv)
        return;
    char *end = recv;
    for (int k = 0; k < m->n; k++) {
        int i = m->n % 7 ? (k * 7 + root) % m->n : k;
        for (; end < recv + list[i].offset; end++)
            if (*end != (char)0xa5)
                fail(m, "gatherv: a gap was written");
        expect_data(m, end, list[i].bytes, key_of((uint64_t)round, i, root),
                    "gatherv");
        end += list[i].bytes;
    }
}

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 30 : 60);
    for (int round = 0; round < count; round++) {
        dawdle(m);
        if (below(&m->common, 2))
            gather(m, round);
        else
            gatherv(m, round);
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
