/*
 * joint.h - a large message copied by both of its parties at once.
 *
 * A receiver that claims one shows where the data is to go. If the sender
 * waits just then, it copies too: the receiver from the beginning, the sender
 * from the end, piece by piece, until they meet. A sender that does something
 * else costs nothing: the receiver then takes all the pieces.
 *
 *      receiver -->                              <-- sender
 *      [ 0 ][ 1 ][ 2 ][ 3 ][ 4 ][ 5 ][ 6 ][ 7 ][ 8 ][ 9 ]
 *                       low                 high
 *
 * Both ends are one word, moved by compare-and-swap: a piece has one owner.
 * The sender counts a piece as pushed (release) when its bytes are there; the
 * receiver, finding nothing left to claim, waits for the count to reach the
 * pieces above `high` (acquire). That is never long: a sender that holds a
 * piece does nothing but copy. Only then is the slot marked taken, so the
 * sender is never at work on a slot in other use.
 */
#ifndef SW_P2P_JOINT_H
#define SW_P2P_JOINT_H

#include "layout/data.h"

typedef struct {
    sw_shown_t to;
    uint64_t bytes;
    uint64_t piece;          /* bytes; the last one may be shorter */
    _Atomic uint64_t ends;   /* low << 32 | high */
    _Atomic uint64_t pushed; /* pieces copied by the sender */
} sw_joint_t;

/* The receiver: may the sender help to bring `bytes` from `from` to `to`? If so
 * *joint is filled, and the receiver publishes it. */
bool sw_joint_open(sw_joint_t *joint, const sw_data_t *from,
                   const sw_data_t *to, size_t bytes);

/* The receiver: copy until all is there. 0, or -1 with errno: the sender has
 * died. */
int sw_joint_pull(sw_joint_t *joint, const sw_peer_t *sender,
                  const sw_data_t *from, const sw_data_t *to);

/* The sender: copy until nothing is left to claim. */
SW_API void sw_joint_push(sw_joint_t *joint, const sw_peer_t *receiver,
                          const sw_data_t *from);

#endif
