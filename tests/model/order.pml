/*
 * order.pml - the accesses of the lock-free protocols, in the order and with
 * the memory orders that the C code gives them, on Arm's memory (arm.pml).
 *
 * -DPROTOCOL chooses one of those below. Each is the protocol's core: as few
 * steps as show what its order is for. BUG=1, 2, ... weakens one access. Spin
 * must find each of these errors (run.sh), so each order is necessary on Arm.
 * docs/memory-order.md tells which C code each stands for.
 */
#ifndef BUG
#define BUG 0
#endif
#define ENTRY 1
#define LEAVER 2
#define TOUCHER 3
#define UPDATE 4
#define REGIONS 5
#define NOTICES 6
#define STACK 7
#define SLATE 8
#define FEED 9
#define AGENT 10
#define QUEUE 11
#define EXPOSE 12
#define JOINT 13
#define ASK 14

#if PROTOCOL == STACK
#define P 3
#else
#define P 2
#endif

#if BUG == 1
#define IF1(weak, right) weak
#else
#define IF1(weak, right) right
#endif
#if BUG == 2
#define IF2(weak, right) weak
#else
#define IF2(weak, right) right
#endif
#if BUG == 3
#define IF3(weak, right) weak
#else
#define IF3(weak, right) right
#endif
#if BUG == 4
#define IF4(weak, right) weak
#else
#define IF4(weak, right) right
#endif

/* The kernel compares the word with 0, once; then only a wake-up helps. */
#define FUTEX_WAIT(l) \
    if \
    :: mem[l] \
    :: atomic { !mem[l] -> skip }; woken \
    fi

#if PROTOCOL == ENTRY
/* A cell, written anew when it was read: pipe, entry, slot, pump, narrow. */
#define L 3
#include "arm.pml"
#define BYTES 0
#define TURN 1
#define DONE 2
byte i, k;
inline one() {
    i = 1;
    do
    :: i > 2 -> break
    :: else ->
        STORE_RLX(BYTES, i);
        IF1(STORE_RLX(TURN, i), STORE_REL(TURN, i));
        do
        :: VALUE(DONE) == i -> break
        :: else -> LOAD_ACQ(DONE)
        od;
        i++
    od
}
inline two() {
    k = 1;
    do
    :: k > 2 -> break
    :: else ->
        do
        :: VALUE(TURN) == k -> break
        :: else -> IF2(LOAD_RLX(TURN), LOAD_ACQ(TURN)); USE(TURN)
        od;
        LOAD_RLX(BYTES);
        IF3(STORE_RLX(DONE, k), STORE_REL(DONE, k));
        USE(BYTES);
        assert(VALUE(BYTES) == k);
        k++
    od
}
#define FINALLY true

#elif PROTOCOL == LEAVER
/* A reader finds out that the memory is not on offer any more. */
#define L 3
#include "arm.pml"
#define GIVEN_UP 0
#define TOUCHING 1
#define BYTES 2
inline one() {
    STORE_SC(GIVEN_UP, 1);
#if BUG != 2
    LOAD_SC(TOUCHING);      /* its own: nobody touches here */
#endif
    STORE_RLX(BYTES, 9)
}
inline two() {
    LOAD_RLX(BYTES);
    IF1(skip, FENCE_ACQ);
    LOAD_RLX(GIVEN_UP);
    USE(BYTES);
    USE(GIVEN_UP);
    assert(VALUE(BYTES) == 0 || VALUE(GIVEN_UP))
}
#define FINALLY true

#elif PROTOCOL == TOUCHER
/* A writer is not late in memory that is not on offer any more. */
#define L 3
#include "arm.pml"
#define GIVEN_UP 0
#define TOUCHING 1
#define BYTES 2
inline one() {
    STORE_SC(GIVEN_UP, 1);
    IF1(LOAD_ACQ(TOUCHING), LOAD_SC(TOUCHING));
    do
    :: !VALUE(TOUCHING) -> break
    :: else -> LOAD_SC(TOUCHING)
    od;
    STORE_RLX(BYTES, 9)
}
inline two() {
#ifdef COUNTS                   /* a read-modify-write, as in slates.h */
    SWAP_SC(TOUCHING, 1);
    IF2(LOAD_RLX(GIVEN_UP), LOAD_SC(GIVEN_UP));
    USE(GIVEN_UP);
#else
    STORE_SC(TOUCHING, 1);
    IF2(LOAD_ACQ(GIVEN_UP), LOAD_SC(GIVEN_UP));
#endif
    if
    :: !VALUE(GIVEN_UP) -> STORE_RLX(BYTES, 1)
    :: else
    fi;
    IF3(STORE_RLX(TOUCHING, 0), STORE_REL(TOUCHING, 0))
}
#define FINALLY (mem[BYTES] == 9)

