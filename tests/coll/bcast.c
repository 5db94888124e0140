/*
 * bcast.c - every member has the root's bytes after a broadcast, whatever the
 * size, the root and the place of the buffers. A barrier holds all members
 * until the last has come.
 */
#include "scattered.h"

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 40 : 80);
    for (int round = 0; round < count; round++) {
        size_t bytes = pick_size(m, 1);
        int root = below(&m->common, m->n);
        uint64_t key = key_of((uint64_t)round, root, 0);
        sw_data_t p = take_data(m, bytes);
        if (m->me == root)
            fill_data(&p, bytes, key);
        dawdle(m);
        expect_ok(m, sw_coll_bcast(m->seq, root, &p, bytes));
        expect_there(m, &p, bytes, key, "bcast");
        release_buffers(m);
        if (below(&m->common, 4) == 0)
            expect_ok(m, sw_coll_barrier(m->seq));
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
