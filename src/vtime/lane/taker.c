/*
 * taker.c - see taker.h; ring.h has the memory, and which side wakes the other.
 */
#include "taker.h"

#include "node/os/os.h"

#include <stdlib.h>
#include <string.h>

#define MASK (SW_LANE_ENTRIES - 1)

/* The engine tells ranks how far it is only now and then: they need not know
 * before half of the ring is free. */
#define TELL (SW_LANE_ENTRIES / 8)

#define SPIN_NS 20000u
#define SKIPS 16                /* sleeps that do not spin after one in vain */

bool sw_taker_open(sw_taker_t *taker, sw_lanes_t *lanes)
{
    *taker = (sw_taker_t){.lanes = lanes};
    taker->of = calloc(lanes->ranks, sizeof *taker->of);
    return taker->of;
}

void sw_taker_serves(sw_lanes_t *lanes, pid_t pid)
{
    sw_watch_process(&lanes->head->server, pid);
    atomic_store(&lanes->head->state, SW_SERVER_RUNS);
}

void sw_taker_close(sw_taker_t *taker)
{
    free(taker->of);
    taker->of = NULL;
}

static sw_lane_shared_t *shared(const sw_taker_t *taker, uint32_t rank)
{
    return sw_lane_shared(taker->lanes, rank);
}

/* After a store that the rank may sleep for. */
static void wake(sw_lane_shared_t *lane)
{
    atomic_fetch_add(&lane->event, 1);
    sw_os_futex_wake_all(&lane->event);
}

static void tell(sw_taken_t *of, sw_lane_shared_t *lane)
{
    of->told = of->taken;
    atomic_store(&lane->taken, of->taken);
    if (sw_unlikely(atomic_load(&lane->asleep)) &&
        of->taken >= atomic_load_explicit(&lane->wake_at,
                                          memory_order_relaxed))
        wake(lane);
}

const sw_lane_entry_t *sw_taker_look(sw_taker_t *taker, uint32_t rank)
{
    sw_taken_t *of = &taker->of[rank];
    sw_lane_shared_t *lane = shared(taker, rank);
    if (of->taken == of->put) {
        of->put = atomic_load_explicit(&lane->put, memory_order_acquire);
        if (of->taken == of->put)
            return NULL;
    }
    return &lane->entry[of->taken & MASK];
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
    sw_lane_shared_t *lane = shared(taker, rank);
    uint64_t ring_at = of->taken + (soon ? 1 : SW_LANE_ENTRIES / 2);
    /* Armed for sooner is good enough. */
    if (of->ring_at <= of->taken || of->ring_at > ring_at) {
        of->ring_at = ring_at;
        atomic_store(&lane->ring_at, ring_at);
    }
    of->put = atomic_load(&lane->put);
    return of->taken == of->put;
}

uint64_t sw_taker_waiting(sw_taker_t *taker, uint32_t rank)
{
    sw_taken_t *of = &taker->of[rank];
    of->put = atomic_load_explicit(&shared(taker, rank)->put,
                                   memory_order_acquire);
    return of->put - of->taken;
}

const sw_lane_entry_t *sw_taker_last(const sw_taker_t *taker, uint32_t rank)
{
    const sw_lane_shared_t *lane = shared(taker, rank);
    uint64_t put = atomic_load_explicit(&lane->put, memory_order_acquire);
    return put == taker->of[rank].taken
               ? NULL : &lane->entry[(put - 1) & (SW_LANE_ENTRIES - 1)];
}

void sw_taker_answer(sw_taker_t *taker, uint32_t rank,
                     const sw_op_answer_t *answer, const uint32_t *which,
                     uint32_t here)
{
    sw_lane_shared_t *lane = shared(taker, rank);
    lane->clock = answer->clock;
    lane->until = answer->until;
    lane->found = answer->found;
    lane->count = answer->count;
    lane->peer = answer->peer;
    lane->tag = answer->tag;
    lane->bytes = answer->bytes;
    lane->here = here;
    if (here)
        memcpy(lane->which, which, here * sizeof *which);
    atomic_store(&lane->parts, atomic_load_explicit(&lane->parts,
                                                    memory_order_relaxed) + 1);
    if (atomic_load(&lane->asleep))
        wake(lane);
}

void sw_taker_answer_thread(sw_taker_t *taker, uint32_t rank, uint32_t thread,
                            sw_ps_t clock)
{
    sw_lane_shared_t *lane = shared(taker, rank);
    lane->of_thread[thread].clock = clock;
    atomic_fetch_add(&lane->of_thread[thread].given, 1);
    if (atomic_load(&lane->of_thread[thread].asleep))
        sw_os_futex_wake_all(&lane->of_thread[thread].given);
}

bool sw_taker_read(sw_taker_t *taker, uint32_t rank)
{
    sw_lane_shared_t *lane = shared(taker, rank);
    return atomic_load(&lane->read) ==
           atomic_load_explicit(&lane->parts, memory_order_relaxed);
}

/* The engine reads the word before the bits: a rank that sets a bit after the
 * engine has looked has not added to the word yet. */
void sw_taker_news(sw_taker_t *taker, void (*each)(void *of, uint32_t rank),
                   void *of)
{
    sw_lanes_head_t *head = taker->lanes->head;
    taker->rung = atomic_load(&head->doorbell);
    for (uint32_t w = 0; w < (taker->lanes->ranks + 63) / 64; w++) {
        if (!atomic_load_explicit(&head->news[w], memory_order_relaxed))
            continue;
        uint64_t bits = atomic_exchange_explicit(&head->news[w], 0,
                                                 memory_order_acquire);
        for (; bits; bits &= bits - 1) {
            uint32_t rank = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (rank < taker->lanes->ranks)
                each(of, rank);
        }
    }
}

bool sw_taker_rung(const sw_taker_t *taker)
{
    return atomic_load(&taker->lanes->head->doorbell) != taker->rung;
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
    sw_lanes_head_t *head = taker->lanes->head;
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
    atomic_store(&taker->lanes->head->state, SW_SERVER_OVER);
    for (uint32_t rank = 0; rank < taker->lanes->ranks; rank++) {
        sw_lane_shared_t *lane = shared(taker, rank);
        atomic_store(&lane->over, 1);
        if (atomic_load(&lane->asleep))
            wake(lane);
        for (uint32_t t = 0; t < SW_LANE_THREADS; t++)
            if (atomic_load(&lane->of_thread[t].asleep))
                sw_os_futex_wake_all(&lane->of_thread[t].given);
    }
}
