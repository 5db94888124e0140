/*
 * calls.c - the procedures of point-to-point messages: ours between near ranks
 * (near.h), else the host's.
 */
#include "aside.h"
#include "either.h"
#include "far.h"
#include "mpi/request/complete.h"
#include "near_probe.h"
#include "near_receive.h"
#include "near_send.h"
#include "pair.h"

/* Is it a send of ours? False: the host judges, or has (*rc). */
static inline bool sends(sw_near_t *w, MPI_Comm comm, const void *buffer,
                         int64_t count, MPI_Datatype type, int dest, int tag,
                         int *rc)
{
    sw_comm_t *c = sw_near(comm);
    *rc = MPI_SUCCESS;
    return c && sw_near_describe(w, c, comm, buffer, count, type, dest, tag,
                                 SW_NEAR_NONE, rc);
}

static inline bool receives(sw_near_t *w, MPI_Comm comm, void *buffer,
                            int64_t count, MPI_Datatype type, int source,
                            int tag, int *rc)
{
    sw_comm_t *c = sw_near(comm);
    *rc = MPI_SUCCESS;
    return c && sw_near_describe(w, c, comm, buffer, count, type,
                                 sw_near_source(source), sw_near_tag(tag),
                                 SW_PATTERN_ANY, rc);
}

#define SEND(NAME, COUNT, MODE, FAR)                                    \
int sw_MPI_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm)                     \
{                                                                       \
    sw_near_t w;                                                        \
    int rc;                                                             \
    if (sw_likely(sends(&w, comm, buffer, count, type, dest, tag, &rc)))\
        return sw_near_send(&w, MODE);                                  \
    return rc ? rc : FAR(buffer, count, type, dest, tag, comm);         \
}

#define ISEND(NAME, COUNT, MODE, HOW)                                   \
int sw_MPI_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm, MPI_Request *request) \
{                                                                       \
    sw_near_t w;                                                        \
    int rc;                                                             \
    if (sw_likely(sends(&w, comm, buffer, count, type, dest, tag, &rc)))\
        return HOW(&w, MODE, request);                                  \
    return rc ? rc : host.NAME(buffer, count, type, dest, tag, comm,    \
                               request);                                \
}

#define RECV(SUFFIX, COUNT)                                             \
int sw_MPI_Recv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,   \
                        int source, int tag, MPI_Comm comm,             \
                        MPI_Status *status)                             \
{                                                                       \
    sw_near_t w;                                                        \
    int rc;                                                             \
    if (sw_likely(receives(&w, comm, buffer, count, type, source, tag,  \
                           &rc)))                                       \
        return sw_is_either(&w) ? sw_either_recv(&w, status)            \
                                : sw_near_recv(&w, status);             \
    return rc ? rc : sw_far_Recv##SUFFIX(buffer, count, type, source,   \
                                         tag, comm, status);            \
}                                                                       \
int sw_MPI_Irecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         int source, int tag, MPI_Comm comm,            \
                         MPI_Request *request)                          \
{                                                                       \
    sw_near_t w;                                                        \
    int rc;                                                             \
    if (sw_likely(receives(&w, comm, buffer, count, type, source, tag,  \
                           &rc)))                                       \
        return sw_is_either(&w) ? sw_either_itake(&w, NULL, request)    \
                                : sw_near_irecv(&w, request);           \
    return rc ? rc : host.Irecv##SUFFIX(buffer, count, type, source,    \
                                        tag, comm, request);            \
}                                                                       \
int sw_MPI_Recv_init##SUFFIX(void *buffer, COUNT count,                 \
                             MPI_Datatype type, int source, int tag,    \
                             MPI_Comm comm, MPI_Request *request)       \
{                                                                       \
    sw_near_t w;                                                        \
    int rc;                                                             \
    if (receives(&w, comm, buffer, count, type, source, tag, &rc))      \
        return sw_is_either(&w) ? sw_either_recv_init(&w, request)      \
                                : sw_near_recv_init(&w, request);       \
    return rc ? rc : host.Recv_init##SUFFIX(buffer, count, type,        \
                                            source, tag, comm,          \
                                            request);                   \
}

