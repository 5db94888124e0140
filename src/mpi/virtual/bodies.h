/*
 * bodies.h - what the wrappers of the rules (rules.py) call.
 */
#ifndef SW_MPI_VIRTUAL_BODIES_H
#define SW_MPI_VIRTUAL_BODIES_H

#include <limits.h>

/* Messages (messages.c). The host has taken a send or receive, in its
 * nonblocking form, as `own`; what remains is put, and waited for. --------- */

/* What `op` says is under way, or is made and will be started (persistent). */
sw_work_t *sw_virtual_begun(sw_known_comm_t *c, const sw_vop_t *op,
                            MPI_Request request, bool persistent);
/* A request of no interest, which is complete. */
void sw_virtual_nothing(MPI_Request request, bool persistent);
int sw_virtual_sent(MPI_Comm comm, int dest, int tag, int64_t count,
                    MPI_Datatype type, unsigned flags, MPI_Request *own);
void sw_virtual_isent(MPI_Comm comm, int dest, int tag, int64_t count,
                      MPI_Datatype type, unsigned flags, MPI_Request request,
                      bool persistent);
/* A receive with wildcards: those of the message that it gets. */
void sw_virtual_choose(MPI_Comm comm, int *source, int *tag);
int sw_virtual_received(MPI_Comm comm, int source, int tag, int64_t count,
                        MPI_Datatype type, MPI_Request *own,
                        MPI_Status *status);
void sw_virtual_posted(MPI_Comm comm, int source, int tag, int64_t count,
                       MPI_Datatype type, MPI_Request request, bool persistent);
/* The send of a combined one; its number, 0: none. */
uint32_t sw_virtual_sending(MPI_Comm comm, int dest, int tag, int64_t count,
                            MPI_Datatype type);
/* And all the rest: own[0] sends, own[1] receives. */
int sw_virtual_sendrecv(MPI_Comm comm, int source, int tag, int64_t count,
                        MPI_Datatype type, uint32_t sent, MPI_Request own[2],
                        MPI_Status *status);
/* What is sent of a buffer into which is received; see messages.c. */
int sw_virtual_sendrecv_replace(void *buffer, int64_t count, MPI_Datatype type,
                                int dest, int sendtag, int source, int recvtag,
                                MPI_Comm comm, MPI_Status *status);
void sw_virtual_isendrecv(MPI_Comm comm, int dest, int sendtag,
                          int64_t sendcount, MPI_Datatype sendtype, int source,
                          int recvtag, int64_t recvcount, MPI_Datatype recvtype,
                          MPI_Request request);
void sw_virtual_partitioned(bool sends, MPI_Comm comm, int peer, int tag,
                            int64_t count, MPI_Datatype type,
                            MPI_Request request);

/* Sends that the program need not wait for (detach.c) ---------------------- */

/* The persistent send that was just made may go so. */
void sw_virtual_detachable(MPI_Request request, const void *buffer,
                           int64_t count, MPI_Datatype type, int dest, int tag,
                           MPI_Comm comm, unsigned flags);
/* Beside an operation's flags: small ones, too. */
#define SW_DETACH_SMALL 0x100u
/* True: the data lie aside, and are sent from there. */
bool sw_virtual_detach(const void *buffer, int64_t count, MPI_Datatype type,
                       int dest, int tag, MPI_Comm comm, unsigned flags);
/* A request for one, which is complete. */
int sw_virtual_detached_request(MPI_Request *request);
void sw_virtual_detached_end(void);

/* Probes (probe.c) -------------------------------------------------------- */

/* A message by its name, which the engine has given, or as it was asked for. */
typedef struct {
    int source, tag, asked_source, asked_tag;
    bool named;
} sw_virtual_name_t;

/* Wait until the host has it. `message`: NULL, or where to put the matched
 * one. */
int sw_virtual_look(const sw_virtual_name_t *name, MPI_Comm comm,
                    MPI_Message *message, MPI_Status *status);
int sw_virtual_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int sw_virtual_iprobe(int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Status *status);
int sw_virtual_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                      MPI_Status *status);
int sw_virtual_improbe(int source, int tag, MPI_Comm comm, int *flag,
                       MPI_Message *message, MPI_Status *status);
int sw_virtual_mreceived(MPI_Message message, MPI_Request *own,
                         MPI_Status *status);
void sw_virtual_imreceived(MPI_Message message, MPI_Request request);

/* Requests (wait.c, test.c, status.c, start.c) ----------------------------- */

