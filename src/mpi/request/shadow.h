/*
 * shadow.h - requests that need more than the host's completion.
 *
 * The program always holds a request of the host's, so that every procedure
 * that takes requests, in any language, finds what it expects: one that the
 * host never starts (scheduled.h). Beside it lies its *shadow*, found by
 * the handle. A shadow begins with the structure below, and its kind
 * (sw_shadow_kind_t) says what each step means: a receive, a send, a pair
 * (mpi/p2p). The calls in this folder complete, start, cancel and free
 * requests; they know no kind by name. A new kind fills a table of its own.
 *
 * Recording and virtual time keep their own stores (profile/record/pending.h,
 * mpi/virtual/work.c). The recorder's knows no MPI. It holds entries of one
 * cache line by value, and calls no function per kind, to stay within its 10
 * ns. Virtual time's holds several operations under one handle, in their order,
 * where a handle here names one request. Both follow every request of the
 * program, with acceleration switched off, too, and this table few.
 *
 * Law 3: a rank that waits in MPI calls sw_shadow_progress, which lets each
 * kind serve the requests for which no call asks just now.
 */
#ifndef SW_MPI_REQUEST_SHADOW_H
#define SW_MPI_REQUEST_SHADOW_H

#include "mpi/base/comm.h"
#include "mpi/base/patience.h"
#include "mpi/base/status.h"
#include "node/wait.h"

typedef struct sw_shadow sw_shadow_t;
typedef sw_shadow_t *sw_shadows_t; /* the next one to look at, or NULL */

/* What a kind of request does. The caller holds the shadow (sw_shadow_hold),
 * but for `start`, where it has claimed it, and `cancel`, which may come while
 * another thread waits. A kind without persistent requests has no `start`. */
typedef struct {
    size_t size;         /* of the kind's structure */
    sw_shadow_t **spare; /* those that wait for their next use */

    /* Take a turn for this active request. Is it over? Then `ended` is set. */
    bool (*ready)(sw_shadow_t *s);
    /* Is this active request over? It does nothing but look. NULL: the host has
     * a part in it. */
    bool (*over)(sw_shadow_t *s);
    /* It is waited for: take some time over it, and come back. NULL: the wait
     * takes its turns itself. */
    void (*await)(sw_shadow_t *s);
    /* The doorbell that rings when it gets on; the caller need not hold it.
     * NULL, or returns NULL: the host has a part in it. */
    sw_doorbell_t *(*bell)(sw_shadow_t *s);
    /* It is over, and it stays: set the status. Returns an error class, not
     * raised. */
    int (*peek)(sw_shadow_t *s, MPI_Status *status);
    /* The same, and it ends, or becomes inactive. */
    int (*finish)(sw_shadow_t *s, MPI_Status *status);

    /* MPI_Start of a persistent one that is inactive. */
    int (*start)(sw_shadow_t *s);
    /* MPI_Request_free, MPI_Cancel. */
    void (*free)(sw_shadow_t *s);
    int (*cancel)(sw_shadow_t *s);

    /* While it is active other ranks may wait for it. */
    bool owes;
    /* Drop what it holds, but for its communicator. */
    void (*release)(sw_shadow_t *s);

    /* Of the kind as a whole, after sw_shadow_kind_add; may be NULL. Serve
     * those for which no call asks. Nothing in it waits. */
    void (*progress)(void);
} sw_shadow_kind_t;

/* Of thousands of receives a program asks for one after another: what a test
 * that finds nothing needs lies in the first cache line. */
struct sw_shadow {
    _Alignas(SW_LINE) MPI_Request handle;
    const sw_shadow_kind_t *kind;
    sw_shadow_t *next;     /* in the table */
    sw_shadow_t *follower; /* added next: see handles.h */
    sw_shadow_t *after;    /* in a ring, or spare */
    bool persistent;
    bool active, freed;
    bool owes; /* counted in sw_owed */
    /* The handle is its own from use to use; between two, it is idle. */
    bool kept, idle;
    /* Claimed: a call of the program's completes it. Held: one thread looks at
     * it, or copies for it. */
    bool claimed, held;
    bool ended;      /* it is over */
    sw_comm_t *comm; /* held (comm.h) */

    sw_shadow_t *before; /* in a ring */
    sw_shadows_t *ring;  /* NULL: in none */
    int result;          /* an error that the host has raised */
};

/* How many shadows there are, and how many of them owe: while one does, another
 * rank may wait for what this rank does between its calls of the host. */
extern _Atomic int sw_shadows __attribute__((visibility("hidden")));
extern _Atomic int sw_owed __attribute__((visibility("hidden")));
/* Those that are active. */
extern _Atomic int sw_active __attribute__((visibility("hidden")));

static inline bool sw_any_shadows(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_shadows, memory_order_relaxed) >
                       0);
}
static inline bool sw_shadow_owing(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_owed, memory_order_relaxed) >
                       0);
}

