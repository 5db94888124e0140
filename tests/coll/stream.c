/*
 * stream.c - long streams of small steps, by members of uneven pace, reuse
 * entries and staging again and again. No reader ever sees a later or an
 * earlier message than its own.
 *
 * A root stays for a while, so that it runs ahead to the end of its column.
 * Then the root changes without warning; symmetric steps come between. Every
 * payload carries its round's number throughout.
 */
#include "everywhere.h"

static void stamp(uint64_t *p, size_t words, uint64_t round, int from)
{
    for (size_t i = 0; i < words; i++)
        p[i] = round << 16 | (uint64_t)from << 8 | i % 256;
}

static void expect_stamp(member_t *m, const uint64_t *p, size_t words,
                         uint64_t round, int from)
{
    for (size_t i = 0; i < words; i++)
        if (p[i] != (round << 16 | (uint64_t)from << 8 | i % 256))
            fail(m, "round %llu: word %zu is of round %llu, member %llu",
                 (unsigned long long)round, i, (unsigned long long)(p[i] >> 16),
                 (unsigned long long)(p[i] >> 8 & 255));
}

/* Slow for some stretch of the stream, then quick again. */
static void pace(member_t *m, uint64_t round)
{
    bool slow = mix(round / 64 + (uint64_t)m->me * 31) % 3 == 0;
    int chance = below(&m->own, 512);
    if (slow && chance < 8)
        nanosleep(&(struct timespec){0, 50000 * (chance + 1)}, NULL);
    else if (slow && chance < 128)
        sw_os_yield();
}

#define WORDS 700 /* beyond the entry: staged */

static void one(member_t *m, uint64_t round, int kind, int root, size_t words)
{
    static __thread uint64_t send[WORDS], recv[64 * 16 + WORDS];
    size_t bytes = 8 * words;
    const sw_reducer_t sum = {8, true, sw_reduce_kernel(SW_SUM, SW_UINT64),
                              NULL};
    switch (kind) {
    case 0:
        if (m->me == root)
            stamp(recv, words, round, root);
        expect_ok(m, sw_coll_bcast(m->seq, root, PLAIN(recv), bytes));
        expect_stamp(m, recv, words, round, root);
        memset(recv, 0, bytes);
        break;
    case 1:
        words = words > 16 ? 16 : words;
        bytes = 8 * words;
        stamp(send, words, round, m->me);
        expect_ok(m, sw_coll_gather(m->seq, root, PLAIN(send), bytes, recv,
                                    &(sw_blocks_t){.bytes = bytes}));
        memset(send, 0, bytes);
        for (int i = 0; m->me == root && i < m->n; i++)
            expect_stamp(m, recv + words * (size_t)i, words, round, i);
        break;
    case 2: {
        words = words > 16 ? 16 : words;
        bytes = 8 * words;
        sw_blocks_t blocks = {.bytes = bytes};
        for (int i = 0; m->me == root && i < m->n; i++)
            stamp(recv + words * (size_t)i, words, round, i);
        expect_ok(m, sw_coll_scatter(m->seq, root, recv, &blocks, PLAIN(send),
                                     bytes));
        memset(recv, 0, bytes * (size_t)m->n);
        expect_stamp(m, send, words, round, m->me);
        break;
    }
    case 3:
        send[0] = round * (uint64_t)(m->me + 1);
        expect_ok(m, sw_coll_reduce(m->seq, root, &sum, send, recv, 1));
        if (m->me == root &&
            recv[0] != round * (uint64_t)m->n * (uint64_t)(m->n + 1) / 2)
            fail(m, "round %llu: wrong sum", (unsigned long long)round);
        break;
    case 4:
        send[0] = round + (uint64_t)m->me;
        expect_ok(m, sw_coll_scan(m->seq, false, &sum, send, recv, 1));
        if (recv[0] != (uint64_t)(m->me + 1) * round +
                           (uint64_t)m->me * (uint64_t)(m->me + 1) / 2)
            fail(m, "round %llu: wrong scan", (unsigned long long)round);
        break;
    case 5:
        send[0] = round;
        expect_ok(m, sw_coll_allreduce(m->seq, &sum, send, recv, 1));
        if (recv[0] != round * (uint64_t)m->n)
            fail(m, "round %llu: wrong sum", (unsigned long long)round);
        break;
    default: expect_ok(m, sw_coll_barrier(m->seq));
    }
}

static void body(member_t *m)
{
    uint64_t count = (uint64_t)rounds(m->n > 9 ? 300 : 1500);
    int kind = 0, root = 0, left = 0;
    for (uint64_t round = 1; round <= count; round++) {
        if (left-- == 0) {
            kind = below(&m->common, 7);
            root = below(&m->common, m->n);
            left = below(&m->common, 2) ? below(&m->common, 100) : 1;
        }
        size_t words = below(&m->common, 2)
                           ? 1
                           : 1 + draw(&m->common) % (WORDS - 1);
        pace(m, round);
        one(m, round, kind, root, words);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
