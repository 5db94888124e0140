/*
 * window.h - a window as its member sees it, and whether the members or the
 * host serve it.
 *
 * One decision is taken for each window, when it is made: its members serve it,
 * or the host does, with all calls alike. The members serve it if they are on
 * one node and each reaches the memory of each by loads and stores. What is
 * attached to a dynamic window may be farther (far.h).
 *
 * The host makes every window: it owns the handle, attributes, name, error
 * handler, info and group. It never hears of the epochs of a window that the
 * members serve. To the host no epoch is ever open there, so it refuses every
 * access. A call whose arguments or epoch are wrong goes to it, and it raises
 * its error. Errors that only Straightway can see it raises itself
 * (sw_win_raise).
 *
 * Every access is over when its call returns. So an epoch's end only has to
 * order it before what the target does next: by a fence of the processor, or
 * what the members' block does (rma/share.h).
 */
#ifndef SW_MPI_RMA_WINDOW_H
#define SW_MPI_RMA_WINDOW_H

#include "mpi/base/away.h"
#include "mpi/base/comm.h"
#include "mpi/base/datatype.h"
#include "mpi/base/progress.h"
#include "rma/regions.h"
#include "node/base/settings.h"
#include "rma/share.h"
#include "rma/update.h"

/* Where a target's memory is. */
enum {
    SW_WIN_NEAR,       /* at `base` */
    SW_WIN_UNSEARCHED, /* the first access looks for it */
    SW_WIN_FAR,        /* at `away`: the system copies */
};

/* What this member has of a target. */
enum {
    SW_WIN_STARTED = 1,
    SW_WIN_SHARED = 2,
    SW_WIN_EXCLUSIVE = 4,
    SW_WIN_UNCHECKED = 8, /* MPI_MODE_NOCHECK: no lock is taken */
    SW_WIN_UNPOSTED = 16, /* started, and it has perhaps not posted */
    SW_WIN_AWAITED = 32,  /* a thread waits for that */
    SW_WIN_LOCKED = SW_WIN_SHARED | SW_WIN_EXCLUSIVE | SW_WIN_UNCHECKED,
};

typedef struct {
    char *base; /* of its memory, as this member reaches it */
    uint64_t bytes;
    int64_t unit; /* of displacements */
    const sw_peer_t *peer;
    /* of a dynamic window, whose `base` is 0; else NULL */
    sw_regions_t *regions;
    _Atomic int where; /* its memory is (places.h) */
    uint64_t away;     /* of its memory, as it reaches it itself */
    _Atomic int access;
} sw_win_target_t;

/* What one accumulate has found out, for the next one that is like it: with
 * elements of a predefined type at both ends, side by side. */
typedef struct {
    MPI_Datatype type; /* MPI_DATATYPE_NULL: there was none */
    MPI_Op op;
    sw_update_t u;
} sw_win_update_t;

typedef struct {
    sw_registered_t registered;
    MPI_Win handle;
    bool ours; /* else the host's: nothing below is there */
    sw_rma_share_t share;
    sw_sequence_t *sequence; /* of fences */
    MPI_Group group;
    sw_win_target_t *target; /* [n] */
    int *members;            /* [n]: those started, `starts` of them */
    int starts, posts;       /* -1: no such epoch */
    bool fenced;             /* a fence has opened an epoch */
    bool stored;             /* plainly, since the last flush */
    sw_win_update_t last;    /* of a member with one thread */
    _Atomic int all;         /* how all are locked */
    _Atomic int locks;       /* so many, of one or of all */
    _Atomic unsigned turns;  /* see sw_win_turn */
} sw_win_t;

#define SW_WINS_CACHED 64
extern sw_registry_cache_t sw_win_cache[SW_WINS_CACHED]
    __attribute__((visibility("hidden")));
/* So many windows are ours now. */
extern _Atomic int sw_wins __attribute__((visibility("hidden")));

sw_win_t *sw_win_look_up(MPI_Win win);

/* The window, if its members serve it; else NULL. */
static inline sw_win_t *sw_win(MPI_Win win)
{
    if (!atomic_load_explicit(&sw_wins, memory_order_relaxed))
        return NULL;
    sw_win_t *w = sw_registry_cached(sw_win_cache, SW_WINS_CACHED,
                                     (uintptr_t)win);
    if (sw_unlikely(!w))
        w = sw_win_look_up(win);
    return w && w->ours ? w : NULL;
}

