/*
 * sequences.c - two sequences of one team: the steps of one wait for no step of
 * the other.
 *
 * crossed   Members call collectives in both sequences in opposite orders. No
 *           call here waits for a member that has yet to make its own, so that
 *           one thread per member suffices. In a single sequence this would be
 *           an error of the program.
 * driven    Every member has two threads, each of which runs a stream of its
 *           own in its own sequence: blocking, synchronising, and large ones
 *           too.
 */
#include "everywhere.h"

#define BIG 70000

/* Sends one word from `root`, in a sequence. */
static void broadcast(member_t *m, sw_sequence_t *seq, int root, uint64_t round,
                      int which)
{
    uint64_t key = key_of(round, root, which), word = m->me == root ? key : 0;
    expect_ok(m, sw_coll_bcast(seq, root, PLAIN(&word), sizeof word));
    if (word != key)
        fail(m, "round %llu, sequence %d: a word of the other sequence",
             (unsigned long long)round, which);
}

/* Member 0 posts in the first sequence, then reads in the second. Member 1
 * posts in the second first. The others read in either order, unless there is a
 * tree: then some wait for each other. */
static void crossed(member_t *m, sw_sequence_t *seq[2])
{
    int count = rounds(200);
    for (int round = 0; round < count; round++) {
        int first = m->me == 1;
        if (m->me > 1 && m->n <= SW_FLAT)
            first = below(&m->own, 2);
        dawdle(m);
        broadcast(m, seq[first], first, (uint64_t)round, first);
        broadcast(m, seq[!first], !first, (uint64_t)round, !first);
    }
}

/* Calls a collective that all drivers of a sequence draw alike. */
static void any(member_t *m, uint64_t round)
{
    sw_reducer_t sum = {1, true, sw_reduce_kernel(SW_SUM, SW_UINT8), NULL};
    size_t sizes[] = {1, 8, 300, 5000, BIG};
    size_t bytes = sizes[below(&m->common, 5)];
    int root = below(&m->common, m->n), kind = below(&m->common, 4);
    sw_blocks_t blocks = {.bytes = bytes};
    char *one = take_buffer(m, bytes);
    char *all = take_buffer(m, bytes * (size_t)m->n);
    switch (kind) {
    case 0: expect_ok(m, sw_coll_barrier(m->seq)); break;
    case 1:
        if (m->me == root)
            fill(one, bytes, key_of(round, root, 0));
        expect_ok(m, sw_coll_bcast(m->seq, root, PLAIN(one), bytes));
        expect_data(m, one, bytes, key_of(round, root, 0), "bcast");
        break;
    case 2:
        fill(one, bytes, key_of(round, m->me, 0));
        expect_ok(m,
                  sw_coll_allgather(m->seq, PLAIN(one), bytes, all, &blocks));
        for (int i = 0; i < m->n; i++)
            expect_data(m, all + bytes * (size_t)i, bytes, key_of(round, i, 0),
                        "allgather");
        break;
    default:
        memset(one, (int)(round + 3 * (uint64_t)m->me), bytes);
        expect_ok(m, sw_coll_allreduce(m->seq, &sum, one, all, bytes));
        unsigned char right = 0;
        for (int i = 0; i < m->n; i++)
            right = (unsigned char)(right + round + 3 * (uint64_t)i);
        for (size_t i = 0; i < bytes; i++)
            if ((unsigned char)all[i] != right)
                fail(m, "allreduce: wrong at byte %zu of %zu", i, bytes);
    }
    release_buffers(m);
}

static void stream(member_t *m)
{
    int count = rounds(m->n <= 8 ? 60 : 15);
    for (int round = 0; round < count; round++) {
        dawdle(m);
        any(m, m->seed * 1000 + (uint64_t)round);
    }
}

static void *drive(void *other)
{
    run_member(other, stream);
    return NULL;
}

static void driven(member_t *m, sw_sequence_t *seq)
{
    member_t *other = calloc(1, sizeof *other);
    pthread_t thread;
    if (!other)
        fail(m, "no memory");
    *other = (member_t){
        .seq = seq, .n = m->n, .me = m->me, .way = m->way, .seed = m->seed + 1};
    if (pthread_create(&thread, NULL, drive, other))
        fail(m, "no second thread");
    stream(m);
    pthread_join(thread, NULL);
    free(other);
}

static void body(member_t *m)
{
    sw_sequence_t *seq[2] = {m->seq, second_sequence(m)};
    crossed(m, seq);
    driven(m, seq[1]);
    expect_ok(m, sw_coll_barrier(m->seq));
    /* The team outlives the sequence that it was made with. */
    sw_sequence_t *first = m->seq;
    m->seq = m->me % 2 ? first : seq[1];
    sw_sequence_close(m->me % 2 ? seq[1] : first);
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
