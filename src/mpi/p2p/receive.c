/*
 * receive.c - MPI_Recv and MPI_Irecv, MPI_Mrecv and MPI_Imrecv.
 *
 * A receive that a descriptor may reach is looked at when it completes
 * (receives.h, mpi/request/note.h). A blocking one waits in the host, unless
 * other receives are posted that a peer may be waiting for: then it becomes its
 * nonblocking form, so that they are served meanwhile.
 */
#include "mpi/request/complete.h"

#include "mpi/base/raise.h"
#include "doubt.h"
#include "receive.h"
#include "receives.h"
#include "route.h"

/* A note of it, if that is enough. */
static void note(MPI_Request handle, const sw_recv_buffer_t *in,
                 MPI_Comm comm, int source, int tag)
{
    const sw_note_t one = {.handle = handle, .in = *in,
                           .comm = sw_comm_state(comm), .source = source,
                           .tag = tag};
    if (sw_tracks_shared || in->block ||
        sw_recv_buffer_is_large(in) ||
        !sw_note_put(&one)) {
        sw_receive_add(handle, in, one.comm, source, tag, false);
        return;
    }
    sw_datatype_hold(in->type);
    sw_comm_hold(one.comm);
}

/* With threads, too: another's probe must find it (sw_receive_expected). */
static inline bool must_not_block(const sw_datatype_t *d, int source)
{
    return (sw_owing() && source != MPI_PROC_NULL) || (d && sw_threaded);
}

#define RECV(SUFFIX, COUNT)                                             \
int sw_far_Irecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         int source, int tag, MPI_Comm comm,            \
                         MPI_Request *request)                          \
{                                                                       \
    const sw_datatype_t *d = sw_route_receive(count, type, source,      \
                                              comm);                    \
    if (!d)                                                             \
        return host.Irecv##SUFFIX(buffer, count, type, source, tag,     \
                                  comm, request);                       \
    const sw_recv_buffer_t in = sw_recv_buffer(buffer, count, d);       \
    sw_match_enter();                                                   \
    int rc = host.Irecv##SUFFIX(SW_RECV_BUFFER(in, type), source, tag,  \
                                comm, request);                         \
    if (rc == MPI_SUCCESS)                                              \
        note(*request, &in, comm, source, tag);                         \
    else                                                                \
        sw_temporary_free(in.block);                                    \
    sw_match_leave();                                                   \
    return rc;                                                          \
}                                                                       \
                                                                        \
int sw_far_Recv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,   \
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
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;\
    if (!d)                                                             \
        return sw_checked_on(                                           \
            host.Recv##SUFFIX(buffer, count, type, source, tag, comm,   \
                              to),                                      \
            to, comm, buffer, count, type);                             \
    const sw_recv_buffer_t in = sw_recv_buffer(buffer, count, d);       \
    int rc = host.Recv##SUFFIX(SW_RECV_BUFFER(in, type), source, tag,   \
                               comm, to);                               \
    if (rc != MPI_SUCCESS) {                                            \
        sw_temporary_free(in.block);                                    \
        return rc;                                                      \
    }                                                                   \
    return sw_raise(comm, sw_received_on(&in, comm, to));               \
}

RECV(, int)
#if SW_LARGE_COUNT
RECV(_c, MPI_Count)
#endif

/* The type of a message that a matched probe has found, if what comes must be
 * looked at. */
static const sw_datatype_t *expected(sw_matched_t *m, MPI_Message *message,
                                     int64_t count, MPI_Datatype type)
{
    return sw_matched_take(message, m)
        ? sw_route_receive(count, type, 0, sw_comm_or_any(m->comm)) : NULL;
}

/* Nobody looked, or the host has refused. */
static int not_looked_at(const sw_matched_t *m, const sw_recv_buffer_t *in,
                         int rc)
{
    sw_temporary_free(in->block);
    if (m->comm) {
        sw_matched_lost(m);
        sw_comm_drop(m->comm);
    }
    return rc;
}

#define MRECV(SUFFIX, COUNT)                                            \
int sw_far_Imrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type, \
                          MPI_Message *message, MPI_Request *request)   \
{                                                                       \
    sw_matched_t m;                                                     \
    const sw_datatype_t *d = expected(&m, message, count, type);        \
    const sw_recv_buffer_t in = sw_recv_buffer(buffer, count, d);       \
    int rc = host.Imrecv##SUFFIX(SW_RECV_BUFFER(in, type), message,     \
                                 request);                              \
    if (!d || rc != MPI_SUCCESS)                                        \
        return not_looked_at(&m, &in, rc);                              \
    sw_receive_add(*request, &in, m.comm, m.source, m.tag, true);       \
    sw_comm_drop(m.comm);                                               \
    return rc;                                                          \
}                                                                       \
                                                                        \
int sw_far_Mrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         MPI_Message *message, MPI_Status *status)      \
{                                                                       \
    sw_matched_t m;                                                     \
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;\
    const sw_datatype_t *d = expected(&m, message, count, type);        \
    const sw_recv_buffer_t in = sw_recv_buffer(buffer, count, d);       \
    int rc = host.Mrecv##SUFFIX(SW_RECV_BUFFER(in, type), message, to); \
    if (!d || rc != MPI_SUCCESS)                                        \
        return not_looked_at(&m, &in, rc);                              \
    rc = sw_raise_pending(m.comm, sw_received(&in, m.comm, to));        \
    sw_comm_drop(m.comm);                                               \
    return rc;                                                          \
}

MRECV(, int)
#if SW_LARGE_COUNT
MRECV(_c, MPI_Count)
#endif
