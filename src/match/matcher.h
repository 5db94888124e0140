/*
 * matcher.h - messages meet receives, inside a node.
 *
 * The order is that of MPI (MPI 4.1, 3.5). A receive takes the earliest message
 * that matches it, a message meets the earliest receive. Of one sender's
 * messages the pipe keeps the order; of several senders' none is prescribed. A
 * message that no receive awaits is *early*: it waits here, in memory of this
 * process.
 *
 * A message carries its data, or what its sender calls an offer, which tells
 * where the data lies (p2p/slot.h). This room knows no more of either: the
 * room above moves the data when a message has met its receive.
 *
 * With several threads one of them at a time is in this room
 * (sw_matcher_enter).
 */
#ifndef SW_MATCH_MATCHER_H
#define SW_MATCH_MATCHER_H

#include "mailbox.h"
#include "pattern.h"

typedef struct {
    sw_pattern_t pattern; /* without any */
    int32_t place;        /* the sender's, on the node */
    uint32_t kind;        /* SW_CELL_DATA or SW_CELL_OFFER */
    uint32_t bytes;       /* of the payload */
} sw_envelope_t;

/* A receive begins with this. */
typedef struct {
    sw_queued_t queued;
    sw_pattern_t pattern;
    bool elsewhere; /* another matcher has it, too */
} sw_posted_t;

/* A message that waits. */
typedef struct sw_early {
    sw_queued_t queued[4]; /* one for each pattern that it matches */
    sw_envelope_t envelope;
    struct sw_early *after; /* spare, or held up */
    /* held up: the room above has asked for an empty message that stands for it
     * with the other matcher; what it notes of that */
    void *proxy;
    bool proxied;   /* that message is with the other matcher */
    bool unproxied; /* there can be none */
    char payload[];
} sw_early_t;

/* What the room above does with a message that has met its receive. It must
 * copy the payload, and send nothing. */
typedef void sw_matcher_meet_t(sw_posted_t *receive, const sw_envelope_t *e,
                               const void *payload);
extern SW_API sw_matcher_meet_t *sw_matcher_meet;

/* A receive that another matcher has, too, is the earliest for a message. Whose
 * is it? `held`: the message, if it is held up, else NULL. */
typedef enum {
    SW_CLAIM_OURS,  /* the other matcher has given it up */
    SW_CLAIM_LOST,  /* it has a message from there */
    SW_CLAIM_LATER, /* that is not known yet */
} sw_claim_t;
typedef sw_claim_t sw_matcher_claim_t(sw_posted_t *receive, sw_early_t *held);
extern SW_API sw_matcher_claim_t *sw_matcher_claim;

/* What the room above does with proxies: it asks for no more, and learns of
 * those that are sent; a message leaves the line, and its proxy has met no
 * receive: it takes that out of the other matcher. */
extern SW_API void (*sw_matcher_settle)(void);
extern SW_API void (*sw_matcher_recall)(sw_early_t *held);

/* A helper matches, which calls no other matcher. */
extern SW_API bool sw_matcher_helps;

/* What the room above does with SW_CELL_PULL and SW_CELL_PIECE. */
typedef void sw_matcher_other_t(int place, const sw_cell_t *cell);
extern SW_API sw_matcher_other_t *sw_matcher_other;

/* Post a receive, whose pattern is set. True: a message was there, and has met
 * it. A receive without memory for its place ends the program. */
SW_API bool sw_matcher_post(sw_posted_t *receive);
/* Take it back. False: a message has met it. */
SW_API bool sw_matcher_withdraw(sw_posted_t *receive);

/* The earliest message that matches, or NULL. It stays. */
SW_API sw_early_t *sw_matcher_find(const sw_pattern_t *pattern);
/* Take a message out: no other receive gets it. */
SW_API void sw_matcher_extract(sw_early_t *early);
/* Let a message that was taken out meet a receive that was never posted; or
 * drop it. */
SW_API void sw_matcher_hand(sw_early_t *early, sw_posted_t *receive);
SW_API void sw_matcher_drop(sw_early_t *early);

/* A message of this process to itself. False: no memory. */
SW_API bool sw_matcher_local(const sw_envelope_t *e, const void *payload);

/* How many receives are posted. */
SW_API size_t sw_matcher_posted(void);

/* Take what has come. True: something has. `all`: see sw_mailbox_turn. */
SW_API bool sw_matcher_turn(bool all);

/* While a claim is not known the messages that come wait in a line, as they
 * came: the first, or NULL. Each turn tries again. */
SW_API sw_early_t *sw_matcher_held_up(void);
/* Out of the line with this one: to be handed to a receive. */
SW_API void sw_matcher_let_go(sw_early_t *held);

/* The receive that a message would meet, if all that match are from any source;
 * else NULL. */
SW_API sw_posted_t *sw_matcher_open(const sw_pattern_t *message);

typedef struct {
    uint64_t messages;           /* that have come */
    uint64_t early, early_bytes; /* of these, before their receives */
    uint64_t waiting_most;       /* early ones at a time */
    uint64_t posted_most;        /* receives at a time */
} sw_matcher_stats_t;
extern SW_API sw_matcher_stats_t sw_matcher_stats;

#endif
