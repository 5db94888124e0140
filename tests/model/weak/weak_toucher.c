/* coll/sequence.c: no member writes to a leaver's memory once that has given
 * up. */
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

static void *writer(void *unused)
{
    end_t e;
    begin(&e, 1);
    if (sw_sequence_touch(&e.seq)) {
        atomic_store_explicit(&bytes, 1, memory_order_relaxed);
        sw_sequence_touched(&e.seq);
    }
    return unused;
}

int main(void)
{
    run(leaver, writer);
    assert(atomic_load_explicit(&bytes, memory_order_relaxed) == 9);
}
