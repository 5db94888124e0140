/*
 * agreement.c - all members decide alike whether there is a team. Where one
 * cannot share memory with another, no member gets a sequence. Each hears the
 * reason, and the leader has its block back.
 */
#include "forked.h"
#include "node/segment.h"

static const way_t all_ways = {.name = "all", .arena = true, .cma = true};

static void stranger(sw_introduction_t *in, int me)
{
    if (me == 2)
        in->virtual_node = 1;
}

static void liar(sw_introduction_t *in, int me)
{
    if (me == 2)
        in->card.token.word[0] ^= 1;
}

static void another_version(sw_introduction_t *in, int me)
{
    if (me == 1)
        in->version++;
}

/* A member gets no sequence, for this reason. */
static void alone(const way_t *way, int n, int me, introduce_func_t change,
                  const char *reason)
{
    member_t m = {.n = n, .me = me, .way = way->name};
    const char *why = "?";
    size_t now, peak;
    if (join(way, n, me, change, &why))
        fail(&m, "a sequence though: %s", reason);
    if (!strstr(why, reason))
        fail(&m, "the reason is '%s', not '%s'", why, reason);
    sw_segment_usage(&now, &peak);
    if (now)
        fail(&m, "%zu bytes of a block are lost", now);
    exit(0);
}

/* The block is the leader's, and it is in use while there is a sequence. */
static void whose_block(member_t *m)
{
    expect_ok(m, sw_coll_barrier(m->seq));
    size_t now, peak;
    sw_segment_usage(&now, &peak);
    if (m->me == 0 && now < sw_sequence_bytes(m->n, NULL))
        fail(m, "%zu bytes in use", now);
    if (m->me != 0 && now)
        fail(m, "a member that does not lead holds %zu bytes", now);
}

int main(void)
{
    const way_t none = {.name = "no way"};
    const way_t no_door = {
        .name = "no door", .arena = true, .cma = true, .refuse = "peerfd"};
    const way_t no_memory = {.name = "no memfd", .refuse = "memfd"};
    SW_FORK(4, 60, alone(&all_ways, 4, me, stranger, "one node"));
    SW_FORK(4, 60, alone(&all_ways, 4, me, liar, "one node"));
    SW_FORK(3, 60, alone(&all_ways, 3, me, another_version, "one node"));
    SW_FORK(3, 60, alone(&none, 3, me, NULL, "no way"));
    SW_FORK(3, 60, alone(&no_door, 3, me, NULL, "one node"));
    SW_FORK(3, 60, alone(&no_memory, 3, me, NULL, "one node"));
    for (int w = 0; w < WAYS; w++)
        run_forked(5, &ways[w], 1, whose_block);
}
