/*
 * taker.c - see taker.h; ring.h has the memory, and which side wakes the other.
 */
#include "taker.h"

#include "node/os/os.h"

#include <stdlib.h>
#include <string.h>

#define MASK (SW_FEED_ENTRIES - 1)

/* The engine tells ranks how far it is only now and then: they need not know
 * before half of the ring is free. */
#define TELL (SW_FEED_ENTRIES / 8)

#define SPIN_NS 20000u
#define SKIPS 16 /* sleeps that do not spin after one in vain */

bool sw_taker_open(sw_taker_t *taker, sw_feeds_t *feeds)
{
    *taker = (sw_taker_t){.feeds = feeds};
    taker->of = calloc(feeds->ranks, sizeof *taker->of);
    return taker->of;
}

void sw_taker_serves(sw_feeds_t *feeds, pid_t pid)
{
    sw_watch_process(&feeds->head->server, pid);
    atomic_store(&feeds->head->state, SW_SERVER_RUNS);
}

void sw_taker_close(sw_taker_t *taker)
{
    free(taker->of);
    taker->of = NULL;
}

static sw_feed_shared_t *shared(const sw_taker_t *taker, uint32_t rank)
{
    return sw_feed_shared(taker->feeds, rank);
}

/* After a store that the rank may sleep for. */
static void wake(sw_feed_shared_t *feed)
{
    atomic_fetch_add(&feed->event, 1);
    sw_os_futex_wake_all(&feed->event);
}

static void tell(sw_taken_t *of, sw_feed_shared_t *feed)
{
    of->told = of->taken;
    atomic_store(&feed->taken, of->taken);
    if (sw_unlikely(atomic_load(&feed->asleep)) &&
        of->taken >= atomic_load_explicit(&feed->wake_at, memory_order_relaxed))
        wake(feed);
}

const sw_feed_entry_t *sw_taker_look(sw_taker_t *taker, uint32_t rank)
{
    sw_taken_t *of = &taker->of[rank];
    sw_feed_shared_t *feed = shared(taker, rank);
    if (of->taken == of->put) {
        of->put = atomic_load_explicit(&feed->put, memory_order_acquire);
        if (of->taken == of->put)
            return NULL;
    }
    return &feed->entry[of->taken & MASK];
}

void sw_taker_take(sw_taker_t *taker, uint32_t rank)
{
    sw_taken_t *of = &taker->of[rank];
    if (++of->taken - of->told >= TELL)
        tell(of, shared(taker, rank));
}

bool sw_taker_arm(sw_taker_t *taker, uint32_t rank, bool soon)
{
    sw_taken_t *of = &taker->of[rank];
    sw_feed_shared_t *feed = shared(taker, rank);
    uint64_t ring_at = of->taken + (soon ? 1 : SW_FEED_ENTRIES / 2);
    /* Armed for sooner is good enough. */
    if (of->ring_at <= of->taken || of->ring_at > ring_at) {
        of->ring_at = ring_at;
        atomic_store(&feed->ring_at, ring_at);
    }
    of->put = atomic_load(&feed->put);
    return of->taken == of->put;
}

uint64_t sw_taker_waiting(sw_taker_t *taker, uint32_t rank)
{
    sw_taken_t *of = &taker->of[rank];
    of->put = atomic_load_explicit(&shared(taker, rank)->put,
                                   memory_order_acquire);
    return of->put - of->taken;
}

const sw_feed_entry_t *sw_taker_last(const sw_taker_t *taker, uint32_t rank)
{
    const sw_feed_shared_t *feed = shared(taker, rank);
    uint64_t put = atomic_load_explicit(&feed->put, memory_order_acquire);
    return put == taker->of[rank].taken
               ? NULL
               : &feed->entry[(put - 1) & (SW_FEED_ENTRIES - 1)];
}

