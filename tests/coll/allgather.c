/*
 * allgather.c - every member has every member's block after an Allgather or
 * Allgatherv, in place or not.
 */
#include "scattered.h"

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 20 : 60);
    for (int round = 0; round < count; round++) {
        sw_extent_t list[64];
        bool listed = below(&m->common, 2), in_place = below(&m->common, 2);
        sw_blocks_t blocks = {.bytes = pick_size(m, m->n),
                              .list = listed ? list : NULL};
        sw_data_t data[64];
        size_t at = 0;
        for (int i = 0; i < m->n; i++) {
            size_t bytes = below(&m->common, 3) ? pick_size(m, m->n) : 0;
            at += draw(&m->common) % 40;
            list[i] = (sw_extent_t){(int64_t)at, bytes};
            at += bytes;
        }
        if (!listed)
            at = blocks.bytes * (size_t)m->n;
        dawdle(m);
        sw_extent_t own = sw_block(&blocks, m->me);
        char *recv = NULL;
        if (below(&m->own, 2)) {
            for (int i = 0; i < m->n; i++)
                data[i] = take_data(m, sw_block(&blocks, i).bytes);
            blocks.data = data;
        } else {
            recv = take_buffer(m, at);
        }
        sw_data_t send = in_place ? sw_block_data(&blocks, recv, m->me)
                                  : take_data(m, own.bytes);
        fill_data(&send, own.bytes, key_of((uint64_t)round, m->me, 0));
        expect_ok(m,
                  sw_coll_allgather(m->seq, &send, own.bytes, recv, &blocks));
        for (int i = 0; i < m->n; i++) {
            sw_data_t block = sw_block_data(&blocks, recv, i);
            expect_there(m, &block, sw_block(&blocks, i).bytes,
                         key_of((uint64_t)round, i, 0), "allgather");
        }
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
