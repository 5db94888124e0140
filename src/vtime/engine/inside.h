/*
 * inside.h - what the files of the engine share:
 *
 *     engine.c      the order of everything
 *     strand.c      a rank's operations
 *     question.c    what a running program asks
 *     match.c       messages meet receives
 *     wire.c        messages travel
 *     collective.c  members meet
 *     started.c     ... and go on in their calls
 *     between.c     groups meet
 *     window.c      one-sided operations
 *     receive.c     a rank's processor receives
 *     graph.c       a rank whose operations are a partial order
 *     request.c     requests
 *     thread.c      threads of a rank
 *     doubt.c       what the engine's knowledge does not decide
 *
 * A strand is something that has a clock and goes on by itself: the main
 * program of a rank, each further thread of it that calls MPI, and each
 * collective that is carried out by messages. It runs as far as it can without
 * undecided facts about others, and then sleeps until a request is complete.
 *
 * Events in a heap decide what is contended for (ports, links, a receive with
 * wildcards), in the order of virtual time. The engine deals with an event when
 * no strand can cause an earlier one. All strands that can run have a later
 * clock, and those whose next operation is not there yet (the late ones) have
 * computed past it. So it makes no difference how far the strands have run
 * ahead, and in which order. Nothing delays what is not contended for: a
 * receive that names its sender meets its message as soon as both are known. A
 * strand takes a port at once if no other uses it.
 *
 *     main program --send--> [ OUT ] --> [ ENTER ] --> [ IN ] --> receive
 *                           sender's     network's   receiver's   processor,
 *                             port         links        port      complete
 */
#ifndef SW_VTIME_ENGINE_INSIDE_H
#define SW_VTIME_ENGINE_INSIDE_H

#include "engine.h"
#include "vtime/base/heap.h"
#include "vtime/base/lookup.h"
#include "vtime/model/network.h"
#include "vtime/model/noise.h"
#include "vtime/model/plan.h"
#include "vtime/base/pool.h"
#include "vtime/model/warmth.h"

typedef struct sw_rank sw_rank_t;
typedef struct sw_strand sw_strand_t;
typedef struct sw_message sw_message_t;
typedef struct sw_request sw_request_t;
typedef struct sw_channel sw_channel_t;
typedef struct sw_context sw_context_t;
typedef struct sw_meeting sw_meeting_t;
typedef struct sw_access sw_access_t;
typedef struct sw_lock sw_lock_t;
typedef struct sw_graph sw_graph_t;

typedef enum {
    SW_EVENT_OUT, SW_EVENT_ENTER, SW_EVENT_IN,  /* of a message */
    SW_EVENT_DECIDE,                            /* of a rank    */
    SW_EVENT_UNLOCK, SW_EVENT_LOCK,             /* at a window  */
    SW_EVENT_BEGIN,                             /* of a meeting */
    SW_EVENT_READY,                             /* of a receive */
    SW_EVENT_WAKE, SW_EVENT_HANDS,              /* of a rank: receive.c */
    SW_EVENT_READY_NODE, SW_EVENT_READY_MESSAGE, SW_EVENT_OVER_NODE,
    SW_EVENT_LOOK,                              /* of a graph: graph.c  */
} sw_event_kind_t;

typedef enum {
    SW_REQUEST_SEND, SW_REQUEST_RECV, SW_REQUEST_COLLECTIVE,
    SW_REQUEST_WINDOW,
    SW_REQUEST_THREAD,          /* another thread is so far */
} sw_request_kind_t;

/* What travels for one rank alone (window.c). */
typedef enum {
    SW_REMOTE_NOT, SW_REMOTE_PUT, SW_REMOTE_REDUCE,
    SW_REMOTE_FETCH,            /* to the target, which answers */
    SW_REMOTE_ANSWER,
} sw_remote_t;

/* Complete at `complete`, if that is known; a receive that is not may begin
 * then (receive.c). */
