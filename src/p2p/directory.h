/*
 * directory.h - where the slots of a process lie (slot.h): a page of its
 * control segment that the peers read. Slots come in blocks of the segment,
 * which the directory lists.
 */
#ifndef SW_P2P_DIRECTORY_H
#define SW_P2P_DIRECTORY_H

#include "slot.h"

#define SW_SLOTS 256u               /* in a block                           */
#define SW_SLOT_BLOCKS 480u         /* the directory is one page            */
#define SW_SLOT_FIRST SW_PAIR       /* where a block's first slot lies      */

typedef struct {
    sw_block_t block;
    _Atomic uint32_t blocks;
    _Atomic uint32_t warned;                 /* see sw_slots_warn            */
    /* For searchers: slots in use, and all offers ever made. */
    _Atomic uint32_t used;
    _Atomic uint64_t offers;
    /* Written by all receivers, away from what the owner reads often. */
    _Alignas(SW_LINE) _Atomic uint64_t taken;   /* messages                  */
    _Atomic uint32_t busy;                      /* receivers that copy now   */
    _Alignas(SW_LINE) uint64_t at[SW_SLOT_BLOCKS];  /* first slots of blocks */
} sw_directory_t;

_Static_assert(sizeof(sw_directory_t) <= SW_PAGE, "the directory is one page");

/* The receiver's part of sw_slot_stats. */
void sw_slot_taken_stats(sw_slot_stats_t *to);

static inline void sw_slot_set(sw_slot_t *slot, uint64_t ticket, int state)
{
    atomic_store_explicit(&slot->state,
                          ticket * SW_SLOT_STATES + (unsigned)state,
                          memory_order_release);
}

#endif
