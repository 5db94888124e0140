/*
 * slot.h - messages on offer: where their data lies, and how far they are.
 *
 * Every process keeps a table of slots in its control segment, one for each
 * large message under way. The sender fills a slot and tells the receiver where
 * it is (match/cell.h). The receiver, which has the segment mapped, claims the
 * slot, copies, and marks it taken. That releases the sender.
 *
 *     sender                           receiver
 *     FREE -> OFFERED                  (the message meets its receive)
 *       |        |  \                  OFFERED -> CLAIMED
 *       |     MOVING |                 copy
 *       |        |  /                  CLAIMED -> TAKEN, ring
 *     FREE <--------------------------
 *
 * While a large message is copied its state may be JOINT instead of CLAIMED:
 * the sender is welcome to help (joint.h).
 *
 * Data that the receiver cannot read, or should not, is gathered in the arena
 * while the slot is on offer already: `ready` says how much of it is there. The
 * receiver takes it as it comes.
 *
 * A sender that has waited in vain for a while copies its data aside (MOVING,
 * then OFFERED again, at another place), and goes on: the receiver may be
 * computing, or stuck in a call of the host that needs the sender. A receiver
 * that finds MOVING waits for it: the mover holds nothing else.
 *
 * The data may be a parcel that the sender gives away (node/parcel.h). The
 * receiver that claims such a slot holds the parcel: a receiver that asked for
 * a block keeps it (sw_slot_accept), any other copies and frees it. The sender
 * leaves the slot at once.
 *
 * The data may lie in the memory of a device (device/ipc.h). The slot then says
 * how a peer opens that memory, and the layout. The receiver lets the device
 * move the data straight to their target (by_device.h). A receiver that cannot
 * leaves the slot unread, and the sender sends the data in another way.
 *
 * Memory order. All changes of `state` that hand the slot over are made with
 * release and seen with acquire: the sender's fields (shown, bytes) before
 * OFFERED, the receiver's copy before TAKEN. OFFERED -> CLAIMED and OFFERED
 * -> MOVING are compare-and-swap, so one of them wins. The state carries the
 * ticket, a count of uses: what is told of a slot holds for one ticket.
 */
#ifndef SW_P2P_SLOT_H
#define SW_P2P_SLOT_H

#include "joint.h"
#include "device/ipc.h"
#include "node/arena/arena.h"
#include "node/parcel.h"
#include "node/wait.h"

enum {
    SW_SLOT_FREE,
    SW_SLOT_OFFERED,
    SW_SLOT_MOVING,
    SW_SLOT_CLAIMED,
    SW_SLOT_JOINT,
    SW_SLOT_TAKEN,
    SW_SLOT_STATES = 8
};

typedef struct {
    _Atomic uint64_t state; /* ticket * SW_SLOT_STATES + SW_SLOT_* */
    uint64_t bytes;
    uint64_t takers; /* the sender's (takers.h): its offset */
    int32_t dest;    /* the receiver's place on the node */
    /* The receiver does not reach the sender's memory: taken, but not read. */
    _Atomic uint32_t unread;
    sw_parcel_name_t given; /* what is given away; at is 0: nothing */
    /* Up to here one cache line: all that a taker needs. */
    _Alignas(SW_LINE) sw_shown_t shown; /* else where the data lies */
    /* Of a copy aside, so many bytes are there: the receiver may take them
     * while the sender still copies (release, acquire). */
    _Atomic uint64_t ready;
    sw_joint_t joint;
    _Atomic uint64_t proxy; /* see mpi/p2p/proxy.h; 0: no question */
    /* The sender's own. */
    void *aside;      /* the copy, to be freed */
    sw_layout_t *how; /* the layout that is shown */
    /* when its receiver was last known to be busy, ns */
    uint64_t since;
    uint64_t seen;   /* messages taken from us by then */
    uint64_t offset; /* of the slot in the segment */
    uint64_t next;   /* free or orphaned slots: a list */
    /* Of data in a device's memory: where their lowest byte lies. */
    _Alignas(SW_LINE) sw_ipc_t device;
} sw_slot_t;

