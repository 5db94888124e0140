/*
 * track.h - requests that need more than the host's completion.
 *
 * The program always holds a request of the host's, so that every procedure
 * that takes requests, in any language, finds what it expects. Beside it we
 * keep a track, found by the handle, of
 *
 *   receives that a descriptor may reach: at their completion we look, and
 *     fetch the data (of small ones there may be a note only: small.h);
 *   sends of a descriptor: they are complete when the host has sent it and
 *     the slot is released. Their handle is a persistent request's, because
 *     hosts give one and the same handle to many small sends;
 *   pairs (isendrecv.c): a receive and a send behind a generalized request,
 *     which we complete when the host has completed both.
 *
 * Law 3: whoever waits in MPI calls sw_track_progress, which fetches for
 * receives that have been matched, and copies aside what nobody comes for.
 */
#ifndef SW_MPI_P2P_TRACK_H
#define SW_MPI_P2P_TRACK_H

#include "fetch.h"
#include "mpi/base/link.h"
#include "small.h"

typedef struct sw_track sw_track_t;
typedef sw_track_t *sw_tracks_t;    /* the next one to look at, or NULL     */

/* Of thousands of receives a program asks for one after another: what a test
 * that finds nothing needs lies in the first cache line. */
struct sw_track {
    _Alignas(SW_LINE) MPI_Request handle;
    sw_track_t *next;               /* in the table, or spare               */
    sw_track_t *follower;           /* added next: see handles.h            */
    sw_track_t *after, *before;     /* in a ring: see posted.h              */
    sw_tracks_t *ring;              /* NULL: in none                        */
    bool receive, persistent, synchronous, matched;
    bool active, freed, cancelled;
    bool owes;                      /* counted in sw_posted                 */
    /* Claimed: a call of the program's is to complete it, and the host may
     * give its handle to another request before we have heard of it. Held: one
     * thread asks the host about it, or copies for it. */
    bool claimed, held;
    /* The host has completed it, with this status (of a receive) and result.
     * `ended`: and it is inactive there, for it was asked by a test; see
     * sw_track_ask. */
    bool done, ended;
    /* Of a receive. `taken`: the data is there, `bytes` long; `error` an MPI
     * error class. `early`: the first bytes lie in `head`, because the host
     * may still be writing the descriptor. */
    bool taken, early;
    /* `plain` receives, `second` sends, `copy` is what is sent, to be freed. */
    bool pair;

    bool spread;        /* what came into the block is in the buffer */
    bool heard;         /* counted as a message as long as a descriptor */
    /* A receive, and what a persistent send has of it. */
    sw_recv_buffer_t in;
    size_t bytes;
    int error;
    int result;                     /* of a pair, in either half            */

    /* As the program asked, held (comm.h); of a receive that a probe has
     * matched, what the probe found. */
    sw_comm_t *comm;
    int rank, tag;
    sw_track_t *all_after, *all_before;     /* of all open receives         */
    uint64_t looked;                /* in which turn: sw_posted_next        */
    uint64_t walk;                  /* sw_track_expected                    */
    MPI_Status status;

    union {
        char head[SW_DESCRIPTOR_BYTES];
        sw_descriptor_t descriptor;     /* of a send */
    };

    /* A send. `slot` is NULL while a persistent one goes through the host as
     * `plain` (route.h), which is a persistent request, too: made with it, for
     * the program may free the communicator and the datatype. */
    sw_slot_t *slot;
    sw_offer_t offer;
    MPI_Request plain;

    /* A pair. */
    MPI_Request second;
    void *copy;
};

/* Tracks there are, and receives among them that a peer may be waiting for. */
extern _Atomic int sw_tracks __attribute__((visibility("hidden")));
extern _Atomic int sw_posted __attribute__((visibility("hidden")));
/* Active ones of which the host's answer is not the whole truth: sends, and
 * receives that it has ended before the program asked. */
extern _Atomic int sw_special __attribute__((visibility("hidden")));

