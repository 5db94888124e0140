/*
 * comm.h - what we remember of a communicator.
 *
 * A communicator is met at its first collective. The state hangs on it as an
 * attribute, so it goes when the communicator does, however the program frees
 * it. A small cache in front makes finding it two loads.
 *
 * The members set the shared block up at their first call whose arguments are
 * right. That moment cannot differ between them. A call with wrong arguments is
 * the host's, which raises its error at that member alone. The member then
 * comes to the others with the next call that it makes. No member counts calls:
 * one that counted a failed call would come too early, and all would hang.
 */
#ifndef SW_MPI_BASE_COMM_H
#define SW_MPI_BASE_COMM_H

#include "registry.h"
#include "roster.h"
#include "span.h"
#include "tuned.h"
#include "coll/coll.h"
#include "offload/slates.h"
#include "p2p/tally.h"
#include "progress.h"

/* Why the host served a call: the columns of --stats. */
#define SW_REASONS(X)                                             \
    X(OFF, "switched off")                                        \
    X(INTER, "intercommunicator")                                 \
    X(ALONE, "one member")                                        \
    X(FOREIGN, "members of another MPI_COMM_WORLD")               \
    X(APART, "members not on one node, or unreachable")           \
    X(SPAN, "over several nodes, where the host's way wins")      \
    X(FULL, "no room for one more communicator")                  \
    X(OPERATION, "operation or type without a kernel")            \
    X(TOPOLOGY, "no topology, or one for the host")               \
    X(DEVICE, "buffers in the memory of a device")                \
    X(LOST, "a member has died, or the communicator was revoked") \
    X(ENDS, "the communicator, or MPI, is ending")                \
    X(TUNED, "faster so, by straightway tune")                    \
    X(UNMET, "before the members' first blocking collective")     \
    X(TRIAL, "tried, or faster there: --guard")                   \
    X(HELPER, "a member's system gives no thread for its helper") \
    X(ARGUMENTS, "arguments for the host to judge")

typedef enum {
    SW_OURS = -1,
#define X(id, text) SW_REASON_##id,
    SW_REASONS(X)
#undef X
        SW_REASON_COUNT
} sw_reason_t;

/* What a room above keeps of each communicator: c->part[place], from NULL on.
 */
typedef struct {
    int place;                /* 0: not added yet */
    void (*end)(void *part);  /* the communicator ends; NULL: no matter */
    void (*free)(void *part); /* no call needs the part any more; NULL */
} sw_comm_part_t;
enum { SW_COMM_PARTS = 3 };

/* Adds a part, once, before it is used. */
void sw_comm_part_add(sw_comm_part_t *part);
/* The program ends the communicator. */
struct sw_comm;
void sw_comm_parts_end(struct sw_comm *c);

/* What was in vain is not tried again for so many calls. */
typedef struct {
    uint16_t calls, next;
} sw_pause_t;

typedef struct sw_comm {
    sw_registered_t registered;
    MPI_Comm handle;
    sw_sequence_t *sequence; /* NULL: a span, or the host, for `reason` */
    sw_sequence_t *lost;     /* what `sequence` was, until a member died */
    sw_reason_t reason;
    int n, me;
    bool settled;    /* sequence, span and reason are final */
    bool apart;      /* the members live on several nodes */
    bool over;       /* the span serves no more */
    sw_span_t *span; /* or NULL */
    /* On one node: which calls are the host's. NULL: none. */
    const sw_ways_entry_t *tuned;
    /* Of nonblocking collectives. NULL: none yet. */
    sw_slates_t *slates;
    sw_team_t *team;     /* theirs, and of persistent ones */
    uint64_t persistent; /* so many were initialized */
    sw_tally_t pairs;    /* partitioned messages: see comm_pair.h */
    uint64_t name;       /* drawn when the members met; 0: not yet */
    /* See reach.h. */
    _Atomic int device; /* SW_MET_*: a buffer of ours was a device's */
    uint64_t review;    /* the step of the next question */
    /* Of coll/direct.h and direct_fold.h. All members have the same. */
    bool direct; /* they try it */
    sw_pause_t direct_moves, direct_folds;
    /* Of coll/trials.h: calls until it has trials, and these. */
    uint64_t guarded;
    struct sw_trials *trials;
    /* Point to point; see mpi/p2p/near.h and context_id.c. */
    uint64_t context_id;   /* 0: messages go through the host alone */
    int8_t near;           /* SW_NEAR_* */
    sw_members_t *members; /* see sw_comm_members; NULL: not asked yet */
    void *_Atomic part[1 + SW_COMM_PARTS]; /* see sw_comm_part_t */
    /* A program may free a communicator with messages pending (MPI 4.1, 7.4.3).
     * Each of these holds the state, and so does the communicator. When it is
     * gone `handle` is MPI_COMM_NULL, and `handler` its last error handler. */
    _Atomic int holds;
    bool gone;
    MPI_Errhandler handler;
} sw_comm_t;

/* What sw_comm_leave changes; see the fields of sw_comm_t. */
typedef struct {
    sw_sequence_t *sequence, *lost;
    sw_reason_t reason;
    bool settled, over;
} sw_comm_served_t;

