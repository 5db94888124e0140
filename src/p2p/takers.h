/*
 * takers.h - what the receivers of a process's messages tell it (slot.h): a
 * block of its control segment that they write.
 */
#ifndef SW_P2P_TAKERS_H
#define SW_P2P_TAKERS_H

#include "slot.h"

typedef struct {
    sw_block_t block;
    _Alignas(SW_LINE) _Atomic uint64_t taken; /* messages */
    _Atomic uint32_t busy;                    /* receivers that copy now */
} sw_takers_t;

/* The receiver's part of sw_slot_stats. */
void sw_slot_taken_stats(sw_slot_stats_t *to);

static inline void sw_slot_set(sw_slot_t *slot, uint64_t ticket, int state)
{
    atomic_store_explicit(&slot->state,
                          ticket * SW_SLOT_STATES + (unsigned)state,
                          memory_order_release);
}

#endif
