/*
 * queue.c - see queue.h.
 */
#include "queue.h"

bool sw_queue_await(sw_queue_t *q)
{
    bool lost = false;
    uint32_t ticket =
        atomic_fetch_add_explicit(&q->next, 1, memory_order_relaxed);
    SW_WAIT_UNLESS(lost,
                   atomic_load_explicit(&q->serving, memory_order_acquire) ==
                       ticket,
                   &q->doorbell);
    return !lost;
}

void sw_queue_pass(sw_queue_t *q)
{
    uint32_t ticket =
        atomic_load_explicit(&q->serving, memory_order_relaxed);
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

bool sw_queue_hold(sw_queue_t *q, uint32_t kind, uint32_t others, bool queues)
{
    bool lost = false;
    if (queues && !sw_queue_await(q))
        return false;
    SW_WAIT_UNLESS(lost, try(q, kind, others), &q->doorbell);
    if (queues)
        sw_queue_pass(q);
    return !lost;
}

void sw_queue_leave(sw_queue_t *q, uint32_t kind)
{
    atomic_fetch_sub_explicit(&q->state, kind, memory_order_release);
    sw_doorbell_ring(&q->doorbell);
}
