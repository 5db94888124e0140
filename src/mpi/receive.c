/*
 * receive.c - MPI_Recv and MPI_Irecv, MPI_Mrecv and MPI_Imrecv.
 *
 * A receive that a descriptor may reach is looked at when it completes
 * (track.h, small.h). A blocking one waits in the host, unless other receives are
 * posted that a peer may be waiting for: then it becomes its nonblocking form,
 * so that they are served meanwhile.
 */
#include "complete.h"
#include "receive.h"
#include "route.h"

static int track(MPI_Request handle, void *buffer, int64_t count,
                 const sw_datatype_t *type, MPI_Comm comm, int source, int tag)
{
    sw_track_t *t = sw_track_receive(buffer, count, type, comm, source, tag);
    t->handle = handle;
    sw_track_add(t);
    return MPI_SUCCESS;
}

/* A note of it, if that is enough. */
static int note(MPI_Request handle, void *buffer, int64_t count,
                const sw_datatype_t *type, MPI_Comm comm, int source, int tag)
{
    const sw_note_t one = {.handle = handle, .type = type, .buffer = buffer,
                           .count = count, .comm = comm, .source = source,
                           .tag = tag};
    if (sw_tracks_shared ||
        (size_t)count * type->size >= sw_settings.p2p_min ||
        !sw_note_put(&one))
        return track(handle, buffer, count, type, comm, source, tag);
    sw_datatype_hold(type);
    return MPI_SUCCESS;
}

/* With threads, too: another's probe must find it (sw_track_expected). */
static inline bool must_not_block(const sw_datatype_t *d, int source)
{
    return (sw_owing() && source != MPI_PROC_NULL) || (d && sw_threaded);
}

#define RECV(SUFFIX, COUNT)                                             \
int sw_MPI_Irecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         int source, int tag, MPI_Comm comm,            \
                         MPI_Request *request)                          \
{                                                                       \
    const sw_datatype_t *d = sw_route_receive(count, type, source,      \
                                              comm);                    \
    if (!d)                                                             \
        return host.Irecv##SUFFIX(buffer, count, type, source, tag,     \
                                  comm, request);                       \
    sw_match_enter();                                                   \
    int rc = host.Irecv##SUFFIX(buffer, count, type, source, tag, comm, \
                                request);                               \
    if (rc == MPI_SUCCESS)                                              \
        rc = note(*request, buffer, count, d, comm, source, tag);       \
    sw_match_leave();                                                   \
    return rc;                                                          \
}                                                                       \
                                                                        \
int sw_MPI_Recv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,   \
                        int source, int tag, MPI_Comm comm,             \
                        MPI_Status *status)                             \
{                                                                       \
    const sw_datatype_t *d = sw_route_receive(count, type, source,      \
                                              comm);                    \
    if (must_not_block(d, source)) {                                    \
        MPI_Request request = MPI_REQUEST_NULL;                         \
        int rc = sw_MPI_Irecv##SUFFIX(buffer, count, type, source, tag, \
                                      comm, &request);                  \
        return rc ? rc : sw_wait_one(&request, status);                 \
    }                                                                   \
    if (!d)                                                             \
        return host.Recv##SUFFIX(buffer, count, type, source, tag,      \
                                 comm, status);                         \
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;\
    int rc = host.Recv##SUFFIX(buffer, count, type, source, tag, comm,  \
                               to);                                     \
    if (rc != MPI_SUCCESS)                                              \
        return rc;                                                      \
    return sw_raise(comm, sw_received(buffer, count, d, comm, to));     \
}

RECV(, int)
#if SW_LARGE_COUNT
RECV(_c, MPI_Count)
#endif

/* What a matched probe has found (probe.c): only of descriptors is the
 * communicator remembered, and only those are looked at. */
#define MRECV(SUFFIX, COUNT)                                            \
int sw_MPI_Imrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type, \
                          MPI_Message *message, MPI_Request *request)   \
{                                                                       \
    MPI_Comm comm = sw_matched_comm(message);                           \
    int rc = host.Imrecv##SUFFIX(buffer, count, type, message, request);\
    if (comm == MPI_COMM_NULL || rc != MPI_SUCCESS)                     \
        return rc;                                                      \
    const sw_datatype_t *d = sw_route_receive(count, type, 0, comm);    \
    return d ? track(*request, buffer, count, d, comm, MPI_PROC_NULL, 0)\
             : rc;                                                      \
}                                                                       \
                                                                        \
int sw_MPI_Mrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         MPI_Message *message, MPI_Status *status)      \
{                                                                       \
    MPI_Comm comm = sw_matched_comm(message);                           \
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;\
    int rc = host.Mrecv##SUFFIX(buffer, count, type, message, to);      \
    if (comm == MPI_COMM_NULL || rc != MPI_SUCCESS)                     \
        return rc;                                                      \
    const sw_datatype_t *d = sw_route_receive(count, type, 0, comm);    \
    return d ? sw_raise(comm, sw_received(buffer, count, d, comm, to))  \
             : rc;                                                      \
}

MRECV(, int)
#if SW_LARGE_COUNT
MRECV(_c, MPI_Count)
#endif