#elif PROTOCOL == UPDATE
/* A short update and a long one of one element: none is lost. */
#define L 4
#include "arm.pml"
#define ACTIVE 0
#define NEXT 1
#define SERVING 2
#define WORD 3
bool entered;
inline one() {
    SWAP_SC(ACTIVE, 1);
    IF1(LOAD_RLX(NEXT), LOAD_SC(NEXT));
    USE(NEXT);
    LOAD_ACQ(SERVING);
    if
    :: VALUE(NEXT) == VALUE(SERVING) ->
        entered = true;
        ADD_RLX(WORD, 1)
    :: else
    fi;
    IF2(STORE_RLX(ACTIVE, 0), STORE_REL(ACTIVE, 0))
}
inline two() {
    SWAP_SC(NEXT, 1);
    LOAD_SC(ACTIVE);
    do
    :: !VALUE(ACTIVE) -> break
    :: else -> LOAD_SC(ACTIVE)
    od;
    LOAD_RLX(WORD);
    USE(WORD);
    STORE_RLX(WORD, VALUE(WORD) + 1);
    IF3(STORE_RLX(SERVING, 1), STORE_REL(SERVING, 1))
}
#define FINALLY (mem[WORD] == 1 + entered)

#elif PROTOCOL == REGIONS
/* A sequence lock: regions.c, the board, a thread's turn. */
#define L 3
#include "arm.pml"
#define VERSION 0
#define BASE 1
#define OFFSET 2
byte first;
inline one() {
    STORE_RLX(VERSION, 1);
    IF1(skip, FENCE_REL);
    STORE_RLX(BASE, 1);
    STORE_RLX(OFFSET, 1);
    IF3(STORE_RLX(VERSION, 2), STORE_REL(VERSION, 2))
}
inline two() {
    IF4(LOAD_RLX(VERSION), LOAD_ACQ(VERSION));
    USE(VERSION);
    first = VALUE(VERSION);
    LOAD_RLX(BASE);
    LOAD_RLX(OFFSET);
    IF2(skip, FENCE_ACQ);
    LOAD_RLX(VERSION);
    USE(BASE);
    USE(OFFSET);
    USE(VERSION);
    assert(first == 1 || VALUE(VERSION) != first ||
           VALUE(BASE) == VALUE(OFFSET))
}
#define FINALLY true

#elif PROTOCOL == NOTICES
/* A search while an entry moves into a gap: it is sure, and right, or unsure.
 * Name 2, at offset 5, moves from the second place to the first. */
#define L 5
#include "arm.pml"
#define CHANGES 0
#define NAME0 1
#define OFFSET0 2
#define NAME1 3
#define OFFSET1 4
byte first, found;
#define SET_ENTRY(l, v) IF1(STORE_RLX(l, v), STORE_REL(l, v))
#define SEE(l) IF2(LOAD_RLX(l), LOAD_ACQ(l)); USE(l)
inline one() {
    STORE_RLX(CHANGES, 1);
    SET_ENTRY(OFFSET0, 5);
    SET_ENTRY(NAME0, 2);
    SET_ENTRY(OFFSET1, 0);
    SET_ENTRY(NAME1, 0);
    STORE_REL(CHANGES, 2)
}
inline two() {
    LOAD_ACQ(CHANGES);
    first = VALUE(CHANGES);
    SEE(NAME0);
    if
    :: VALUE(NAME0) == 2 -> SEE(OFFSET0); found = VALUE(OFFSET0)
    :: else ->
        SEE(NAME1);
        if
        :: VALUE(NAME1) == 2 -> SEE(OFFSET1); found = VALUE(OFFSET1)
        :: else
        fi
    fi;
    LOAD_RLX(CHANGES);
    USE(CHANGES);
    assert(first == 1 || VALUE(CHANGES) != first || found == 5)
}
#define FINALLY true
#define BEGIN mem[NAME0] = 1; mem[OFFSET0] = 4; mem[NAME1] = 2; mem[OFFSET1] = 5