struct sw_request {
    uint8_t kind, what;         /* sw_request_kind_t; sw_op_collective_t,
                                 * sw_window_t */
    bool known, dropped, listed;
    bool held;                  /* by its rank's strand, without a number */
    bool any;                   /* a receive with MPI_ANY_SOURCE, open */
    bool live;                  /* ... which the host will match        */
    bool early;                 /* a receive that is in its place, but its
                                 * thread has not come to it (thread.c) */
    bool gone;                  /* ... and it is cancelled              */
    bool arriving;              /* a receive: its message is there, and the
                                 * processor has not taken it (receive.c) */
    bool awaited;               /* its wait is known, by its address    */
    uint32_t node;              /* of a graph, and 1; 0: none           */
    uint32_t number, rank;
    sw_ps_t complete, posted;
    sw_ps_t came;               /* known with `complete`: when every rank it
                                 * depends on had called; what follows is
                                 * data that move */
    sw_strand_t *waiter;
    /* A receive: */
    sw_channel_t *channel;
    sw_request_t *next, *previous;      /* posted, in order; members waiting */
    sw_message_t *message;
    uint64_t order;             /* of its rank's receives */
    uint64_t context;
    int32_t peer, tag;
    sw_ps_t takes;              /* the processor's time for it */
    uint32_t in_context;        /* a collective: its number */
    uint64_t bytes;             /* received; of a collective: one block */
    /* A collective of started.c; `previous`: of the rank's absent ones. */
    sw_meeting_t *meeting;
    sw_ps_t attends;
    sw_started_plan_t started;
};

/* All between two ranks on a context, in order: what was sent and is not
 * matched, receives that were posted and are not matched. A cache line. */
struct sw_channel {
    uint32_t to, from;
    uint32_t context;           /* twice its place, 1 more for collectives */
    uint32_t users;             /* messages and receives that know it */
    sw_channel_t *next;
    sw_message_t *first, *last;
    sw_request_t *posted, *posted_last;
    sw_access_t *access;        /* of the sender to the other's window */
};

struct sw_message {
    /* What is needed when something happens to it, in two cache lines. */
    sw_channel_t *channel;
    sw_request_t *send, *receive;
    uint32_t from, to;          /* as the channel's */
    int32_t tag;
    bool rendezvous;            /* its request is on the way, not its data  */
    bool known;                 /* `arrival` is: of the request, or of data */
    bool network, matched;
    bool loose;                 /* counted in its sender's `loose` */
    bool early;                 /* in its place, but not sent (thread.c) */
    bool synced;                /* its send ends as its receive begins   */
    uint8_t remote;             /* sw_remote_t; then of the origin: `access` */
    sw_ps_t ready, latency, transfer, gap, receive_time, answer;
    sw_ps_t began, arrival;     /* began: its sender's call */
    uint64_t bytes, number;
    double scale;
    sw_access_t *access;
    sw_message_t *next, *previous;      /* in its channel                   */
    sw_message_t *newer, *older;        /* of all unmatched of the receiver */
};

struct sw_strand {
    sw_strand_t *queued;        /* the next that may run */
    sw_ps_t clock;
    sw_ps_t port;               /* loggopsim: its own sends leave it free */
    uint32_t rank;
    uint32_t number;            /* 0: the main program; of those it began */
    uint32_t sends;
    uint32_t pending;           /* requests it waits for */
    bool ready, main;
    bool apart;                 /* the main program goes on meanwhile */
    /* A collective by messages. */
    const sw_algorithm_t *algorithm;
    sw_context_t *context;
    sw_meeting_t *meeting;      /* NULL: the members' times are known */
    sw_call_t call;
    uint32_t me, step;
    int32_t tag;
    double scale;
    uint64_t reduced;
    sw_request_t *send, *receive, *owner;
};

/* A thread's operation, and what the engine made of it as it took it. */
typedef struct {
    sw_request_t *request;
    sw_message_t *message;
    sw_vop_t op;
    uint32_t nth;               /* a collective: of its context */
    uint32_t section;           /* of the rank, as it was taken */
} sw_queued_t;

typedef struct {
    sw_vop_t *ops;              /* a ring */
    uint32_t at, count, room;
    uint32_t seen;              /* of them looked at */
    bool ended;                 /* and nothing follows */
} sw_ahead_t;

/* What a rank spent in a section (section_times.h). */
typedef struct {
    uint32_t number;
    sw_rank_time_t time;
} sw_rank_section_t;

/* Why a rank does not go on. */
typedef enum {
    SW_RANK_GOES, SW_RANK_WAITS /* for `waits` */, SW_RANK_ASKS,
    SW_RANK_LATE /* the source */, SW_RANK_ENDED,
} sw_rank_state_t;

/* A rank, or a further thread of one, which has only what a thread has: `home`
 * has what all of them share. */
