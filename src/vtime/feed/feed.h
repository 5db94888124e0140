/*
 * feed.h - the feeds on which a program's ranks tell the engine what they do.
 *
 * They are one segment of shared memory (a memfd, so nothing stays behind). The
 * server's parent makes it before the ranks come, or rank 0 in MPI_Init. It has
 * a feed for each rank:
 *
 *     rank ->  ring of operations (op.h), one writer, one reader  -> engine
 *     rank <-  one answer, for the operation that asked           <- engine
 *
 * A rank puts operations and goes on; it sleeps (futex) where its ring is full
 * or where it asks. The engine sleeps while no feed has anything new. Both
 * sides notice when the other has died. Several threads of a rank take turns
 * (a lock in the process, not here).
 *
 * The part here is the rank's; taker.h has the engine's, ring.h the memory.
 */
#ifndef SW_VTIME_FEED_FEED_H
#define SW_VTIME_FEED_FEED_H

#include "vtime/engine/engine.h"

typedef struct sw_feeds sw_feeds_t; /* the segment, mapped */
typedef struct sw_feed sw_feed_t;   /* a rank's part of it */

/* A new segment for so many ranks; its descriptor (close-on-exec), or -1. */
SW_API int sw_feeds_make(uint32_t ranks);
/* Map one; NULL: errno (EINVAL: it is none, or of another build). */
SW_API sw_feeds_t *sw_feeds_map(int fd);
SW_API void sw_feeds_unmap(sw_feeds_t *feeds);

/* Take a rank's feed; the caller's process is watched from now on. NULL: there
 * is no such rank, or it has begun already. */
SW_API sw_feed_t *sw_feed_begin(sw_feeds_t *feeds, uint32_t rank);

/* The members of a communicator, before the first operation that names it.
 * `number` is what this rank calls it (op.context), below 16 million and anew
 * where it was another's; `id` is alike on all members and on no other
 * communicator that lives in this job. */
SW_API bool sw_feed_context(sw_feed_t *feed, uint32_t number, uint64_t id,
                            uint32_t n, const uint32_t *members);
/* What this rank calls a section (op.h, SECTION), before the first operation
 * that names it, below 16 million. `name` is alike on all ranks; its first
 * SW_FEED_NAME bytes count. */
#define SW_FEED_NAME 1000u
SW_API bool sw_feed_section(sw_feed_t *feed, uint32_t number, const char *name);
/* False: the engine is gone; the program goes on without virtual time. */
SW_API bool sw_feed_put(sw_feed_t *feed, const sw_vop_t *op);
/* Put what asks, and wait for the answer; `answer->which` is valid until the
 * next call. */
SW_API bool sw_feed_ask(sw_feed_t *feed, const sw_vop_t *op,
                        sw_op_answer_t *answer);
/* The same where several threads of a rank ask, each at most one thing at a
 * time, the time (SW_CLOCK_THREAD): what has put the operation, in its turn,
 * waits here, beside others. `thread` is below SW_FEED_THREADS; `given` is what
 * sw_feed_given said before. False: the engine is gone. */
#define SW_FEED_THREADS 80u
SW_API uint32_t sw_feed_given(const sw_feed_t *feed, uint32_t thread);
SW_API bool sw_feed_await(sw_feed_t *feed, uint32_t thread, uint32_t given,
                          sw_ps_t *clock);
/* Where a rank says that it is in a call of MPI. Ranks that wait for the
 * engine may be what keeps it there. */
SW_API _Atomic uint32_t *sw_feed_inside(sw_feed_t *feed);
/* Where a thread (without threads: 0) says that it sleeps, for how many ns, and
 * waits for no other; 0 when it has put something since. */
SW_API _Atomic uint64_t *sw_feed_sleeps(sw_feed_t *feed, uint32_t thread);
/* Called now and then while a rank sleeps; NULL: nothing. What it does may let
 * others go on that the engine waits for. */
SW_API extern void (*sw_feed_idle)(void);
/* This process has a core of its own: it waits awake, for a while. */
SW_API extern bool sw_feed_awake;
/* The rank puts no more operations. `ended_well`: in MPI_Finalize. The feed is
 * freed with the mapping; a put after this fails. */
SW_API void sw_feed_end(sw_feed_t *feed, bool ended_well);

#endif