/* May the host be asked for the program's requests as they are? */
static inline bool sw_plain_requests(void)
{
    return !sw_shadow_owing() && !sw_threaded &&
           !atomic_load_explicit(&sw_active, memory_order_relaxed);
}

/* The lock that guards the table, the rings and all that is not held. Where
 * only one thread comes here at a time (no MPI_THREAD_MULTIPLE, no agent)
 * no call takes it. */
extern bool sw_shadows_shared __attribute__((visibility("hidden")));
void sw_shadows_enter(void);
void sw_shadows_leave(void);

/* Which receive gets a message is settled by the order in which they are
 * posted and probed. With threads, each of these is one step. */
extern _Atomic bool sw_shadow_match_shared
    __attribute__((visibility("hidden")));
void sw_shadow_match_enter(void);
/* The same for a helper: waits for no rank, and asks for no reason. */
bool sw_shadow_match_try(void);
void sw_shadow_match_give_back(void);
void sw_shadow_match_leave(void);

/* A ring holds each shadow once, and each shadow is in one ring at most. The
 * caller has the lock. */
void sw_shadows_add(sw_shadows_t *ring, sw_shadow_t *s);
void sw_shadows_remove(sw_shadow_t *s);

/* Life --------------------------------------------------------------------- */

/* A new shadow on `comm`, which it holds; what the kind adds keeps the bytes of
 * its last use, or is zero. NULL when out of memory. */
sw_shadow_t *sw_shadow_new(const sw_shadow_kind_t *kind, sw_comm_t *comm);
/* Now that the host's request is there (s->handle); active or, persistent,
 * not. */
void sw_shadow_add(sw_shadow_t *s);
/* Persistent: started. */
void sw_shadow_begin(sw_shadow_t *s);
void sw_shadow_drop(sw_shadow_t *s);  /* never added */
void sw_shadow_forgo(sw_shadow_t *s); /* likewise, and keeps its handle */

/* Another rank may wait for it, from here until it is inactive. The caller has
 * the lock. False: it owed before. */
bool sw_shadow_owe(sw_shadow_t *s);

/* Of MPI_Request_free: take it out of the table, with the host's request. One
 * that is not over goes on with all that it holds, and progress ends it. */
void sw_shadow_forget(sw_shadow_t *s);
/* Go on with one of these. */
void sw_shadow_go_on(void);

/* The shadow of a handle, or NULL. One that is claimed or freed is not found:
 * MPI lets no other thread ask for that request any more, so the handle belongs
 * to a new one. */
sw_shadow_t *sw_shadow_of(MPI_Request handle);
/* The same, or a claimed one: MPI_Cancel may come while another waits. */
sw_shadow_t *sw_shadow_to_cancel(MPI_Request handle);

/* The program completes it from here, until it does not. */
void sw_shadow_claims(sw_shadow_t *s, bool claimed);
static inline void sw_shadow_claim(sw_shadow_t *s)
{
    if (sw_threaded)
        sw_shadow_claims(s, true);
    else
        s->claimed = true;
}
static inline void sw_shadow_unclaim(sw_shadow_t *s)
{
    if (sw_threaded)
        sw_shadow_claims(s, false);
    else
        s->claimed = false;
}

/* Between, no other thread touches it. Waits while another has it, which is
 * never long: for a question to the host, or a copy. */
void sw_shadow_holds(sw_shadow_t *s, bool held);
static inline void sw_shadow_hold(sw_shadow_t *s)
{
    if (sw_shadows_shared)
        sw_shadow_holds(s, true);
    else
        s->held = true;
}
static inline void sw_shadow_let_go(sw_shadow_t *s)
{
    if (sw_shadows_shared)
        sw_shadow_holds(s, false);
    else
        s->held = false;
}

/* Completion --------------------------------------------------------------- */

/* It is over, or inactive. */
static inline bool sw_shadow_ready(sw_shadow_t *s)
{
    return !s->active || s->kind->ready(s);
}

/* It is not over: drive the host's progress. Where the host has no part in it
 * that is done for other ranks, and from time to time. */
void sw_shadow_poke(bool rarely);

static inline bool sw_shadow_is_over(const sw_shadow_t *s)
{
    return s->active && s->ended;
}

/* It is over: let its kind finish it. Returns MPI_SUCCESS or an error class,
 * not yet raised. Ends the shadow, or makes it inactive. */
int sw_shadow_finish(sw_shadow_t *s, MPI_Status *status);
/* The same, and raise its error (as `as`, if that is one) while *rc, what the
 * call returns, is none. Returns the request's error. */
int sw_shadow_conclude(sw_shadow_t *s, MPI_Status *status, int as, int *rc);

/* Kinds (kinds.c) ---------------------------------------------------------- */

/* At the end of MPI_Init: this kind's progress counts. */
void sw_shadow_kind_add(const sw_shadow_kind_t *kind);

void sw_shadow_progress(void);

#endif
