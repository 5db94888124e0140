/*
 * far.c - see far.h.
 */
#include "far.h"

#include "mpi/request/complete.h"

/* May the host keep this thread? */
static bool may_stay(void)
{
    return !sw_owing();
}

/* A nonblocking form of the host's, of which the program knows nothing. */
static int complete(int rc, MPI_Request *request, MPI_Status *status)
{
    return rc ? rc : sw_wait_one(request, status);
}

#define SEND(NAME, INAME, COUNT)                                        \
int sw_far_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm)                     \
{                                                                       \
    MPI_Request request;                                                \
    if (sw_likely(may_stay()))                                          \
        return host.NAME(buffer, count, type, dest, tag, comm);         \
    return complete(host.INAME(buffer, count, type, dest, tag, comm,    \
                               &request), &request, MPI_STATUS_IGNORE); \
}

#define RECV(SUFFIX, COUNT)                                             \
int sw_far_Recv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,   \
                        int source, int tag, MPI_Comm comm,             \
                        MPI_Status *status)                             \
{                                                                       \
    MPI_Request request;                                                \
    if (sw_likely(may_stay()) || source == MPI_PROC_NULL)               \
        return host.Recv##SUFFIX(buffer, count, type, source, tag,      \
                                 comm, status);                         \
    return complete(host.Irecv##SUFFIX(buffer, count, type, source,     \
                                       tag, comm, &request),            \
                    &request, status);                                  \
}                                                                       \
                                                                        \
int sw_far_Mrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         MPI_Message *message, MPI_Status *status)      \
{                                                                       \
    MPI_Request request;                                                \
    if (sw_likely(may_stay()))                                          \
        return host.Mrecv##SUFFIX(buffer, count, type, message,         \
                                  status);                              \
    return complete(host.Imrecv##SUFFIX(buffer, count, type, message,   \
                                        &request), &request, status);   \
}

/* Of MPI_PROC_NULL nothing is asked: MPICH 4.0's nonblocking receive says that
 * rank 0 has sent it. */
#define SENDRECV(SUFFIX, COUNT)                                         \
int sw_far_Sendrecv##SUFFIX(                                            \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Status *status)           \
{                                                                       \
    MPI_Request receive, send;                                          \
    if (sw_likely(may_stay()))                                          \
        return host.Sendrecv##SUFFIX(out, outcount, outtype, dest,      \
                                     outtag, in, incount, intype,       \
                                     source, intag, comm, status);      \
    if (source == MPI_PROC_NULL) {                                      \
        int rc = sw_far_Send##SUFFIX(out, outcount, outtype, dest,      \
                                     outtag, comm);                     \
        return rc ? rc : host.Recv##SUFFIX(in, incount, intype, source, \
                                           intag, comm, status);        \
    }                                                                   \
    int rc = host.Irecv##SUFFIX(in, incount, intype, source, intag,     \
                                comm, &receive);                        \
    if (rc != MPI_SUCCESS)                                              \
        return rc;                                                      \
    rc = host.Isend##SUFFIX(out, outcount, outtype, dest, outtag, comm, \
                            &send);                                     \
    if (rc != MPI_SUCCESS) {                                            \
        host.Cancel(&receive);                                          \
        sw_wait_one(&receive, MPI_STATUS_IGNORE);                       \
        return rc;                                                      \
    }                                                                   \
    int sent = sw_wait_one(&send, MPI_STATUS_IGNORE);                   \
    int received = sw_wait_one(&receive, status);                       \
    return received ? received : sent;                                  \
}

#define ALL(SUFFIX, COUNT)                                              \
    SEND(Send##SUFFIX, Isend##SUFFIX, COUNT)                            \
    SEND(Rsend##SUFFIX, Irsend##SUFFIX, COUNT)                          \
    SEND(Ssend##SUFFIX, Issend##SUFFIX, COUNT)                          \
    RECV(SUFFIX, COUNT)                                                 \
    SENDRECV(SUFFIX, COUNT)

ALL(, int)
#if SW_LARGE_COUNT
ALL(_c, MPI_Count)
#endif

int sw_far_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    int rc, flag = 0;
    if (may_stay() || source == MPI_PROC_NULL)
        return host.Probe(source, tag, comm, status);
    sw_idle_t idle = {0};
    while ((rc = host.Iprobe(source, tag, comm, &flag, status)) ==
               MPI_SUCCESS && !flag) {
        sw_track_progress();
        sw_idle(&idle, NULL);
    }
    return rc;
}

int sw_far_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status)
{
    int rc, flag = 0;
    if (may_stay() || source == MPI_PROC_NULL)
        return host.Mprobe(source, tag, comm, message, status);
    sw_idle_t idle = {0};
    while ((rc = host.Improbe(source, tag, comm, &flag, message, status)) ==
               MPI_SUCCESS && !flag) {
        sw_track_progress();
        sw_idle(&idle, NULL);
    }
    return rc;
}
