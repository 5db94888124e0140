/*
 * litmus.pml - known tests of memory order, for arm.pml.
 *
 * The last assertion fails if the outcome that the test asks about comes up.
 * Arm's model tells whether it may (run.sh says what it tells):
 *
 *   1  MP: message passing, with nothing            allowed
 *   2  MP, release and a relaxed look               allowed
 *   3  MP, relaxed store and acquire                allowed
 *   4  MP, release and acquire                      forbidden
 *   5  SB: store buffering, release and acquire     allowed
 *   6  SB, sequentially consistent                  forbidden
 *   7  SB, with full fences                         forbidden
 *   8  LB: load buffering, with nothing             allowed
 *   9  LB, release stores                           forbidden
 *  10  S, release and a dependency                  forbidden
 *  11  S, with nothing on one side                  allowed
 *  12  R, release and acquire                       allowed
 *  13  R, sequentially consistent                   forbidden
 *  14  2+2W, with nothing                           allowed
 *  15  2+2W, release stores                         forbidden
 *  16  CoRR: two loads of one location              forbidden
 *  17  IRIW, acquires: stores are seen in one order forbidden
 *  18  IRIW, with nothing                           allowed
 *  19  MP, release fence and acquire fence          forbidden
 *  20  SB, a read-modify-write, then a plain load   allowed
 *  21  SB, read-modify-writes, then SC loads        forbidden
 *  22  LB, where the loads decide on the stores     forbidden
 */
#if TEST == 17 || TEST == 18
#define P 4
#else
#define P 2
#endif
#define L 2
#define X 0
#define Y 1
#include "arm.pml"

byte got[8];
byte ended;

#define KEEP(i, l) USE(l) -> got[i] = VALUE(l)

#if TEST <= 4 || TEST == 19
#define THREADS 2
inline one() {
    STORE_RLX(X, 1);
#if TEST == 19
    FENCE_REL;
#endif
#if TEST == 2 || TEST == 4
    STORE_REL(Y, 1)
#else
    STORE_RLX(Y, 1)
#endif
}
inline two() {
#if TEST == 3 || TEST == 4
    LOAD_ACQ(Y);
#else
    LOAD_RLX(Y);
#endif
#if TEST == 2
    KEEP(0, Y);             /* the program branches on it */
#endif
#if TEST == 19
    FENCE_ACQ;
#endif
    LOAD_RLX(X);
    KEEP(0, Y);
    KEEP(1, X)
}
#define OUTCOME (got[0] == 1 && got[1] == 0)
#endif

#if TEST >= 5 && TEST <= 7 || TEST == 20 || TEST == 21
#define THREADS 2
#if TEST == 5
#define SET(l) STORE_REL(l, 1)
#define GET(l) LOAD_ACQ(l)
#elif TEST == 6
#define SET(l) STORE_SC(l, 1)
#define GET(l) LOAD_SC(l)
#elif TEST == 7
#define SET(l) STORE_RLX(l, 1); FENCE
#define GET(l) LOAD_RLX(l)
#elif TEST == 20
#define SET(l) SWAP_SC(l, 1)
#define GET(l) LOAD_RLX(l)
#else
#define SET(l) SWAP_SC(l, 1)
#define GET(l) LOAD_SC(l)
#endif
inline one() { SET(X); GET(Y); KEEP(0, Y) }
inline two() { SET(Y); GET(X); KEEP(1, X) }
#define OUTCOME (got[0] == 0 && got[1] == 0)
#endif

#if TEST == 8 || TEST == 9 || TEST == 22
#define THREADS 2
#if TEST == 8
#define THEN(l, i, k) STORE_RLX(l, 1); KEEP(i, k)
#elif TEST == 9
#define THEN(l, i, k) STORE_REL(l, 1); KEEP(i, k)
#else
#define THEN(l, i, k) KEEP(i, k); STORE_RLX(l, 1)
#endif
inline one() { LOAD_RLX(X); THEN(Y, 0, X) }
inline two() { LOAD_RLX(Y); THEN(X, 1, Y) }
#define OUTCOME (got[0] == 1 && got[1] == 1)
#endif

#if TEST == 10 || TEST == 11
#define THREADS 2
inline one() {
    STORE_RLX(X, 2);
#if TEST == 10
    STORE_REL(Y, 1)
#else
    STORE_RLX(Y, 1)
#endif
}
inline two() { LOAD_RLX(Y); KEEP(0, Y); STORE_RLX(X, 1) }
#define OUTCOME (got[0] == 1 && mem[X] == 2)
#endif

#if TEST == 12 || TEST == 13
#define THREADS 2
#if TEST == 12
#define SET(l, v) STORE_REL(l, v)
#define GET(l) LOAD_ACQ(l)
#else
#define SET(l, v) STORE_SC(l, v)
#define GET(l) LOAD_SC(l)
#endif
inline one() { STORE_RLX(X, 1); SET(Y, 1) }
inline two() { SET(Y, 2); GET(X); KEEP(0, X) }
#define OUTCOME (got[0] == 0 && mem[Y] == 2)
#endif

#if TEST == 14 || TEST == 15
#define THREADS 2
#if TEST == 14
#define SET(l, v) STORE_RLX(l, v)
#else
#define SET(l, v) STORE_REL(l, v)
#endif
inline one() { STORE_RLX(X, 1); SET(Y, 2) }
inline two() { STORE_RLX(Y, 1); SET(X, 2) }
#define OUTCOME (mem[X] == 1 && mem[Y] == 1)
#endif

#if TEST == 16
#define THREADS 2
inline one() { STORE_RLX(X, 1) }
inline two() { LOAD_RLX(X); KEEP(0, X); LOAD_RLX(X); KEEP(1, X) }
#define OUTCOME (got[0] == 1 && got[1] == 0)
#endif

#if TEST == 17 || TEST == 18
#define THREADS 4
#if TEST == 17
#define GET(l) LOAD_ACQ(l)
#else
#define GET(l) LOAD_RLX(l)
#endif
inline one() { STORE_RLX(X, 1) }
inline two() { STORE_RLX(Y, 1) }
inline three() { GET(X); GET(Y); KEEP(0, X); KEEP(1, Y) }
inline four() { GET(Y); GET(X); KEEP(2, Y); KEEP(3, X) }
#define OUTCOME (got[0] && !got[1] && got[2] && !got[3])
#endif

proctype thread(byte me)
{
    if
    :: me == 0 -> one()
    :: me == 1 -> two()
#if THREADS == 4
    :: me == 2 -> three()
    :: me == 3 -> four()
#endif
    fi;
    QUIET;
    ended++
}

init {
    atomic {
        run thread(0); run thread(1); run memory(0); run memory(1);
#if THREADS == 4
        run thread(2); run thread(3); run memory(2); run memory(3);
#endif
    }
    ended == THREADS;
    assert(!OUTCOME)
}
