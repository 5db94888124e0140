/* coll/sequence.c: a reader that saw anything newer than what a leaver has
 * offered fails. */
#include "sequence_end.h"

#define sw_sequence_await_reuse unused_await_reuse
#define sw_sequence_await_slow unused_await_slow
#include "coll/sequence.c"

bool sw_peer_turn(const sw_peer_t *is, unsigned *turns)
{
    NEVER;
    return is && *turns;
}

static _Atomic uint64_t bytes; /* the leaver's */
static sw_peer_t *peers[2];

static void *leaver(void *unused)
{
    end_t e;
    begin(&e, 0);
    e.seq.peer = peers;
    sw_sequence_give_up(&e.seq);
    atomic_store_explicit(&bytes, 9, memory_order_relaxed);
    return unused;
}

static void *reader(void *unused)
{
    end_t e;
    begin(&e, 1);
    uint64_t got = atomic_load_explicit(&bytes, memory_order_relaxed);
    sw_sequence_done(&e.seq, 1);
    assert(got == 0 || e.seq.broken);
    return unused;
}

int main(void)
{
    run(leaver, reader);
}