#elif PROTOCOL == STACK
/* Two push; the owner takes all and sees what both did before. */
#define L 5
#include "arm.pml"
#define TOP 0
#define BELOW(n) (n)            /* of entries 1 and 2 */
#define BYTES(n) (2 + (n))
byte at, done;
bool ok[2];
#define WHEN IF1((!LATE(TOP)), QUIET)
#define PUSH(n) \
    STORE_RLX(BYTES(n), n); \
    do \
    :: ok[me] -> break \
    :: else -> \
        LOAD_RLX(TOP); \
        USE(TOP); \
        STORE_RLX(BELOW(n), VALUE(TOP)); \
        atomic { WHEN -> \
            if \
            :: mem[TOP] == VALUE(TOP) -> RMW(TOP, n); ok[me] = true \
            :: else \
            fi } \
    od
inline one() { PUSH(1) }
inline two() { PUSH(2) }
inline three() {
    IF2(SWAP_RLX(TOP, 0), SWAP_ACQ(TOP, 0));
    at = VALUE(TOP);
    do
    :: at == 0 -> break
    :: at == 1 ->
        LOAD_RLX(BYTES(1)); USE(BYTES(1)); assert(VALUE(BYTES(1)) == 1);
        LOAD_RLX(BELOW(1)); USE(BELOW(1)); at = VALUE(BELOW(1));
        done++
    :: at == 2 ->
        LOAD_RLX(BYTES(2)); USE(BYTES(2)); assert(VALUE(BYTES(2)) == 2);
        LOAD_RLX(BELOW(2)); USE(BELOW(2)); at = VALUE(BELOW(2));
        done++
    od
}
#define FINALLY (done + (mem[TOP] != 0) + \
                 (mem[TOP] != 0 && mem[BELOW(mem[TOP])] != 0) == 2)

#elif PROTOCOL == SLATE
/* Two members share two pieces: each is done once, and seen when it is
 * ticked. */
#define L 6
#include "arm.pml"
#define SOURCE 0
#define POSTED 1
#define CLAIMS 2
#define TICKS 3
#define PIECE(n) (4 + (n))
inline claim(n) {
    SWAP_SC(CLAIMS, mem[CLAIMS] | BIT(n));
    if
    :: VALUE(CLAIMS) & BIT(n)
    :: else ->
        LOAD_RLX(SOURCE);
        USE(SOURCE);
        STORE_RLX(PIECE(n), VALUE(SOURCE));
        IF2(OR_RLX(TICKS, BIT(n)), OR_REL(TICKS, BIT(n)))
    fi
}
inline over() {
    IF3(LOAD_RLX(TICKS), LOAD_ACQ(TICKS));
    USE(TICKS);
    if
    :: VALUE(TICKS) == 3 ->
        LOAD_RLX(PIECE(0)); USE(PIECE(0));
        LOAD_RLX(PIECE(1)); USE(PIECE(1));
        assert(VALUE(PIECE(0)) == 1 && VALUE(PIECE(1)) == 1)
    :: else
    fi
}
inline one() {
    STORE_RLX(SOURCE, 1);
    IF1(STORE_RLX(POSTED, 1), STORE_REL(POSTED, 1));
    claim(0);
    over()
}
inline two() {
    LOAD_ACQ(POSTED);
    if
    :: VALUE(POSTED) -> claim(1); over()
    :: else
    fi
}
#define FINALLY true

