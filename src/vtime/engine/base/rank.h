/*
 * rank.h - a rank, or a further thread of one.
 */
#ifndef SW_VTIME_ENGINE_BASE_RANK_H
#define SW_VTIME_ENGINE_BASE_RANK_H

#include "strand.h"
#include "times.h"
#include "vtime/model/noise.h"
#include "vtime/model/warmth.h"

/* A thread's operation, and what the engine made of it as it took it. */
typedef struct {
    sw_request_t *request;
    sw_message_t *message;
    sw_vop_t op;
    uint32_t nth;     /* a collective: of its context */
    uint32_t section; /* of the rank, as it was taken */
} sw_queued_t;

typedef struct {
    sw_vop_t *ops; /* a ring */
    uint32_t at, count, room;
    uint32_t seen; /* of them looked at */
    bool ended;    /* and nothing follows */
} sw_ahead_t;

/* What a rank spent in a section (section.c). */
typedef struct {
    uint32_t number;
    sw_rank_time_t time;
} sw_rank_section_t;

/* Why a rank does not go on. */
typedef enum {
    SW_RANK_GOES,
    SW_RANK_WAITS /* for `waits` */,
    SW_RANK_ASKS,
    SW_RANK_LATE /* the source */,
    SW_RANK_ENDED,
} sw_rank_state_t;

/* A rank, or a further thread of one, which has only what a thread has: `home`
 * has what all of them share. */
struct sw_rank {
    sw_strand_t main; /* first: a strand that is main is in one */
    uint8_t state;
    bool late;     /* in the list of the late ones */
    bool looking;  /* ... for MATCHED, while it waits */
    bool stuck;    /* in the host: see SW_OP_STUCK */
    bool left;     /* the thread has ended, for now */
    bool threaded; /* home: it has threads */
    bool over;     /* home: its operations have ended */
    sw_rank_t *home;
    sw_ahead_t *ahead; /* operations taken from the source before */
    sw_graph_t *graph; /* NULL: a sequence */
    sw_request_t *waits;
    uint64_t operations;
    sw_ps_t out, in; /* its ports */
    uint32_t loose;  /* other users of its ports under way */
    uint32_t node;
    sw_message_t *unmatched, *unmatched_last;
    sw_request_t *any, *any_last; /* of MPI_ANY_SOURCE, unmatched */
    sw_request_t *absent; /* collectives that it does not attend to yet */
    sw_ps_t look;         /* when they are looked at anyway */
    uint64_t receives;
    /* its processor receives until then; that of what goes on beside the
     * program */
    sw_ps_t hands, aside;
    uint32_t open; /* its receives that are not complete */
    bool wakes;    /* it waits no more, from an event on */
    bool looks;    /* an event HANDS comes, at `looks_at` */
    sw_ps_t looks_at;
    sw_request_t *arrived, *arrived_last; /* in line for its processor */
    sw_rank_time_t time;
    sw_warmth_t warmth;
    sw_noise_at_t noise;
    sw_vop_t now;      /* what it waits in */
    sw_queued_t taken; /* a thread's operation under way */
    /* What follows is needed now and then. */
    sw_rank_t *sibling; /* from home on, each the next */
    sw_rank_t *current; /* home: whose operations come */
    uint32_t thread;    /* its number */
    uint32_t queue_at, queued, queue_room;
    sw_queued_t *queue; /* its operations, a ring */
    sw_ps_t began;      /* the last that may wait */
    uint32_t untold;    /* decided, and MATCHED may come */
    uint32_t windows;   /* home: it has made */
    uint32_t strands;   /* begun */
    uint32_t listed, list_room;
    uint32_t *list;   /* requests to choose from */
    uint64_t asks_in; /* a probe's context */
    uint32_t section; /* at hand; home's, of what is taken: */
    uint32_t taken_section;
    sw_rank_time_t since;        /* its time as it came there */
    sw_rank_section_t *sections; /* by number; those it has left */
    uint32_t section_count, section_room;
};

/* Those that the rank waited for came at `came`; it went on at `until`,
 * or later. */
static inline void sw_rank_waited(sw_rank_t *rank, sw_ps_t came, sw_ps_t until)
{
    sw_ps_t waited = sw_ps_min(came, until) - rank->main.clock;
    if (waited > 0)
        rank->time.waiting += waited;
}

/* Of a rank's threads the one that ends last, whose time is the rank's. */
static inline sw_rank_t *sw_rank_last(sw_rank_t *home)
{
    sw_rank_t *last = home;
    for (sw_rank_t *t = home->sibling; t; t = t->sibling)
        if (t->main.clock > last->main.clock)
            last = t;
    return last;
}

/* All its time so far. */
static inline sw_rank_time_t sw_rank_so_far(const sw_rank_t *rank)
{
    sw_rank_time_t time = rank->time;
    time.end = rank->main.clock;
    return time;
}

#endif
