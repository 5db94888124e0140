/*
 * own.h - what this process shows: its own sw_watch_t (watch.h).
 *
 * Entries are taken by one thread each, and given back when the thread ends. A
 * thread for which no entry is left has one that no reader sees.
 *
 * A forked child has a private copy from then on: it changes nothing of what
 * its parent shows.
 */
#ifndef SW_WATCH_OWN_H
#define SW_WATCH_OWN_H

#include "watch.h"

#include <time.h>

/* NULL: this process shows nothing. */
SW_API extern sw_watch_t *sw_watch;

/* The calling thread's entry; NULL: it has none yet. */
SW_API extern _Thread_local sw_watch_thread_t *sw_watch_mine
    __attribute__((tls_model("initial-exec")));

/* Show something, from now on. False, with errno: the system refuses. */
SW_API bool sw_watch_open(void);

/* This process's messages with ranks of its MPI_COMM_WORLD, by which turns know
 * whether any is under way (mpi/turns/turns.h). `sent`: of calls that began;
 * `received`: of receives that completed. `posted`: receives that stand.
 * `persistent`: requests of messages, active or not. `unsure`: a message may
 * be under way that is not counted. */
typedef struct {
    _Atomic int64_t sent, received, posted, persistent;
    _Atomic bool unsure;
} sw_watch_flow_t;
SW_API extern sw_watch_flow_t sw_watch_flow;

/* Take an entry for the calling thread. Never NULL. */
SW_API sw_watch_thread_t *sw_watch_thread_new(void);

/* The kernel's function for the program's own clock_gettime, without a way
 * through any library. */
typedef int (*sw_watch_clock_t)(clockid_t clock, struct timespec *to);
SW_API extern sw_watch_clock_t sw_watch_clock;

static inline void sw_watch_now(sw_watch_time_t *to)
{
    _Static_assert(sizeof *to == sizeof(struct timespec), "64 bits");
    sw_watch_clock(CLOCK_MONOTONIC_COARSE, (struct timespec *)(void *)to);
}

/* Several threads may call MPI: each table changes under a lock, or under some.
 * A fork takes no lock, and its child finds all of them open. */
enum {
    SW_WATCH_LOCK_COMMS, /* taken before that of the pairs */
    SW_WATCH_LOCK_PAIRS,
    SW_WATCH_LOCK_WINDOWS,
    SW_WATCH_LOCK_PROMISES,
    SW_WATCH_LOCK_REQUESTS, /* and one more for each further shard */
    SW_WATCH_LOCKS = SW_WATCH_LOCK_REQUESTS + SW_WATCH_SHARDS,
};
SW_API void sw_watch_lock(unsigned which);
SW_API void sw_watch_unlock(unsigned which);

/* What did not fit. */
#define sw_watch_lose(table) \
    atomic_fetch_add_explicit(&sw_watch->lost.table, 1, memory_order_relaxed)

#endif
