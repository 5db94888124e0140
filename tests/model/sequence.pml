/*
 * sequence.pml - the protocol of src/coll/sequence.h, for Spin.
 *
 * MEMBERS members carry out STEPS steps over columns of DEPTH entries. Which
 * kind each step is, and which member its root, is chosen freely, but alike
 * for all:
 *
 *   BCAST   the root posts a copy, the others read it
 *   PART    the root posts where its own memory is and stays till all have
 *           read it; then it overwrites that memory
 *   GATHER  the others post, the root reads them
 *   SYM     everybody posts, everybody reads all
 *
 * Memory. A store does not take effect where it is made. Plain stores wait in
 * a queue and may overtake earlier release stores; a release store (posted,
 * done) takes effect after all stores made before it. Loads take effect in
 * program order, as acquire loads and what follows them do. That is weaker than
 * x86-TSO and covers what release and acquire allow here: no member loads
 * what it has stored itself. What is *not* modelled is a plain load that is
 * held back beyond a release store; release forbids it.
 *
 * Proven, for every order of kinds and every interleaving within the bounds:
 *   - a reader that has seen posted == s reads the payload of s: nothing is
 *     overwritten before it is read, nothing is read before it is there
 *   - an entry seen by its reader is never of a later step
 *   - no deadlock: every member comes to its end (no invalid end states)
 *
 * With -DBUG=1 a claim does not wait for the readers, with -DBUG=2 a symmetric
 * step takes itself as acknowledged, with -DBUG=3 done is stored before the
 * reading, with -DBUG=4 posted is stored before the payload: each must be found
 * out, which run.sh checks. So the model can tell right from wrong.
 */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef STEPS
#define STEPS 3
#endif
#ifndef DEPTH
#define DEPTH 2
#endif
#ifndef BUG
#define BUG 0
#endif

#define BCAST 0
#define PART 1
#define GATHER 2
#define SYM 3
#define ALL 15

/* The shared block: entry x of member m is at [m * DEPTH + x]. */
byte posted[MEMBERS * DEPTH];
byte data[MEMBERS * DEPTH];
byte done[MEMBERS];
byte memory[MEMBERS];           /* the members' own, for PART */

byte kind[STEPS + 1];
byte root[STEPS + 1];
bool chosen = false;

/* Store queues: <where, which, value>; for releases also how many plain stores
 * come before. */
#define DATA 0
#define MEMORY 1
#define POSTED 2
#define DONE 3
chan plain[MEMBERS] = [6] of { byte, byte, byte };
chan release[MEMBERS] = [6] of { byte, byte, byte, byte };
byte stored[MEMBERS];           /* plain stores made   */
byte flushed[MEMBERS];          /* plain stores in effect */

proctype memory_of(byte me)
{
    byte where, at, value, before;
end:
    do
    :: atomic { plain[me]?where, at, value ->
           if
           :: where == DATA -> data[at] = value
           :: where == MEMORY -> memory[at] = value
           fi;
           flushed[me]++ }
    :: atomic { nempty(release[me]) ->
           release[me]?<where, at, value, before>;
           if
           :: flushed[me] >= before ->
               release[me]?where, at, value, before;
               if
               :: where == POSTED -> posted[at] = value
               :: where == DONE -> done[at] = value
               fi
           :: else -> skip
           fi }
    od
}

inline store(where, at, value)
{
    atomic { plain[me]!where, at, value; stored[me]++ }
}

inline store_release(where, at, value)
{
    atomic { release[me]!where, at, value, stored[me] }
}

inline await_done(m, step)
{
    if
    :: known[m] >= step
    :: else ->
        atomic { done[m] >= step -> known[m] = done[m] }
    fi
}

inline await_done_all(step)
{
    k = 0;
    do
    :: k < MEMBERS ->
        if
        :: k != me -> await_done(k, step)
        :: else
        fi;
        k++
    :: else -> break
    od
}

inline claim(step, whom)
{
#if BUG != 1
    if
    :: used[step % DEPTH] > acked ->
        if
        :: readers[step % DEPTH] != ALL ->
            await_done(readers[step % DEPTH], used[step % DEPTH])
        :: else ->
            await_done_all(used[step % DEPTH]);
            atomic {
                least = 255;
                k = 0;
                do
                :: k < MEMBERS ->
                    if
                    :: k != me && known[k] < least -> least = known[k]
                    :: else
                    fi;
                    k++
                :: else -> break
                od;
                if
                :: least > acked -> acked = least
                :: else
                fi
            }
        fi
    :: else
    fi;
#endif
    atomic { used[step % DEPTH] = step; readers[step % DEPTH] = whom }
}

inline post(step)
{
#if BUG == 4
    store_release(POSTED, me * DEPTH + step % DEPTH, step);
    store(DATA, me * DEPTH + step % DEPTH, step)
#else
    store(DATA, me * DEPTH + step % DEPTH, step);
    store_release(POSTED, me * DEPTH + step % DEPTH, step)
#endif
}

/* Wait for m's entry of this step and read its payload. */
inline read(m, step)
{
    atomic {
        posted[m * DEPTH + step % DEPTH] >= step ->
        assert(posted[m * DEPTH + step % DEPTH] == step)
    }
    if
    :: kind[step] == PART -> assert(memory[m] == step)
    :: else -> assert(data[m * DEPTH + step % DEPTH] == step)
    fi
}

inline read_all(step)
{
    r = 0;
    do
    :: r < MEMBERS ->
        if
        :: r != me -> read(r, step)
        :: else
        fi;
        r++
    :: else -> break
    od
}

inline finish(step)
{
    store_release(DONE, me, step)
}

proctype member(byte me)
{
    byte known[MEMBERS], used[DEPTH], readers[DEPTH];
    byte acked, least, k, r, s;

    chosen;
    s = 1;
    do
    :: s <= STEPS ->
#if BUG == 3
        finish(s);
#endif
        if
        :: kind[s] == SYM ->
            claim(s, ALL);
            post(s);
            read_all(s)
        :: kind[s] == GATHER && root[s] == me ->
            read_all(s)
        :: kind[s] == GATHER && root[s] != me ->
            claim(s, root[s]);
            post(s)
        :: kind[s] < GATHER && root[s] == me ->
            if
            :: kind[s] == PART -> store(MEMORY, me, s)
            :: else
            fi;
            claim(s, ALL);
            post(s)
        :: else ->
            read(root[s], s)
        fi;
#if BUG != 3
        finish(s);
#endif
        if
        :: kind[s] == SYM ->
#if BUG == 2
            acked = s
#else
            acked = s - 1
#endif
        :: kind[s] == PART && root[s] == me ->
            await_done_all(s);
            acked = s;
            store(MEMORY, me, 0)
        :: else
        fi;
        s++
    :: else -> break
    od
}

init
{
    byte s = 1, m;
    do
    :: s <= STEPS ->
        select(m : 0 .. 3);
        kind[s] = m;
        if
        :: m != SYM -> select(m : 0 .. MEMBERS - 1); root[s] = m
        :: else
        fi;
        s++
    :: else -> break
    od;
    atomic {
        m = 0;
        do
        :: m < MEMBERS -> run memory_of(m); run member(m); m++
        :: else -> break
        od;
        chosen = true
    }
}
