/*
 * live_inside.h - what live.c (operations, as the engine takes them) and
 * live_wait.c (while it has to wait) share.
 */
#ifndef SW_VTIME_LIVE_LIVE_INSIDE_H
#define SW_VTIME_LIVE_LIVE_INSIDE_H

#include "live.h"
#include "live_context.h"
#include "vtime/feed/taker.h"
#include "vtime/ops/section.h"

typedef struct {
    sw_feed_entry_t *kept; /* out of the feed: from first to count */
    size_t first, count, room;
    uint8_t asked; /* sw_op_kind_t; 0: nothing is to answer */
    uint8_t select;
    uint32_t thread;              /* whose operations come */
    bool waits[SW_FEED_THREADS];  /* threads, for an answer */
    int32_t tid[SW_FEED_THREADS]; /* by the system; 0: not known */
    bool held;                    /* by its host, perhaps, since its last */
    bool defined;                 /* what is told is a whole communicator */
    uint8_t end;                  /* sw_live_end_t */
    uint32_t what; /* SW_ENTRY_CONTEXT or SW_ENTRY_SECTION, of: */
    sw_feed_told_t told;
    uint32_t got; /* of its bytes; NULL: none are expected */
    char *bytes;
    sw_lookup_t sections;  /* what the rank calls it -> the number */
    sw_op_answer_t answer; /* of which there are parts to be given: */
    uint32_t *which, given;
    uint32_t *listed, list_count, list_room;
    sw_ps_t polled; /* in vain, not written down */
} sw_live_rank_t;

struct sw_live {
    sw_taker_t taker;
    uint32_t ranks;
    sw_live_rank_t *of;
    sw_defined_t *contexts;
    sw_sections_t sections;
    bool sections_lost;
    sw_op_writer_t *writer;
    sw_ps_t test;                       /* see sw_live_record */
    uint32_t *defining, defining_count; /* ranks */
    uint32_t asking;                    /* ranks that wait for an answer */
    bool soon;                          /* a rank asks: feeds ring at once */
    bool news;                          /* a rank has ended */
    bool placed;                        /* on the ranks' cores */
    bool suspected;                     /* and that was said */
    uint32_t calls, look_next;
    uint64_t looked, empty_since;
    /* entries but sleeps; when the last was */
    uint64_t taken, taken_before, quiet_since;
    uint64_t patience; /* ns: with ranks that may watch a window */
    char error[256];
};

/* Something is wrong: kept is what was first. */
void sw_live_fail(sw_live_t *live, const char *format, uint32_t rank);
void sw_live_no_memory(sw_live_t *live);

/* Has it ended, so that no more comes than what is there? */
bool sw_live_has_ended(sw_live_t *live, uint32_t rank);
/* A rank has rung (`of` is the sw_live_t). */
void sw_live_rung(void *of, uint32_t rank);

#endif
