/*
 * scattered.h - messages whose bytes do not lie in a row, at the sender or at
 * the receiver: one pass from where they lie to where they are to lie.
 */
#ifndef SW_P2P_SCATTERED_H
#define SW_P2P_SCATTERED_H

#include "slot.h"
#include "../layout/share.h"

/* Copy the first n bytes of a claimed slot's message to the target. Returns 0,
 * or -1 with errno (EBADMSG: the slot does not describe what it should). */
int sw_scattered_take(const sw_peer_t *sender, const sw_slot_t *slot,
                      const sw_target_t *to, size_t n);

/* Copy the bytes [from, end) of it to contiguous memory; the slot has a
 * layout. */
int sw_scattered_read(const sw_peer_t *sender, const sw_slot_t *slot,
                      size_t from, size_t end, void *to);

#endif
