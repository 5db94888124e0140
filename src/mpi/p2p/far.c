/*
 * far.c - see far.h.
 */
#include "far.h"

#include "mpi/request/complete.h"

/* May the host keep this thread? */
static bool may_stay(void)
{
    return !sw_shadow_owing();
}

/* A nonblocking form of the host's, of which the program knows nothing. */
static int complete(int rc, MPI_Request *request, MPI_Status *status)
{
    return rc ? rc : sw_wait_one(request, status);
}

/* A wrong count is the host's to judge, whichever procedure gets it. */
static int send_counted(sw_send_mode_t mode, const void *buf, int64_t count,
                        MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    switch (mode) {
    case SW_SEND_READY:
        return SW_FAR_COUNTED(Rsend, count, buf, datatype, dest, tag, comm);
    case SW_SEND_SYNCHRONOUS:
        return SW_FAR_COUNTED(Ssend, count, buf, datatype, dest, tag, comm);
    default: return SW_FAR_COUNTED(Send, count, buf, datatype, dest, tag, comm);
    }
}

static int isend_counted(sw_send_mode_t mode, const void *buf, int64_t count,
                         MPI_Datatype datatype, int dest, int tag,
                         MPI_Comm comm, MPI_Request *request)
{
    switch (mode) {
    case SW_SEND_READY:
        return SW_FAR_COUNTED(Irsend, count, buf, datatype, dest, tag, comm,
                              request);
    case SW_SEND_SYNCHRONOUS:
        return SW_FAR_COUNTED(Issend, count, buf, datatype, dest, tag, comm,
                              request);
    default:
        return SW_FAR_COUNTED(Isend, count, buf, datatype, dest, tag, comm,
                              request);
    }
}

int sw_far_send(sw_send_mode_t mode, const void *buf, int64_t count,
                MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    MPI_Request request;
    if (sw_likely(may_stay()))
        return send_counted(mode, buf, count, datatype, dest, tag, comm);
    return complete(
        isend_counted(mode, buf, count, datatype, dest, tag, comm, &request),
        &request, MPI_STATUS_IGNORE);
}

int sw_far_recv(void *buf, int64_t count, MPI_Datatype datatype, int source,
                int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    if (sw_likely(may_stay()) || source == MPI_PROC_NULL)
        return SW_FAR_COUNTED(Recv, count, buf, datatype, source, tag, comm,
                              status);
    return complete(SW_FAR_COUNTED(Irecv, count, buf, datatype, source, tag,
                                   comm, &request),
                    &request, status);
}

int sw_far_mrecv(void *buf, int64_t count, MPI_Datatype datatype,
                 MPI_Message *message, MPI_Status *status)
{
    MPI_Request request;
    if (sw_likely(may_stay()))
        return SW_FAR_COUNTED(Mrecv, count, buf, datatype, message, status);
    return complete(
        SW_FAR_COUNTED(Imrecv, count, buf, datatype, message, &request),
        &request, status);
}

static int sendrecv_counted(const void *sendbuf, int64_t sendcount,
                            MPI_Datatype sendtype, int dest, int sendtag,
                            void *recvbuf, int64_t recvcount,
                            MPI_Datatype recvtype, int source, int recvtag,
                            MPI_Comm comm, MPI_Status *status)
{
#if SW_LARGE_COUNT
    if (sendcount > INT32_MAX || recvcount > INT32_MAX)
        return host.Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag,
                               recvbuf, recvcount, recvtype, source, recvtag,
                               comm, status);
#endif
    return host.Sendrecv(sendbuf, (int)sendcount, sendtype, dest, sendtag,
                         recvbuf, (int)recvcount, recvtype, source, recvtag,
                         comm, status);
}

/* Of MPI_PROC_NULL nothing is asked: MPICH 4.0's nonblocking receive says that
 * rank 0 has sent it. */
int sw_far_sendrecv(const void *sendbuf, int64_t sendcount,
                    MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                    int64_t recvcount, MPI_Datatype recvtype, int source,
                    int recvtag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Request receive, send;
    int rc;
    if (sw_likely(may_stay()))
        return sendrecv_counted(sendbuf, sendcount, sendtype, dest, sendtag,
                                recvbuf, recvcount, recvtype, source, recvtag,
                                comm, status);
    if (source == MPI_PROC_NULL) {
        rc = sw_far_send(SW_SEND_STANDARD, sendbuf, sendcount, sendtype, dest,
                         sendtag, comm);
        return rc ? rc
                  : SW_FAR_COUNTED(Recv, recvcount, recvbuf, recvtype, source,
                                   recvtag, comm, status);
    }
    rc = SW_FAR_COUNTED(Irecv, recvcount, recvbuf, recvtype, source, recvtag,
                        comm, &receive);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = SW_FAR_COUNTED(Isend, sendcount, sendbuf, sendtype, dest, sendtag,
                        comm, &send);
    if (rc != MPI_SUCCESS) {
        host.Cancel(&receive);
        sw_wait_one(&receive, MPI_STATUS_IGNORE);
        return rc;
    }
    int sent = sw_wait_one(&send, MPI_STATUS_IGNORE);
    int received = sw_wait_one(&receive, status);
    return received ? received : sent;
}

int sw_far_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int rc, flag = 0;
    if (may_stay() || source == MPI_PROC_NULL)
        return host.Probe(source, tag, comm, status);
    sw_idle_t idle = {0};
    while ((rc = host.Iprobe(source, tag, comm, &flag, status)) ==
               MPI_SUCCESS &&
           !flag) {
        sw_shadow_progress();
        sw_idle(&idle, NULL);
    }
    return rc;
}

int sw_far_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status)
{
    int rc, flag = 0;
    if (may_stay() || source == MPI_PROC_NULL)
        return host.Mprobe(source, tag, comm, message, status);
    sw_idle_t idle = {0};
    while ((rc = host.Improbe(source, tag, comm, &flag, message, status)) ==
               MPI_SUCCESS &&
           !flag) {
        sw_shadow_progress();
        sw_idle(&idle, NULL);
    }
    return rc;
}
