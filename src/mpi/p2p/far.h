/*
 * far.h - messages of the host's: the procedures in which it may keep this
 * thread.
 *
 * While other ranks may wait for what this one does, no call stays in the
 * host: each becomes its nonblocking form, and is waited for with our progress.
 */
#ifndef SW_MPI_P2P_FAR_H
#define SW_MPI_P2P_FAR_H

#include "mpi/base/host.h"

#define SW_FAR_DECLARE(SUFFIX, COUNT)                                   \
int sw_far_Recv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,   \
                        int source, int tag, MPI_Comm comm,             \
                        MPI_Status *status);                            \
int sw_far_Mrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         MPI_Message *message, MPI_Status *status);     \
int sw_far_Sendrecv##SUFFIX(                                            \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Status *status);          \
int sw_far_Send##SUFFIX(const void *buffer, COUNT count,                \
                        MPI_Datatype type, int dest, int tag,           \
                        MPI_Comm comm);                                 \
int sw_far_Rsend##SUFFIX(const void *buffer, COUNT count,               \
                         MPI_Datatype type, int dest, int tag,          \
                         MPI_Comm comm);                                \
int sw_far_Ssend##SUFFIX(const void *buffer, COUNT count,               \
                         MPI_Datatype type, int dest, int tag,          \
                         MPI_Comm comm);

SW_FAR_DECLARE(, int)
#if SW_LARGE_COUNT
SW_FAR_DECLARE(_c, MPI_Count)
#endif

int sw_far_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int sw_far_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status);

/* The host's procedure for so many elements, which its int may not hold. */
#if SW_LARGE_COUNT
#define SW_FAR_COUNTED(NAME, COUNT, BUFFER, ...)                        \
    ((COUNT) > INT32_MAX                                                \
         ? host.NAME##_c((BUFFER), (MPI_Count)(COUNT), __VA_ARGS__)     \
         : host.NAME((BUFFER), (int)(COUNT), __VA_ARGS__))
#define SW_FAR_MRECV(COUNT, BUFFER, ...)                                \
    ((COUNT) > INT32_MAX                                                \
         ? sw_far_Mrecv_c((BUFFER), (MPI_Count)(COUNT), __VA_ARGS__)    \
         : sw_far_Mrecv((BUFFER), (int)(COUNT), __VA_ARGS__))
#else
#define SW_FAR_COUNTED(NAME, COUNT, BUFFER, ...)                        \
    host.NAME((BUFFER), (int)(COUNT), __VA_ARGS__)
#define SW_FAR_MRECV(COUNT, BUFFER, ...)                                \
    sw_far_Mrecv((BUFFER), (int)(COUNT), __VA_ARGS__)
#endif

#endif
