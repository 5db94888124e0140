/*
 * near_pieces.h - messages that the receiver cannot read where they lie, and
 * for whose copy the arena has no room.
 *
 * Such a message is offered without a slot. When it has met its receive, the
 * receiver pulls it: the sender then sends its bytes in pieces, through the
 * mailbox. Pieces match nothing. A stream of them takes half of the ring at
 * most (sw_pipe_is_calm), so other messages find their place.
 *
 *     sender                             receiver
 *     offer (bytes, its send)     -->    meets its receive
 *                                 <--    PULL (the send, bytes)
 *     PIECE (data)                -->    copies; after the last one it is done
 *
 * A sender serves the pulls of one receiver in their order. So a piece belongs
 * to the first pull from its sender that lacks bytes. A message without bytes
 * is one piece.
 */
#ifndef SW_MPI_P2P_NEAR_PIECES_H
#define SW_MPI_P2P_NEAR_PIECES_H

#include "near_receive.h"

/* Before the first message. */
void sw_near_pieces_start(void);

/* Pull the first `bytes` of what is offered to a receive that it has met. The
 * caller has the lock, here and below. */
void sw_near_pull(sw_near_receive_t *r, int place, const sw_near_offer_t *offer,
                  size_t bytes);
/* Ask for what is pulled, and send pieces. Is there anything of the kind? */
void sw_near_pieces_turn(void);
bool sw_near_pieces_any(void);

#endif
