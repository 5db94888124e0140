/*
 * op.h - what ranks do, as the engine of virtual time sees it.
 *
 * A rank is a sequence of operations in the order of its program. Whether they
 * come from a running program, from a trace or from a file makes no difference
 * to the engine (engine.h). An operation says what is done, never how long
 * that takes: durations are the model's (model.h), but for what is computed
 * between calls, which is measured.
 *
 * Ranks are those of MPI_COMM_WORLD. A context is a communicator: its members
 * in order. Requests are numbers that a rank chooses, from 1, and may use
 * again for another when the former is over; 0 stands for the blocking form.
 */
#ifndef SW_VTIME_OPS_OP_H
#define SW_VTIME_OPS_OP_H

#include "contract/collectives.h"
#include "vtime/base/time.h"

#define SW_OP_ANY (-1) /* any source, any tag */

/* Collectives have MPI's numbers (sw_collective_t), but for those of
 * neighbours, which are messages here. Two of the engine's own are in their
 * place: `other` stands for what communicates among all members without data of
 * the program's, as making a communicator or a window does; and a fence. Files
 * have the numbers.
 */
typedef enum {
#define SW_OF_ALL(NUMBER, NAME, ...) SW_COLLECTIVE_##NAME = NUMBER,
#include "collectives.inc"
    SW_COLLECTIVE_OTHER = 17,
    SW_COLLECTIVE_FENCE,
    SW_COLLECTIVE_COUNT
} sw_op_collective_t;

/* Their tables, by sw_op_collective_t. */
extern const char *const sw_collective_names[SW_COLLECTIVE_COUNT];
extern const sw_waits_t sw_collective_waits[SW_COLLECTIVE_COUNT];
extern const char *const sw_window_names[]; /* by sw_window_t */

typedef enum {
    SW_OP_COMPUTE = 1, /* time, flags */
    SW_OP_SEND,        /* peer, tag, context, bytes, flags, request */
    SW_OP_RECV,        /* peer, tag, context, bytes (room), request */
    /* what, context, peer, bytes, sent, received, request */
    SW_OP_COLLECTIVE,
    SW_OP_WAIT, /* request: until it is complete; unknown: no time */
    /* request, flags: freed or cancelled; no thread waits for it */
    SW_OP_DROP,
    /* bytes: what follows belongs to this section of the program (section.h),
     * for the report; 0: to none */
    SW_OP_SECTION,
    /* What only a running program asks; the engine answers. */
    SW_OP_CLOCK,  /* what time is it? */
    SW_OP_LIST,   /* request: one more to choose from */
    SW_OP_SELECT, /* what: sw_select_t, from those listed before */
    SW_OP_PROBE,  /* peer, tag, context: wait for such a message */
    SW_OP_IPROBE, /* the same: is there one? */
    /* peer, tag, context: a receive with wildcards: whose message is it? The
     * receive itself follows. */
    SW_OP_CHOOSE,
    /* request, peer, tag: which message the receive with wildcards has taken,
     * where the host decided */
    SW_OP_MATCHED,
    SW_OP_THREAD, /* what: sw_thread_op_t; request: a thread's number */
    /* the rank has waited in the host for long, and may need what others do
     * after their questions: the engine does not wait for it before its next
     * operation */
    SW_OP_STUCK,
    /* what: sw_window_t, context, peer, bytes, flags, request */
    SW_OP_WINDOW,
    SW_OP_NOTHING, /* in the engine: it is done already */
} sw_op_kind_t;

/* Does the rank wait for the engine's answer? */
static inline bool sw_op_asks(unsigned kind)
{
    return kind == SW_OP_CLOCK || kind == SW_OP_SELECT || kind == SW_OP_PROBE ||
           kind == SW_OP_IPROBE || kind == SW_OP_CHOOSE;
}

static inline bool sw_op_has_context(unsigned kind)
{
    return kind == SW_OP_SEND || kind == SW_OP_RECV ||
           kind == SW_OP_COLLECTIVE || kind == SW_OP_PROBE ||
           kind == SW_OP_IPROBE || kind == SW_OP_CHOOSE || kind == SW_OP_WINDOW;
}

/* Also: a rank whose operations are a partial order (SW_THREAD_GRAPH before all
 * else). They are COMPUTE, SEND and RECV without requests. An operation begins
 * when those are over that it needs, and its processor is free: NEEDS before it
 * names them, GOES the processor. All whose processors differ go on at once.
 *
 * Threads of a rank that call MPI at once. Their operations lie in one
 * sequence, in the order in which the host took them, which is that of
 * matching; but each thread has a clock of its own, and waits by itself. A rank
 * that has threads says so before all else. 0 is the first. */
typedef enum {
    SW_THREAD_GOES, /* what follows is this one's */
    /* the current thread has waited for this one: it goes on no earlier than
     * this one is done with all that it has put, but the last `tag` */
    SW_THREAD_AFTER,
    SW_THREAD_ENDS,  /* it does nothing more, for now */
    SW_THREAD_GRAPH, /* the operations that follow are a partial order */
    /* the next operation needs that which is so many (tag, from 1) before it;
     * request: SW_NEEDS_... */
    SW_THREAD_NEEDS,
} sw_thread_op_t;

#define SW_NEEDS_OVER 1u  /* needs its end */
#define SW_NEEDS_BEGUN 2u /* needs its beginning */

