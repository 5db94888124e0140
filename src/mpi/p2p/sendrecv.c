/*
 * sendrecv.c - MPI_Sendrecv, MPI_Sendrecv_replace, in all forms. The host may
 * have one half.
 */
#include "aside.h"
#include "calls.h"
#include "far.h"
#include "either.h"
#include "mpi/request/complete.h"
#include "near_receive.h"
#include "pair.h"

/* Halves, ours or the host's -------------------------------------------------
 */

static int send(const void *buf, int64_t count, MPI_Datatype datatype, int dest,
                int tag, MPI_Comm comm)
{
    int rc;
    return sw_send(SW_SEND_STANDARD, buf, count, datatype, dest, tag, comm, &rc)
               ? rc
               : SW_FAR_COUNTED(Send, count, buf, datatype, dest, tag, comm);
}

static int isend(const void *buf, int64_t count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    int rc;
    return sw_isend(SW_SEND_STANDARD, buf, count, datatype, dest, tag, comm,
                    request, &rc)
               ? rc
               : SW_FAR_COUNTED(Isend, count, buf, datatype, dest, tag, comm,
                                request);
}

static int receive(void *buf, int64_t count, MPI_Datatype datatype, int source,
                   int tag, MPI_Comm comm, MPI_Status *status)
{
    int rc;
    return sw_recv(buf, count, datatype, source, tag, comm, status, &rc)
               ? rc
               : SW_FAR_COUNTED(Recv, count, buf, datatype, source, tag, comm,
                                status);
}

static int ireceive(void *buf, int64_t count, MPI_Datatype datatype, int source,
                    int tag, MPI_Comm comm, MPI_Request *request)
{
    int rc;
    return sw_irecv(buf, count, datatype, source, tag, comm, request, &rc)
               ? rc
               : SW_FAR_COUNTED(Irecv, count, buf, datatype, source, tag, comm,
                                request);
}

/* Both -----------------------------------------------------------------------
 */

/* Post first, then send, then wait for both. */
static int exchange(const sw_near_t *out, const sw_near_t *in,
                    MPI_Status *status)
{
    sw_near_receive_t r;
    sw_near_prepare(&r, in);
    sw_near_post(&r);
    int sent = sw_near_send(out, SW_SEND_STANDARD);
    int received = sw_near_finish(&r, status);
    return received ? received : sent;
}

/* The same where the host may have one half. Nothing is received if nothing is
 * sent. */
static int apart(const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                 int dest, int sendtag, void *recvbuf, int64_t recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                 MPI_Status *status)
{
    MPI_Request request;
    int rc = ireceive(recvbuf, recvcount, recvtype, source, recvtag, comm,
                      &request);
    if (rc != MPI_SUCCESS)
        return rc;
    int sent = send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
    if (sent != MPI_SUCCESS)
        sw_MPI_Cancel(&request);
    int received = sw_wait_one(&request, status);
    return sent ? sent : received;
}

bool sw_sendrecv(const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                 int dest, int sendtag, void *recvbuf, int64_t recvcount,
                 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                 MPI_Status *status, int *rc)
{
    sw_near_t to, from;
    bool sends = false, receives = false;
    if (sw_near(comm) && dest == MPI_PROC_NULL) {
        *rc = receive(recvbuf, recvcount, recvtype, source, recvtag, comm,
                      status);
        return true;
    }
    if (sw_near(comm) && source == MPI_PROC_NULL) {
        *rc = send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
        if (*rc == MPI_SUCCESS)
            *rc = SW_FAR_COUNTED(Recv, recvcount, recvbuf, recvtype, source,
                                 recvtag, comm, status);
        return true;
    }
    if (sw_near(comm)) {
        sends = sw_near_sends(&to, sendbuf, sendcount, sendtype, dest, sendtag,
                              comm, rc);
        if (*rc == MPI_SUCCESS)
            receives = sw_near_receives(&from, recvbuf, recvcount, recvtype,
                                        source, recvtag, comm, rc);
        if (*rc != MPI_SUCCESS)
            return true;
    }
    if (sw_likely(sends && receives && !sw_is_either(&from)))
        *rc = exchange(&to, &from, status);
    else if (sends || receives)
        *rc = apart(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                    recvcount, recvtype, source, recvtag, comm, status);
    else if (sw_shadow_owing())
        *rc = sw_far_sendrecv(sendbuf, sendcount, sendtype, dest, sendtag,
                              recvbuf, recvcount, recvtype, source, recvtag,
                              comm, status);
    else
        return false;
    return true;
}

