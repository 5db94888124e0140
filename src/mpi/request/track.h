/*
 * track.h - requests that need more than the host's completion.
 *
 * The program always holds a request of the host's, so that every procedure
 * that takes requests, in any language, finds what it expects: one that the
 * host never starts (scheduled.h). Beside it a track lies, found by the handle.
 * A track begins with the structure below, and its kind (sw_track_kind_t) says
 * what each step means: a receive, a send, a pair (mpi/p2p). The calls in this
 * folder complete, start, cancel and free requests; they know no kind by name.
 * A new kind fills a table of its own.
 *
 * Recording and virtual time keep their own stores (profile/record/pending.h,
 * mpi/virtual/work.c). The recorder's knows no MPI. It holds entries of one
 * cache line by value, and calls no function per kind, to stay within its 10
 * ns. Virtual time's holds several operations under one handle, in their order,
 * where a handle here names one request. Both follow every request of the
 * program, with acceleration switched off, too, and this table few.
 *
 * Law 3: a rank that waits in MPI calls sw_track_progress, which lets each kind
 * serve the requests for which no call asks just now.
 */
#ifndef SW_MPI_REQUEST_TRACK_H
#define SW_MPI_REQUEST_TRACK_H

#include "mpi/base/comm.h"
#include "mpi/base/status.h"
#include "node/wait.h"

typedef struct sw_track sw_track_t;
typedef sw_track_t *sw_tracks_t;      /* the next one to look at, or NULL     */

/* What a kind of request does. The caller holds the track (sw_track_hold), but
 * for `start`, where it has claimed it, and `cancel`, which may come while
 * another thread waits. A kind without persistent requests has no `start`. */
typedef struct {
    size_t size;                /* of the kind's structure                  */
    sw_track_t **spare;         /* those that wait for their next use       */

    /* Take a turn for this active request. Is it over? Then `ended` is set. */
    bool (*ready)(sw_track_t *t);
    /* Is this active request over? It does nothing but look. NULL: the host has
     * a part in it. */
    bool (*over)(sw_track_t *t);
    /* It is waited for: take some time over it, and come back. NULL: the wait
     * takes its turns itself. */
    void (*await)(sw_track_t *t);
    /* The doorbell that rings when it gets on; the caller need not hold it.
     * NULL, or returns NULL: the host has a part in it. */
    sw_doorbell_t *(*bell)(sw_track_t *t);
    /* It is over, and it stays: set the status. Returns an error class, not
     * raised. */
    int (*peek)(sw_track_t *t, MPI_Status *status);
    /* The same, and it ends, or becomes inactive. */
    int (*finish)(sw_track_t *t, MPI_Status *status);

    /* MPI_Start of a persistent one that is inactive. */
    int (*start)(sw_track_t *t);
    /* MPI_Request_free, MPI_Cancel. */
    void (*free)(sw_track_t *t);
    int (*cancel)(sw_track_t *t);

    /* While it is active other ranks may wait for it. */
    bool owes;
    /* Drop what it holds, but for its communicator. */
    void (*release)(sw_track_t *t);

    /* Of the kind as a whole, after sw_track_kind_add; may be NULL. Serve those
     * for which no call asks. Nothing in it waits. */
    void (*progress)(void);
} sw_track_kind_t;

/* Of thousands of receives a program asks for one after another: what a test
 * that finds nothing needs lies in the first cache line. */
struct sw_track {
    _Alignas(SW_LINE) MPI_Request handle;
    const sw_track_kind_t *kind;
    sw_track_t *next;               /* in the table                         */
    sw_track_t *follower;           /* added next: see handles.h            */
    sw_track_t *after;              /* in a ring, or spare                  */
    bool persistent;
    bool active, freed;
    bool owes;                      /* counted in sw_owed                   */
    /* The handle is its own from use to use; between two, it is idle. */
    bool kept, idle;
    /* Claimed: a call of the program's completes it. Held: one thread looks at
     * it, or copies for it. */
    bool claimed, held;
    bool ended;                     /* it is over                           */
    sw_comm_t *comm;                /* held (comm.h)                        */

    sw_track_t *before;             /* in a ring                            */
    sw_tracks_t *ring;              /* NULL: in none                        */
    int result;                     /* an error that the host has raised    */
};

/* How many tracks there are, and how many of them owe: while one does, another
 * rank may wait for what this rank does between its calls of the host. */
extern _Atomic int sw_tracks __attribute__((visibility("hidden")));
extern _Atomic int sw_owed __attribute__((visibility("hidden")));
/* Those that are active. */
extern _Atomic int sw_active __attribute__((visibility("hidden")));

