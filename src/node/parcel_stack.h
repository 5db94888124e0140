/*
 * parcel_stack.h - what strangers have freed, for the owner to take back.
 *
 * Strangers push: they write `below`, then make their entry the top by
 * compare-and-swap (release). Only the owner takes, and always all of it, by
 * one exchange for "empty" (acquire). So no process compares a top that may
 * have been taken and pushed anew: there is no ABA. Every push is a
 * read-modify-write, so the owner's exchange sees what each of the pushers did
 * before: its `below`, and its last accesses to the bytes.
 */
#ifndef SW_NODE_PARCEL_STACK_H
#define SW_NODE_PARCEL_STACK_H

#include "node/base/base.h"

/* Entries are named by their offset in the owner's arena; 0: none. */
typedef struct {
    _Atomic uint64_t top;
} sw_parcel_stack_t;

static inline void sw_parcel_push(sw_parcel_stack_t *stack, uint64_t entry,
                                  uint64_t *below)
{
    uint64_t top = atomic_load_explicit(&stack->top, memory_order_relaxed);
    do
        *below = top;
    while (!atomic_compare_exchange_weak_explicit(
        &stack->top, &top, entry, memory_order_release, memory_order_relaxed));
}

/* The top of all there was; the others lie below it. */
static inline uint64_t sw_parcel_take_all(sw_parcel_stack_t *stack)
{
    if (sw_likely(!atomic_load_explicit(&stack->top, memory_order_relaxed)))
        return 0;
    return atomic_exchange_explicit(&stack->top, 0, memory_order_acquire);
}

#endif