typedef enum {
    SW_SELECT_ANY,  /* wait for one: which? */
    SW_SELECT_SOME, /* wait for one: which are complete? */
    SW_TEST_ALL,    /* are all of them complete? */
    SW_TEST_ANY,    /* is one, and which? */
    SW_TEST_SOME,   /* which are? */
} sw_select_t;

/* Numbers of sections are no higher. */
#define SW_SECTION_MOST ((uint32_t)1 << 20)

/* Flags of computing. */
#define SW_COMPUTE_ASLEEP 1u /* it passes so, whatever the processor */
#define SW_COMPUTE_POLLED 2u /* in tests and probes in vain: the same */

/* Without data: all members meet, and between groups there is none. */
static inline bool sw_op_bare(unsigned collective)
{
    return collective == SW_COLLECTIVE_OTHER ||
           collective == SW_COLLECTIVE_FENCE;
}

/* One-sided. A window is a context of its own, beside its communicator's: its
 * members make it before anything else is done there, and free it at last.
 * PUT, REDUCE, GET and FETCH have a target, and may have a request: what they
 * take is complete for their origin with it, for the target with a FLUSH. That
 * there is something to synchronise with (fence, post and start) is told by
 * messages and collectives. */
typedef enum {
    SW_WINDOW_MAKE, /* from now on its memory may be moved */
    SW_WINDOW_FREE,
    SW_WINDOW_PUT,    /* bytes to the target */
    SW_WINDOW_REDUCE, /* the same, combined with what is there */
    SW_WINDOW_GET,    /* bytes from the target */
    SW_WINDOW_FETCH,  /* bytes there, combined, and as many back */
    /* wait until all that this rank has begun there is complete, of one target
     * or (-1) of all; flags */
    SW_WINDOW_FLUSH,
    SW_WINDOW_LOCK,   /* wait for it, at one target or (-1) at all; flags */
    SW_WINDOW_UNLOCK, /* flags as of the lock */
    SW_WINDOW_COUNT
} sw_window_t;

#define SW_WINDOW_LOCAL 1u     /* a flush: the origin's memory may be used */
#define SW_WINDOW_EXCLUSIVE 1u /* a lock: with no other origin */
#define SW_WINDOW_SEEN 1u      /* made: loads see other ranks' memory */
#define SW_WINDOW_ALLOCATED 2u /* made: of memory that MPI has allocated */

/* Tags of the empty messages on a window's context: origins hear that they may
 * access it (post), and tell when they have (complete). */
#define SW_WINDOW_POSTED 0
#define SW_WINDOW_COMPLETED 1

/* Flags of a send. */
#define SW_SEND_SYNCHRONOUS 1u /* complete when it is matched */
#define SW_SEND_BUFFERED 2u    /* complete at once, whatever size */
#define SW_SEND_GIVEN 4u       /* a block that is given away */

/* Flags of a clock. */
/* asked only to sleep until then: the call under way is not over */
#define SW_CLOCK_PAUSE 1u
#define SW_CLOCK_THREAD 2u /* of a thread: others go on meanwhile */

/* Flags of being stuck. */
#define SW_STUCK_POLLS 1u /* it looks in vain for what others do */
/* the host may keep it: not stuck before it has been silent for a little */
#define SW_STUCK_PERHAPS 2u

/* Flags of a drop. */
/* the host has cancelled it, so it has taken no message; without this it
 * goes on to its end */
#define SW_DROP_CANCELLED 1u

/* Collectives between groups (MPI 4.1, 6.2.3). The root is in one group, and
 * its data come from the other or go there. It names itself as the root, as do
 * the members of the other group; those beside it name MPI_PROC_NULL (-1),
 * and have no part in it. Where there is no root, each group gets what the
 * other gives. Making communicators (`other`) is all members' together, as
 * ever. */

/* Receives with wildcards. A blocking one asks CHOOSE before, and then names
 * the peer that the answer gave. The host of a running program matches a
 * nonblocking one (RECV with SW_OP_ANY and a request). MATCHED comes when the
 * program has seen it complete, which is after the WAIT or SELECT that waits
 * for it. So where a rank waits for such a request, the engine must look at
 * what the rank does next. The engine matches operations without MATCHED where
 * it can ask no program (a file).
 *
 * CLOCK is answered when all operations of the rank before it are done. So a
 * program may ask it after any operation, to sleep until that can be done. */

typedef struct {
    uint8_t kind; /* sw_op_kind_t */
    uint8_t what; /* sw_op_collective_t, sw_select_t */
    uint16_t flags;
    uint32_t context; /* number of the communicator, from 0: the world */
    /* rank in the world, or SW_OP_ANY; of a collective the root's number among
     * the members, -1 without one */
    int32_t peer;
    /* of a collective between two groups, whose communicator has the members
     * of both: how many of these, from the first on, are one group; 0: all
     * are one */
    int32_t tag;
    uint32_t request; /* 0: blocking */
    /* of the message; of a collective one block: what a member contributes
     * (bcast, reduce, allreduce, scan) or what travels between two members
     * (gather, alltoall, reduce_scatter and kin; the mean where they differ) */
    uint64_t bytes;
    uint64_t sent, received; /* of a collective: this member's in all */
    /* computed, as it was measured; in the engine, of a collective what its
     * member had computed before */
    sw_ps_t time;
} sw_vop_t;

#endif
