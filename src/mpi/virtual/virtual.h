/*
 * virtual.h - the program's calls in virtual time.
 *
 * With STRAIGHTWAY_WHATIF the stubs lead to the wrappers of this room
 * (virtual.c of the build folder, made by generate_virtual.py from rules.py).
 * They tell an engine what the program does (vtime/ops/op.h), on the feed of
 * its rank (vtime/feed/feed.h):
 *
 *     int sw_virtual_MPI_Isend(...)
 *     {
 *         SW_VIRTUAL;
 *         if (!sw_virtual_begin(&v, &sw_from))     nested, or not (any more)
 *             return served.Isend(...);            in virtual time
 *         int sw_result;
 *         the rule's body
 *         return sw_result;                        compute time begins
 *     }
 *
 * Beginning ends a stretch of computing, measured in processor time. What the
 * call itself takes counts nowhere: its time is the model's.
 *
 * Engine or host. With one thread at a time the engine decides which message a
 * receive with wildcards gets, what a test finds, and which request is first.
 * The rank then asks the host for just that; the host has it, or will have it
 * soon. Where threads call at once (MPI_THREAD_MULTIPLE), each has a clock of
 * its own, and says so before what it puts. All that has an order (what is
 * sent, posted, taken) they put as the host takes it, under a lock. They ask
 * nothing but the time: the host decides what depends on the order of threads,
 * and the rank tells the engine. A thread that has slept between two calls has
 * waited for another of its rank (a join, a barrier, a lock). It goes on no
 * earlier than those do.
 *
 * No rank ever sleeps in the engine while another waits for what it could have
 * given before. So a rank hands sends to the host first, in their nonblocking
 * forms, and puts them afterwards. A rank that sleeps drives the host's
 * progress now and then (sw_virtual_idle). Where the node has fewer cores than
 * ranks, no rank waits in the host. It asks the engine for the time after its
 * operation, which comes when its partners have come, and tests with naps in
 * between.
 */
#ifndef SW_MPI_VIRTUAL_VIRTUAL_H
#define SW_MPI_VIRTUAL_VIRTUAL_H

#include "mpi/base/guard.h"
#include "mpi/calls/moves.h"
#include "mpi/calls/served.h"
#include "contract/front.h"
#include "node/cpu_clock.h"
#include "profile/base/job.h"
#include "profile/stack/site.h"
#include "vtime/feed/server.h"

#include <pthread.h>

/* Is there an engine? */
extern _Atomic bool sw_virtual_alive __attribute__((visibility("hidden")));
/* Are calls followed? They are, too, when the engine has ended: what others
 * have begun in one form of a collective must go on in that form. */
extern _Atomic bool sw_virtual_on __attribute__((visibility("hidden")));
/* Threads call at once. */
extern bool sw_virtual_shared __attribute__((visibility("hidden")));
/* More ranks on the node than cores, or more of their threads. */
extern _Atomic bool sw_virtual_crowded __attribute__((visibility("hidden")));
/* So many threads of a rank have a core each. */
extern uint32_t sw_virtual_cores __attribute__((visibility("hidden")));

/* What the rank knows of the model. */
typedef struct {
    double cpu_speed;
    sw_ps_t test;
} sw_virtual_model_t;
extern sw_virtual_model_t sw_virtual_model
    __attribute__((visibility("hidden")));

/* This thread: the call under way (as in profile/record/recorder.h), and its
 * processor time when it left the last. */
typedef struct {
    const void *inside;
    int64_t left;
    bool holds;   /* the lock, see sw_virtual_hold */
    bool reads;   /* a clock */
    bool guessed; /* ... since the last call, see clocks.c */
    sw_ps_t told; /* by a clock, and its processor time then */
    int64_t guessed_at;
    sw_ps_t early;  /* asleep before its first call */
    uint64_t gives; /* bytes: its next send may be this block's */
    int gives_to, gives_tag;
    struct sw_virtual_clock *clock; /* NULL: none yet */
} sw_virtual_thread_t;
extern __thread sw_virtual_thread_t sw_virtual_thread
    __attribute__((visibility("hidden"), tls_model("initial-exec")));

