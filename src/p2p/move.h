/*
 * move.h - a message's bytes on their way: through the caches or past them.
 */
#ifndef SW_P2P_MOVE_H
#define SW_P2P_MOVE_H

#include "../node/peer.h"

/* Bytes from which messages are copied past the caches. */
SW_API size_t sw_move_streams_from(void);

/* Copy n bytes of a message that is `whole` bytes long. */
void sw_move(void *to, const void *from, size_t n, size_t whole);

/* The same out of the sender's memory. Returns 0, or -1 with errno. */
int sw_move_from(const sw_peer_t *sender, const sw_part_t *part,
                 uint64_t offset, void *to, size_t n, size_t whole);

#endif
