/*
 * calls.h - the procedures of point-to-point messages: ours between near ranks
 * (near.h), else the host's.
 *
 * A function serves all forms of a procedure's counts. The entry of each form
 * is generated (calls/generate_entries.py). True: the call is ours, or the host
 * has raised its error, or has served it without keeping this thread (far.h);
 * the procedure returns *rc. False: the entry calls the host.
 */
#ifndef SW_MPI_P2P_CALLS_H
#define SW_MPI_P2P_CALLS_H

#include "near_send.h"

/* MPI_Send and its kin, by their modes; MPI_Isend, and MPI_Send_init. */
bool sw_send(sw_send_mode_t mode, const void *buf, int64_t count,
             MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int *rc);
bool sw_isend(sw_send_mode_t mode, const void *buf, int64_t count,
              MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request, int *rc);
bool sw_send_init(sw_send_mode_t mode, const void *buf, int64_t count,
                  MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request, int *rc);

bool sw_recv(void *buf, int64_t count, MPI_Datatype datatype, int source,
             int tag, MPI_Comm comm, MPI_Status *status, int *rc);
bool sw_irecv(void *buf, int64_t count, MPI_Datatype datatype, int source,
              int tag, MPI_Comm comm, MPI_Request *request, int *rc);
bool sw_recv_init(void *buf, int64_t count, MPI_Datatype datatype, int source,
                  int tag, MPI_Comm comm, MPI_Request *request, int *rc);
bool sw_mrecv(void *buf, int64_t count, MPI_Datatype datatype,
              MPI_Message *message, MPI_Status *status, int *rc);
bool sw_imrecv(void *buf, int64_t count, MPI_Datatype datatype,
               MPI_Message *message, MPI_Request *request, int *rc);

bool sw_sendrecv(const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                 int dest, int sendtag, void *recvbuf, int64_t recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                 MPI_Status *status, int *rc);
bool sw_isendrecv(const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                  int dest, int sendtag, void *recvbuf, int64_t recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                  MPI_Request *request, int *rc);
bool sw_sendrecv_replace(void *buf, int64_t count, MPI_Datatype datatype,
                         int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status, int *rc);
bool sw_isendrecv_replace(void *buf, int64_t count, MPI_Datatype datatype,
                          int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request *request, int *rc);

/* Is it a message to, or from, a near rank? False: the host is to judge, or has
 * raised its error, which is *rc. */
static inline bool sw_near_sends(sw_near_t *w, const void *buf, int64_t count,
                                 MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm, int *rc)
{
    sw_comm_t *c = sw_near(comm);
    *rc = MPI_SUCCESS;
    return c && sw_near_describe(w, c, comm, buf, count, datatype, dest, tag,
                                 SW_NEAR_NONE, rc);
}
static inline bool sw_near_receives(sw_near_t *w, void *buf, int64_t count,
                                    MPI_Datatype datatype, int source, int tag,
                                    MPI_Comm comm, int *rc)
{
    sw_comm_t *c = sw_near(comm);
    *rc = MPI_SUCCESS;
    return c && sw_near_describe(w, c, comm, buf, count, datatype,
                                 sw_near_source(source), sw_near_tag(tag),
                                 SW_PATTERN_ANY, rc);
}

#endif
