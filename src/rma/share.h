/*
 * share.h - what the members of a window share, besides its memory.
 *
 * Origins load and store their targets' memory themselves (their callers do).
 * The block orders these accesses: locks, posts and completes, and the atomic
 * updates of accumulates.
 *
 *   +------------+------+----------+----------+-----+--------+--------+-----+
 *   | sw_block_t | gate | member 0 | member 1 | ... | posts  | posts  | ... |
 *   | (one pair) |      |          |          |     | of 0   | of 1   |     |
 *   +------------+------+----------+----------+-----+--------+--------+-----+
 *
 * Member, in line pairs:
 *
 *   0    lock: of its memory, as a target            queue (queue.h)
 *   128  updates: of its memory, in turn             queue
 *   256  active (4): this origin's short updates     update.c
 *   384  completes (4)  doorbell: event (4) sleepers (4)    expose.c
 *
 * Posts of a member: a bit for each target that has posted to it.
 *
 * A member that has died may keep others waiting. A wait then ends as lost, if
 * sw_wait_progress says so; else it goes on, as the hosts' waits do.
 */
#ifndef SW_RMA_SHARE_H
#define SW_RMA_SHARE_H

#include "node/segment.h"
#include "queue.h"

typedef struct {
    sw_queue_t lock, updates;
    _Alignas(SW_PAIR) _Atomic uint32_t active;
    _Alignas(SW_PAIR) _Atomic uint32_t completes;
    sw_doorbell_t doorbell; /* the member itself waits on it */
} sw_rma_member_t;

typedef struct {
    sw_block_t block;
    _Alignas(SW_PAIR) sw_queue_t gate;
    sw_rma_member_t member[];
} sw_rma_block_t;

_Static_assert(sizeof(sw_queue_t) == SW_PAIR &&
                   sizeof(sw_rma_member_t) == 4 * SW_PAIR &&
                   offsetof(sw_rma_block_t, member) == 2 * SW_PAIR,
               "what members write alternately lies in pairs of its own");

/* A member's end of it, in private memory. `threads`: several threads of the
 * member may use it at once. */
typedef struct {
    sw_rma_block_t *shared;
    int n, me;
    bool threads;
} sw_rma_share_t;

/* Bytes of a block for n members, all of them zeroed at first. */
SW_API size_t sw_rma_block_bytes(int n);

/* Locks (lock.c) ----------------------------------------------------------- */

/* Lock the memory of a target, or of all (shared): returns once this member has
 * the lock. `holds`: this member has another lock of this window. False: lost.
 *
 * The member that waits first gets a lock first, if that takes no long time
 * (queue.h). But one that holds another passes those that wait for a shared
 * one: one of them may wait for it. */
SW_API bool sw_rma_lock(const sw_rma_share_t *w, int target, bool exclusive,
                        bool holds);
SW_API void sw_rma_unlock(const sw_rma_share_t *w, int target, bool exclusive);
SW_API bool sw_rma_lock_all(const sw_rma_share_t *w, bool holds);
SW_API void sw_rma_unlock_all(const sw_rma_share_t *w);

/* Post, start, complete, wait (expose.c) ----------------------------------- */

/* The target posts to an origin; the origin waits for that, and uses it up.
 * False: lost. */
SW_API void sw_rma_post(const sw_rma_share_t *w, int origin);
SW_API bool sw_rma_await_post(const sw_rma_share_t *w, int target);
/* The origin has completed its accesses to a target. The target asks whether so
 * many origins have, and uses that up; or waits for it. False: not yet, or
 * lost. */
SW_API void sw_rma_complete(const sw_rma_share_t *w, int target);
SW_API bool sw_rma_completed(const sw_rma_share_t *w, uint32_t origins);
SW_API bool sw_rma_await_complete(const sw_rma_share_t *w, uint32_t origins);

#endif
