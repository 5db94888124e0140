/*
 * scatter.c - every member has its block of the root's after a Scatter or
 * Scatterv, in place or not; offsets may be negative and blocks may have gaps
 * between them, or overlap.
 */
#include "everywhere.h"

static void scatter(member_t *m, int round)
{
    size_t bytes = pick_size(m, m->n - 1);
    int root = below(&m->common, m->n);
    bool in_place = m->me == root && below(&m->common, 2);
    if (m->me != root)
        below(&m->common, 2);
    sw_blocks_t blocks = {bytes, NULL};
    char *send = NULL, *recv = in_place ? NULL : take_buffer(m, bytes);
    if (m->me == root) {
        send = take_buffer(m, bytes * (size_t)m->n);
        for (int i = 0; i < m->n; i++)
            fill(send + bytes * (size_t)i, bytes,
                 key_of((uint64_t)round, root, i));
    }
    expect_ok(m, sw_coll_scatter(m->g, root, send, &blocks, recv, bytes));
    if (recv)
        expect_data(m, recv, bytes, key_of((uint64_t)round, root, m->me),
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
        list[i].bytes = share ? all
                        : below(&m->common, 3) ? pick_size(m, m->n) : 0;
        at += list[i].bytes;
    }
    size_t mine = list[m->me].bytes;
    char *recv = take_buffer(m, mine), *send = NULL;
    if (m->me == root) {
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
    sw_blocks_t blocks = {0, list};
    expect_ok(m, sw_coll_scatter(m->g, root, send, &blocks, recv, mine));
    expect_data(m, recv, mine,
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
