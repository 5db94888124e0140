/*
 * traffic.h - what the recorded wrappers of each family of procedures call.
 *
 * Functions named `..._before` run before the host's, and call nothing of MPI.
 */
#ifndef SW_MPI_RECORD_TRAFFIC_H
#define SW_MPI_RECORD_TRAFFIC_H

#include "event.h"
#include "device/memory.h"

#include <limits.h>

/* Messages (messages.c) --------------------------------------------------- */

void sw_record_send_before(sw_event_t *e, MPI_Comm comm, int dest, int tag);
void sw_record_send_after(sw_event_t *e, MPI_Comm comm, int dest, int64_t count,
                          MPI_Datatype type);
/* Of a nonblocking or persistent one. */
void sw_send_pending(sw_event_t *e, MPI_Comm comm, int dest, int tag,
                     int64_t count, MPI_Datatype type, MPI_Request request,
                     bool persistent);
void sw_record_receive_before(sw_event_t *e, MPI_Comm comm, int source,
                              int tag);
void sw_record_receive_after(sw_event_t *e, MPI_Comm comm, int source, int tag,
                             MPI_Datatype type, const MPI_Status *status);
void sw_receive_pending(sw_event_t *e, MPI_Comm comm, int source, int tag,
                        MPI_Datatype type, MPI_Request request,
                        bool persistent);
/* The receive of a combined and nonblocking one. */
void sw_isendrecv_pending(sw_event_t *e, MPI_Comm comm, int source, int tag,
                          int64_t count, MPI_Datatype type,
                          MPI_Request request);
/* A combined send and receive. */
void sw_record_sendrecv_before(sw_event_t *e, MPI_Comm comm, int dest,
                               int sendtag, int source, int recvtag);
void sw_record_partitioned(sw_event_t *e, sw_pending_kind_t kind, MPI_Comm comm,
                           int peer, int tag, int partitions, int64_t count,
                           MPI_Datatype type, MPI_Request request);
/* Partitions are ready. */
void sw_record_pready_before(sw_event_t *e, MPI_Request request);
void sw_record_probe_before(sw_event_t *e, MPI_Comm comm);
void sw_record_probe_after(sw_event_t *e, MPI_Comm comm,
                           const MPI_Status *status);
/* A matched message: from where, for its receive. */
void sw_record_mprobe_after(sw_event_t *e, MPI_Comm comm, MPI_Message message,
                            const MPI_Status *status);
void sw_record_mrecv_before(sw_event_t *e, MPI_Message message);
void sw_record_mrecv_after(sw_event_t *e, MPI_Datatype type,
                           const MPI_Status *status);
void sw_mrecv_pending(sw_event_t *e, MPI_Datatype type, MPI_Request request);

/* What comes first of a give, which may yet go by value. */
void sw_record_give_before(sw_event_t *e, MPI_Comm comm, int dest, int tag);
void sw_record_give_after(sw_event_t *e, MPI_Comm comm, int dest, int tag,
                          size_t bytes);
/* A take has got a message; `message`: that was matched before, or NULL. */
void sw_record_take_after(sw_event_t *e, MPI_Comm comm,
                          const MPI_Message *message, const MPI_Status *status);

/* The calls of straightway_mpi.h (gives.c). */
int sw_recorded_give(void **block, size_t bytes, int dest, int tag,
                     const void *comm);
int sw_recorded_take(void **block, size_t *bytes, int source, int tag,
                     const void *comm, void *message, void *status);
int sw_recorded_take_matched(void **block, size_t *bytes, void *message,
                             void *status);
int sw_recorded_itake(void **block, int count, const void *type, int source,
                      int tag, const void *comm, void *request);

/* Requests (requests.c) --------------------------------------------------- */

/* What the program gave to a call that completes requests, kept because the
 * call changes it. `statuses`: where the host is to write. */
#define SW_COMPLETION_FEW 8
typedef struct {
    int64_t n;
    uint64_t *requests; /* NULL: the recorder looks at nothing */
    bool silent;        /* nor does it look at a status */
    MPI_Status *statuses;
    sw_pending_t *taken; /* see requests.c; NULL: one thread at a time */
    sw_pending_t one_taken;
    uint64_t few[SW_COMPLETION_FEW]; /* room for them */
    MPI_Status few_statuses[SW_COMPLETION_FEW];
} sw_completion_t;

/* For calls that complete one (`request`), any or some of n, or all. Returns
 * the statuses to hand to the host. */
MPI_Status *sw_record_complete_one_before(sw_event_t *e, sw_completion_t *c,
                                          const MPI_Request *request,
                                          MPI_Status *status, bool waits);