/* The kinds of windows, by their memory. */
typedef enum {
    SW_WIN_CREATED,       /* the program's */
    SW_WIN_ALLOCATED,     /* the host's, which lives as long as it */
    SW_WIN_SHARED_MEMORY, /* the same, and the program knows all of it */
    SW_WIN_DYNAMIC,       /* what is attached */
} sw_win_kind_t;

typedef struct {
    sw_win_kind_t kind;
    void *base;
    int64_t bytes, unit;
    uint64_t shown; /* where, in the arena's file, or UINT64_MAX */
} sw_win_memory_t;

/* The host has made it. Ask the members if they could serve it; all of them
 * come here. Returns what they decide: SW_WIN_SERVED, or why the host serves
 * it. */
int sw_win_decide(sw_win_t *w, const sw_win_memory_t *m, MPI_Comm comm);
/* The program has attached memory to a dynamic one, which peers find at
 * `offset` of the arena. */
void sw_win_attached(const sw_win_t *w, const void *base, int64_t bytes,
                     uint64_t offset);
void sw_win_detached(const sw_win_t *w, const void *base);

/* Raise an error on it, and return what the call is to return. */
int sw_win_raise(const sw_win_t *w, int error);
/* Waits until a target has posted, to which an epoch was started. False: it is
 * lost. */
bool sw_win_await_post(const sw_win_t *w, int target);
/* A wait was in vain: a member has died. */
int sw_win_lost(const sw_win_t *w);

/* A call that programs repeat until something comes true: drives the host's
 * progress now and then, and lets other ranks have the core. */
void sw_win_turn_slow(void);
static inline void sw_win_turn(sw_win_t *w)
{
    unsigned turn = atomic_load_explicit(&w->turns, memory_order_relaxed) + 1;
    atomic_store_explicit(&w->turns, turn, memory_order_relaxed);
    if (sw_unlikely(turn % 64 == 0))
        sw_win_turn_slow();
}

/* Before a wait: progress is driven on a communicator that lasts. */
static inline void sw_win_will_wait(void)
{
    sw_progress_use(MPI_COMM_WORLD);
}

static inline bool sw_win_is_target(const sw_win_t *w, int rank)
{
    return rank >= 0 && rank < w->share.n;
}

/* Why the host serves a window, of which all members think alike. */
#define SW_WIN_REASONS(X)                                              \
    X(OFF, "switched off (STRAIGHTWAY_RMA)")                           \
    X(MEMBERS, "of one member, over several nodes, or without arenas") \
    X(MEMORY, "in memory that a peer cannot reach")                    \
    X(ROOM, "no room for one more")

/* What is counted for --stats, of windows that the members serve. */
#define SW_WIN_DEEDS(X)         \
    X(PUT, "put")               \
    X(GET, "get")               \
    X(ACCUMULATE, "accumulate") \
    X(FETCH, "fetch")           \
    X(FENCE, "fence")           \
    X(LOCK, "lock")             \
    X(START, "start")           \
    X(FLUSH, "flush")

enum {
#define X(id, text) SW_WIN_##id,
    SW_WIN_REASONS(X) SW_WIN_REASON_COUNT,
    SW_WIN_SERVED = SW_WIN_REASON_COUNT,
};
enum {
    SW_WIN_DEEDS(X) SW_WIN_DEED_COUNT,
#undef X
    SW_WIN_MOVES = SW_WIN_FETCH + 1, /* so many of them move data */
};

/* Of this rank: windows by whose they are, calls and their bytes. */
typedef struct {
    _Atomic int64_t windows[SW_WIN_REASON_COUNT + 1];
    _Atomic int64_t calls[SW_WIN_DEED_COUNT], bytes[SW_WIN_DEED_COUNT];
} sw_win_counts_t;
extern sw_win_counts_t sw_win_counts __attribute__((visibility("hidden")));

void sw_win_count_slow(int deed, size_t bytes);
static inline void sw_win_count(int deed, size_t bytes)
{
    if (sw_unlikely(sw_settings.stats))
        sw_win_count_slow(deed, bytes);
}

/* The host has made a window (if rc is MPI_SUCCESS): of the program's memory,
 * which is shown at `shown`; of memory that the host has allocated; of none
 * yet. Each returns rc. */
uint64_t sw_win_settle(const void *base, MPI_Aint size);
int sw_win_created(int rc, void *base, MPI_Aint size, int64_t unit,
                   uint64_t shown, MPI_Comm comm, const MPI_Win *win);
int sw_win_allocated(int rc, sw_win_kind_t kind, void *base, MPI_Aint size,
                     int64_t unit, MPI_Comm comm, const MPI_Win *win);
int sw_win_created_dynamic(int rc, MPI_Comm comm, const MPI_Win *win);

#endif
