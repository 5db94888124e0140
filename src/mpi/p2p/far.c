/*
 * far.c - see far.h.
 */
#include "far.h"

#include "mpi/request/complete.h"

/* May the host keep this thread? Where it may not, the procedure gets its
 * patient form (mpi/base/patience.h). */
static bool may_stay(void)
{
    return !sw_shadow_owing();
}

int sw_far_send(sw_send_mode_t mode, const void *buf, int64_t count,
                MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    switch (mode) {
    case SW_SEND_READY:
        return SW_FAR_CALL(may_stay(), Rsend, count, buf, datatype, dest, tag,
                           comm);
    case SW_SEND_SYNCHRONOUS:
        return SW_FAR_CALL(may_stay(), Ssend, count, buf, datatype, dest, tag,
                           comm);
    default:
        return SW_FAR_CALL(may_stay(), Send, count, buf, datatype, dest, tag,
                           comm);
    }
}

int sw_far_recv(void *buf, int64_t count, MPI_Datatype datatype, int source,
                int tag, MPI_Comm comm, MPI_Status *status)
{
    return SW_FAR_CALL(may_stay(), Recv, count, buf, datatype, source, tag,
                       comm, status);
}

int sw_far_mrecv(void *buf, int64_t count, MPI_Datatype datatype,
                 MPI_Message *message, MPI_Status *status)
{
    return SW_FAR_CALL(may_stay(), Mrecv, count, buf, datatype, message,
                       status);
}

int sw_far_sendrecv(const void *sendbuf, int64_t sendcount,
                    MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                    int64_t recvcount, MPI_Datatype recvtype, int source,
                    int recvtag, MPI_Comm comm, MPI_Status *status)
{
#if SW_LARGE_COUNT
    if (sendcount > INT32_MAX || recvcount > INT32_MAX)
        return (may_stay() ? host.Sendrecv_c : sw_patient_Sendrecv_c)(
            sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
            recvtype, source, recvtag, comm, status);
#endif
    return (may_stay() ? host.Sendrecv : sw_patient_Sendrecv)(
        sendbuf, (int)sendcount, sendtype, dest, sendtag, recvbuf,
        (int)recvcount, recvtype, source, recvtag, comm, status);
}

int sw_far_probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return (may_stay() ? host.Probe : sw_patient_Probe)(source, tag, comm,
                                                        status);
}

int sw_far_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status)
{
    return (may_stay() ? host.Mprobe : sw_patient_Mprobe)(source, tag, comm,
                                                          message, status);
}