typedef struct {
    bool followed;
} sw_virtual_call_t;

/* The rank is in a call: 1. */
extern _Atomic uint32_t *sw_virtual_inside
    __attribute__((visibility("hidden")));

/* Computed: ps of processor time. */
void sw_virtual_compute(int64_t ps);

/* Where threads call at once (threads.c): the thread's call begins, ends. */
void sw_virtual_thread_comes(void);
void sw_virtual_thread_leaves(void);
/* The rank has slept, and waited for no other rank. */
void sw_virtual_thread_slept(void);

/* Where threads call at once: what the host takes now is put before anything
 * that another thread puts, since what depends on it may be over meanwhile.
 * Until the call waits, or ends. */
void sw_virtual_hold(void);
void sw_virtual_release(void);

/* One thread after the other calls (MPI_THREAD_SERIALIZED), and others may read
 * clocks meanwhile: whose turn it is. */
extern bool sw_virtual_turns __attribute__((visibility("hidden")));
void sw_virtual_turn_take(void);
/* False: another thread's. */
bool sw_virtual_turn_try(void);
void sw_virtual_turn_give(void);

/* A signal's handler may read a clock at any point: what has been computed is
 * counted once, and what the call takes never. */
static inline void sw_virtual_end(sw_virtual_call_t *v)
{
    if (v->followed) {
        if (sw_unlikely(sw_virtual_thread.holds))
            sw_virtual_release();
        if (sw_unlikely(sw_virtual_shared))
            sw_virtual_thread_leaves();
        if (sw_unlikely(sw_virtual_turns))
            sw_virtual_turn_give();
        sw_virtual_thread.guessed = false;
        sw_virtual_thread.left = sw_cpu_clock_now();
        atomic_signal_fence(memory_order_seq_cst);
        sw_virtual_thread.inside = NULL;
        atomic_store_explicit(sw_virtual_inside, 0, memory_order_relaxed);
    }
}

#define SW_VIRTUAL                           \
    const sw_caller_t sw_from = SW_CALLER(); \
    __attribute__((cleanup(sw_virtual_end))) sw_virtual_call_t v = {false}

/* Is this a call of the program's own? */
static inline bool sw_virtual_own(const sw_caller_t *caller)
{
    return atomic_load_explicit(&sw_virtual_on, memory_order_relaxed) &&
           caller->sp >= (uintptr_t)sw_virtual_thread.inside &&
           sw_guard_from_user();
}

static inline bool sw_virtual_begin(sw_virtual_call_t *v,
                                    const sw_caller_t *caller)
{
    if (!sw_virtual_own(caller))
        return false;
    int64_t now = sw_cpu_clock_now();
    sw_virtual_thread.inside = (const void *)caller->sp;
    atomic_signal_fence(memory_order_seq_cst);
    if (sw_unlikely(sw_virtual_turns))
        sw_virtual_turn_take();
    sw_virtual_compute(now - sw_virtual_thread.left - sw_cpu_clock_cost);
    if (sw_unlikely(sw_virtual_shared))
        sw_virtual_thread_comes();
    atomic_store_explicit(sw_virtual_inside, 1, memory_order_relaxed);
    v->followed = true;
    return true;
}

/* For procedures that compute, as far as virtual time goes, but call others of
 * MPI inside. */
typedef struct {
    const void *inside;
} sw_virtual_through_t;

static inline void sw_virtual_through_end(sw_virtual_through_t *t)
{
    if (!t->inside)
        return;
    sw_virtual_thread.inside = NULL;
    atomic_store_explicit(sw_virtual_inside, 0, memory_order_relaxed);
}

#define SW_VIRTUAL_THROUGH                                                  \
    const sw_caller_t sw_from = SW_CALLER();                                \
    __attribute__((cleanup(                                                 \
        sw_virtual_through_end))) sw_virtual_through_t sw_through = {NULL}; \
    if (sw_virtual_own(&sw_from)) {                                         \
        sw_virtual_thread.inside = sw_through.inside = (const void *)       \
                                                           sw_from.sp;      \
        atomic_store_explicit(sw_virtual_inside, 1, memory_order_relaxed);  \
    }

