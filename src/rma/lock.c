/*
 * lock.c - passive target: a target's memory is locked, or that of all.
 *
 * Each member's memory has a lock of its own, with one writer or many readers.
 * A lock of all would take as many steps as there are members, and two of them
 * could hold each other up half-way. So each exclusive lock of a target also
 * holds the window's one gate. Exclusive locks hold the gate together, and
 * exclude the lock of all there. A shared lock of one target is compatible with
 * the lock of all anyway.
 *
 * No cycle of waits comes from the queues. The member that is served waits for
 * holders alone. A holder that wants another lock waits in no queue where it
 * could have the lock at once: it joins the gate, and the readers of a target.
 * For an exclusive lock of a target it queues: it would have to wait for the
 * same holders anyway.
 *
 * Nor does a member that waits for an exclusive lock hold the gate for long. A
 * reader may wait, by a message, for a member that is about to lock all. So the
 * waiting member leaves the gate after a while, and comes again.
 */
#include "share.h"

/* The gate's two kinds, and those of a member's lock. */
#define ALL 1u
#define ALLS 0xffffu
#define ONE 0x10000u
#define ONES 0xffff0000u
#define READER 1u
#define WRITER 0x80000000u
#define ANY 0xffffffffu

/* How long one that waits for an exclusive lock stands in the gate, ns. */
#define FIRST 1000000
#define LAST 8000000

size_t sw_rma_block_bytes(int n)
{
    size_t posts = sw_round_up((size_t)n, 8 * SW_LINE) / 8;
    return sizeof(sw_rma_block_t) +
           (size_t)n * (sizeof(sw_rma_member_t) + posts);
}

static bool lock_exclusive(sw_queue_t *gate, sw_queue_t *lock, bool holds)
{
    bool lost = false;
    for (uint64_t ns = FIRST; !lost; ns = sw_min(2 * ns, LAST)) {
        if (!sw_queue_hold(gate, ONE, ALLS, !holds))
            return false;
        if (sw_queue_hold_within(lock, WRITER, ANY, true, ns, &lost))
            return true;
        sw_queue_leave(gate, ONE);
        if (!lost) /* until it may come again */
            (void)sw_queue_hold_within(lock, 0, ANY, false, ns, &lost);
    }
    return false;
}

bool sw_rma_lock(const sw_rma_share_t *w, int target, bool exclusive,
                 bool holds)
{
    sw_queue_t *lock = &w->shared->member[target].lock;
    return exclusive ? lock_exclusive(&w->shared->gate, lock, holds)
                     : sw_queue_hold(lock, READER, WRITER, !holds);
}

void sw_rma_unlock(const sw_rma_share_t *w, int target, bool exclusive)
{
    sw_queue_leave(&w->shared->member[target].lock,
                   exclusive ? WRITER : READER);
    if (exclusive)
        sw_queue_leave(&w->shared->gate, ONE);
}

bool sw_rma_lock_all(const sw_rma_share_t *w, bool holds)
{
    return sw_queue_hold(&w->shared->gate, ALL, ONES, !holds);
}

void sw_rma_unlock_all(const sw_rma_share_t *w)
{
    sw_queue_leave(&w->shared->gate, ALL);
}