MPI_Status *sw_record_complete_before(sw_event_t *e, sw_completion_t *c,
                                      int64_t n, const MPI_Request *requests,
                                      MPI_Status *statuses, bool several,
                                      bool waits);
void sw_record_complete_one_after(sw_event_t *e, sw_completion_t *c);
/* The request at `index` (any), `count` of them (some), all n. */
void sw_record_complete_any_after(sw_event_t *e, sw_completion_t *c, int index);
void sw_record_complete_some_after(sw_event_t *e, sw_completion_t *c, int count,
                                   const int *indices);
void sw_record_complete_all_after(sw_event_t *e, sw_completion_t *c, int64_t n);
/* In the end: what was taken and has not completed is put back. */
void sw_record_complete_rest(sw_completion_t *c);
/* Some have failed: what was remembered of those that are gone is dropped. */
void sw_record_complete_failed(sw_completion_t *c, int64_t n,
                               const MPI_Request *requests);
void sw_record_start_before(sw_event_t *e, MPI_Request request);
/* Returns the handles as they are, which the start may change; NULL: no
 * memory. */
MPI_Request *sw_record_startall_before(sw_event_t *e, int n,
                                       const MPI_Request *requests);
void sw_record_start_after(int n, const MPI_Request *were,
                           const MPI_Request *requests);
void sw_record_request_freed(MPI_Request request);
void sw_record_request_cancelled(MPI_Request request);
/* messages.c: a message's request has completed, or starts again. */
void sw_record_message_ended(sw_event_t *e, const sw_pending_t *p,
                             const MPI_Status *status);
void sw_record_message_starts(sw_event_t *e, sw_pending_t *p);

/* Collectives (collectives.c) --------------------------------------------- */

void sw_collective_before(sw_event_t *e, MPI_Comm comm, sw_waits_t waits,
                          int root);
/* The same on the event's own communicator, if it is known. */
void sw_collective_begins(sw_event_t *e, sw_waits_t waits, int root);
/* For the nonblocking and persistent forms. */
void sw_collective_pending(sw_event_t *e, sw_waits_t waits, int root,
                           MPI_Request request);
void sw_collective_persistent(sw_event_t *e, sw_collective_t what,
                              sw_waits_t waits, int root, MPI_Request request);
/* A persistent one starts again. */
void sw_collective_starts(sw_event_t *e, sw_pending_t *p);
/* A request of one has completed: which member was late? */
void sw_collective_ended(sw_event_t *e, const sw_pending_t *pending);

static inline void sw_collective_root(sw_event_t *e, int root)
{
    if (root >= 0)
        SW_KEY_SET(&e->key, root, (uint32_t)root + 1);
}

static inline void sw_collective_moved(sw_event_t *e, sw_moved_t m)
{
    e->amount.size = m.size;
    e->amount.sent = m.sent;
    e->amount.received = m.received;
    if (m.datatype)
        SW_KEY_SET(&e->key, datatype, m.datatype);
}

/* Of the bytes that the call moves, those that go to or come from other nodes.
 * The blocks of `sent` and `received` may differ; NULL: they are alike. Of an
 * alltoall, `sent` is NULL where the data lies in place. */
void sw_collective_between(sw_event_t *e, sw_collective_t what, int root,
                           const sw_moves_data_t *sent,
                           const sw_moves_data_t *received);

/* Blocks that may differ in size, for the matrix: those of every member's, or
 * those that the root sends or receives. */
void sw_collective_exchanged(sw_event_t *e, bool in_place,
                             const sw_moves_data_t *sent,
                             const sw_moves_data_t *received);
void sw_collective_send(sw_event_t *e, int root, const sw_moves_data_t *sent);
void sw_collective_receive(sw_event_t *e, int root,
                           const sw_moves_data_t *received);

/* After a blocking one: which member was late? Those that wait for no member
 * have no partners; the recorder looks at them all. */
void sw_collective_late(sw_event_t *e, sw_waits_t waits, int root);
static inline void sw_collective_look(sw_event_t *e, sw_waits_t waits, int root)
{
    if (e->wanted && (e->stands_for || !e->partners))
        sw_collective_late(e, waits, root);
}

/* Between nodes (between.c) -------------------------------------------- */

/* Bytes that the call has sent to a member of its communicator, or got from
 * it. */
static inline void sw_record_between_sent(sw_event_t *e,
                                          const sw_known_comm_t *c, int member,
                                          uint64_t bytes)
{
    if (sw_unlikely(c && c->away) && sw_known_is_away(c, member))
        e->amount.sent_between += bytes;
}