/* A communicator of all ranks that the program never sees; MPI_COMM_NULL: not
 * in virtual time. */
extern MPI_Comm sw_virtual_private __attribute__((visibility("hidden")));

/* Virtual time begins, on this feed, and ends (begin.c). */
void sw_virtual_start(sw_feed_t *feed);
sw_feed_t *sw_virtual_stop(void);

/* Operations (virtual.c; the lock: threads.c) -------------------------------
 * Between sw_virtual_lock and sw_virtual_unlock where threads call at once;
 * no code in between waits for another rank or thread. */

void sw_virtual_lock(void);
/* The calling thread's number; without threads 0. */
uint32_t sw_virtual_number(void);
void sw_virtual_unlock(void);

void sw_virtual_put(const sw_vop_t *op);
/* False: there is no engine any more; the program goes on natively. Threads
 * that call at once do not ask. */
bool sw_virtual_ask(const sw_vop_t *op, sw_op_answer_t *answer);
/* WAIT, DROP and the like. */
void sw_virtual_tell(sw_op_kind_t kind, uint32_t request);
/* Sleep until all that was put is done in virtual time, if the node is
 * crowded. */
void sw_virtual_pause(void);
/* ps; false: there is no engine. */
bool sw_virtual_time(sw_ps_t *now);

/* Starts the program's clocks, which advance as real time does once virtual
 * time has ended (clocks.c). */
void sw_virtual_clocks_start(void);
/* Whether this may be a signal's handler, which must not call the host. */
bool sw_virtual_handles_signal(void);
/* Virtual time as it was last known, for any thread at any moment. Where it has
 * ended, as real time has carried it on. */
sw_ps_t sw_virtual_known(void);
/* Adds `ps`, which pass at any processor speed: asleep, or reading clocks. */
void sw_virtual_passed(sw_ps_t ps);
/* The rank begins to sleep for `ns`, and waits for no other rank: the engine
 * may count on its return. The rank has slept: ranks that wait for it may go
 * on. */
void sw_virtual_sleeps(uint64_t ns);
void sw_virtual_slept(void);

/* Counts a call that the model lacks; the report gives their number at the
 * end. */
void sw_virtual_unmodelled(void);
uint64_t sw_virtual_unmodelled_calls(void);

/* The program is now in this region. `now`: the thread may put an operation. */
void sw_virtual_section(uint32_t number, bool now);
void sw_virtual_regions_start(void);
void sw_virtual_regions_stop(void);

void sw_virtual_context(uint32_t number, uint64_t id, uint32_t n,
                        const uint32_t *members);

/* Polls (polls.c) ---------------------------------------------------------- */

/* A question that the engine has answered with no (`key` is a hash of it), and
 * nothing has been put since: is that so still? Then the call's own time has
 * passed. */
bool sw_virtual_still_not(uint64_t key);
void sw_virtual_found_nothing(uint64_t key, const sw_op_answer_t *answer);
/* The host has been asked in vain: that takes a test's time, and the engine
 * must know that the rank goes on; of a thread, that no rank is to wait for
 * it. */
void sw_virtual_poll(void);
/* A thread is in its host until it puts something: no rank is to wait for
 * it. */
void sw_virtual_in_host(void);

/* Waiting for the host (naps.c) -------------------------------------------- */

/* After a look in vain: the host goes on, and others have the core. */
void sw_virtual_idle(void);
void sw_virtual_progress(void);

/* While waiting for the host: the core to others, for longer and longer. */
typedef struct {
    uint32_t turns;
    double since; /* by the host's clock */
} sw_virtual_nap_t;
void sw_virtual_nap(sw_virtual_nap_t *nap);

/* Does a rank that waits for the host test, with naps, so that it can tell the
 * engine what the host matches meanwhile? */
bool sw_virtual_naps(void);
void sw_virtual_nap_and_tell(sw_virtual_nap_t *nap);

/* Complete what is complete in virtual time, or soon. `ask`: the engine may be
 * asked when that will be. */
int sw_virtual_finish(MPI_Request *request, MPI_Status *status, bool ask);