struct sw_rank {
    sw_strand_t main;           /* first: a strand that is main is in one */
    uint8_t state;
    bool late;                  /* in the list of the late ones */
    bool looking;               /* ... for MATCHED, while it waits */
    bool stuck;                 /* in the host: see SW_OP_STUCK */
    bool left;                  /* the thread has ended, for now          */
    bool threaded;              /* home: it has threads                   */
    bool over;                  /* home: its operations have ended        */
    sw_rank_t *home;
    sw_ahead_t *ahead;          /* operations taken from the source before */
    sw_graph_t *graph;          /* NULL: a sequence                       */
    sw_request_t *waits;
    uint64_t operations;
    sw_ps_t out, in;            /* its ports */
    uint32_t loose;             /* other users of its ports under way */
    uint32_t node;
    sw_message_t *unmatched, *unmatched_last;
    sw_request_t *any, *any_last;       /* of MPI_ANY_SOURCE, unmatched */
    sw_request_t *absent;       /* collectives that it does not attend to yet */
    sw_ps_t look;               /* when they are looked at anyway */
    uint64_t receives;
    sw_ps_t hands, aside;       /* its processor receives until then; that of
                                 * what goes on beside the program */
    uint32_t open;              /* its receives that are not complete */
    bool wakes;                 /* it waits no more, from an event on */
    bool looks;                 /* an event HANDS comes, at `looks_at` */
    sw_ps_t looks_at;
    sw_request_t *arrived, *arrived_last;       /* in line for its processor */
    sw_rank_time_t time;
    sw_warmth_t warmth;
    sw_noise_at_t noise;
    sw_vop_t now;               /* what it waits in */
    sw_queued_t taken;          /* a thread's operation under way */
    /* What follows is needed now and then. */
    sw_rank_t *sibling;         /* from home on, each the next            */
    sw_rank_t *current;         /* home: whose operations come            */
    uint32_t thread;            /* its number                             */
    uint32_t queue_at, queued, queue_room;
    sw_queued_t *queue;         /* its operations, a ring                 */
    sw_ps_t began;              /* the last that may wait                 */
    uint32_t untold;            /* decided, and MATCHED may come */
    uint32_t windows;           /* home: it has made */
    uint32_t strands;           /* begun */
    uint32_t listed, list_room;
    uint32_t *list;             /* requests to choose from */
    uint64_t asks_in;           /* a probe's context */
    uint32_t section;           /* at hand; home's, of what is taken: */
    uint32_t taken_section;
    sw_rank_time_t since;       /* its time as it came there */
    sw_rank_section_t *sections;        /* by number; those it has left */
    uint32_t section_count, section_room;
};

typedef struct {
    sw_ps_t out, in;
    uint32_t ranks;
} sw_engine_node_t;

/* What the engine decided of a receive whose MATCHED may come later. */
typedef struct {
    uint64_t context, bytes;
    int32_t peer, tag;
    sw_ps_t began, arrival, receive_time;
    bool returned;              /* the message: it was another's */
} sw_decided_t;

/* What an origin has under way at a target's window, or at all of them. What is
 * not pending is complete at these times. */
typedef struct {
    uint32_t pending, leaving;  /* not complete; the origin's memory in use */
    sw_ps_t done, left;
} sw_under_way_t;

struct sw_access {
    sw_access_t *next;          /* of the origin's */
    sw_channel_t *channel;      /* from the origin to the target */
    struct sw_window_of *origin;
    sw_under_way_t at;
};

/* An origin's request for a lock at a target member, or its release. */
struct sw_lock {
    sw_lock_t *next;
    sw_context_t *context;
    uint32_t target, origin;    /* members */
    bool exclusive;
    sw_request_t *request;      /* `order` of it: locks not granted yet */
};

/* A member's part in a window. */
typedef struct sw_window_of {
    bool made, seen;
    bool allocated;             /* its memory is the MPI's */
    bool open;                  /* in virtual time, too (thread.c) */
    /* As an origin: */
    sw_under_way_t all;
    sw_access_t *accesses;
    sw_request_t *flushes;      /* its threads wait in (window.c) */
    uint32_t begun;             /* numbers for its events */
    /* As a target: */
    uint32_t readers;
    bool writer;
    sw_lock_t *first, *last;    /* that wait */
} sw_window_of_t;

enum { SW_CONTEXT_PLANS = 4 };