/* Any partner will do for a matched message. */
static bool mreceives(sw_near_t *w, const MPI_Message *message, void *buffer,
                      int64_t count, MPI_Datatype type, int *rc)
{
    sw_comm_t *c;
    *rc = MPI_SUCCESS;
    return message && sw_near_knows(message, &c) &&
           sw_near_describe(w, c, sw_comm_or_any(c), buffer, count, type,
                            c->me, 0, SW_NEAR_NONE, rc);
}

#define MRECV(SUFFIX, COUNT)                                            \
int sw_MPI_Mrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type,  \
                         MPI_Message *message, MPI_Status *status)      \
{                                                                       \
    sw_near_t w;                                                        \
    sw_comm_t *c;                                                       \
    int rc;                                                             \
    if (!mreceives(&w, message, buffer, count, type, &rc))              \
        return rc ? rc : sw_far_Mrecv##SUFFIX(buffer, count, type,      \
                                              message, status);         \
    rc = sw_near_mrecv(&w, sw_near_message(message, &c), status);       \
    sw_comm_drop(c);                                                    \
    return rc;                                                          \
}                                                                       \
int sw_MPI_Imrecv##SUFFIX(void *buffer, COUNT count, MPI_Datatype type, \
                          MPI_Message *message, MPI_Request *request)   \
{                                                                       \
    sw_near_t w;                                                        \
    sw_comm_t *c;                                                       \
    int rc;                                                             \
    if (!mreceives(&w, message, buffer, count, type, &rc))              \
        return rc ? rc : host.Imrecv##SUFFIX(buffer, count, type,       \
                                             message, request);         \
    rc = sw_near_imrecv(&w, sw_near_message(message, &c), request);     \
    sw_comm_drop(c);                                                    \
    return rc;                                                          \
}

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
#define APART(SUFFIX, COUNT)                                            \
static int apart##SUFFIX(                                               \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Status *status)           \
{                                                                       \
    MPI_Request receive;                                                \
    int rc = sw_MPI_Irecv##SUFFIX(in, incount, intype, source, intag,   \
                                  comm, &receive);                      \
    if (rc != MPI_SUCCESS)                                              \
        return rc;                                                      \
    int sent = sw_MPI_Send##SUFFIX(out, outcount, outtype, dest,        \
                                   outtag, comm);                       \
    if (sent != MPI_SUCCESS)                                            \
        sw_MPI_Cancel(&receive);                                        \
    int received = sw_wait_one(&receive, status);                       \
    return sent ? sent : received;                                      \
}

