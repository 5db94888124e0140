/*
 * arm.pml - memory as Arm's processors may order it, for Spin models.
 *
 * A model defines P (processes), L (locations, at most 8), and includes this
 * file. Process `me` reads and writes locations by the macros below. It starts
 * `run memory(me)`, which does what a processor does on its own:
 *
 *   store    It waits, and takes effect later: in any order with other stores,
 *            but for those to its own location. A release takes effect after
 *            all stores and loads before it. (DMB, STLR)
 *   load     It may read early: before accesses that come before it, though
 *            the program has branched on these. It may read late: after
 *            stores and loads that come behind it, until its value is used.
 *            Nothing behind an acquire reads before it. (LDAPR)
 *
 * Memory is one for all: Arm's is multi-copy atomic. A load sees the process's
 * own waiting store. An acquire may read before an earlier release takes
 * effect (LDAPR); a sequentially consistent load does not (LDAR). A store
 * waits for all values that the program has used before it: these are its
 * dependencies.
 *
 * litmus.pml shows that the known tests come out as Arm's model has them.
 * Not modelled: dependencies between loads (an address that was loaded orders
 * nothing here, which is weaker than Arm), accesses of several sizes, and a
 * load that an acquire's early value lets through.
 */
#define BIT(l) (1 << (l))

/* Bits of the locations that process `p` may read early. */
#ifndef EARLY
#define EARLY(p) 255
#endif

byte mem[L];
byte reg[P * L];        /* the last value that a process has read */
byte waiting[P * L];    /* values of stores that wait */
byte how[P * L];        /* such a store: STORE, ADD or OR */
short before[P * L];    /* stores, and loads << 8, that come first */
byte stores[P];         /* bits: they wait */
byte releases[P];       /* of these */
byte loads[P];          /* bits: they are late */
byte early[P];          /* bits: read early, not used yet */
byte ahead[P * L];      /* the values */

#define STORE 0
#define ADD 1
#define OR 2

#define AT(l) (me * L + (l))
#define WAITS(l) (stores[me] & BIT(l))
#define LATE(l) (loads[me] & BIT(l))
#define QUIET (!stores[me] && !loads[me])

hidden byte m, q;

/* Memory changes. Each other process may have read the old value already. */
inline change(l, new)
{
    q = 0;
    do
    :: q < P ->
        if
        :: q != me && (EARLY(q) & BIT(l)) && !(stores[q] & BIT(l)) &&
           mem[l] != (new) ->
            if
            :: ahead[q * L + l] = mem[l]; early[q] = early[q] | BIT(l)
            :: skip
            fi
        :: else
        fi;
        q++
    :: else -> break
    od;
    mem[l] = new
}

/* A store of this process takes effect. */
inline effect(l)
{
    if
    :: how[AT(l)] == STORE -> change(l, waiting[AT(l)])
    :: how[AT(l)] == ADD -> change(l, (mem[l] + waiting[AT(l)]))
    :: how[AT(l)] == OR -> change(l, (mem[l] | waiting[AT(l)]))
    fi;
    stores[me] = stores[me] & ~BIT(l);
    releases[me] = releases[me] & ~BIT(l);
    waiting[AT(l)] = 0;
    how[AT(l)] = 0;
    passed(BIT(l))
}

/* What had to wait for these bits need not any more. */
inline passed(bits)
{
    m = 0;
    do
    :: m < L -> before[AT(m)] = before[AT(m)] & ~(bits); m++
    :: else -> break
    od;
    m = 0
}

#define FOR_EACH(l) \
    :: atomic { WAITS(l) && !before[AT(l)] -> effect(l) } \
    :: atomic { LATE(l) -> \
           reg[AT(l)] = mem[l]; \
           loads[me] = loads[me] & ~BIT(l); \
           early[me] = early[me] & ~BIT(l); \
           passed(BIT(l) << 8) }

