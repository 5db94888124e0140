/*
 * queue.c - see queue.h.
 */
#include "queue.h"

/* How long others wait behind the one that is served, ns. */
#define FIRST 1000000
#define LAST 256000000

bool sw_queue_await(sw_queue_t *q)
{
    bool lost = false;
    uint32_t ticket = atomic_fetch_add(&q->next, 1);
    SW_WAIT_UNLESS(
        lost, atomic_load_explicit(&q->serving, memory_order_acquire) == ticket,
        &q->doorbell);
    return !lost;
}

void sw_queue_pass(sw_queue_t *q)
{
    uint32_t ticket = atomic_load_explicit(&q->serving, memory_order_relaxed);
    atomic_store_explicit(&q->serving, ticket + 1, memory_order_release);
    sw_doorbell_ring(&q->doorbell);
}

static bool try(sw_queue_t *q, uint32_t kind, uint32_t others)
{
    uint32_t state = atomic_load_explicit(&q->state, memory_order_relaxed);
    while (!(state & others))
        if (atomic_compare_exchange_weak_explicit(
                &q->state, &state, state + kind, memory_order_acquire,
                memory_order_relaxed))
            return true;
    return false;
}

static bool try_within(sw_queue_t *q, uint32_t kind, uint32_t others,
                       uint64_t ns, bool *lost)
{
    for (int left = sw_wait_spins; left >= 0; left--)
        if (try(q, kind, others))
            return true;
    sw_wait_t wait = {.doorbell = &q->doorbell};
    uint64_t end = sw_os_now() + ns;
    bool held = false;
    while (!*lost && !(held = try(q, kind, others)) && sw_os_now() < end)
        *lost = sw_wait_step(&wait);
    sw_wait_end(&wait);
    return held;
}

bool sw_queue_hold_within(sw_queue_t *q, uint32_t kind, uint32_t others,
                          bool queues, uint64_t ns, bool *lost)
{
    if (!queues)
        return try_within(q, kind, others, ns, lost);
    if ((*lost = !sw_queue_await(q)))
        return false;
    bool held = try_within(q, kind, others, ns, lost);
    sw_queue_pass(q);
    return held;
}

bool sw_queue_hold(sw_queue_t *q, uint32_t kind, uint32_t others, bool queues)
{
    bool lost = false;
    for (uint64_t ns = FIRST; !lost; ns = sw_min(2 * ns, LAST))
        if (sw_queue_hold_within(q, kind, others, queues, ns, &lost) ||
            (!lost && sw_queue_hold_within(q, kind, others, false, ns, &lost)))
            return true;
    return false;
}

void sw_queue_leave(sw_queue_t *q, uint32_t kind)
{
    atomic_fetch_sub_explicit(&q->state, kind, memory_order_release);
    sw_doorbell_ring(&q->doorbell);
}
