/*
 * taker.h - the engine's end of the feeds.
 *
 * One thread takes from all feeds: it looks at a feed's next entry, takes it,
 * and where there is none arms the feed's doorbell before it turns to others.
 * When nothing is left to do it sleeps until a rank rings.
 */
#ifndef SW_VTIME_FEED_TAKER_H
#define SW_VTIME_FEED_TAKER_H

#include "feed.h"
#include "ring.h"

typedef struct {
    uint64_t taken; /* entries */
    uint64_t put;   /* as far as was seen */
    uint64_t told;  /* of `taken`, to the rank */
    uint64_t ring_at;
} sw_taken_t;

typedef struct {
    sw_feeds_t *feeds;
    sw_taken_t *of; /* by rank */
    uint32_t rung;  /* the doorbell's word when looked at */
    int skips;
} sw_taker_t;

/* A process takes from now on, and is watched by the ranks. */
void sw_taker_serves(sw_feeds_t *feeds, pid_t pid);
/* False: no memory. */
bool sw_taker_open(sw_taker_t *taker, sw_feeds_t *feeds);
void sw_taker_close(sw_taker_t *taker);

/* A rank's next entry, or NULL. Valid until it is taken. */
const sw_feed_entry_t *sw_taker_look(sw_taker_t *taker, uint32_t rank);
void sw_taker_take(sw_taker_t *taker, uint32_t rank);
/* After NULL: ring when there is an entry (`soon`), or when the feed is half
 * full. False: there is one already. */
bool sw_taker_arm(sw_taker_t *taker, uint32_t rank, bool soon);
/* Entries that wait. */
uint64_t sw_taker_waiting(sw_taker_t *taker, uint32_t rank);
/* The last of them, or NULL. It stays as it is only if it is a question. */
const sw_feed_entry_t *sw_taker_last(const sw_taker_t *taker, uint32_t rank);

/* The first part of an answer, or a later one, of `here` places from `which`;
 * the answer's head says how many there are in all. */
void sw_taker_answer(sw_taker_t *taker, uint32_t rank,
                     const sw_op_answer_t *answer, const uint32_t *which,
                     uint32_t here);
/* To one of several threads. */
void sw_taker_answer_thread(sw_taker_t *taker, uint32_t rank, uint32_t thread,
                            sw_ps_t clock);
/* Has the rank read all parts it was given? */
bool sw_taker_read(sw_taker_t *taker, uint32_t rank);

/* Calls `each` for the ranks that have rung since the last time. */
void sw_taker_news(sw_taker_t *taker, void (*each)(void *of, uint32_t rank),
                   void *of);
/* Has a rank rung since then? Cheap. */
bool sw_taker_rung(const sw_taker_t *taker);
/* Sleeps until a rank rings, at most `ns`, or less; false: none has. */
bool sw_taker_sleep(sw_taker_t *taker, uint64_t ns);

/* A rank's feed as it stands: SW_FEED_NOBODY and so on. What was put before it
 * ended is seen after this. */
uint32_t sw_taker_state(const sw_taker_t *taker, uint32_t rank);

/* The engine takes no more: this wakes every waiting rank, and refuses what
 * ranks put. */
void sw_taker_over(sw_taker_t *taker);

#endif