#define SENDRECV(SUFFIX, COUNT)                                         \
int sw_MPI_Sendrecv##SUFFIX(                                            \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Status *status)           \
{                                                                       \
    sw_near_t to, from;                                                 \
    int rc, rc2 = MPI_SUCCESS;                                          \
    if (!sw_near(comm))                                                 \
        return sw_far_Sendrecv##SUFFIX(out, outcount, outtype, dest,    \
                                       outtag, in, incount, intype,     \
                                       source, intag, comm, status);    \
    if (dest == MPI_PROC_NULL)                                          \
        return sw_MPI_Recv##SUFFIX(in, incount, intype, source, intag,  \
                                   comm, status);                       \
    if (source == MPI_PROC_NULL) {                                      \
        rc = sw_MPI_Send##SUFFIX(out, outcount, outtype, dest, outtag,  \
                                 comm);                                 \
        return rc ? rc : host.Recv##SUFFIX(in, incount, intype, source, \
                                           intag, comm, status);        \
    }                                                                   \
    bool ours = sends(&to, comm, out, outcount, outtype, dest, outtag,  \
                      &rc);                                             \
    if (rc)                                                             \
        return rc;                                                      \
    bool ours2 = receives(&from, comm, in, incount, intype, source,     \
                          intag, &rc2);                                 \
    if (rc2)                                                            \
        return rc2;                                                     \
    if (sw_likely(ours && ours2 && !sw_is_either(&from)))               \
        return exchange(&to, &from, status);                            \
    return (ours || ours2 ? apart##SUFFIX : sw_far_Sendrecv##SUFFIX)(   \
        out, outcount, outtype, dest, outtag, in, incount, intype,      \
        source, intag, comm, status);                                   \
}                                                                       \
int sw_MPI_Sendrecv_replace##SUFFIX(                                    \
    void *buffer, COUNT count, MPI_Datatype type, int dest, int outtag, \
    int source, int intag, MPI_Comm comm, MPI_Status *status)           \
{                                                                       \
    const sw_datatype_t *d;                                             \
    int rc = MPI_SUCCESS;                                               \
    if (!sw_near(comm) && !sw_owing())                                  \
        return host.Sendrecv_replace##SUFFIX(                           \
            buffer, count, type, dest, outtag, source, intag, comm,     \
            status);                                                    \
    if (dest == MPI_PROC_NULL || source == MPI_PROC_NULL)               \
        return sw_MPI_Sendrecv##SUFFIX(buffer, count, type, dest,       \
                                       outtag, buffer, count, type,     \
                                       source, intag, comm, status);    \
    if (!sw_usable(buffer, count, type, comm, &d, &rc))                 \
        return rc ? rc : host.Sendrecv_replace##SUFFIX(                 \
            buffer, count, type, dest, outtag, source, intag, comm,     \
            status);                                                    \
    void *block = NULL;                                                 \
    const void *copy = count && d->size                                 \
        ? sw_set_aside(buffer, count, d, comm, &block) : NULL;          \
    rc = sw_MPI_Sendrecv##SUFFIX(copy, count, type, dest, outtag,       \
                                 buffer, count, type, source, intag,    \
                                 comm, status);                         \
    sw_temporary_free(block);                                           \
    return rc;                                                          \
}

#ifdef SW_HAS_Isendrecv
/* What comes from MPI_PROC_NULL is said here: MPICH 4.0's nonblocking receive
 * says that rank 0 has sent it. */
#define ISENDRECV(SUFFIX, COUNT)                                        \
static int isendrecv##SUFFIX(                                           \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *block, void *in, COUNT incount,                   \
    MPI_Datatype intype, int source, int intag, MPI_Comm comm,          \
    MPI_Request *request)                                               \
{                                                                       \
    sw_pair_t *p = sw_pair_new(comm, block);                            \
    int rc = MPI_SUCCESS;                                               \
    if (source == MPI_PROC_NULL)                                        \
        host.Recv##SUFFIX(in, incount, intype, source, intag, comm,     \
                          &p->status);                                  \
    else                                                                \
        rc = sw_MPI_Irecv##SUFFIX(in, incount, intype, source, intag,   \
                                  comm, &p->receive);                   \
    if (rc == MPI_SUCCESS && dest != MPI_PROC_NULL)                     \
        rc = sw_MPI_Isend##SUFFIX(out, outcount, outtype, dest, outtag, \
                                  comm, &p->send);                      \
    return sw_pair_begun(p, rc, request);                               \
}                                                                       \
int sw_MPI_Isendrecv##SUFFIX(                                           \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Request *request)         \
{                                                                       \
    sw_near_t w;                                                        \
    int rc;                                                             \
    bool ours = sends(&w, comm, out, outcount, outtype, dest, outtag,   \
                      &rc);                                             \
    if (!ours && !rc)                                                   \
        ours = receives(&w, comm, in, incount, intype, source, intag,   \
                        &rc);                                           \
    if (ours)                                                           \
        return isendrecv##SUFFIX(out, outcount, outtype, dest, outtag,  \
                                 NULL, in, incount, intype, source,     \
                                 intag, comm, request);                 \
    return rc ? rc                                                      \
        : host.Isendrecv##SUFFIX(out, outcount, outtype, dest, outtag,  \
                                 in, incount, intype, source, intag,    \
                                 comm, request);                        \
}                                                                       \
int sw_MPI_Isendrecv_replace##SUFFIX(                                   \
    void *buffer, COUNT count, MPI_Datatype type, int dest, int outtag, \
    int source, int intag, MPI_Comm comm, MPI_Request *request)         \
{                                                                       \
    const sw_datatype_t *d;                                             \
    int rc = MPI_SUCCESS;                                               \
    bool one = dest == MPI_PROC_NULL || source == MPI_PROC_NULL;        \
    if (sw_near(comm) && one)                                           \
        return sw_MPI_Isendrecv##SUFFIX(                                \
            buffer, count, type, dest, outtag, buffer, count, type,     \
            source, intag, comm, request);                              \
    if (!sw_near(comm) ||                                               \
        !sw_usable(buffer, count, type, comm, &d, &rc))                 \
        return rc ? rc : host.Isendrecv_replace##SUFFIX(                \
            buffer, count, type, dest, outtag, source, intag, comm,     \
            request);                                                   \
    void *block = NULL;                                                 \
    const void *copy = count && d->size                                 \
        ? sw_set_aside(buffer, count, d, comm, &block) : NULL;          \
    return isendrecv##SUFFIX(copy, count, type, dest, outtag, block,    \
                             buffer, count, type, source, intag, comm,  \
                             request);                                  \
}
#else
#define ISENDRECV(SUFFIX, COUNT)
#endif

