/*
 * alltoall.c - every member has the block that each of the others sent to it.
 * Each side describes its own blocks: equal ones may meet a list on the other
 * side, and members' blocks differ in size.
 */
#include "scattered.h"

/* The size of what `from` sends to `to`, known to all. */
static size_t size_of(uint64_t round, int from, int to, size_t most)
{
    uint64_t x = key_of(round, from, to);
    return x % 4 == 0 ? 0 : (size_t)(x >> 8) % (most + 1);
}

/* Lays n blocks out with gaps, from the last to the first. */
static size_t lay_out(member_t *m, sw_extent_t *list, int gap)
{
    size_t at = 0;
    for (int i = m->n - 1; i >= 0; i--) {
        at += (size_t)below(&m->own, gap);
        list[i].offset = (int64_t)at;
        at += list[i].bytes;
    }
    return at;
}

/* Blocks far apart, with memory between them that cannot be touched. */
static void holes(member_t *m)
{
    static const size_t sizes[] = {100, 9000, 18000, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t bytes = sizes[s], page = 4096;
        size_t stride = (bytes + 2 * page - 1) / page * page;
        size_t all = stride * (size_t)m->n;
        char *send = mmap(NULL, all, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char *recv = take_buffer(m, bytes * (size_t)m->n);
        sw_extent_t out[64];
        if (send == MAP_FAILED)
            fail(m, "mmap");
        for (int i = 0; i < m->n; i++) {
            out[i] = (sw_extent_t){(int64_t)(stride * (size_t)i), bytes};
            fill(send + out[i].offset, bytes, key_of(s, m->me, i));
            if (mprotect(send + out[i].offset + stride - page, page, PROT_NONE))
                fail(m, "mprotect");
        }
        sw_blocks_t sends = {.list = out}, recvs = {.bytes = bytes};
        expect_ok(m, sw_coll_alltoall(m->seq, send, &sends, recv, &recvs));
        for (int i = 0; i < m->n; i++)
            expect_data(m, recv + bytes * (size_t)i, bytes, key_of(s, i, m->me),
                        "alltoall with holes");
        release_buffers(m);
        munmap(send, all);
    }
}

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 20 : 60);
    holes(m);
    for (int round = 0; round < count; round++) {
        sw_extent_t out[64], in[64];
        uint64_t r = (uint64_t)round;
        bool equal = below(&m->common, 2);
        size_t bytes = pick_size(m, m->n - 1);
        int gap = below(&m->own, 3) ? 30 : 5000;
        for (int i = 0; i < m->n; i++) {
            out[i].bytes = equal ? bytes : size_of(r, m->me, i, 2 * bytes);
            in[i].bytes = equal ? bytes : size_of(r, i, m->me, 2 * bytes);
        }
        sw_blocks_t sends = {.bytes = bytes}, recvs = sends;
        sw_data_t out_data[64], in_data[64];
        size_t send_size = bytes * (size_t)m->n, recv_size = send_size;
        if (!equal || below(&m->own, 2)) {
            sends.list = out;
            send_size = lay_out(m, out, gap);
        }
        if (!equal || below(&m->own, 2)) {
            recvs.list = in;
            recv_size = lay_out(m, in, gap);
        }
        dawdle(m);
        char *send = NULL, *recv = NULL;
        if (below(&m->own, 2)) {
            take_blocks(m, out, out_data, m->n);
            sends.data = out_data;
        } else {
            send = take_buffer(m, send_size);
        }
        if (below(&m->own, 2)) {
            take_blocks(m, in, in_data, m->n);
            recvs.data = in_data;
        } else {
            recv = take_buffer(m, recv_size);
        }
        for (int i = 0; i < m->n; i++) {
            sw_data_t block = sw_block_data(&sends, send, i);
            fill_data(&block, out[i].bytes, key_of(r, m->me, i));
        }
        expect_ok(m, sw_coll_alltoall(m->seq, send, &sends, recv, &recvs));
        for (int i = 0; i < m->n; i++) {
            sw_data_t block = sw_block_data(&recvs, recv, i);
            expect_there(m, &block, in[i].bytes, key_of(r, i, m->me),
                         "alltoall");
        }
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