#elif PROTOCOL == FEED
/* Nobody sleeps for good: ring.h. Process 0 is the rank, 1 the engine. */
#define L 5
#include "arm.pml"
#define PUT_AT 0
#define RING_AT 1
#define NEWS 2
#define BELL 3
#define ASLEEP 4
bool woken;
inline one() {
    STORE_SC(PUT_AT, 1);
    IF1(LOAD_ACQ(RING_AT), LOAD_SC(RING_AT));
    if
    :: VALUE(RING_AT) ->
        IF4(OR_RLX(NEWS, 1), OR_REL(NEWS, 1));
        IF4(ADD_RLX(BELL, 1), SWAP_SC(BELL, 1));
        IF2(LOAD_RLX(ASLEEP), LOAD_SC(ASLEEP));
        USE(ASLEEP);
        if
        :: VALUE(ASLEEP) -> woken = true
        :: else
        fi
    :: else
    fi
}
inline two() {
    STORE_SC(RING_AT, 1);
    LOAD_SC(PUT_AT);
    if
    :: VALUE(PUT_AT)
    :: else ->
        STORE_SC(ASLEEP, 1);
        IF3(LOAD_ACQ(BELL), LOAD_SC(BELL));
        if
        :: VALUE(BELL)
        :: else -> FUTEX_WAIT(BELL)
        fi;
        LOAD_SC(BELL);
        SWAP_ACQ(NEWS, 0);
        assert(VALUE(NEWS))
    fi
}
#define FINALLY true

#elif PROTOCOL == AGENT
/* The agent does not park where there is work. Process 1 is the agent. */
#define L 3
#include "arm.pml"
#define WORK 0
#define PARKED 1
#define EVENT 2
bool woken;
inline one() {
#ifdef FENCED                   /* sw_agent_wake */
    STORE_RLX(WORK, 1);
    IF2(skip, FENCE);
    LOAD_RLX(PARKED);
#else                           /* sw_agent_wake_for_schedules */
    SWAP_SC(WORK, 1);
    IF2(LOAD_RLX(PARKED), LOAD_SC(PARKED));
#endif
    USE(PARKED);
    if
    :: VALUE(PARKED) ->
        SWAP_SC(PARKED, 0);
        if
        :: VALUE(PARKED) -> SWAP_SC(EVENT, 1); woken = true
        :: else
        fi
    :: else
    fi
}
inline two() {
    STORE_SC(PARKED, 1);
    IF1(skip, FENCE);
    IF1(LOAD_RLX(WORK), LOAD_SC(WORK));
    USE(WORK);
    if
    :: VALUE(WORK)
    :: else -> FUTEX_WAIT(EVENT)
    fi
}
#define FINALLY true

#elif PROTOCOL == QUEUE
/* A lock is handed on with all that its holder wrote. */
#define L 4
#include "arm.pml"
#define NEXT 0
#define SERVING 1
#define STATE 2
#define BYTES 3
#define BOTH(ticket) \
    SWAP_SC(NEXT, mem[NEXT] + 1); \
    ticket = VALUE(NEXT); \
    LOAD_ACQ(SERVING); \
    do \
    :: VALUE(SERVING) == ticket -> break \
    :: else -> LOAD_ACQ(SERVING) \
    od; \
    IF1(atomic { !WAITS(STATE) && !mem[STATE] -> RMW(STATE, 1) }, \
        PAIR(STATE, !WAITS(STATE) && !mem[STATE], 1)); \
    STORE_REL(SERVING, ticket + 1); \
    LOAD_RLX(BYTES); \
    USE(BYTES); \
    STORE_RLX(BYTES, VALUE(BYTES) + 1); \
    IF2(ADD_RLX(STATE, 255), ADD_REL(STATE, 255))
byte t1, t2;
inline one() { BOTH(t1) }
inline two() { BOTH(t2) }
#define FINALLY (mem[BYTES] == 2)

#elif PROTOCOL == EXPOSE
/* An access lies between its post and its complete. Process 0 is the origin. */
#define L 3
#include "arm.pml"
#define BYTES 0
#define POSTS 1
#define COMPLETES 2
byte i, k;
inline one() {
    i = 1;
    do
    :: i > 2 -> break
    :: else ->
        do
        :: IF2(LOAD_RLX(POSTS), LOAD_ACQ(POSTS));
            USE(POSTS);
            if
            :: VALUE(POSTS) -> break
            :: else
            fi
        od;
        SWAP_RLX(POSTS, 0);
        LOAD_RLX(BYTES);
        USE(BYTES);
        assert(VALUE(BYTES) == 10 * i);
        STORE_RLX(BYTES, i);
        IF3(ADD_RLX(COMPLETES, 1), ADD_REL(COMPLETES, 1));
        i++
    od
}
inline two() {
    k = 1;
    do
    :: k > 2 -> break
    :: else ->
        STORE_RLX(BYTES, 10 * k);
        IF1(OR_RLX(POSTS, 1), OR_REL(POSTS, 1));
        do
        :: IF4(LOAD_RLX(COMPLETES), LOAD_ACQ(COMPLETES));
            USE(COMPLETES);
            if
            :: VALUE(COMPLETES) -> break
            :: else
            fi
        od;
        SWAP_RLX(COMPLETES, 0);
        LOAD_RLX(BYTES);
        USE(BYTES);
        assert(VALUE(BYTES) == k);
        k++
    od
}
#define FINALLY true

