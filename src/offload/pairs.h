/*
 * pairs.h - collectives that move blocks from members to members: Bcast,
 * Gather, Scatter, Allgather, Alltoall, and their variants.
 *
 * What they have in common: member i has a block for member j, and j has a
 * place for it. All members send, or the root alone, and likewise with
 * receiving. A sender has one block for all, or one for each. A receiver has
 * one place, or one for each sender.
 *
 * A sender copies a small payload into its row, and leaves. It lends the others
 * a large one. A receiver whose places the others map lends these, too: then
 * any member may copy into them. So three parties may carry a block: the
 * receiver, its sender, and a third member that waits.
 *
 * A sender that has no room for what it should lend pumps its blocks through
 * its row (pump.h). Its row says so, and the others follow it.
 */
#ifndef SW_OFFLOAD_PAIRS_H
#define SW_OFFLOAD_PAIRS_H

#include "pump.h"

typedef struct {
    sw_schedule_t schedule;
    /* the caller fills them in; they last as long as the schedule */
    sw_coll_move_t args;
    bool deals, collects; /* a block for each; a place for each */
    bool sends, receives;
    bool lent;             /* others read this member's memory */
    bool pumped;           /* ... a chunk at a time, without room */
    bool open;             /* others write into it */
    int unread, unwritten; /* receivers, senders that are not done */
    char *packed;          /* what is lent, if it was made for that */
    sw_pump_t pump;
    int next; /* whose row it looks at to help */
    /* [n], in the schedule's room. */
    bool *read, *written; /* by receiver, by sender */
    bool *helped;         /* by receiver: nothing is left to do */
} sw_pairs_t;

/* Begins one. p->schedule began as zeros, and is kept. */
SW_API void sw_pairs_begin(sw_pairs_t *p, sw_slates_t *on);

#endif
