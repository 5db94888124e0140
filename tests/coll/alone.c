/*
 * alone.c - sequences of one member, as a node with one member of a
 * communicator over several nodes has: every collective gives the member its
 * own data.
 *
 * Blocks come in all sizes, buffers in all places, and `send` may be the
 * member's own block of `recv`.
 */
#include "everywhere.h"

static const sw_reducer_t *sum(void)
{
    static sw_reducer_t r;
    r = (sw_reducer_t){1, true, sw_reduce_kernel(SW_SUM, SW_UINT8), NULL};
    return &r;
}

/* in -> out through the one member's own block, or in place. */
static void moves(member_t *m, int kind, size_t n, uint64_t key, bool in_place)
{
    char *out = take_buffer(m, n), *in = in_place ? out : take_buffer(m, n);
    sw_blocks_t equal = {.bytes = n};
    sw_extent_t one = {0, n};
    sw_blocks_t listed = {.list = &one};
    const sw_blocks_t *blocks = n % 2 ? &equal : &listed;
    sw_sequence_t *seq = m->seq;
    fill(in, n, key);
    switch (kind) {
    case 0:
        expect_ok(m, sw_coll_bcast(seq, 0, PLAIN(in), n));
        out = in;
        break;
    case 1:
        expect_ok(m, sw_coll_gather(seq, 0, PLAIN(in), n, out, &equal));
        break;
    case 2:
        expect_ok(m, sw_coll_gatherv(seq, 0, PLAIN(in), n, out, blocks));
        break;
    case 3:
        expect_ok(m, sw_coll_scatter(seq, 0, in, blocks,
                                     in_place ? NULL : PLAIN(out), n));
        break;
    case 4:
        expect_ok(m, sw_coll_allgather(seq, PLAIN(in), n, out, blocks));
        break;
    case 5:
        if (in_place)
            return;
        expect_ok(m, sw_coll_alltoall(seq, in, blocks, out, blocks));
        break;
    case 6: expect_ok(m, sw_coll_reduce(seq, 0, sum(), in, out, n)); break;
    case 7: expect_ok(m, sw_coll_allreduce(seq, sum(), in, out, n)); break;
    case 8:
        expect_ok(m, sw_coll_reduce_scatter(seq, sum(), in, out, &n, 0));
        break;
    case 9:
        expect_ok(m, sw_coll_reduce_scatter(seq, sum(), in, out, NULL, n));
        break;
    default: expect_ok(m, sw_coll_scan(seq, false, sum(), in, out, n));
    }
    expect_data(m, out, n, key, "a collective of one");
    if (!in_place)
        expect_data(m, in, n, key, "what a collective of one sends");
}

/* The first member has no exclusive prefix: its buffer stays. */
static void exclusive(member_t *m, size_t n, uint64_t key)
{
    char *in = take_buffer(m, n), *out = take_buffer(m, n);
    fill(in, n, key);
    fill(out, n, key + 1);
    expect_ok(m, sw_coll_scan(m->seq, true, sum(), in, out, n));
    expect_data(m, out, n, key + 1, "an exclusive scan of one");
}

static void body(member_t *m)
{
    int count = rounds(400);
    for (int round = 0; round < count; round++) {
        int32_t most = -1;
        size_t n = pick_size(m, 1);
        uint64_t key = key_of((uint64_t)round, 0, 0);
        moves(m, round % 11, n, key, below(&m->own, 3) == 0);
        release_buffers(m);
        exclusive(m, n, key);
        release_buffers(m);
        expect_ok(m, sw_coll_barrier(m->seq));
        expect_ok(m, sw_coll_most(m->seq, round, &most));
        if (most != round)
            fail(m, "the largest of one number, %d, is %d", round, most);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (int w = 0; w < WAYS && !THREAD_SANITIZED; w++)
        run_forked(1, &ways[w], seed, body);
    run_threads(1, seed, body);
    return 0;
}