#define ALL(SUFFIX, COUNT)                                              \
    SEND(Send##SUFFIX, COUNT, SW_SEND_STANDARD, sw_far_Send##SUFFIX)    \
    SEND(Rsend##SUFFIX, COUNT, SW_SEND_STANDARD, sw_far_Rsend##SUFFIX)  \
    SEND(Ssend##SUFFIX, COUNT, SW_SEND_SYNCHRONOUS,                     \
         sw_far_Ssend##SUFFIX)                                          \
    SEND(Bsend##SUFFIX, COUNT, SW_SEND_BUFFERED, host.Bsend##SUFFIX)    \
    ISEND(Isend##SUFFIX, COUNT, SW_SEND_STANDARD, sw_near_isend)        \
    ISEND(Irsend##SUFFIX, COUNT, SW_SEND_STANDARD, sw_near_isend)       \
    ISEND(Issend##SUFFIX, COUNT, SW_SEND_SYNCHRONOUS, sw_near_isend)    \
    ISEND(Ibsend##SUFFIX, COUNT, SW_SEND_BUFFERED, sw_near_isend)       \
    ISEND(Send_init##SUFFIX, COUNT, SW_SEND_STANDARD, sw_near_send_init)\
    ISEND(Rsend_init##SUFFIX, COUNT, SW_SEND_STANDARD,                  \
          sw_near_send_init)                                            \
    ISEND(Ssend_init##SUFFIX, COUNT, SW_SEND_SYNCHRONOUS,               \
          sw_near_send_init)                                            \
    ISEND(Bsend_init##SUFFIX, COUNT, SW_SEND_BUFFERED,                  \
          sw_near_send_init)                                            \
    RECV(SUFFIX, COUNT)                                                 \
    MRECV(SUFFIX, COUNT)                                                \
    APART(SUFFIX, COUNT)                                                \
    SENDRECV(SUFFIX, COUNT)                                             \
    ISENDRECV(SUFFIX, COUNT)

ALL(, int)
#if SW_LARGE_COUNT
ALL(_c, MPI_Count)
#endif

/* Probes ------------------------------------------------------------------- */

int sw_MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    sw_track_progress();
    if (!sw_near_probes(&p, &c, source, tag, comm))
        return host.Iprobe(source, tag, comm, flag, status);
    return sw_near_iprobe(c, &p, false, flag, status);
}

int sw_MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    int flag;
    return sw_near_probes(&p, &c, source, tag, comm)
        ? sw_near_iprobe(c, &p, true, &flag, status)
        : sw_far_Probe(source, tag, comm, status);
}

int sw_MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    sw_track_progress();
    if (!sw_near_probes(&p, &c, source, tag, comm))
        return host.Improbe(source, tag, comm, flag, message, status);
    return sw_near_improbe(c, &p, false, flag, message, status);
}

int sw_MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message,
                  MPI_Status *status)
{
    sw_pattern_t p;
    sw_comm_t *c;
    int flag;
    return sw_near_probes(&p, &c, source, tag, comm)
        ? sw_near_improbe(c, &p, true, &flag, message, status)
        : sw_far_Mprobe(source, tag, comm, message, status);
}