static inline bool sw_any_tracks(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_tracks,
                                            memory_order_relaxed) > 0 ||
                       sw_noted);
}
static inline bool sw_owing(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_posted,
                                            memory_order_relaxed) > 0);
}

/* Sends of which somebody may still want something, and receives that the
 * program has freed. */
extern sw_tracks_t sw_sends __attribute__((visibility("hidden")));
extern sw_tracks_t sw_freed __attribute__((visibility("hidden")));

/* The lock that guards the rings and all that is not held. Where only one
 * thread comes here at a time (no MPI_THREAD_MULTIPLE, no agent) it is left
 * alone. */
extern bool sw_tracks_shared __attribute__((visibility("hidden")));
void sw_tracks_enter(void);
void sw_tracks_leave(void);
bool sw_tracks_try(void);       /* to enter */

/* May the host be asked for the program's requests as they are? What it has
 * completed is then to be finished. */
static inline bool sw_plain_requests(void)
{
    return !sw_owing() && !sw_threaded &&
           !atomic_load_explicit(&sw_special, memory_order_relaxed);
}

/* A new track with `handle` not set yet; NULL when out of memory. */
sw_track_t *sw_track_new(void);
/* One for a receive; ends the program when out of memory. Holds `comm`. */
sw_track_t *sw_track_receive(const sw_recv_buffer_t *in, sw_comm_t *comm,
                             int source, int tag);
/* Now that the host's request is there (t->handle); active or, persistent,
 * not. */
void sw_track_add(sw_track_t *t);
/* Persistent: started, and has this handle from here. */
void sw_track_begin(sw_track_t *t, MPI_Request handle);
void sw_track_drop(sw_track_t *t);      /* never added                      */
/* The track of a handle, or NULL. One that is claimed or freed is not found:
 * MPI lets nobody else ask for that request any more, so who comes with this
 * handle has been given it for a new one. */
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

/* The host has completed the request: fetch if need be, correct the status
 * (may be MPI_STATUS_IGNORE for a send). Returns MPI_SUCCESS or an error
 * class, not yet raised. Ends the track, or makes it inactive. */
int sw_track_finish(sw_track_t *t, MPI_Status *status);

/* May the host's completion be asked for? Copies a waiting send aside. */
bool sw_track_ready(sw_track_t *t);

/* The host has completed a receive, which stays: fetch, correct the status. */
void sw_track_peek(sw_track_t *t, MPI_Status *status);

/* Fetch, if what has come is a descriptor. The host is done with the buffer. */
void sw_track_take(sw_track_t *t);

/* May a descriptor still reach this receive, for all we know? */
static inline bool sw_track_is_open(const sw_track_t *t)
{
    return !t->taken && !t->early && !t->done && !t->ended && !t->cancelled;
}

/* Does the buffer of this receive show a descriptor? Its check will tell
 * whether it is all there. */
static inline bool sw_track_shows(const sw_track_t *t)
{
    return sw_track_is_open(t) && sw_recv_buffer_shows(&t->in) &&
           sw_descriptor_begins(t->in.buffer, &sw_link_cookie);
}
/* Then fetch while the host may still be at work on it. Makes no MPI call. */
void sw_track_take_early(sw_track_t *t);

/* MPI_Request_free, MPI_Cancel. */
void sw_track_free(sw_track_t *t);
int sw_track_cancel(sw_track_t *t, MPI_Request *request);

void sw_track_progress(void);

/* A new number for a turn of looking; the caller has the lock. */
uint64_t sw_track_turn(void);

/* Has the host completed it? Asked by testing it where it is persistent to the
 * host: MPICH and its kin take the activity of one that is asked for its
 * status. */
bool sw_track_ask(sw_track_t *t);

/* Which receive gets a message is settled by the order in which they are
 * posted and probed. With threads, each of these is one step with what we
 * note of it, so that a probe (probe.c) can tell. */
void sw_match_enter(void);
void sw_match_leave(void);

/* Is there a receive that could have got a message from `source` with `tag`
 * before this probe, and of which that is not known yet? Fetches for those of
 * which it is. */
bool sw_track_expected(sw_comm_t *c, int source, int tag);

#endif