#elif PROTOCOL == JOINT
/* The receiver has all, the pieces that its sender pushed among them. */
#define L 5
#include "arm.pml"
#define PLACE 0                 /* where the data is to go */
#define STATE 1
#define ENDS 2                  /* pieces claimed */
#define PUSHED 3
#define PIECE 4
inline one() {
    STORE_RLX(PLACE, 1);
    STORE_RLX(PIECE, 9);
    IF1(STORE_RLX(STATE, 1), STORE_REL(STATE, 1));
    SWAP_RLX(ENDS, 1);
    if
    :: VALUE(ENDS) ->
        LOAD_ACQ(PUSHED);
        do
        :: VALUE(PUSHED) -> break
        :: else -> IF3(LOAD_RLX(PUSHED), LOAD_ACQ(PUSHED)); USE(PUSHED)
        od
    :: else -> STORE_RLX(PIECE, 1)
    fi;
    LOAD_RLX(PIECE);
    USE(PIECE);
    assert(VALUE(PIECE) == 1)
}
inline two() {
    IF4(LOAD_RLX(STATE), LOAD_ACQ(STATE));
    USE(STATE);
    if
    :: VALUE(STATE) ->
        LOAD_RLX(PLACE);
        USE(PLACE);
        SWAP_RLX(ENDS, 1);
        if
        :: VALUE(ENDS)
        :: else ->
            assert(VALUE(PLACE));
            STORE_RLX(PIECE, 1);
            IF2(ADD_RLX(PUSHED, 1), ADD_REL(PUSHED, 1))
        fi
    :: else
    fi
}
#define FINALLY true

#elif PROTOCOL == ASK
/* An owner answers two questions in one place. Process 1 is the owner. */
#define L 5
#include "arm.pml"
#define ADDRESS 0
#define ASKED 1
#define ASKS 2
#define BOX 3
#define ANSWERED 4
byte i, last;
inline one() {
    i = 1;
    do
    :: i > 2 -> break
    :: else ->
        STORE_RLX(ADDRESS, i);
        IF1(STORE_RLX(ASKED, i), STORE_REL(ASKED, i));
        STORE_REL(ASKS, 1);
        do
        :: VALUE(ANSWERED) == i -> break
        :: else -> IF4(LOAD_RLX(ANSWERED), LOAD_ACQ(ANSWERED)); USE(ANSWERED)
        od;
        LOAD_RLX(BOX);
        USE(BOX);
        assert(VALUE(BOX) == 10 + i);
        i++
    od
}
inline two() {
    do
    :: last == 2 -> break
    :: else ->
        LOAD_ACQ(ASKS);
        if
        :: VALUE(ASKS) ->
            IF2(LOAD_RLX(ASKED), LOAD_ACQ(ASKED));
            USE(ASKED);
            if
            :: VALUE(ASKED) != last ->
                last = VALUE(ASKED);
                LOAD_RLX(ADDRESS);
                USE(ADDRESS);
                STORE_RLX(BOX, 10 + VALUE(ADDRESS));
                IF3(STORE_RLX(ANSWERED, last), STORE_REL(ANSWERED, last))
            :: else
            fi
        :: else
        fi
    od
}
#define FINALLY true
#endif

byte ended;

proctype process(byte me)
{
    if
    :: me == 0 -> one()
    :: me == 1 -> two()
#if P == 3
    :: me == 2 -> three()
#endif
    fi;
    QUIET;
    ended++
}

init {
    atomic {
#ifdef BEGIN
        BEGIN;
#endif
        run process(0); run process(1); run memory(0); run memory(1);
#if P == 3
        run process(2); run memory(2);
#endif
    }
    ended == P;
    assert(FINALLY)
}