/* A communicator. */
struct sw_context {
    uint32_t number, place, n;
    uint32_t *members;          /* NULL: the world */
    uint32_t *sorted;           /* numbers by rank; NULL: they ascend */
    uint32_t *begun;            /* collectives, by member */
    sw_window_of_t *window;     /* by member; NULL: it is none */
    sw_meeting_t **meetings;    /* from the `base`-th on, a ring */
    uint32_t base, at, count, room;
    struct sw_planned_call {    /* plans that were made */
        bool known;
        uint8_t what;
        bool second;            /* between groups: whose plan it is */
        uint32_t state;         /* sw_model_state */
        uint32_t first;         /* between groups: members of the first */
        uint64_t bytes, sent, received;
        sw_plan_t plan;
    } plans[SW_CONTEXT_PLANS];
};

/* The n-th collective of a context: which members have come, and when. */
struct sw_meeting {
    sw_vop_t call;              /* what it is, by the first member's call */
    sw_vop_t most;              /* the sizes of those with the most */
    uint32_t first;             /* the first member's rank, for complaints */
    uint32_t come;
    uint32_t strands;           /* by messages, or in calls: members, and
                                 * events, under way */
    sw_ps_t latest;
    bool root_there;
    sw_ps_t root_come;
    sw_request_t *waiting;
    sw_ps_t *comes;             /* scans: by member, -1: not yet; by messages:
                                 * when it has come, and before that: when all
                                 * up to it had */
    sw_request_t **scans;
    uint32_t before;            /* members from 0 that have come */
    bool in_calls;              /* by started.c: */
    bool has_begun;             /* `begun` is known, not just the least yet */
    uint32_t attending;
    sw_ps_t begun, last_attends;
    sw_started_plan_t started;
    uint32_t givers;            /* between groups: come with what a root gets.
                                 * There, a request that waits has in
                                 * `complete` how long it takes then */
};

struct sw_engine {
    sw_model_t *model;
    sw_op_source_t source;
    sw_engine_options_t options;
    uint32_t ranks;
    bool memory;                /* there was none */
    bool wrong;                 /* the operations cannot be; what, whose: */
    uint32_t wrong_rank;
    char wrong_text[160];
    bool free_port[2];          /* nothing to contend for: in a node, between */
    sw_rank_t *rank;
    sw_engine_node_t *node;
    uint32_t ended;
    sw_strand_t *ready, *ready_last;
    bool live;                  /* there are receives that the host matches */
    sw_heap_t parked;           /* strands that have run enough for now */
    uint64_t turns;             /* parked so far: at one time in turn */
    sw_heap_t events;
    sw_ps_t now;                /* of the last event */
    sw_ps_t ahead;              /* the least time of a message */
    sw_rank_t **late;
    uint32_t late_count;
    uint32_t threads;           /* beside the ranks' first */
    uint32_t threaded;          /* ranks */
    bool suspects;              /* sw_engine_suspects */
    sw_ps_t bound;              /* no late rank does anything before */
    sw_pool_t requests, messages, strands, meetings, channels, decisions;
    sw_pool_t accesses, locks;
    uint64_t seen;              /* locks held, and windows that are seen */
    sw_channel_t **bucket;
    size_t bucket_mask, channel_count;
    sw_lookup_t numbers;        /* (rank, number) -> sw_request_t */
    sw_lookup_t decided;        /* (rank, number) -> sw_decided_t */
    sw_lookup_t context_of;     /* number -> sw_context_t */
    sw_context_t **context;     /* by place */
    uint32_t context_count;
    uint32_t *everybody;        /* the world's members */
    uint32_t *which;            /* of an answer */
    uint32_t which_room;
    sw_engine_result_t result;
    sw_rank_time_t *times;      /* of the result */
};

static inline uint64_t sw_request_key(uint32_t rank, uint32_t number)
{
    return (uint64_t)rank << 32 | number;
}