proctype memory(byte me)
{
end:
    do
    FOR_EACH(0)
#if L > 1
    FOR_EACH(1)
#endif
#if L > 2
    FOR_EACH(2)
#endif
#if L > 3
    FOR_EACH(3)
#endif
#if L > 4
    FOR_EACH(4)
#endif
#if L > 5
    FOR_EACH(5)
#endif
#if L > 6
    FOR_EACH(6)
#endif
#if L > 7
    FOR_EACH(7)
#endif
    od
}

#define PUT(l, v, kind, first, releasing) \
    atomic { !WAITS(l) && !LATE(l) -> \
        waiting[AT(l)] = v; \
        how[AT(l)] = kind; \
        before[AT(l)] = first; \
        stores[me] = stores[me] | BIT(l); \
        releases[me] = releases[me] | ((releasing) << (l)); \
        early[me] = early[me] & ~BIT(l) }
#define ALL_BEFORE (stores[me] | (loads[me] << 8))

/* Stores, and read-modify-writes whose result is not used. */
#define STORE_RLX(l, v) PUT(l, v, STORE, 0, 0)
#define STORE_REL(l, v) PUT(l, v, STORE, ALL_BEFORE, 1)
#define STORE_SC(l, v) STORE_REL(l, v)
#define ADD_RLX(l, v) PUT(l, v, ADD, 0, 0)
#define ADD_REL(l, v) PUT(l, v, ADD, ALL_BEFORE, 1)
#define OR_RLX(l, v) PUT(l, v, OR, 0, 0)
#define OR_REL(l, v) PUT(l, v, OR, ALL_BEFORE, 1)

/* The value is got here, from a waiting store or from memory. */
#define READ_NOW(l) \
    if \
    :: WAITS(l) -> (how[AT(l)] == STORE); reg[AT(l)] = waiting[AT(l)] \
    :: else -> reg[AT(l)] = mem[l] \
    fi; \
    early[me] = early[me] & ~BIT(l)
#define READ_AHEAD(l) reg[AT(l)] = ahead[AT(l)]

#define LOAD_RLX(l) \
    atomic { !LATE(l) && (!WAITS(l) || how[AT(l)] == STORE) -> \
        if \
        :: READ_NOW(l) \
        :: early[me] & BIT(l) -> READ_AHEAD(l) \
        :: !WAITS(l) -> loads[me] = loads[me] | BIT(l) \
        fi }
#define LOAD_ACQ(l) \
    atomic { !LATE(l) && (!WAITS(l) || how[AT(l)] == STORE) -> \
        if \
        :: READ_NOW(l) \
        :: early[me] & BIT(l) -> READ_AHEAD(l) \
        fi; \
        early[me] = 0 }
#define LOAD_SC(l) \
    atomic { !LATE(l) && !releases[me] && \
             (!WAITS(l) || how[AT(l)] == STORE) -> \
        READ_NOW(l); \
        early[me] = 0 }

/* What LOAD_... has read: it is there now. */
#define USE(l) !LATE(l)
#define VALUE(l) reg[AT(l)]

/* Read-modify-writes whose result is used: VALUE(l) is the old value. Loads
 * behind an acquiring one may read between its load and its store, which fails
 * where another store came between. */
#define RMW(l, new) \
    reg[AT(l)] = mem[l]; \
    change(l, new); \
    early[me] = early[me] & ~BIT(l)
#define SWAP_RLX(l, new) atomic { !WAITS(l) && !LATE(l) -> RMW(l, new) }
#define SWAP_REL(l, new) atomic { QUIET -> RMW(l, new) }
#define PAIR(l, when, new) \
    do \
    :: atomic { when -> early[me] = 0; reg[AT(l)] = mem[l] }; \
        if \
        :: atomic { (when) && mem[l] == reg[AT(l)] -> RMW(l, new) }; break \
        :: atomic { mem[l] != reg[AT(l)] } \
        fi \
    od
#define SWAP_ACQ(l, new) PAIR(l, !WAITS(l) && !LATE(l), new)
#define SWAP_SC(l, new) PAIR(l, QUIET, new)

#define FENCE atomic { QUIET -> early[me] = 0 }
#define FENCE_REL QUIET
#define FENCE_ACQ atomic { !loads[me] -> early[me] = 0 }