static inline void sw_record_between_received(sw_event_t *e,
                                              const sw_known_comm_t *c,
                                              int member, uint64_t bytes)
{
    if (sw_unlikely(c && c->away) && sw_known_is_away(c, member))
        e->amount.received_between += bytes;
}

/* A persistent collective starts. The recorder kept only the sums of its
 * blocks, and takes them to be alike. */
void sw_record_between_again(sw_event_t *e, const sw_pending_t *p);

/* Devices (devices.c) ------------------------------------------------------ */

void sw_record_devices_slow(sw_event_t *e, const void *out, MPI_Datatype sent,
                            const void *in, MPI_Datatype received);

/* The call sends data at `out`, or receives some at `in`. A side that it does
 * not have may be anything. The types may be MPI_DATATYPE_NULL: not known. */
static inline void sw_record_devices(sw_event_t *e, bool sends, const void *out,
                                     MPI_Datatype sent, bool receives,
                                     const void *in, MPI_Datatype received)
{
    if (sw_device_possible() && !e->paused)
        sw_record_devices_slow(e, sends ? out : NULL, sent,
                               receives ? in : NULL, received);
}

/* A request of this call has moved so many bytes. */
static inline void sw_record_device_moved(sw_event_t *e, const sw_pending_t *p,
                                          uint64_t sent, uint64_t received)
{
    if (sw_likely(!p->device_sent && !p->device_received))
        return;
    sent = p->device_sent ? sent : 0;
    received = p->device_received ? received : 0;
    e->amount.device_sent += sent;
    e->amount.device_received += received;
    e->amount.device_pieces += sw_pending_pieces(p->piece, sent + received);
}

/* One-sided (windows.c) ---------------------------------------------------- */

/* A window, and the communicator that it was made on. */
typedef struct sw_window {
    struct sw_window *next;
    MPI_Win handle;
    sw_known_comm_t *comm;
    uint64_t id;           /* alike on all members; 0: not known */
    uint64_t number;       /* the communicator's first, second, ... */
    sw_members_t *targets; /* of the access epoch that was started */
    sw_members_t *origins; /* of the exposure that was posted; or NULL */
} sw_window_t;

void sw_window_made(sw_event_t *e, MPI_Win window, MPI_Comm comm);
void sw_window_freed(MPI_Win window);
/* NULL: the recorder does not know it. So for all that follow. */
sw_window_t *sw_window_before(sw_event_t *e, MPI_Win window);
void sw_window_meet(sw_event_t *e, const sw_window_t *w);
/* As a target: all of them. (MPI_PROC_NULL may be any small number.) */
#define SW_ALL_TARGETS INT_MIN
/* `flags`: of a note `target`, trace/format.h. */
void sw_window_lock_before(sw_event_t *e, const sw_window_t *w);
void sw_window_lock_after(sw_event_t *e, const sw_window_t *w, int target,
                          unsigned flags);
void sw_window_unlock_before(sw_event_t *e, const sw_window_t *w, int target);
void sw_window_unlock_after(sw_event_t *e, const sw_window_t *w, int target);
void sw_window_post_before(sw_event_t *e, const sw_window_t *w);
void sw_window_post_after(sw_event_t *e, sw_window_t *w, MPI_Group origins);
void sw_window_start_before(sw_event_t *e, const sw_window_t *w);
void sw_window_start_after(sw_event_t *e, sw_window_t *w, MPI_Group targets);
void sw_window_complete_before(sw_event_t *e, const sw_window_t *w);
void sw_window_complete_after(sw_event_t *e, sw_window_t *w);
void sw_window_wait_before(sw_event_t *e, const sw_window_t *w);
void sw_window_wait_after(sw_event_t *e, sw_window_t *w);
void sw_record_access_before(sw_event_t *e, const sw_window_t *w);
void sw_record_put_after(sw_event_t *e, const sw_window_t *w, int target,
                         int64_t count, MPI_Datatype type, MPI_Op op);
void sw_record_get_after(sw_event_t *e, const sw_window_t *w, int target,
                         int64_t count, MPI_Datatype type);
void sw_record_fetch_after(sw_event_t *e, const sw_window_t *w, int target,
                           int64_t sent, MPI_Datatype type, int64_t received,
                           MPI_Datatype received_type, MPI_Op op);

/* Files (storage.c) ------------------------------------------------------- */

void sw_record_file_wrote(sw_event_t *e, int64_t count, MPI_Datatype type);
void sw_record_file_read(sw_event_t *e, int64_t count, MPI_Datatype type,
                         const MPI_Status *status);

#endif
