/*
 * far.h - messages of the host's: the procedures in which it may keep this
 * thread.
 *
 * While other ranks may wait for what this one does (sw_shadow_owing), no call
 * stays in the host: each takes its patient form (mpi/base/patience.h).
 */
#ifndef SW_MPI_P2P_FAR_H
#define SW_MPI_P2P_FAR_H

#include "mpi/base/host.h"
#include "near_send.h"

int sw_far_send(sw_send_mode_t mode, const void *buf, int64_t count,
                MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int sw_far_recv(void *buf, int64_t count, MPI_Datatype datatype, int source,
                int tag, MPI_Comm comm, MPI_Status *status);
int sw_far_mrecv(void *buf, int64_t count, MPI_Datatype datatype,
                 MPI_Message *message, MPI_Status *status);
int sw_far_sendrecv(const void *sendbuf, int64_t sendcount,
                    MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                    int64_t recvcount, MPI_Datatype recvtype, int source,
                    int recvtag, MPI_Comm comm, MPI_Status *status);
int sw_far_probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int sw_far_mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status);

/* The host's procedure for so many elements, which its int may not hold. A
 * wrong count is the host's to judge, whichever procedure gets it. */
#if SW_LARGE_COUNT
#define SW_FAR_COUNTED(NAME, COUNT, BUFFER, ...)                    \
    ((COUNT) > INT32_MAX                                            \
         ? host.NAME##_c((BUFFER), (MPI_Count)(COUNT), __VA_ARGS__) \
         : host.NAME((BUFFER), (int)(COUNT), __VA_ARGS__))
#define SW_FAR_PATIENT(NAME, COUNT, BUFFER, ...)                            \
    ((COUNT) > INT32_MAX                                                    \
         ? sw_patient_##NAME##_c((BUFFER), (MPI_Count)(COUNT), __VA_ARGS__) \
         : sw_patient_##NAME((BUFFER), (int)(COUNT), __VA_ARGS__))
#else
#define SW_FAR_COUNTED(NAME, COUNT, BUFFER, ...) \
    host.NAME((BUFFER), (int)(COUNT), __VA_ARGS__)
#define SW_FAR_PATIENT(NAME, COUNT, BUFFER, ...) \
    sw_patient_##NAME((BUFFER), (int)(COUNT), __VA_ARGS__)
#endif
/* The same, in its patient form unless the host may keep this thread. */
#define SW_FAR_CALL(STAYS, NAME, COUNT, ...)                     \
    (sw_likely(STAYS) ? SW_FAR_COUNTED(NAME, COUNT, __VA_ARGS__) \
                      : SW_FAR_PATIENT(NAME, COUNT, __VA_ARGS__))

#endif