_Static_assert(offsetof(sw_slot_t, shown) == SW_LINE, "a taker's line");

/* What a sender offers. */
typedef struct {
    int32_t dest; /* the receiver's place on the node */
    const void *data;
    size_t bytes;
    sw_layout_t *layout; /* `count` elements of it; NULL: contiguous */
    int64_t count;
    bool readable;    /* by the receiver, where it lies */
    bool direct;      /* else: not gathered, but read by CMA */
    sw_shown_t shown; /* if it is readable, or a device's */
    /* NULL, or where the data lie in a device's memory: neither of these */
    const sw_ipc_t *device;
    sw_parcel_name_t given; /* instead of all that: a parcel to give */
} sw_offer_t;

/* Where a receiver wants it. */
typedef struct {
    sw_data_t data;
    size_t room; /* bytes of data */
    int place;   /* the sender's, on the node */
    bool drives; /* this thread may call a device's driver */
    /* Where it belongs, in a device's memory, if `data` is a block in its
     * stead; else NULL. Only of a thread that drives. */
    const sw_data_t *device;
} sw_target_t;

/* What is shown as this many bytes is the owner's own address, to be read by
 * CMA. It is no stretch of an arena. */
#define SW_SHOWN_DIRECT UINT64_MAX
/* ... and as this many, lies in a device's memory: over as many bytes as `at`
 * says. */
#define SW_SHOWN_DEVICE (UINT64_MAX - 1)

/* Private memory up to here is worth a copy into the arena, while all such
 * copies of a process take no more than that. Beyond, the pages that these take
 * anew cost more than the hosts' own ways. (CMA is used by a benchmark alone:
 * at no size did it beat them.) */
#define SW_STAGED_MAX ((size_t)4 << 20)
#define SW_STAGED_ALL ((size_t)16 << 20)

static inline sw_data_t sw_offer_data(const sw_offer_t *offer)
{
    return (sw_data_t){.at = (char *)(uintptr_t)offer->data,
                       .layout = offer->layout,
                       .count = offer->count};
}

/* Can the receiver read it where it lies, and should it? To be asked each time
 * that it is offered: the data has changed since, or even lies elsewhere. */
static inline void sw_offer_bind(sw_offer_t *offer)
{
    sw_data_t data = sw_offer_data(offer);
    offer->readable = sw_data_is_coarse(offer->layout) &&
                      sw_data_show(&data, offer->bytes, &offer->shown);
}

/* A slot on offer, or NULL: there is no room for it. The sender gathers data
 * that is not readable by sw_slot_fill. Thread safe. */
SW_API sw_slot_t *sw_slot_offer(const sw_offer_t *offer);

/* Is nothing left to be gathered? */
static inline bool sw_slot_full(const sw_slot_t *slot)
{
    return atomic_load_explicit(&((sw_slot_t *)(uintptr_t)slot)->ready,
                                memory_order_acquire) == slot->bytes;
}

/* Gather what is left. The sender calls this before it does anything that may
 * wait: best when the message is under way, because the receiver begins with
 * what is there. */
SW_API void sw_slot_fill_slow(sw_slot_t *slot, const sw_offer_t *offer);
static inline void sw_slot_fill(sw_slot_t *slot, const sw_offer_t *offer)
{
    if (!sw_slot_full(slot))
        sw_slot_fill_slow(slot, offer);
}

static inline uint64_t sw_slot_ticket(const sw_slot_t *slot)
{
    return atomic_load_explicit(&((sw_slot_t *)(uintptr_t)slot)->state,
                                memory_order_relaxed) /
           SW_SLOT_STATES;
}

static inline bool sw_slot_is(const sw_slot_t *slot, int state)
{
    return atomic_load_explicit(&((sw_slot_t *)(uintptr_t)slot)->state,
                                memory_order_acquire) %
               SW_SLOT_STATES ==
           (unsigned)state;
}

