/*
 * slot.pml - a message on offer (src/p2p/slot.h) and its copy by both parties
 * (joint.h), for Spin.
 *
 * The sender offers a message, then waits: it may copy it aside if the
 * receiver has not begun, or push pieces from the end if the receiver invites
 * it. As soon as it may go on it spoils its buffer; a slot that is taken is
 * offered again for the next message. The receiver claims, perhaps invites,
 * copies, and says so.
 *
 * Proven: the receiver always gets the whole message, no piece is copied into
 * a buffer that the receiver has given back, and both come to an end.
 * Planted errors (BUG=1..4) that Spin must find:
 *   1  the receiver does not wait for the pieces that are being pushed
 *   2  the sender moves aside without asking whether the slot is still on offer
 *   3  it goes on before the copy aside is complete
 *   4  claiming a piece is not one step
 */
#ifndef BUG
#define BUG 0
#endif
#define PIECES 3
#define MESSAGES 2
#define SPOILT 9

mtype = { FREE, OFFERED, MOVING, CLAIMED, JOINT, TAKEN };

mtype state = FREE;
byte source[PIECES], aside[PIECES], target[PIECES];
bool lies_aside;                /* what the slot's part says              */
byte low, high, pushed;
byte number;                    /* of the message on offer                */
bool receiving;                 /* the target is the receiver's to fill   */

inline claim_piece(first, got, piece)
{
#if BUG == 4
    got = low != high;
    if
    :: got && first -> piece = low; low++
    :: got && !first -> piece = high - 1; high--
    :: else
    fi
#else
    atomic {
        got = low != high;
        if
        :: got && first -> piece = low; low++
        :: got && !first -> piece = high - 1; high--
        :: else
        fi
    }
#endif
}

active proctype sender()
{
    byte i, n = 1, piece;
    bool moved, got;
    do
    :: n > MESSAGES -> break
    :: else ->
        i = 0;
        do
        :: i < PIECES -> source[i] = n; i++
        :: else -> break
        od;
        moved = false;
        number = n;
        lies_aside = false;
        state = OFFERED;
        do
        :: state == TAKEN || moved -> break
        :: !moved && state == OFFERED ->                /* nudge */
#if BUG == 2
            state = MOVING;
#else
            atomic {
                if
                :: state == OFFERED -> state = MOVING
                :: else -> goto again
                fi
            }
#endif
#if BUG == 3
            moved = true;
            source[0] = SPOILT;
#endif
            i = 0;
            do
            :: i < PIECES -> aside[i] = source[i]; i++
            :: else -> break
            od;
            lies_aside = true;
            state = OFFERED;
            moved = true
        :: state == JOINT ->                            /* help */
            got = true;
            do
            :: got ->
                claim_piece(false, got, piece);
                if
                :: got ->
                    assert(receiving);
                    target[piece] = source[piece];
                    pushed++
                :: else
                fi
            :: else -> break
            od
again:
            skip
        od;
        i = 0;                                          /* the buffer is ours */
        do
        :: i < PIECES -> source[i] = SPOILT; i++
        :: else -> break
        od;
        state == TAKEN;                                 /* the slot, too */
        state = FREE;
        n++
    od
}

active proctype receiver()
{
    byte i, n = 1, piece, mine;
    bool got;
    do
    :: n > MESSAGES -> break
    :: else ->
        atomic { state == OFFERED && number == n -> state = CLAIMED };
        i = 0;
        do
        :: i < PIECES -> target[i] = 0; i++
        :: else -> break
        od;
        receiving = true;
        mine = 0;
        low = 0;
        high = PIECES;
        pushed = 0;
        if
        :: state = JOINT
        :: skip                                         /* no invitation */
        fi;
        got = true;
        do
        :: got ->
            claim_piece(true, got, piece);
            if
            :: got ->
                if
                :: lies_aside -> target[piece] = aside[piece]
                :: else -> target[piece] = source[piece]
                fi;
                mine++
            :: else
            fi
        :: else -> break
        od;
#if BUG != 1
        pushed == PIECES - mine;
#endif
        receiving = false;
        state = TAKEN;
        i = 0;
        do
        :: i < PIECES -> assert(target[i] == n); i++
        :: else -> break
        od;
        n++
    od
}
