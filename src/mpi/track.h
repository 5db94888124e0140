/*
 * track.h - requests that need more than the host's completion.
 *
 * The program always holds a request of the host's, so that every procedure
 * that takes requests, in any language, finds what it expects. Beside it we
 * keep a track, found by the handle, of
 *
 *   receives that a descriptor may reach: at their completion we look, and
 *     fetch the data;
 *   sends of a descriptor: they are complete when the host has sent it and
 *     the slot is released. Their handle is a persistent request's, because
 *     hosts give one and the same handle to many small sends.
 *
 * Law 3: whoever waits in MPI calls sw_track_progress, which fetches for
 * receives that have been matched, and copies aside what nobody comes for.
 */
#ifndef SW_MPI_TRACK_H
#define SW_MPI_TRACK_H

#include "datatype.h"
#include "link.h"

#include <pthread.h>

typedef struct sw_track {
    MPI_Request handle;
    struct sw_track *next;          /* in the table, or spare               */
    struct sw_track *after, *before;/* in the list of active ones           */
    bool receive, persistent, synchronous;
    bool active, freed, cancelled;
    /* Who waits for it: no other thread asks the host about it. */
    bool held;
    pthread_t holder;

    /* A receive. `taken`: the data is there, `bytes` long; `error` an MPI
     * error class. */
    void *buffer;
    int64_t count;
    const sw_datatype_t *type;
    MPI_Comm comm;
    bool blind;         /* the status does not tell how much came */
    bool taken;
    size_t bytes;
    int error;

    /* A send. `ended`: the host has completed it, and it is inactive there:
     * a question for its status was answered by a test (complete.c). */
    bool ended;
    sw_descriptor_t descriptor;
    sw_slot_t *slot;
    sw_offer_t offer;
} sw_track_t;

/* Tracks there are, and receives among them that a peer may be waiting for. */
extern _Atomic int sw_tracks __attribute__((visibility("hidden")));
extern _Atomic int sw_posted __attribute__((visibility("hidden")));

static inline bool sw_any_tracks(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_tracks,
                                            memory_order_relaxed) > 0);
}
static inline bool sw_owing(void)
{
    return sw_unlikely(atomic_load_explicit(&sw_posted,
                                            memory_order_relaxed) > 0);
}

/* A new track with `handle` not set yet; NULL when out of memory. */
sw_track_t *sw_track_new(void);
/* One for a receive; ends the program when out of memory. */
sw_track_t *sw_track_receive(void *buffer, int64_t count,
                             const sw_datatype_t *type, MPI_Comm comm);
/* Now that the host's request is there (t->handle); active or, persistent,
 * not. */
void sw_track_add(sw_track_t *t);
void sw_track_begin(sw_track_t *t);     /* persistent: started              */
void sw_track_drop(sw_track_t *t);      /* never added                      */
/* The track of a handle, or NULL. */
sw_track_t *sw_track_of(MPI_Request handle);

/* Hold, and let go: between, no other thread touches it. Waits while another
 * thread's progress has it. */
void sw_track_hold(sw_track_t *t);
void sw_track_let_go(sw_track_t *t);

/* The host has completed the request: fetch if need be, correct the status
 * (may be MPI_STATUS_IGNORE for a send). Returns MPI_SUCCESS or an error
 * class, not yet raised. Ends the track, or makes it inactive. */
int sw_track_finish(sw_track_t *t, MPI_Status *status);

/* May the host's completion be asked for? Copies a waiting send aside. */
bool sw_track_ready(sw_track_t *t);

/* The host has completed a receive, which stays: fetch, correct the status. */
void sw_track_peek(sw_track_t *t, MPI_Status *status);

/* MPI_Request_free. */
void sw_track_free(sw_track_t *t);

void sw_track_progress(void);

/* A receive that has just completed, without a track: as sw_track_finish. */
int sw_received(void *buffer, int64_t count, const sw_datatype_t *type,
                MPI_Comm comm, MPI_Status *status);

/* Has the host completed the send? Asked by testing it where it is persistent
 * to the host: MPICH and its kin take the activity of one that is asked for
 * its status. */
bool sw_track_ended(sw_track_t *t);

/* What the standard calls an empty status (MPI 4.1, 3.7.3). By hand: MPICH
 * 4.0 leaves some as they are. */
static inline void sw_status_empty(MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    host.Status_set_cancelled(status, 0);
    host.Status_set_elements(status, MPI_BYTE, 0);
}

/* Bytes of a status; SIZE_MAX when undefined. */
static inline size_t sw_status_bytes(const MPI_Status *status)
{
    int n = MPI_UNDEFINED;
    host.Get_count(status, MPI_BYTE, &n);
    return n == MPI_UNDEFINED || n < 0 ? SIZE_MAX : (size_t)n;
}
void sw_status_set_bytes(MPI_Status *status, size_t bytes);

#endif
