/*
 * broken.c - a member dies in the middle of a stream of collectives. The hook
 * that drives the host's progress tells the others (here it looks at the
 * test's own page), and they give up. None hangs. Once a member has given up,
 * no member writes into its memory any more. All of this holds, too, where the
 * stream alternates between two sequences and the leavers give both up.
 */
#include "forked.h"

#include "node/temporary.h"

#define BIG 120000
#define LAST 6 /* the round in which the victim dies */

static int kind;
static bool alternate; /* between two sequences */
#define KINDS 11

#define dead (&shared_page->word[0])
#define left (&shared_page->word[1])

static bool somebody_died(void)
{
    return atomic_load(dead);
}

static int call(member_t *m, char *a, char *b, int round)
{
    sw_reducer_t sum = {1, true, sw_reduce_kernel(SW_SUM, SW_UINT8), NULL};
    sw_blocks_t big = {.bytes = BIG};
    switch (kind) {
    case 0: return sw_coll_barrier(m->seq);
    case 1: return sw_coll_bcast(m->seq, 0, PLAIN(a), 60);
    case 2: return sw_coll_bcast(m->seq, 0, PLAIN(a), BIG);
    case 3: return sw_coll_allreduce(m->seq, &sum, a, b, 8);
    case 4: return sw_coll_allreduce(m->seq, &sum, a, b, BIG);
    case 5:
        return sw_coll_gather(m->seq, round % (m->n - 1), PLAIN(a), BIG, b,
                              &big);
    case 6: return sw_coll_reduce(m->seq, round % (m->n - 1), &sum, a, b, BIG);
    case 7: return sw_coll_scan(m->seq, false, &sum, a, b, BIG);
    case 8: return sw_coll_alltoall(m->seq, a, &big, b, &big);
    case 9: return sw_coll_scatter(m->seq, 0, a, &big, PLAIN(b), BIG);
    default: return sw_coll_allgather(m->seq, PLAIN(a), BIG, b, &big);
    }
}

static void stream(member_t *m)
{
    size_t all = (size_t)BIG * (size_t)m->n;
    char *a = sw_temporary(all), *b = sw_temporary(all);
    memset(a, 1, all);
    sw_sequence_t *seq[2] = {m->seq, alternate ? second_sequence(m) : m->seq};
    sw_wait_progress = somebody_died;
    for (int round = 0; !seq[0]->broken && !seq[1]->broken; round++) {
        m->seq = seq[round % 2];
        if (m->me == m->n - 1 && round == LAST) {
            atomic_store(dead, 1);
            atomic_fetch_add(&shared_page->arrived[2], 1);
            _exit(0);
        }
        dawdle(m);
        int rc = call(m, a, b, round);
        if (rc != SW_OK && rc != SW_BROKEN)
            fail(m, "kind %d, round %d: %d", kind, round, rc);
        if (rc == SW_BROKEN && !m->seq->broken)
            fail(m, "kind %d: broken, and the sequence is not", kind);
        if (round > LAST + 4 * SW_DEPTH_MAX)
            fail(m, "kind %d: went on without the dead member", kind);
    }
    m->seq = seq[0];
    sw_sequence_give_up(seq[0]);
    sw_sequence_give_up(seq[1]);
    memset(a, 0x77, all);
    memset(b, 0x77, all);
    atomic_fetch_add(left, 1);
    while (atomic_load(left) < (uint64_t)m->n - 1)
        usleep(200);
    for (size_t i = 0; i < all; i++)
        if (a[i] != 0x77 || b[i] != 0x77)
            fail(m, "kind %d: byte %zu was written after the end", kind, i);
    sw_temporary_free(a);
    sw_temporary_free(b);
    if (alternate)
        sw_sequence_close(seq[1]);
}

int main(void)
{
    static const int sizes[] = {3, 6, 20};
    for (kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 3; i++)
            for (int w = 0; w < (i == 2 ? 1 : MAIN_WAYS); w++)
                for (int twice = 0; twice <= (w == 0); twice++) {
                    if (is_halved() && (kind + i + w) % 2)
                        continue;
                    alternate = twice;
                    run_forked(sizes[i], &ways[w], (uint64_t)kind + 1, stream);
                }
}
