/* vtime/feed: the engine that is about to sleep hears of an entry, and reads
 * it whole. */
#include "weak.h"

#include "vtime/feed/feed.c"
#define spin taker_spin
#define tell taker_tell
#undef MASK
#undef SPIN_NS
#undef SKIPS
#include "vtime/feed/taker.c"

static struct {
    sw_feeds_head_t head;
    _Atomic uint64_t news[1];
} head;
static sw_feed_shared_t shared_memory;

void sw_os_futex_wake_all(_Atomic uint32_t *word)
{
    (void)word;
}

static bool engine_missed;

static void *engine(void *unused)
{
    sw_taken_t of = {0};
    sw_feeds_t feeds = {.head = (sw_feeds_head_t *)(void *)&head,
                        .feed = (char *)&shared_memory,
                        .ranks = 1};
    sw_taker_t taker = {.feeds = &feeds, .of = &of};
    taker.rung = atomic_load(&feeds.head->doorbell);
    bool none = sw_taker_arm(&taker, 0, true);
    if (none) {
        atomic_store(&feeds.head->asleep, 1);
        engine_missed = !sw_taker_rung(&taker);
    } else {
        const sw_feed_entry_t *e = sw_taker_look(&taker, 0);
        assert(e && e->n == 7);
    }
    return unused;
}

static bool rank_rang;

static void *rank(void *unused)
{
    sw_feed_t feed = {.shared = &shared_memory,
                      .head = (sw_feeds_head_t *)(void *)&head,
                      .room = 4,
                      .half = 4};
    shared_memory.entry[0].n = 7;
    publish(&feed, false);
    rank_rang = atomic_load_explicit(&head.head.doorbell,
                                     memory_order_relaxed) != 0;
    return unused;
}

int main(void)
{
    run(engine, rank);
    assert(!engine_missed || rank_rang);
}
