/*
 * watch.h - what a process shows of its MPI calls to `straightway where`.
 *
 * Each process writes into a file in memory of its own (memfd), which only a
 * process of the same user may open, by /proc/PID/fd. The process never waits
 * for a reader. A reader copies the file, and looks at the copy.
 *
 *     threads   the call that each thread is in, and the call before it
 *     comms     communicators: an id that is alike on all members, the number
 *               of collectives begun, the latest of them
 *     pairs     messages sent to, or received from, one rank: how many, and
 *               sums of their tags
 *     requests  operations begun and not completed
 *     windows   epochs of one-sided windows
 *
 * Messages on their way are the difference of two ranks' counts. So no part
 * asks the host, or the matcher, about its queues.
 *
 * Memory order: a thread's entry changes under its own `turn`, odd while the
 * entry changes (a sequence lock with one writer). All other numbers are single
 * words, which a reader may find one call apart from each other.
 */
#ifndef SW_WATCH_WATCH_H
#define SW_WATCH_WATCH_H

#include "node/base/base.h"

#define SW_WATCH_NAME "straightway-watch"
#define SW_WATCH_MAGIC 0x68637461777773u /* "swwatch" */
#define SW_WATCH_VERSION 2u

enum {
    SW_WATCH_THREADS = 256,
    SW_WATCH_COMMS = 4096,
    SW_WATCH_PAIRS = 4096,
    SW_WATCH_REQUESTS = 16384,
    SW_WATCH_SHARDS = 16, /* parts of the requests; each has its own searches */
    SW_WATCH_WINDOWS = 256,
    SW_WATCH_TAGS = 6,   /* of a pair, the latest */
    SW_WATCH_RECENT = 8, /* collectives of a communicator, the latest */
    SW_WATCH_TEXT = 64,
    SW_WATCH_GROUP = 8, /* ranks of an epoch that are named */
};

/* A rank that is none: of a peer in the process's own terms. */
enum {
    SW_WATCH_ANY = -1,     /* MPI_ANY_SOURCE, MPI_ANY_TAG */
    SW_WATCH_NOBODY = -2,  /* the call has no such argument */
    SW_WATCH_FOREIGN = -3, /* a rank of another MPI_COMM_WORLD */
};

/* Where a procedure was called: the registers right after its return. */
typedef struct {
    uint64_t pc, sp, bp;
} sw_watch_from_t;

/* CLOCK_MONOTONIC_COARSE, as the kernel's own structure has it on 64 bits:
 * exact to some milliseconds, and read in 3 ns. */
typedef struct {
    int64_t seconds, ns;
} sw_watch_time_t;

/* What a call says of itself: the fields of sw_watch_call_t that it has set.
 * The others keep what earlier calls have left there. */
enum {
    SW_WATCH_HAS_COMM = 1,
    SW_WATCH_HAS_PEER = 2, /* and a tag */
    SW_WATCH_HAS_TO = 4,
    SW_WATCH_HAS_ROOT = 8,
    SW_WATCH_HAS_BYTES = 16,
    SW_WATCH_HAS_NUMBER = 32,
    SW_WATCH_HAS_REQUESTS = 64,
    SW_WATCH_HAS_WINDOW = 128,
    SW_WATCH_HAS_BEGAN = 256,
};

/* A call. All ranks are ranks in MPI_COMM_WORLD. */
typedef struct {
    uint32_t procedure; /* SW_PROC_..., SW_WATCH_NO_CALL: in none */
    uint32_t has;       /* SW_WATCH_HAS_... */
    uint32_t comm;      /* a row of comms; 0: none */
    uint32_t window;    /* a row of windows; 0: none */
    /* the rank that the message comes from or goes to; a one-sided target */
    int32_t peer, tag;
    /* of a call that sends and receives: the message that it sends */
    int32_t to, to_tag;
    int32_t root;      /* of a collective */
    uint64_t bytes;    /* SW_WATCH_UNKNOWN: of a type not met yet */
    uint64_t number;   /* of a collective: 1 for the communicator's first */
    uint64_t requests; /* so many does the call wait for */
    sw_watch_time_t began;
    sw_watch_from_t from;
} sw_watch_call_t;

/* A reader's copy, without what the call has not set. */
static inline void sw_watch_call_tidy(sw_watch_call_t *c)
{
    if (!(c->has & SW_WATCH_HAS_COMM))
        c->comm = 0;
    if (!(c->has & SW_WATCH_HAS_PEER))
        c->peer = c->tag = SW_WATCH_NOBODY;
    if (!(c->has & SW_WATCH_HAS_TO))
        c->to = c->to_tag = SW_WATCH_NOBODY;
    if (!(c->has & SW_WATCH_HAS_ROOT))
        c->root = SW_WATCH_NOBODY;
    if (!(c->has & SW_WATCH_HAS_BYTES))
        c->bytes = 0;
    if (!(c->has & SW_WATCH_HAS_NUMBER))
        c->number = 0;
    if (!(c->has & SW_WATCH_HAS_REQUESTS))
        c->requests = 0;
    if (!(c->has & SW_WATCH_HAS_WINDOW))
        c->window = 0;
    if (!(c->has & SW_WATCH_HAS_BEGAN))
        c->began = (sw_watch_time_t){0, 0};
}

#define SW_WATCH_NO_CALL UINT32_MAX
#define SW_WATCH_UNKNOWN UINT64_MAX

