/*
 * receives.h - tracks of receives that a descriptor may reach.
 *
 * The host completes the receive. Its buffer then shows whether a descriptor
 * has come, and we fetch what that stands for; or earlier, while the rank waits
 * for something else. (Of small receives there may be a note only:
 * mpi/request/note.h.)
 */
#ifndef SW_MPI_P2P_RECEIVES_H
#define SW_MPI_P2P_RECEIVES_H

#include "fetch.h"
#include "mpi/request/track.h"

typedef struct sw_receive {
    sw_track_t track;
    bool matched;                   /* by a probe, before                   */
    bool taken;                     /* the data is there, `bytes` long      */
    bool early;                     /* but its first bytes lie in `head`,
                                     * because the host may still be writing
                                     * the descriptor                       */
    bool spread;                    /* the block's bytes are in the buffer  */
    bool heard;                     /* counted as a message as long as a
                                     * descriptor                           */
    sw_recv_buffer_t in;
    struct sw_receive *all_after;   /* of all open receives: posted.c       */
    uint64_t looked;                /* in which turn: sw_posted_next        */
    struct sw_receive *all_before;
    uint64_t walk;                  /* sw_receive_expected                  */
    size_t bytes;
    int error;                      /* an MPI error class                   */
    /* Of straightway_itake: the program's pointer to the buffer, which a parcel
     * may replace when the host has completed the receive; and the parcel,
     * until then. NULL: none. */
    void **into, *parcel;
    /* As the program asked, or as a matched probe has found it. */
    int source, tag;
    char head[SW_DESCRIPTOR_BYTES];
} sw_receive_t;

extern const sw_track_kind_t sw_receive_kind
    __attribute__((visibility("hidden")));

/* A new one of this kind, or of one that begins alike; ends the program when
 * out of memory. Holds the datatype and the communicator. */
sw_receive_t *sw_receive_new(const sw_track_kind_t *kind,
                             const sw_recv_buffer_t *in, sw_comm_t *comm,
                             int source, int tag);
/* A nonblocking receive that has just been posted. */
void sw_receive_add(MPI_Request handle, const sw_recv_buffer_t *in,
                    sw_comm_t *comm, int source, int tag, bool matched);

/* The same for straightway_itake: *into is the buffer. */
void sw_receive_add_take(MPI_Request handle, const sw_recv_buffer_t *in,
                         sw_comm_t *comm, int source, int tag, void **into);

/* May a descriptor still reach this receive, for all we know? */
static inline bool sw_receive_is_open(const sw_receive_t *r)
{
    return !r->taken && !r->early && !r->track.done && !r->track.ended &&
           !r->track.cancelled;
}

/* Does the buffer of this receive show a descriptor? Its check will tell
 * whether it is all there. */
static inline bool sw_receive_shows(const sw_receive_t *r)
{
    return sw_receive_is_open(r) && sw_recv_buffer_shows(&r->in) &&
           sw_descriptor_begins(r->in.buffer, &sw_link_cookie);
}

/* Fetch, if what has come is a descriptor. The host is done with the buffer. */
void sw_receive_take(sw_receive_t *r);
/* Fetch while the host may still be at work on it. Makes no MPI call. */
void sw_receive_take_early(sw_receive_t *r);

/* Of this kind, and of those that begin alike (mpi/request/track.h). */
int sw_receive_peek(sw_track_t *t, MPI_Status *status);
void sw_receive_free(sw_track_t *t);
void sw_receive_enlist(sw_track_t *t);
void sw_receive_delist(sw_track_t *t);
void sw_receive_release(sw_track_t *t);
void sw_receive_progress(void);         /* progress.c */

/* Those that the program has freed: progress ends them. */
extern sw_tracks_t sw_receives_freed __attribute__((visibility("hidden")));

/* A new number for a turn of looking; the caller has the lock. */
uint64_t sw_receive_turn(void);

/* Is there a receive that could have got a message from `source` with `tag`
 * before this probe, and of which that is not known yet? Fetches for those of
 * which it is. */
bool sw_receive_expected(sw_comm_t *c, int source, int tag);

/* What the room does with notes of small receives. */
extern const sw_note_owner_t sw_receive_notes
    __attribute__((visibility("hidden")));

#endif
