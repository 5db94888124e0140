/*
 * trees.c - teams of many members on machines of many packages, caches and NUMA
 * nodes. This machine need not have them: members invent their places. Small
 * steps then go along trees that follow those places, and all members share
 * the work of large ones.
 *
 * STRAIGHTWAY_DEEP=1 adds 256 members.
 */
#include "forked.h"
#include "operators.h"

static int shape;

/* Places of: two packages of four L3s of eight; four NUMA nodes, ranks dealt
 * round robin; one package with L3s of three; no idea. */
static void place(sw_introduction_t *in, int me)
{
    sw_location_t *at = &in->where;
    switch (shape) {
    case 0:
        *at = (sw_location_t){(int16_t)(me / 32), (int16_t)(me / 32),
                              (int16_t)(me / 8), (int16_t)me};
        break;
    case 1:
        *at = (sw_location_t){(int16_t)(me % 4 / 2), (int16_t)(me % 4),
                              (int16_t)(me % 4), (int16_t)me};
        break;
    case 2: *at = (sw_location_t){0, 0, (int16_t)(me / 3), (int16_t)me}; break;
    default: *at = (sw_location_t){-1, -1, -1, -1};
    }
}

static void check_bcast(member_t *m, uint64_t round, int root, size_t bytes)
{
    char *p = take_buffer(m, bytes);
    if (m->me == root)
        fill(p, bytes, key_of(round, root, 0));
    expect_ok(m, sw_coll_bcast(m->seq, root, PLAIN(p), bytes));
    expect_data(m, p, bytes, key_of(round, root, 0), "bcast");
}

static void check_reduce(member_t *m, uint64_t round, int root,
                         const operator_t *o, size_t n)
{
    size_t bytes = n * o->r.elem;
    char *in = take_buffer(m, bytes), *out = take_buffer(m, bytes);
    operand(o, in, n, key_of(round, m->me, 0));
    char *want = in_tree(o, round, m->n, n);
    bool near = bytes <= m->seq->team->stage_max;
    expect_ok(m, sw_coll_reduce(m->seq, root, &o->r, in, out, n));
    if (m->me == root && !right_result(o, out, want, n, near))
        fail(m, "reduce to %d of %zu (%s) is wrong", root, n, o->name);
    operand(o, in, n, key_of(round, m->me, 0));
    expect_ok(m, sw_coll_allreduce(m->seq, &o->r, in, out, n));
    if (!right_result(o, out, want, n, near))
        fail(m, "allreduce of %zu (%s) is wrong", n, o->name);
    free(want);
}

/* A barrier holds: a member leaves it only once all have arrived. */
static void check_barrier(member_t *m, uint64_t round)
{
    atomic_store(&shared_page->word[m->me], round + 1);
    expect_ok(m, sw_coll_barrier(m->seq));
    for (int i = 0; i < m->n; i++)
        if (atomic_load(&shared_page->word[i]) < round + 1)
            fail(m, "left a barrier before member %d came", i);
}

static void body(member_t *m)
{
    int count = m->n > 64 ? 4 : rounds(5);
    static const size_t sizes[] = {1, 13, 500, 1024, 5000};
    for (int round = 0; round < count; round++) {
        int root = below(&m->common, m->n);
        operator_t o = operator_of(below(&m->common, 5));
        size_t n = sizes[draw(&m->common) % (m->n > 64 ? 4 : 5)];
        check_bcast(m, (uint64_t)round, root, n * 9);
        check_reduce(m, (uint64_t)round, root, &o, n);
        check_barrier(m, (uint64_t)round);
        release_buffers(m);
    }
}

static void run(int n, const way_t *way)
{
    for (shape = 0; shape < 4; shape++) {
        if (n > 20 && n != 64 && shape != n % 4)
            continue;
        SW_FORK(n, 100, live(way, n, me, (uint64_t)(n + shape), place, body));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* this many members only */
        run(atoi(argv[1]), &ways[0]);
        return 0;
    }
    static const int sizes[] = {17, 31, 50, 64};
    for (int i = 0; i < 4; i++)
        run(sizes[i], &ways[i % MAIN_WAYS]);
    if (is_deep())
        run(256, &ways[0]);
}