int sw_virtual_wait(MPI_Request *request, MPI_Status *status);
int sw_virtual_waitall(int n, MPI_Request *requests, MPI_Status *statuses);
int sw_virtual_waitany(int n, MPI_Request *requests, int *index,
                       MPI_Status *status);
int sw_virtual_waitsome(int n, MPI_Request *requests, int *count, int *indices,
                        MPI_Status *statuses);
int sw_virtual_test(MPI_Request *request, int *flag, MPI_Status *status);
int sw_virtual_testall(int n, MPI_Request *requests, int *flag,
                       MPI_Status *statuses);
int sw_virtual_testany(int n, MPI_Request *requests, int *index, int *flag,
                       MPI_Status *status);
int sw_virtual_testsome(int n, MPI_Request *requests, int *count, int *indices,
                        MPI_Status *statuses);
int sw_virtual_get_status(MPI_Request request, int *flag, MPI_Status *status);
int sw_virtual_get_status_all(int n, MPI_Request *requests, int *flag,
                              MPI_Status *statuses);
int sw_virtual_get_status_any(int n, MPI_Request *requests, int *index,
                              int *flag, MPI_Status *status);
int sw_virtual_get_status_some(int n, MPI_Request *requests, int *count,
                               int *indices, MPI_Status *statuses);
int sw_virtual_start_all(int n, MPI_Request *requests);
void sw_virtual_freed(MPI_Request request);
void sw_virtual_cancelled(MPI_Request request);

/* Collectives (collectives.c) ---------------------------------------------- */

/* May the blocking form be the host's nonblocking one, with waits of ours? */
bool sw_virtual_apart(MPI_Comm comm, sw_op_collective_t what);
/* Tell the engine, and sleep until the members have come: before the call, or
 * after the host has taken it as the request `own`. */
void sw_virtual_collective(const sw_known_comm_t *c, const sw_moved_t *moves,
                           sw_op_collective_t what, int root);
int sw_virtual_collective_own(const sw_known_comm_t *c, const sw_moved_t *moves,
                              sw_op_collective_t what, int root,
                              MPI_Request *own);
void sw_virtual_collective_pending(sw_known_comm_t *c, const sw_moved_t *moves,
                                   sw_op_collective_t what, int root,
                                   MPI_Request request, bool persistent);
/* A duplicate is being made: it may be used when `request` is complete. */
void sw_virtual_idup(MPI_Comm parent, MPI_Comm comm, MPI_Request request);
/* Members meet in `op`. */
void sw_virtual_meet(sw_vop_t *op);
/* What communicates among all members without the program's data. */
void sw_virtual_other(MPI_Comm comm);

/* Neighbours (near.c) ------------------------------------------------------ */

void sw_virtual_near(sw_known_comm_t *c, const sw_moved_t *moves,
                     MPI_Request *own, bool persistent);
int sw_virtual_near_own(sw_known_comm_t *c, const sw_moved_t *moves,
                        MPI_Request *own);

/* One-sided (windows.c) ---------------------------------------------------- */

/* `flags`: those of SW_WINDOW_MAKE. */
void sw_virtual_window_made(MPI_Win window, MPI_Comm comm, unsigned flags);
void sw_virtual_window_freed(MPI_Win window);
/* Before a fence, or a free: all wait for each other, and for what they have
 * begun. */
void sw_virtual_meet_window(MPI_Win window, sw_op_collective_t what);
/* The host has taken it, as this request, if it has one. */
void sw_virtual_moved(MPI_Win window, sw_window_t what, int target,
                      int64_t count, MPI_Datatype type, MPI_Request request);
/* What an accumulating call is with this operation. */
sw_window_t sw_virtual_combines(MPI_Op op, sw_window_t what);
/* Before the host's. */
#define SW_EVERY_TARGET INT_MIN
void sw_virtual_lock_window(MPI_Win window, int target, bool exclusive,
                            int assertion);
/* After the host's. */
void sw_virtual_unlock_window(MPI_Win window, int target);
void sw_virtual_flush(MPI_Win window, int target, bool local);
void sw_virtual_post_window(MPI_Win window, MPI_Group origins);
/* Before the host's. */
void sw_virtual_start_window(MPI_Win window, MPI_Group targets);
/* After. */
void sw_virtual_started_window(MPI_Win window);
void sw_virtual_complete_window(MPI_Win window);
int sw_virtual_wait_window(MPI_Win window);
int sw_virtual_test_window(MPI_Win window, int *flag);

#endif