/* What comes from MPI_PROC_NULL is said here: MPICH 4.0's nonblocking receive
 * says that rank 0 has sent it. */
static int begin(const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                 int dest, int sendtag, void *block, void *recvbuf,
                 int64_t recvcount, MPI_Datatype recvtype, int source,
                 int recvtag, MPI_Comm comm, MPI_Request *request)
{
    sw_pair_t *p = sw_pair_new(comm, block);
    int rc = MPI_SUCCESS;
    if (source == MPI_PROC_NULL)
        SW_FAR_COUNTED(Recv, recvcount, recvbuf, recvtype, source, recvtag,
                       comm, &p->status);
    else
        rc = ireceive(recvbuf, recvcount, recvtype, source, recvtag, comm,
                      &p->receive);
    if (rc == MPI_SUCCESS && dest != MPI_PROC_NULL)
        rc = isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &p->send);
    return sw_pair_begun(p, rc, request);
}

bool sw_isendrecv(const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                  int dest, int sendtag, void *recvbuf, int64_t recvcount,
                  MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                  MPI_Request *request, int *rc)
{
    sw_near_t w;
    bool ours = sw_near_sends(&w, sendbuf, sendcount, sendtype, dest, sendtag,
                              comm, rc);
    if (!ours && *rc == MPI_SUCCESS)
        ours = sw_near_receives(&w, recvbuf, recvcount, recvtype, source,
                                recvtag, comm, rc);
    if (ours)
        *rc = begin(sendbuf, sendcount, sendtype, dest, sendtag, NULL, recvbuf,
                    recvcount, recvtype, source, recvtag, comm, request);
    return ours || *rc != MPI_SUCCESS;
}

/* In place
 * --------------------------------------------------------------------- */

/* A copy of what is sent, in *block. */
static const void *aside(const void *buf, int64_t count, const sw_datatype_t *d,
                         MPI_Comm comm, void **block)
{
    *block = NULL;
    return count && d->size ? sw_set_aside(buf, count, d, comm, block) : NULL;
}

bool sw_sendrecv_replace(void *buf, int64_t count, MPI_Datatype datatype,
                         int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status *status, int *rc)
{
    const sw_datatype_t *d;
    void *block = NULL;
    const void *copy = buf;
    *rc = MPI_SUCCESS;
    if (!sw_near(comm) && !sw_shadow_owing() && !sw_patience())
        return false;
    if (dest != MPI_PROC_NULL && source != MPI_PROC_NULL) {
        if (!sw_buffer_usable(buf, count, datatype, comm, &d, rc))
            return *rc != MPI_SUCCESS;
        copy = aside(buf, count, d, comm, &block);
    }
    if (!sw_sendrecv(copy, count, datatype, dest, sendtag, buf, count, datatype,
                     source, recvtag, comm, status, rc))
        *rc = sw_far_sendrecv(copy, count, datatype, dest, sendtag, buf, count,
                              datatype, source, recvtag, comm, status);
    sw_temporary_free(block);
    return true;
}

bool sw_isendrecv_replace(void *buf, int64_t count, MPI_Datatype datatype,
                          int dest, int sendtag, int source, int recvtag,
                          MPI_Comm comm, MPI_Request *request, int *rc)
{
    const sw_datatype_t *d;
    void *block = NULL;
    *rc = MPI_SUCCESS;
    if (!sw_near(comm))
        return false;
    if (dest == MPI_PROC_NULL || source == MPI_PROC_NULL)
        return sw_isendrecv(buf, count, datatype, dest, sendtag, buf, count,
                            datatype, source, recvtag, comm, request, rc);
    if (!sw_buffer_usable(buf, count, datatype, comm, &d, rc))
        return *rc != MPI_SUCCESS;
    const void *copy = aside(buf, count, d, comm, &block);
    *rc = begin(copy, count, datatype, dest, sendtag, block, buf, count,
                datatype, source, recvtag, comm, request);
    return true;
}
