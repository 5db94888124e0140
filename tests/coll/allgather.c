/*
 * allgather.c - every member has every member's block after an Allgather or
 * Allgatherv, in place or not.
 */
#include "everywhere.h"

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 20 : 60);
    for (int round = 0; round < count; round++) {
        sw_extent_t list[64];
        bool listed = below(&m->common, 2), in_place = below(&m->common, 2);
        sw_blocks_t blocks = {pick_size(m, m->n), listed ? list : NULL};
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
        char *recv = take_buffer(m, at);
        char *send = in_place ? recv + own.offset
                              : take_buffer(m, own.bytes);
        fill(send, own.bytes, key_of((uint64_t)round, m->me, 0));
        expect_ok(m, sw_coll_allgather(m->g, send, own.bytes, recv, &blocks));
        for (int i = 0; i < m->n; i++) {
            sw_extent_t b = sw_block(&blocks, i);
            expect_data(m, recv + b.offset, b.bytes,
                        key_of((uint64_t)round, i, 0), "allgather");
        }
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
