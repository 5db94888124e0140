/*
 * ring.h - the feeds' segment: which side writes what, and which side sleeps.
 *
 *     | head: doorbell, news | feed 0 | feed 1 | ...
 *
 *     feed, in whole pages:
 *       rank's    | put, state, process       a pair of cache lines each
 *       rank's    | asleep, wake_at, read; event
 *       engine's  | taken, ring_at, over
 *       engine's  | parts, the answer | which[]
 *       engine's  | answers to threads
 *                 | entries[SW_FEED_ENTRIES], 64 bytes each
 *
 * The ring. `put` and `taken` count entries since the beginning and never go
 * back. The rank writes an entry and then `put`; the engine reads entries
 * below `put` and then writes `taken`; each keeps what it knows of the other's
 * number and looks again only when that is used up.
 *
 * The doorbell. The rank must not make a system call for each entry, nor may
 * the engine look at hundreds of feeds. So the engine says in `ring_at` at
 * which `put` it wants to hear of a feed: at the next entry, if a rank waits
 * for an answer that may depend on it; else when the ring is half full. A rank
 * that rings sets its bit in `news`, adds one to the doorbell's word, and wakes
 * the engine if that is asleep. Asking and ending always ring.
 *
 * No wake-up is lost. Each pair below is one side's store before its load of
 * what the other stores before its load (Dekker). All four are sequentially
 * consistent, so there is one order of them; one of the two loads comes last
 * in it and sees the other's store:
 *
 *     rank                            engine
 *     store put,   load ring_at       store ring_at, load put
 *     add to doorbell, load asleep    store asleep,  load doorbell
 *     store asleep, load taken/parts  store taken/parts, load asleep
 *
 * On x86 that makes the store an exchange (some 6 ns); loads are plain.
 */
#ifndef SW_VTIME_FEED_RING_H
#define SW_VTIME_FEED_RING_H

#include "vtime/ops/op.h"
#include "feed.h"
#include "watch.h"

#define SW_FEED_ENTRIES 4096u /* a power of two */
#define SW_FEED_BYTES 56u     /* of what is told, in an entry */
#define SW_FEED_PLACES 512u   /* of an answer's list, in a part */

/* A rank tells a context (its members, uint32_t each) or a section (its name).
 * It puts a head, and as many entries MORE as the bytes need. */
enum {
    SW_ENTRY_OP = 1,
    SW_ENTRY_CONTEXT,
    SW_ENTRY_SECTION,
    SW_ENTRY_MORE,
};

typedef struct {
    uint64_t id; /* of a context */
    uint32_t number, bytes;
} sw_feed_told_t;

typedef struct {
    uint32_t what, n; /* n: of bytes, here */
    union {
        sw_vop_t op;
        sw_feed_told_t told;
        char byte[SW_FEED_BYTES];
    };
} sw_feed_entry_t;

_Static_assert(sizeof(sw_feed_entry_t) == 64, "an entry is a cache line");

enum {
    SW_FEED_NOBODY,
    SW_FEED_BEGUN,
    SW_FEED_ENDED_WELL,
    SW_FEED_ENDED,
};

typedef struct {
    _Alignas(SW_PAIR) _Atomic uint64_t put;
    _Atomic uint32_t state;
    sw_watch_t process;      /* written before `state` */
    _Atomic uint32_t inside; /* it is in a call of MPI */

    _Alignas(SW_PAIR) _Atomic uint64_t
        wake_at; /* of `taken`; UINT64_MAX: for an answer */
    _Atomic uint32_t asleep;
    _Atomic uint32_t read;  /* parts of answers */
    _Atomic uint32_t event; /* the rank's futex word */

    _Alignas(SW_PAIR) _Atomic uint64_t taken;
    _Atomic uint64_t ring_at;
    _Atomic uint32_t over; /* the engine takes no more */

    _Alignas(SW_PAIR) _Atomic uint32_t
        parts;     /* of answers, given since the beginning */
    uint32_t here; /* places in this part */
    int64_t clock, until;
    uint64_t bytes;
    int32_t peer, tag;
    uint32_t found, count; /* count: places in all parts */
    _Alignas(SW_PAIR) uint32_t which[SW_FEED_PLACES];

    /* Of several threads each has its own: only clocks are asked. */
    struct {
        _Atomic uint32_t given; /* the thread's futex word, too */
        _Atomic uint32_t asleep;
        int64_t clock;
        _Atomic uint64_t sleeps; /* ns: it comes back then */
    } of_thread[SW_FEED_THREADS];

    _Alignas(SW_PAGE) sw_feed_entry_t entry[SW_FEED_ENTRIES];
} sw_feed_shared_t;

enum { SW_SERVER_NOT_YET, SW_SERVER_RUNS, SW_SERVER_OVER };

typedef struct {
    uint64_t magic;
    uint32_t ranks, entries;
    uint64_t feed_size;
    sw_watch_t maker;
    sw_watch_t server;       /* written before `state` */
    _Atomic uint32_t state;  /* of the server */
    _Atomic uint32_t result; /* it has written its result */

    _Alignas(SW_PAIR) _Atomic uint32_t doorbell; /* the engine's futex word */
    _Atomic uint32_t asleep;
    _Alignas(SW_PAIR) _Atomic uint64_t news[]; /* a bit for each rank */
} sw_feeds_head_t;

struct sw_feeds {
    sw_feeds_head_t *head;
    char *feed; /* the first */
    size_t size;
    uint32_t ranks;
    struct sw_feed **own; /* by rank: taken by this process */
};

/* What a process has of its own of a feed; or NULL. */
void sw_feed_forget(struct sw_feed *feed);

static inline sw_feed_shared_t *sw_feed_shared(const struct sw_feeds *feeds,
                                               uint32_t rank)
{
    return (sw_feed_shared_t *)(feeds->feed + rank * sizeof(sw_feed_shared_t));
}

#endif
