/*
 * slate.pml - pieces that anyone may do (src/offload/slates.h), for Spin.
 *
 * A sender lends its memory, a receiver opens its own, and a third member
 * helps, in TURNS turns of one slate. All three copy the pieces that they
 * claim. A member leaves when what it waits for is done; the helper leaves
 * whenever it likes. With GIVES_UP a member may also leave before its time.
 * When a member has left, its program owns its memory again.
 *
 * Proven: every piece is copied once in each turn, and only while the sender
 * lends and the receiver opens the memory of that turn. All come to an end.
 * Planted errors (BUG=1..4) that Spin must find:
 *   1  claiming is not one step
 *   2  a worker does not count itself before it looks who has left
 *   3  a leaver does not wait for those that touch
 *   4  a member posts before the others have left the turn before
 */
#ifndef BUG
#define BUG 0
#endif
#ifndef TURNS
#define TURNS 2
#endif
#define PIECES 2
#define ALL 3                   /* the bits of all pieces                 */
#define SENDER 0
#define RECEIVER 1
#define HELPER 2

byte posted[3], left[3], touching[3];
byte claims, ticks;             /* in the receiver's row                  */
byte owned[3];                  /* the turn that may use this memory; 0   */
byte copied[PIECES];            /* times, in this turn                    */

/* One attempt at piece `p`. */
inline work(me, turn, p)
{
#if BUG != 2
    touching[me]++;
#endif
    if
    :: left[SENDER] < turn && left[RECEIVER] < turn ->
#if BUG == 2
        touching[me]++;
#endif
#if BUG == 1
        got = !((claims >> p) & 1);
        claims = claims | (1 << p);
#else
        atomic {
            got = !((claims >> p) & 1);
            claims = claims | (1 << p)
        }
#endif
        if
        :: got ->
            assert(owned[SENDER] == turn && owned[RECEIVER] == turn);
            copied[p]++;
            assert(copied[p] == 1);
            assert(owned[SENDER] == turn && owned[RECEIVER] == turn);
            atomic { ticks = ticks | (1 << p) }
        :: else
        fi
#if BUG == 2
        ; touching[me]--
    :: else
    fi
#else
    :: else
    fi
    touching[me]--
#endif
}

inline quiet(other)
{
    if
    :: me != other && BUG != 3 -> touching[other] == 0
    :: else
    fi
}

proctype member(byte me)
{
    byte turn = 1, p;
    bool got, early;
    do
    :: turn > TURNS -> break
    :: else ->
#if BUG != 4
        (left[0] >= turn - 1 && left[1] >= turn - 1 && left[2] >= turn - 1);
#endif
        if
        :: me == RECEIVER ->
            d_step { claims = 0; ticks = 0; copied[0] = 0; copied[1] = 0 }
        :: else
        fi;
        owned[me] = turn;
        posted[me] = turn;
        early = false;
        do
        :: posted[SENDER] == turn && posted[RECEIVER] == turn &&
           claims != ALL ->
            if
            :: p = 0
            :: p = 1
            fi;
            work(me, turn, p)
        :: me != HELPER && posted[SENDER] == turn &&
           posted[RECEIVER] == turn && ticks == ALL -> break
        :: me == HELPER -> break
#ifdef GIVES_UP
        :: turn == TURNS -> early = true; break
        :: left[SENDER] >= turn && me == RECEIVER -> early = true; break
        :: left[RECEIVER] >= turn && me == SENDER -> early = true; break
#endif
        od;
        if
        :: early ->
            left[me] = turn;
            quiet(0);
            quiet(1);
            quiet(2);
            owned[me] = 0
        :: else ->
            owned[me] = 0;
            left[me] = turn
        fi;
        turn++
    od
}

init {
    atomic { run member(SENDER); run member(RECEIVER); run member(HELPER) }
}