/* With options.check, or sw_assert: what must hold, or the end. */
#define sw_engine_must(engine, holds)                                   \
    do {                                                                \
        sw_assert(holds);                                               \
        if (sw_unlikely((engine)->options.check) && !(holds))           \
            sw_engine_broken(#holds, __FILE__, __LINE__);               \
    } while (0)
__attribute__((noreturn, cold))
void sw_engine_broken(const char *what, const char *file, int line);

/* engine.c */
void sw_engine_event(sw_engine_t *engine, sw_ps_t time, sw_event_kind_t kind,
                     uint32_t rank, uint64_t number, void *of);
void sw_engine_ready(sw_engine_t *engine, sw_strand_t *strand);
void sw_engine_park(sw_engine_t *engine, sw_rank_t *rank);
void sw_engine_late(sw_engine_t *engine, sw_rank_t *rank);
/* No request of the rank's that is not complete is so before this, and no
 * message is there; with `collective`, a collective's request. */
sw_ps_t sw_engine_bound(const sw_engine_t *engine, const sw_rank_t *rank,
                        bool collective);
__attribute__((cold, format(printf, 3, 4)))
void sw_engine_wrong(sw_engine_t *engine, uint32_t rank, const char *format,
                     ...);

/* request.c */
sw_request_t *sw_request_new(sw_engine_t *engine, sw_request_kind_t kind,
                             uint32_t rank, uint32_t number);
sw_request_t *sw_request_find(sw_engine_t *engine, uint32_t rank,
                              uint32_t number);
void sw_request_complete(sw_engine_t *engine, sw_request_t *request,
                         sw_ps_t time);
void sw_request_free(sw_engine_t *engine, sw_request_t *request);
/* No strand waits for the request. */
void sw_request_drop(sw_engine_t *engine, sw_request_t *request);
/* The request counts as never made. */
void sw_request_cancel(sw_engine_t *engine, sw_request_t *request);

/* receive.c: a message and its receive are there at `at`; receiving it takes a
 * processor's `time`. */
void sw_receive_ready(sw_engine_t *engine, sw_request_t *receive, sw_ps_t at,
                      sw_ps_t time);
/* The rank has come to a call that waits. */
void sw_receive_in_call(sw_engine_t *engine, sw_rank_t *rank);
/* The rank tests at `time`: true, it takes what is in line first, and an event
 * decides its question later. */
bool sw_receive_tests(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);
/* What the strand waits for is complete at `time`. */
void sw_receive_wake(sw_engine_t *engine, sw_strand_t *waiter, sw_ps_t time);
void sw_receive_event(sw_engine_t *engine, const sw_heap_event_t *event);

/* channel.c */
sw_channel_t *sw_match_channel(sw_engine_t *engine, uint32_t to, uint32_t from,
                               uint64_t context);
void sw_match_free(sw_engine_t *engine);

/* match.c */
void sw_match_message(sw_engine_t *engine, sw_message_t *message);
void sw_match_receive(sw_engine_t *engine, sw_request_t *receive);
void sw_match_withdraw(sw_engine_t *engine, sw_request_t *receive);
/* All data of a message are there. */
void sw_match_arrived(sw_engine_t *engine, sw_message_t *message);
/* Returns the unmatched message that arrives first, of those that fit and
 * arrive no later than `by`; NULL: none. Sets `after` to the earliest arrival
 * after `by`. */
sw_message_t *sw_match_first(sw_engine_t *engine, sw_rank_t *rank,
                             int32_t peer, int32_t tag, uint64_t context,
                             sw_ps_t by, const sw_request_t *upto,
                             sw_ps_t *after);
/* Decides what MPI_ANY_SOURCE receives it can by `time`, and looks ahead. */
void sw_match_decide(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);
/* Gives a receive with MPI_ANY_SOURCE this sender and tag. */
void sw_match_name(sw_engine_t *engine, sw_request_t *receive, int32_t peer,
                   int32_t tag);
/* A receive, or a message, that was in its place early: it is posted, or sent,
 * now. */
void sw_match_posted(sw_engine_t *engine, sw_request_t *receive);
void sw_match_sent(sw_engine_t *engine, sw_message_t *message);
/* A message that was matched is not: in its channel again. */
void sw_match_return(sw_engine_t *engine, sw_message_t *message);
/* Looks at the rank again at `time`, unless the engine does so anyway. */
void sw_match_look(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);
/* The engine cannot ask the host: it decides these receives from now on. */
void sw_match_take_over(sw_engine_t *engine, sw_rank_t *rank);

/* told.c: the host has matched it so. */
void sw_match_told(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op);
bool sw_match_doubt(sw_engine_t *engine, sw_rank_t *rank);

/* wire.c */
/* `early`: the message, if it is in its place already. */
void sw_wire_send(sw_engine_t *engine, sw_strand_t *strand, uint32_t to,
                  int32_t tag, uint64_t context, uint64_t bytes,
                  unsigned flags, double scale, sw_request_t *send,
                  sw_message_t *early);
/* Its receiver's processor takes it from `at` on: a synced send is complete. */
void sw_wire_taken(sw_engine_t *engine, sw_message_t *message, sw_ps_t at);
/* A rendezvous has met its receive. */
void sw_wire_meet(sw_engine_t *engine, sw_message_t *message);
void sw_wire_event(sw_engine_t *engine, const sw_heap_event_t *event);
/* A one-sided one of this kind, on a channel from the origin. `request`: it is
 * complete when the origin's memory may be used; or NULL. */
void sw_wire_remote(sw_engine_t *engine, sw_rank_t *rank, sw_access_t *access,
                    sw_remote_t kind, uint64_t bytes, sw_request_t *request);
/* What has reached its target is answered from there, at `time`. */
void sw_wire_turn(sw_engine_t *engine, sw_message_t *message, sw_ps_t time);

/* context.c */
sw_context_t *sw_context_find(sw_engine_t *engine, uint32_t number);
/* A member's number, or UINT32_MAX. */
uint32_t sw_context_member(const sw_context_t *context, uint32_t rank);
/* How `call` of this member is carried out, or of a member of the second
 * group. */
const sw_plan_t *sw_context_plan(sw_engine_t *engine, sw_context_t *context,
                                 const sw_vop_t *call, bool second);
/* The n-th meeting, of which one more member makes use. */
sw_meeting_t *sw_context_meeting(sw_engine_t *engine, sw_context_t *context,
                                 uint32_t n);
/* Forget the meetings to which all members have come and that none is in. */
void sw_context_clear(sw_engine_t *engine, sw_context_t *context);
void sw_contexts_free(sw_engine_t *engine);

/* collective.c */
/* The request that tells the end; NULL: it was wrong. */
sw_request_t *sw_collective_begin(sw_engine_t *engine, sw_rank_t *rank,
                                  const sw_vop_t *op);
void sw_collective_run(sw_engine_t *engine, sw_strand_t *strand);
/* Whether the members that `me` depends on have come, and when the last had.
 * By messages, and in calls. */
bool sw_collective_came(const sw_context_t *context,
                        const sw_meeting_t *meeting, uint32_t me,
                        sw_ps_t *came);

/* started.c: a member comes, by the plan's parts. */
void sw_started_come(sw_engine_t *engine, sw_rank_t *rank,
                     sw_context_t *context, sw_meeting_t *meeting,
                     const sw_vop_t *op, sw_request_t *request,
                     const sw_plan_t *plan);
/* The rank is in a call that may wait, or tests. */
void sw_started_attend(sw_engine_t *engine, sw_rank_t *rank);
void sw_started_event(sw_engine_t *engine, const sw_heap_event_t *event);

/* between.c: member `me` comes to a collective between two groups, which is
 * `plan` for it. */
void sw_between_come(sw_engine_t *engine, sw_context_t *context,
                     sw_meeting_t *meeting, uint32_t me, const sw_vop_t *op,
                     sw_request_t *request, const sw_plan_t *plan);

/* window.c: one-sided operations. False: it is wrong. `wait`: until this is
 * complete; NULL: go on. */
bool sw_window_do(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op,
                  sw_request_t **wait);
/* A thread has made a window; others may be behind it in virtual time. */
void sw_window_taken(sw_engine_t *engine, uint32_t rank, const sw_vop_t *op);
/* The origin's memory may be used again, or all is there. */
void sw_window_left(sw_engine_t *engine, sw_message_t *message, sw_ps_t time);
void sw_window_arrived(sw_engine_t *engine, sw_message_t *message);
void sw_window_event(sw_engine_t *engine, const sw_heap_event_t *event);

/* section_times.c: what the rank (or a thread) does from now on belongs to this
 * section. */
void sw_section_enter(sw_engine_t *engine, sw_rank_t *rank, uint32_t number);

/* strand.c */
/* Those that the rank waited for came at `came`; it went on at `until`,
 * or later. */
static inline void sw_rank_waited(sw_rank_t *rank, sw_ps_t came, sw_ps_t until)
{
    sw_ps_t waited = sw_ps_min(came, until) - rank->main.clock;
    if (waited > 0)
        rank->time.waiting += waited;
}
void sw_strand_run(sw_engine_t *engine, sw_rank_t *rank);
/* When what took `*time` as it was measured ends, on the rank's processor, begun
 * at `begin`; `*time`: what it takes there without noise. */
sw_ps_t sw_rank_compute(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t begin,
                        sw_ps_t *time);
/* Where a message of an operation goes, or comes from: its context, twice.
 * False: nowhere, and the engine has said so. */
bool sw_strand_address(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op,
                       bool anybody, uint64_t *context);

/* thread.c: a thread's next operation; `taken` has what the engine made of
 * it. */
sw_source_state_t sw_thread_next(sw_engine_t *engine, sw_rank_t *thread,
                                 sw_vop_t *op);
/* The first operation of a rank says that it has threads. */
void sw_thread_begin(sw_engine_t *engine, sw_rank_t *rank, const sw_vop_t *op);
/* Reads on in a file: far behind may stand what another thread does, and which
 * message a receive with MPI_ANY_SOURCE has taken. False: there is nothing. */
bool sw_thread_read_on(sw_engine_t *engine);
/* THREAD, as a thread comes to it, but for waiting for another. */
void sw_thread_run(sw_engine_t *engine, sw_rank_t *thread, const sw_vop_t *op);
/* Take all that a running program has put. */
void sw_thread_pump(sw_engine_t *engine, sw_rank_t *home);
void sw_threads_free(sw_rank_t *home);
/* Of a rank's threads the one that ends last, whose time is the rank's. */
static inline sw_rank_t *sw_rank_last(sw_rank_t *home)
{
    sw_rank_t *last = home;
    for (sw_rank_t *t = home->sibling; t; t = t->sibling)
        if (t->main.clock > last->main.clock)
            last = t;
    return last;
}

/* graph.c: the rank's operations, all that follow, are a partial order, which is
 * read, and read on. False: it is late, waits until all are over, or they
 * cannot be. */
bool sw_graph_begin(sw_engine_t *engine, sw_rank_t *rank);
bool sw_graph_read(sw_engine_t *engine, sw_rank_t *rank);
/* A receive of a graph is there at `at`, as in receive.c. */
void sw_graph_received(sw_engine_t *engine, sw_request_t *receive, sw_ps_t at,
                       sw_ps_t time);
/* By LogGOPSim's rule a message will be at its rank, matched or not. */
void sw_graph_arrives(sw_engine_t *engine, sw_message_t *message);
/* A request of a graph's operation is complete at `time`. */
void sw_graph_complete(sw_engine_t *engine, sw_request_t *request,
                       sw_ps_t time);
void sw_graph_event(sw_engine_t *engine, const sw_heap_event_t *event);
/* What a rank waits for that does not go on. */
const sw_request_t *sw_graph_stuck(const sw_rank_t *rank);
void sw_graph_free(sw_graph_t *graph);

/* doubt.c: no rank goes on, and none is late. True: one goes on now. */
bool sw_doubt_resolve(sw_engine_t *engine);
/* May ranks go on in the host? */
bool sw_doubt(const sw_engine_t *engine);

/* ahead.c: the rank's next operation. */
sw_source_state_t sw_ahead_next(sw_engine_t *engine, sw_rank_t *rank,
                                sw_vop_t *op);
/* A rank waits: if only the host knows its match, see what the host says. */
void sw_ahead_look(sw_engine_t *engine, sw_rank_t *rank);
/* The rank is looking, and its host will tell: no rank passes its clock. */
bool sw_ahead_comes(const sw_rank_t *rank);
/* No rank goes on: asks whether the host has decided something meanwhile. True:
 * it has, or the engine does now. */
bool sw_ahead_still(sw_engine_t *engine);
/* The rank waits, but its host has gone on: the rank has put what it does only
 * after that wait. */
bool sw_ahead_gone_on(sw_engine_t *engine, sw_rank_t *rank);
/* It sleeps (SW_CLOCK_PAUSE) behind what it waits for: no more, true. */
bool sw_ahead_wake(sw_engine_t *engine, sw_rank_t *rank);
/* Would it put this only after the call before is over? */
bool sw_ahead_tells(const sw_vop_t *op);
void sw_ahead_free(sw_rank_t *rank);

/* question.c */
void sw_question_list(sw_engine_t *engine, sw_rank_t *rank, uint32_t number);
/* A rank has come to it: true, it is answered. */
bool sw_question_ask(sw_engine_t *engine, sw_rank_t *rank, uint64_t context);
/* It will not be answered: let the host decide. */
void sw_question_give_up(sw_engine_t *engine, sw_rank_t *rank);
/* At a time when all before it is decided. */
void sw_question_decide(sw_engine_t *engine, sw_rank_t *rank, sw_ps_t time);

#endif