static inline bool sw_any_tracks(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_tracks,
                                            memory_order_relaxed) > 0);
}
static inline bool sw_owing(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_owed,
                                            memory_order_relaxed) > 0);
}

/* May the host be asked for the program's requests as they are? */
static inline bool sw_plain_requests(void)
{
    return !sw_owing() && !sw_threaded &&
           !atomic_load_explicit(&sw_active, memory_order_relaxed);
}

/* The lock that guards the table, the rings and all that is not held. Where
 * only one thread comes here at a time (no MPI_THREAD_MULTIPLE, no agent)
 * no call takes it. */
extern bool sw_tracks_shared __attribute__((visibility("hidden")));
void sw_tracks_enter(void);
void sw_tracks_leave(void);

/* Which receive gets a message is settled by the order in which they are
 * posted and probed. With threads, each of these is one step. */
extern _Atomic bool sw_match_shared __attribute__((visibility("hidden")));
void sw_match_enter(void);
/* The same for a helper: waits for no rank, and asks for no reason. */
bool sw_match_try(void);
void sw_match_give_back(void);
void sw_match_leave(void);

/* A ring holds each track once, and each track is in one ring at most. The
 * caller has the lock. */
void sw_tracks_add(sw_tracks_t *ring, sw_track_t *t);
void sw_tracks_remove(sw_track_t *t);

/* Life --------------------------------------------------------------------- */

/* A new track on `comm`, which it holds; what the kind adds keeps the bytes of
 * its last use, or is zero. NULL when out of memory. */
sw_track_t *sw_track_new(const sw_track_kind_t *kind, sw_comm_t *comm);
/* Now that the host's request is there (t->handle); active or, persistent,
 * not. */
void sw_track_add(sw_track_t *t);
/* Persistent: started. */
void sw_track_begin(sw_track_t *t);
void sw_track_drop(sw_track_t *t);      /* never added                      */
void sw_track_forgo(sw_track_t *t);     /* likewise, and keeps its handle   */

/* Another rank may wait for it, from here until it is inactive. The caller has
 * the lock. False: it owed before. */
bool sw_track_owe(sw_track_t *t);

/* Of MPI_Request_free: take it out of the table, with the host's request. One
 * that is not over goes on with all that it holds, and progress ends it. */
void sw_track_forget(sw_track_t *t);
/* Go on with one of these. */
void sw_track_go_on(void);

/* The track of a handle, or NULL. One that is claimed or freed is not found:
 * MPI lets no other thread ask for that request any more, so the handle belongs
 * to a new one. */
sw_track_t *sw_track_of(MPI_Request handle);
/* The same, or a claimed one: MPI_Cancel may come while another waits. */
sw_track_t *sw_track_to_cancel(MPI_Request handle);

/* The program completes it from here, until it does not. */
void sw_track_claims(sw_track_t *t, bool claimed);
static inline void sw_track_claim(sw_track_t *t)
{
    if (sw_threaded)
        sw_track_claims(t, true);
    else
        t->claimed = true;
}
static inline void sw_track_unclaim(sw_track_t *t)
{
    if (sw_threaded)
        sw_track_claims(t, false);
    else
        t->claimed = false;
}

/* Between, no other thread touches it. Waits while another has it, which is
 * never long: for a question to the host, or a copy. */
void sw_track_holds(sw_track_t *t, bool held);
static inline void sw_track_hold(sw_track_t *t)
{
    if (sw_tracks_shared)
        sw_track_holds(t, true);
    else
        t->held = true;
}
static inline void sw_track_let_go(sw_track_t *t)
{
    if (sw_tracks_shared)
        sw_track_holds(t, false);
    else
        t->held = false;
}

/* Completion --------------------------------------------------------------- */

/* It is over, or inactive. */
static inline bool sw_track_ready(sw_track_t *t)
{
    return !t->active || t->kind->ready(t);
}

/* It is not over: drive the host's progress. Where the host has no part in it
 * that is done for other ranks, and from time to time. */
void sw_track_poke(bool rarely);

static inline bool sw_track_is_over(const sw_track_t *t)
{
    return t->active && t->ended;
}

/* It is over: let its kind finish it. Returns MPI_SUCCESS or an error class,
 * not yet raised. Ends the track, or makes it inactive. */
int sw_track_finish(sw_track_t *t, MPI_Status *status);
/* The same, and raise its error (as `as`, if that is one) while *rc, what the
 * call returns, is none. Returns the request's error. */
int sw_track_conclude(sw_track_t *t, MPI_Status *status, int as, int *rc);

/* Kinds (kinds.c) ---------------------------------------------------------- */

/* At the end of MPI_Init: this kind's progress counts. */
void sw_track_kind_add(const sw_track_kind_t *kind);

void sw_track_progress(void);

#endif
