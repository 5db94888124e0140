/*
 * parts.h - a partitioned message (MPI 4.1, 4.2), as a schedule of two members:
 * the sender is member 0, and the receiver member 1.
 *
 * Threads of the sender tell which partitions are ready, in any order. A ready
 * partition is cut into pieces. A member that has time claims a piece and
 * copies it: the receiver, or, where the receiver's place can be reached, the
 * sender.
 *
 * The sender has a board in its arena, with a bank for every other start:
 *
 *     ready[pieces]  claims[words]  ticks[words]  where[partitions]  copy
 *
 * Memory order: a thread writes where a partition lies, then sets the bytes of
 * its pieces in `ready` (release). A thread that loads one (acquire) sees the
 * partition. These are bytes, for plain stores: a locked instruction would wait
 * until all lines of the partition's copy are the sender's. Claims and ticks
 * are those of slates.h. The sender clears a bank before it posts the turn that
 * uses it. The receiver has then left the turn before the last one, so no
 * member reads or sets anything there.
 *
 * A small message is copied to the board when it becomes ready. Its sender is
 * then done when all partitions are ready, and the receiver has left the turn
 * before. So the receiver may still read when the sender has closed its end:
 * the board goes when both have (notices.h).
 */
#ifndef SW_OFFLOAD_PARTS_H
#define SW_OFFLOAD_PARTS_H

#include "schedule.h"

/* A bank, as a member maps it. */
typedef struct {
    unsigned partitions, split; /* a partition has so many pieces */
    unsigned words;             /* of 64 bits, for all pieces */
    uint64_t bytes;             /* of a partition */
    _Atomic uint8_t *ready;     /* of each piece: 1 once it is */
    _Atomic uint64_t *claims, *ticks;
    _Atomic uint64_t *where; /* the place of each partition */
    char *copy;              /* of a small message; else NULL */
} sw_parts_bank_t;

typedef struct {
    sw_schedule_t schedule;
    sw_slates_t *on;
    char *board; /* NULL: not found yet */
    /* The sender's. */
    unsigned partitions, split;
    uint64_t bytes; /* of a partition */
    bool eager;     /* it is copied */
    /* The receiver's: the place of the whole message, in this order. */
    sw_data_t to;
    uint64_t room;
    bool open; /* the sender may write there */
    /* Of this start. */
    sw_parts_bank_t bank;
    _Atomic bool met; /* `bank` is known */
    unsigned claimed; /* all words below are */
} sw_parts_t;

/* Opens the sender's end of a message of so many partitions, of so many bytes
 * each, or the receiver's (0 partitions). p->schedule began as zeros. `team`:
 * both members. False: the sender has no room, now or ever, and the receiver
 * finds that out (SW_NO_ROOM). */
SW_API bool sw_parts_open(sw_parts_t *p, sw_team_t *team, uint64_t name,
                          unsigned partitions, uint64_t bytes, bool eager);
SW_API void sw_parts_close(sw_parts_t *p);

/* Begins the schedule. The receiver has set `to` and `room`. */
SW_API void sw_parts_begin(sw_parts_t *p);

/* The sender: where it copies a partition of an eager message to. */
SW_API char *sw_parts_copy(const sw_parts_t *p, unsigned partition);

/* The sender: this partition lies at that place (room.h), or is copied, and may
 * be read. Any thread, once for each partition of a start. */
SW_API void sw_parts_ready(sw_parts_t *p, unsigned partition, uint64_t where);

/* The receiver, any thread: are bytes [begin, end) of the message there, as far
 * as pushes have told? Those that the sender does not send come with the last
 * ones. */
SW_API bool sw_parts_arrived(const sw_parts_t *p, uint64_t begin, uint64_t end);

/* The receiver, when some have arrived: how many bytes come in all. */
SW_API uint64_t sw_parts_received(const sw_parts_t *p);

#endif