/* Communicators (context.c) ----------------------------------------------- */

/* One that the engine knows; NULL: it cannot be modelled (members of another
 * MPI_COMM_WORLD), or there is none. */
sw_known_comm_t *sw_virtual_comm(MPI_Comm comm);
/* An operation with that member as its partner. False: there is nothing to
 * model. */
bool sw_virtual_message(sw_vop_t *op, sw_op_kind_t kind, MPI_Comm comm,
                        int member, int tag, int64_t count, MPI_Datatype type,
                        sw_known_comm_t **to);
/* A context beside it, of the same members: for what is matched apart. */
uint32_t sw_virtual_aside(sw_known_comm_t *c);
/* One more, the nth that its members make there. */
uint32_t sw_virtual_beside(sw_known_comm_t *c, uint64_t nth);
/* The member that has this rank in MPI_COMM_WORLD, or -1. */
int sw_virtual_member(const sw_known_comm_t *c, int32_t rank);

/* Requests under way (work.c) --------------------------------------------- */

typedef struct sw_work {
    struct sw_work *next;
    uint64_t handle;
    uint32_t thread; /* whose it is */
    sw_known_comm_t *comm;
    sw_vop_t op; /* as it is put; `request` is its number */
    /* numbers of more operations that the host completes together with it */
    uint32_t *others;
    uint32_t other_count;
    bool persistent, active;
    bool wild;      /* a receive that the host matches */
    bool told;      /* ... and the engine knows what it got */
    bool cancelled; /* asked for */
    bool done;      /* the engine has nothing to say (any more) */
    /* a persistent send that the host has not started: see detach.c */
    bool idle;
    bool taken; /* by a call that completes requests */
    /* a persistent collective, or a message in parts: see set.c */
    bool apart;
    struct {
        const void *buffer;
        int64_t count;
        MPI_Datatype type;
        int dest, tag;
        unsigned flags;
        MPI_Comm comm; /* MPI_COMM_NULL: the host sends it */
    } from;            /* of a persistent send: see detach.c */
    struct {
        MPI_Comm comm, parent;
        uint64_t id; /* known_comm.h */
        /* a communicator (MPI_Comm_idup); or MPI_COMM_NULL */
    } makes;
    sw_vop_t *parts; /* of a persistent one of several operations */
    uint32_t part_count;
} sw_work_t;

/* A number for a request, and back. 0: no memory. */
uint32_t sw_work_number(void);
void sw_work_number_free(uint32_t number);
/* A new one, of which nothing is known; NULL: no memory. The caller fills it,
 * then adds it under a handle. Hosts give one handle to many sends that are
 * over before they begin: they are told apart by their order. */
sw_work_t *sw_work_new(sw_known_comm_t *c, const sw_vop_t *op);
void sw_work_add(sw_work_t *work, uint64_t handle);
/* The first with this handle that no call has taken, of the thread's own if
 * there is one; it is taken now. */
sw_work_t *sw_work_take(uint64_t handle);
void sw_work_back(sw_work_t *work); /* or NULL */
/* Forgotten, with its numbers. */
void sw_work_end(sw_work_t *work);
/* The rank waits for it, and for those that go with it. */
void sw_work_await(const sw_work_t *work);
/* The engine has said that it is complete: it is not asked again. */
void sw_work_over(sw_work_t *work);
/* No call waits for it any more; SW_DROP_CANCELLED: the host has cancelled it,
 * which has taken no message, and takes none. */
void sw_work_drop(const sw_work_t *work, unsigned flags);
/* It is a receive that the host matches. */
void sw_work_wild(sw_work_t *work);
/* The host has matched it: say so, once. */
void sw_work_matched(sw_work_t *work, const MPI_Status *status);
/* The same of all that the host has completed, before a rank asks the engine
 * what depends on these matches. Where the engine has decided otherwise, the
 * host is right. */
void sw_work_tell_matched(void);
/* There are some of which the engine has not been told. */
bool sw_work_undecided(void);
/* Under another handle. */
void sw_work_rename(sw_work_t *work, uint64_t handle);

#include "bodies.h"

#endif