typedef struct {
    _Alignas(SW_LINE) _Atomic uint32_t turn; /* odd: being written */
    int32_t tid;                             /* 0: a free entry */
    uint64_t python;                         /* its PyThreadState, or 0 */
    uint64_t finished;    /* calls that have returned; a test that finds
                              * nothing is none */
    sw_watch_call_t call; /* now; or the last one */
    bool inside;          /* in that call now */
} sw_watch_thread_t;

/* The latest collectives: number % SW_WATCH_RECENT. */
typedef struct {
    uint64_t id; /* alike on all members; 0: not known, or a free row */
    char name[SW_WATCH_TEXT];
    int32_t size, rank;     /* of the own group */
    int32_t remote;         /* size of the remote group; 0: one group */
    int32_t first;          /* rank in MPI_COMM_WORLD of the group's first */
    _Atomic uint64_t begun; /* collectives, nonblocking ones among them */
    struct {
        uint32_t procedure;
        int32_t root; /* in MPI_COMM_WORLD, or SW_WATCH_NOBODY */
    } recent[SW_WATCH_RECENT];
    bool freed; /* the row may be taken for another one */
} sw_watch_comm_t;

/* Messages of this process with one peer on one communicator, one way. The
 * differences of two ranks' sums give the tags of few messages under way, and
 * the latest tags those of more. A line of the cache. */
typedef struct {
    _Alignas(SW_LINE) uint32_t comm; /* a row; 0: a free entry */
    int32_t peer;                    /* in MPI_COMM_WORLD */
    bool sends;     /* sent to it (at the beginning of the call); else received
                   * from it (when the receive has completed) */
    uint8_t newest; /* place of the latest tag */
    _Atomic uint64_t messages;
    /* of all tags, and of the squares of these, modulo 2^64 */
    _Atomic uint64_t tag_sum, tag_squares;
    int32_t latest[SW_WATCH_TAGS]; /* tags; SW_WATCH_NOBODY: none */
} sw_watch_pair_t;

/* What a request does. */
enum {
    SW_WATCH_FREE, /* no request */
    SW_WATCH_SENDS,
    SW_WATCH_RECEIVES,
    SW_WATCH_COLLECTIVE,
    SW_WATCH_OTHER, /* a file's, a window's, a generalized one */
    SW_WATCH_GONE,  /* no request; a search goes on behind this entry */
};

/* The row of a pair whose communicator is gone. */
#define SW_WATCH_NO_ROW UINT32_MAX

/* A line of the cache. */
typedef struct {
    _Alignas(SW_LINE) uint64_t handle;
    uint64_t pc;            /* where it was begun */
    uint64_t bytes, number; /* as in sw_watch_call_t */
    uint16_t procedure;     /* that began it, or made it */
    uint8_t kind;
    bool persistent : 1, active : 1;
    bool cancelled : 1; /* MPI_Cancel was called */
    uint32_t comm;
    int32_t peer, tag;
    int32_t waited;  /* by this thread's call; 0: by none */
    uint32_t serial; /* the process's own: other requests have others */
    uint32_t partitions, ready; /* of a partitioned one; it sends */
} sw_watch_request_t;

/* Epochs, counted. Ranks are ranks in MPI_COMM_WORLD. */
typedef struct {
    uint64_t handle;
    uint32_t comm;   /* a row; 0: a free entry */
    uint32_t number; /* 1 for the communicator's first */
    uint64_t fences;
    uint32_t posts, waits;      /* MPI_Win_post, MPI_Win_wait that returned */
    uint32_t starts, completes; /* the same of MPI_Win_start, _complete */
    int32_t origins[SW_WATCH_GROUP]; /* of the latest post; then NOBODY */
    int32_t targets[SW_WATCH_GROUP]; /* of the latest start */
    int32_t origin_count, target_count;
    int32_t locked; /* the target of the latest lock that is held, ANY: all
                        * (lock_all); NOBODY: none */
    int32_t locks;  /* held now */
    bool exclusive;
} sw_watch_window_t;

/* What did not fit: then counts of that table are not whole. */
typedef struct {
    _Atomic uint64_t threads, comms, pairs, requests, windows;
} sw_watch_lost_t;

typedef struct {
    uint64_t magic;
    uint32_t version, size;   /* sizeof(sw_watch_t) */
    int32_t pid, rank, ranks; /* in MPI_COMM_WORLD; rank -1: no MPI_Init yet */
    int32_t node_ranks;
    int32_t thread_level;
    bool accelerated, finalized;
    bool whole;              /* counts began in MPI_Init */
    char job[SW_WATCH_TEXT]; /* alike on all ranks of a MPI_COMM_WORLD, and on
                              * no other's; "" before MPI_Init has returned */
    char flavour[16];
    char node[SW_WATCH_TEXT];
    char program[256];
    sw_watch_time_t started;
    /* Between the process and a sentry (watch/reader/sentry.h): a sentry looks;
     * the process has got SIGTERM, and waits; the sentry needs it no more. */
    _Atomic uint32_t guarded, terminating, told;
    /* Python here, or all 0: offsets as profile/stack/pycode.h says. */
    uint32_t python[32];
    sw_watch_lost_t lost;
    sw_watch_thread_t threads[SW_WATCH_THREADS];
    sw_watch_comm_t comms[SW_WATCH_COMMS]; /* row 0: free for ever */
    sw_watch_pair_t pairs[SW_WATCH_PAIRS];
    sw_watch_request_t requests[SW_WATCH_REQUESTS];
    sw_watch_window_t windows[SW_WATCH_WINDOWS]; /* row 0: free for ever */
} sw_watch_t;

#endif
