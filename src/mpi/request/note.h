/*
 * note.h - receives that cannot hold a large message.
 *
 * A descriptor reaches them by the program's mistake only. The receiver then
 * fetches as much of the message as there is room for, and truncates it. They
 * keep no sender waiting, so nobody looks at them before the host has completed
 * them. They are most of what latency matters for. So while one thread alone
 * comes here, such a receive has a note in this table, and no track (track.h).
 * A wait or a test takes the note out before it asks the host, and puts it back
 * if the host has nothing. So the host may give the handle to a new request at
 * any time. A call that wants more of a request asks sw_track_of, which makes a
 * track of its note.
 */
#ifndef SW_MPI_REQUEST_NOTE_H
#define SW_MPI_REQUEST_NOTE_H

#include "mpi/base/raise.h"
#include "mpi/base/recv_buffer.h"

typedef struct {
    MPI_Request handle;
    sw_recv_buffer_t in;            /* type NULL: there is no note */
    sw_comm_t *comm;                /* held */
    int source, tag;
} sw_note_t;

/* A note lies in one of SW_NOTE_NEAR places from its handle's on. */
#define SW_NOTES 1024u
#define SW_NOTE_NEAR 4u
#define SW_NOTE_PLACES (SW_NOTES + SW_NOTE_NEAR - 1)

/* By place; 0: free. (No host's request is 0: MPI_REQUEST_NULL itself is of
 * no receive.) */
extern uintptr_t sw_note_of[SW_NOTE_PLACES]
    __attribute__((visibility("hidden")));
extern sw_note_t sw_notes[SW_NOTE_PLACES]
    __attribute__((visibility("hidden")));
extern unsigned sw_noted __attribute__((visibility("hidden")));

static inline unsigned sw_note_place(MPI_Request handle, uintptr_t holds)
{
    unsigned at = (unsigned)(sw_handle_mix((uintptr_t)handle) % SW_NOTES);
    for (unsigned i = at; i < at + SW_NOTE_NEAR; i++)
        if (sw_note_of[i] == holds)
            return i;
    return SW_NOTE_PLACES;
}

/* False: there is no room, a track is needed. */
static inline bool sw_note_put(const sw_note_t *note)
{
    unsigned at = sw_note_place(note->handle, 0);
    if (sw_unlikely(at == SW_NOTE_PLACES))
        return false;
    sw_note_of[at] = (uintptr_t)note->handle;
    sw_notes[at] = *note;
    sw_noted++;
    return true;
}

/* to->in.type is NULL if there is none; to->handle is set. */
static inline void sw_note_take(MPI_Request handle, sw_note_t *to)
{
    to->handle = handle;
    to->in.type = NULL;
    if (!sw_noted)
        return;
    unsigned at = sw_note_place(handle, (uintptr_t)handle);
    if (at == SW_NOTE_PLACES)
        return;
    *to = sw_notes[at];
    sw_note_of[at] = 0;
    sw_noted--;
}

/* The host has not completed the request of a note that was taken. */
void sw_note_back(const sw_note_t *note);

/* What the room of messages does: set at the end of MPI_Init. */
typedef struct {
    /* The receive has completed, and a descriptor may have come. Corrects the
     * status; returns an error class, not yet raised. */
    int (*received)(const sw_recv_buffer_t *in, sw_comm_t *comm,
                    MPI_Status *status);
    /* Make a track of a note. */
    void (*track)(const sw_note_t *note);
} sw_note_owner_t;
extern const sw_note_owner_t *sw_note_owner
    __attribute__((visibility("hidden")));

/* The host has completed it, with this status (not ignored). Returns an error
 * class, not yet raised. The caller drops the communicator. */
static inline int sw_note_end(const sw_note_t *note, MPI_Status *status)
{
    int error = sw_likely(sw_plainly_none(&note->in))
        ? MPI_SUCCESS
        : sw_note_owner->received(&note->in, note->comm, status);
    sw_datatype_drop(note->in.type);
    return error;
}

/* The host has answered for the request of a note that was taken, with rc.
 * Returns what the call returns. */
static inline int sw_note_conclude(const sw_note_t *note, int rc,
                                   MPI_Status *status)
{
    int error = sw_note_end(note, status);
    if (rc == MPI_SUCCESS)
        rc = sw_raise_pending(note->comm, error);
    sw_comm_drop(note->comm);
    return rc;
}

/* Make a track of the handle's note, or of the notes of receives that could get
 * such a message. */
void sw_note_track(MPI_Request handle);
void sw_notes_track(const sw_comm_t *c, int source, int tag);

#endif