/* May the sender's buffer be used again? */
static inline bool sw_slot_released(const sw_slot_t *slot)
{
    return slot->aside || sw_slot_is(slot, SW_SLOT_TAKEN);
}

/* Of one that is taken: see SW_SLOT_UNREAD. */
static inline bool sw_slot_is_unread(const sw_slot_t *slot)
{
    return atomic_load_explicit(&((sw_slot_t *)(uintptr_t)slot)->unread,
                                memory_order_relaxed);
}

/* What the sender shows, at `data` in its own memory. */
static inline sw_data_t sw_slot_data(const sw_slot_t *slot, const void *data)
{
    return (sw_data_t){.at = (char *)(uintptr_t)data,
                       .layout = slot->how,
                       .count = slot->shown.count};
}

/* The sender waits: if the receiver is copying a large message, help it. */
static inline void sw_slot_help(sw_slot_t *slot, const sw_peer_t *receiver,
                                const void *data)
{
    if (sw_likely(!sw_slot_is(slot, SW_SLOT_JOINT)))
        return;
    const sw_data_t from = sw_slot_data(slot, data);
    sw_joint_push(&slot->joint, receiver, &from);
}

/* The sender has waited: copy the data aside if no receiver has taken anything
 * from it for long enough, and the receiver has not begun; or take the slot
 * back from a receiver that has died. After that sw_slot_released says true. */
SW_API void sw_slot_nudge(sw_slot_t *slot, const sw_peer_t *receiver,
                          const void *data);
/* The same of data that the processor does not reach: `gather` copies all of
 * what `message` is to `to`. */
typedef void sw_slot_gather_t(const void *message, char *to);
SW_API void sw_slot_nudge_by(sw_slot_t *slot, const sw_peer_t *receiver,
                             sw_slot_gather_t *gather, const void *message);

/* The sender will not look at the slot again; it is reused once taken. */
SW_API void sw_slot_leave(sw_slot_t *slot);
/* The same of one that has just been offered: a look at it would take its line
 * from the receiver. */
SW_API void sw_slot_orphan(sw_slot_t *slot);

/* Have all messages arrived that their senders have left? `gone` says whether
 * a place's rank is there no more, which takes none; NULL: all are there. */
SW_API bool sw_slots_quiet(bool (*gone)(int place));

/* Room for this process's slots: false, there is none. Made once. */
SW_API bool sw_slots_open(void);

/* The receiver's side. `peer` is the sender, its control segment mapped. */

/* Claim the slot and copy the first min(room, bytes) bytes to the target;
 * release the sender. 0, or -1 with errno if the copy failed. SW_SLOT_UNREAD:
 * this process does not reach the sender's memory, and the sender, which
 * sw_slot_is_unread tells, still has the message. SW_SLOT_CARRIED: the bytes
 * went to the target's place in a device's memory, and none to the block. */
#define SW_SLOT_UNREAD 1
#define SW_SLOT_CARRIED 2
SW_API int sw_slot_take(const sw_peer_t *peer, sw_slot_t *slot,
                        const sw_target_t *to);

/* Is it a parcel that its sender gives away? */
static inline bool sw_slot_gives(const sw_slot_t *slot)
{
    return slot->given.at != 0;
}

/* Claim a slot that gives, and hold the parcel. NULL: it is not in reach, and
 * the slot is as it was. */
SW_API void *sw_slot_accept(sw_slot_t *slot);

/* For --stats, tests and benchmarks: messages that this process has offered;
 * of these, copied aside for a late receiver, gathered, shown by address; and
 * those that it has received with their senders' help, or taken as a block, or
 * let a device move from or to its memory. */
typedef struct {
    uint64_t offered, moved_aside, bytes, gathered, direct;
    uint64_t joint, accepted, carried;
} sw_slot_stats_t;
SW_API void sw_slot_stats(sw_slot_stats_t *to);

/* Bytes of the copies that this process has made, and receivers not taken. */
SW_API size_t sw_slot_aside(void);

#endif