void sw_taker_answer(sw_taker_t *taker, uint32_t rank,
                     const sw_op_answer_t *answer, const uint32_t *which,
                     uint32_t here)
{
    sw_feed_shared_t *feed = shared(taker, rank);
    feed->clock = answer->clock;
    feed->until = answer->until;
    feed->found = answer->found;
    feed->count = answer->count;
    feed->peer = answer->peer;
    feed->tag = answer->tag;
    feed->bytes = answer->bytes;
    feed->here = here;
    if (here)
        memcpy(feed->which, which, here * sizeof *which);
    atomic_store(&feed->parts,
                 atomic_load_explicit(&feed->parts, memory_order_relaxed) + 1);
    if (atomic_load(&feed->asleep))
        wake(feed);
}

void sw_taker_answer_thread(sw_taker_t *taker, uint32_t rank, uint32_t thread,
                            sw_ps_t clock)
{
    sw_feed_shared_t *feed = shared(taker, rank);
    feed->of_thread[thread].clock = clock;
    atomic_fetch_add(&feed->of_thread[thread].given, 1);
    if (atomic_load(&feed->of_thread[thread].asleep))
        sw_os_futex_wake_all(&feed->of_thread[thread].given);
}

bool sw_taker_read(sw_taker_t *taker, uint32_t rank)
{
    sw_feed_shared_t *feed = shared(taker, rank);
    return atomic_load(&feed->read) ==
           atomic_load_explicit(&feed->parts, memory_order_relaxed);
}

/* The engine reads the word before the bits: a rank that sets a bit after the
 * engine has looked has not added to the word yet. */
void sw_taker_news(sw_taker_t *taker, void (*each)(void *of, uint32_t rank),
                   void *of)
{
    sw_feeds_head_t *head = taker->feeds->head;
    taker->rung = atomic_load(&head->doorbell);
    for (uint32_t w = 0; w < (taker->feeds->ranks + 63) / 64; w++) {
        if (!atomic_load_explicit(&head->news[w], memory_order_relaxed))
            continue;
        uint64_t bits = atomic_exchange_explicit(&head->news[w], 0,
                                                 memory_order_acquire);
        for (; bits; bits &= bits - 1) {
            uint32_t rank = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (rank < taker->feeds->ranks)
                each(of, rank);
        }
    }
}

bool sw_taker_rung(const sw_taker_t *taker)
{
    return atomic_load(&taker->feeds->head->doorbell) != taker->rung;
}

static bool spin(sw_taker_t *taker)
{
    if (taker->skips > 0) {
        taker->skips--;
        return sw_taker_rung(taker);
    }
    uint64_t until = sw_os_now() + SPIN_NS;
    do {
        for (int i = 0; i < 16; i++) {
            if (sw_taker_rung(taker))
                return true;
            sw_os_pause();
        }
    } while (sw_os_now() < until);
    taker->skips = SKIPS;
    return false;
}

bool sw_taker_sleep(sw_taker_t *taker, uint64_t ns)
{
    sw_feeds_head_t *head = taker->feeds->head;
    if (spin(taker))
        return true;
    atomic_store(&head->asleep, 1);
    if (!sw_taker_rung(taker))
        sw_os_futex_wait(&head->doorbell, taker->rung, ns);
    atomic_store_explicit(&head->asleep, 0, memory_order_relaxed);
    return sw_taker_rung(taker);
}

uint32_t sw_taker_state(const sw_taker_t *taker, uint32_t rank)
{
    return atomic_load(&shared(taker, rank)->state);
}

void sw_taker_over(sw_taker_t *taker)
{
    atomic_store(&taker->feeds->head->state, SW_SERVER_OVER);
    for (uint32_t rank = 0; rank < taker->feeds->ranks; rank++) {
        sw_feed_shared_t *feed = shared(taker, rank);
        atomic_store(&feed->over, 1);
        if (atomic_load(&feed->asleep))
            wake(feed);
        for (uint32_t t = 0; t < SW_FEED_THREADS; t++)
            if (atomic_load(&feed->of_thread[t].asleep))
                sw_os_futex_wake_all(&feed->of_thread[t].given);
    }
}