/* Has the program made one-sided windows? Then a rank in a collective of ours
 * has to drive the host's progress; see mpi/rma/window.c. */
extern _Atomic bool sw_windows_made __attribute__((visibility("hidden")));

/* Has the program met processes that may be on other nodes? */
extern _Atomic bool sw_comm_strangers __attribute__((visibility("hidden")));

void sw_comm_last(sw_comm_t *c);

static inline void sw_comm_hold(sw_comm_t *c)
{
    (void)sw_counter_add(&c->holds, 1, sw_threaded, memory_order_relaxed);
}

static inline void sw_comm_drop(sw_comm_t *c)
{
    int left = sw_counter_add(&c->holds, -1, sw_threaded, memory_order_acq_rel);
    if (sw_unlikely(left == 0))
        sw_comm_last(c);
}

/* The communicator, or one that may stand for it where MPI asks for any. */
MPI_Comm sw_comm_or_any(const sw_comm_t *c);

/* A session ends, and some hosts forget the keyvals made in it: the next
 * communicator met gets a new one. Attributes under the old one stay with
 * their communicators. */
void sw_comm_forget_keyval(void);

/* The state of a communicator; NULL for what is no valid one (the host will say
 * so). */
sw_comm_t *sw_comm_state(MPI_Comm comm);

/* The same, for a call in which this thread may wait for other members. */
sw_comm_t *sw_comm_enter(MPI_Comm comm);

/* The same, or NULL where it was not met, from behind the cache. Calls nothing
 * of the host's. */
sw_comm_t *sw_comm_look_up(MPI_Comm comm);
#define SW_COMMS_CACHED 64
extern sw_registry_cache_t sw_comm_cache[SW_COMMS_CACHED]
    __attribute__((visibility("hidden")));

/* The members of its own group; NULL: no MPI_COMM_WORLD, or no memory. */
sw_members_t *sw_comm_members(sw_comm_t *c);

/* Set the shared block up, unless that has been tried, or review it (reach.h);
 * the sequence, or NULL. Every member must come here with the same call. */
sw_sequence_t *sw_comm_settle(sw_comm_t *c);

/* The sequence for a call whose arguments this member has found right; NULL,
 * with the reason: the host serves. */
static inline sw_sequence_t *sw_comm_sequence(sw_comm_t *c, sw_reason_t *reason)
{
    sw_sequence_t *seq = c->sequence;
    if (sw_unlikely(!seq || seq->step >= c->review)) {
        seq = sw_comm_settle(c);
        *reason = c->reason;
    }
    return seq;
}

/* Can its members begin a nonblocking collective now? SW_OURS: yes. Else why
 * the host serves it. All members say the same of a call (comm_slates.c). */
sw_reason_t sw_comm_why_no_slates(const sw_comm_t *c);
static inline sw_reason_t sw_comm_no_slates(const sw_comm_t *c)
{
    return sw_likely(c->slates && (c->sequence || !c->settled))
               ? SW_OURS
               : sw_comm_why_no_slates(c);
}
/* They can, and the arguments are right: the shared memory for it. */
sw_slates_t *sw_comm_slates_first(sw_comm_t *c);
static inline sw_slates_t *sw_comm_slates(sw_comm_t *c)
{
    return sw_likely(c->slates) ? c->slates : sw_comm_slates_first(c);
}

/* Slates of a persistent collective's own, opened at its first start. The
 * communicator may be gone by then. */
typedef struct {
    sw_team_t *team;
    uint64_t name;
    sw_slates_t *slates; /* NULL: not yet */
} sw_comm_apart_t;

/* One is initialized: all members come here in the same order. */
void sw_comm_apart(sw_comm_t *c, sw_comm_apart_t *a);
sw_slates_t *sw_comm_apart_slates(sw_comm_apart_t *a);
void sw_comm_apart_end(sw_comm_apart_t *a);

/* The sequence of its members on this node, if it has one: its own, or its
 * span's. */
static inline sw_sequence_t *sw_comm_near(const sw_comm_t *c)
{
    return c->sequence           ? c->sequence
           : c->span && !c->over ? c->span->sequence
                                 : NULL;
}

/* Leave it to the host from here on. */
sw_comm_served_t sw_comm_leave(sw_comm_t *c, sw_reason_t reason);

/* Undo sw_comm_leave, where the host has refused to end the communicator. */
void sw_comm_return(sw_comm_t *c, const sw_comm_served_t *before);
/* MPI_Finalize begins: the members of a communicator meet no more. The world,
 * which some know their members by, is gone for the others (callbacks of
 * MPI_COMM_SELF still call collectives). */
void sw_comms_close(void);
extern _Atomic bool sw_comms_closing __attribute__((visibility("hidden")));
/* The communicator that this thread ends, or MPI_COMM_NULL: comm_end.c. */
extern __thread MPI_Comm sw_comm_ending
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
/* The same after a collective that did not end well. Returns the error that the
 * host has raised. */
int sw_comm_give_up(sw_comm_t *c);

#endif
