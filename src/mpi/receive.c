/*
 * receive.c - MPI_Recv and MPI_Irecv, MPI_Mrecv and MPI_Imrecv.
 *
 * A receive that a descriptor may reach is looked at when it completes
 * (track.h, small.h). A blocking one waits in the host, unless other receives
 * are posted that a peer may be waiting for: then it becomes its nonblocking
 * form, so that they are served meanwhile.
 */
#include "complete.h"
#include "receive.h"
#include "route.h"
#include "tally.h"

static int track(MPI_Request handle, const sw_landing_t *in, MPI_Comm comm,
                 int source, int tag)
{
    sw_track_t *t = sw_track_receive(in, comm, source, tag);
    t->handle = handle;
    sw_track_add(t);
    return MPI_SUCCESS;
}

/* A note of it, if that is enough. */
static int note(MPI_Request handle, const sw_landing_t *in, MPI_Comm comm,
                int source, int tag)
{
    const sw_note_t one = {.handle = handle, .in = *in, .comm = comm,
                           .source = source, .tag = tag};
    if (sw_tracks_shared || in->block ||
        sw_landing_is_large(in) ||
        !sw_note_put(&one))
        return track(handle, in, comm, source, tag);
    sw_datatype_hold(in->type);
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
    const sw_landing_t in = sw_landing(buffer, count, d);               \
    sw_match_enter();                                                   \
    int rc = host.Irecv##SUFFIX(SW_LANDING(in, type), source, tag, comm,\
                                request);                               \
    if (rc == MPI_SUCCESS)                                              \
        rc = note(*request, &in, comm, source, tag);                    \
    else                                                                \
        sw_temporary_free(in.block);                                    \
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
        return sw_tally_doubt(                                          \
            host.Recv##SUFFIX(buffer, count, type, source, tag, comm,   \
                              status));                                 \
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;\
    const sw_landing_t in = sw_landing(buffer, count, d);               \
    int rc = host.Recv##SUFFIX(SW_LANDING(in, type), source, tag, comm, \
                               to);                                     \
    if (rc != MPI_SUCCESS) {                                            \
        sw_temporary_free(in.block);                                    \
        return rc;                                                      \
    }                                                                   \
    return sw_raise(comm, sw_received(&in, comm, to));                  \
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
    const sw_datatype_t *d = comm == MPI_COMM_NULL                      \
        ? NULL : sw_route_receive(count, type, 0, comm);                \
    const sw_landing_t in = sw_landing(buffer, count, d);               \
    int rc = host.Imrecv##SUFFIX(SW_LANDING(in, type), message,         \
                                 request);                              \
    if (d && rc == MPI_SUCCESS)                                         \
        return track(*request, &in, comm, MPI_PROC_NULL, 0);            \
    sw_temporary_free(in.block);                                        \
    return rc;                                                          \
}                                                                       \
                                                                        \
int sw_MPI_Mrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         MPI_Message *message, MPI_Status *status)      \
{                                                                       \
    MPI_Comm comm = sw_matched_comm(message);                           \
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;\
    const sw_datatype_t *d = comm == MPI_COMM_NULL                      \
        ? NULL : sw_route_receive(count, type, 0, comm);                \
    const sw_landing_t in = sw_landing(buffer, count, d);               \
    int rc = host.Mrecv##SUFFIX(SW_LANDING(in, type), message, to);     \
    if (d && rc == MPI_SUCCESS)                                         \
        return sw_raise(comm, sw_received(&in, comm, to));              \
    sw_temporary_free(in.block);                                        \
    return rc;                                                          \
}

MRECV(, int)
#if SW_LARGE_COUNT
MRECV(_c, MPI_Count)
#endif
