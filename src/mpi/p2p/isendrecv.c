/*
 * isendrecv.c - MPI_Isendrecv and MPI_Isendrecv_replace.
 *
 * Where a descriptor may be received, they are a pair: a receive and a send,
 * each as any other of ours. The program gets one generalized request for both.
 * The host's own forms will not do: MPICH's leaves the status empty, so nobody
 * knows whether what came could be a descriptor. What only sends, to be counted
 * (route.h), is ours in the _replace form as well: Open MPI's calls
 * MPI_Isendrecv, which would be counted again.
 */
#include "aside.h"
#include "mpi/base/buffer.h"
#include "mpi/request/complete.h"
#include "receives.h"
#include "route.h"
#include "send.h"

#ifdef SW_HAS_Isendrecv

typedef struct {
    sw_receive_t receive;
    MPI_Request plain, second;      /* the receive and the send              */
    void *copy;                     /* of what is sent, or NULL             */
} pair_t;

/* A host's error in either half ends that half, and is kept. */
static bool ask(sw_track_t *t)
{
    pair_t *p = (pair_t *)t;
    MPI_Status ignored;
    int received = 1, sent = 1;
    if (p->plain != MPI_REQUEST_NULL) {
        int rc = host.Test(&p->plain, &received, &t->status);
        t->result = rc ? rc : t->result;
        received = received || rc;
    }
    if (p->second != MPI_REQUEST_NULL) {
        int rc = sw_MPI_Test(&p->second, &sent, &ignored);
        t->result = t->result ? t->result : rc;
        sent = sent || rc;
    }
    if (!received || !sent)
        return false;
    t->done = true;
    host.Grequest_complete(t->handle);
    return true;
}

static int finish(sw_track_t *t, MPI_Status *status)
{
    *status = t->status;
    int error = sw_receive_peek(t, status);
    sw_temporary_free(((pair_t *)t)->copy);
    return error;
}

static int cancel_receive(sw_track_t *t, MPI_Request *request)
{
    return host.Cancel(&((pair_t *)t)->plain);
}

static sw_track_t *spare;

static const sw_track_kind_t pair_kind = {
    .size = sizeof(pair_t),
    .spare = &spare,
    .ready = sw_track_ask,
    .ask = ask,
    .peek = sw_receive_peek,
    .finish = finish,
    .free = sw_receive_free,
    .cancel = cancel_receive,
    .enlist = sw_receive_enlist,
    .delist = sw_receive_delist,
    .release = sw_receive_release,
};

static int query(void *extra, MPI_Status *status)
{
    sw_status_empty(status);        /* ours replaces it */
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    return MPI_SUCCESS;
}

/* What is sent, in bytes or elements of either calling form. */
typedef struct {
    const void *data;
    int64_t count;
    MPI_Datatype type;
    int dest, tag;
    void *copy;                     /* to be freed, or NULL */
} outgoing_t;

static int send_off(const outgoing_t *out, MPI_Comm comm, MPI_Request *request)
{
#if SW_LARGE_COUNT
    if (out->count > INT32_MAX)
        return sw_MPI_Isend_c(out->data, (MPI_Count)out->count, out->type,
                              out->dest, out->tag, comm, request);
#endif
    return sw_MPI_Isend(out->data, (int)out->count, out->type, out->dest,
                        out->tag, comm, request);
}

static int receive(pair_t *p, MPI_Datatype type, MPI_Comm comm)
{
    const sw_receive_t *r = &p->receive;
#if SW_LARGE_COUNT
    if (r->in.count > INT32_MAX)
        return host.Irecv_c(SW_RECV_BUFFER(r->in, type), r->source, r->tag,
                            comm, &p->plain);
#endif
    return host.Irecv(SW_RECV_BUFFER(r->in, type), r->source, r->tag, comm,
                      &p->plain);
}

/* The receive first, so that nothing is sent if it is refused. */
static int both(const outgoing_t *out, void *in, int64_t count,
                MPI_Datatype type, const sw_datatype_t *d, int source, int tag,
                MPI_Comm comm, MPI_Request *request)
{
    const sw_recv_buffer_t recv_buffer = sw_recv_buffer(in, count, d);
    pair_t *p = (pair_t *)sw_receive_new(&pair_kind, &recv_buffer,
                                         sw_comm_state(comm), source, tag);
    sw_track_t *t = &p->receive.track;
    p->plain = p->second = MPI_REQUEST_NULL;
    p->copy = out->copy;
    t->held = true;                 /* until both are under way */
    host.Grequest_start(query, release, cancel, NULL, &t->handle);
    sw_match_enter();
    int rc = receive(p, type, comm);
    if (rc == MPI_SUCCESS)
        sw_track_add(t);
    sw_match_leave();
    if (rc != MPI_SUCCESS) {
        host.Grequest_complete(t->handle);
        host.Request_free(&t->handle);
        sw_temporary_free(p->copy);
        sw_track_drop(t);
        return rc;
    }
    *request = t->handle;
    rc = send_off(out, comm, &p->second);
    if (rc != MPI_SUCCESS)
        host.Cancel(&p->plain);
    sw_track_let_go(t);
    if (rc != MPI_SUCCESS)
        sw_wait_one(request, MPI_STATUS_IGNORE);
    return rc;
}

#define ISENDRECV(SUFFIX, COUNT)                                        \
int sw_far_Isendrecv##SUFFIX(                                           \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Request *request)         \
{                                                                       \
    const sw_datatype_t *d = sw_route_receive(incount, intype, source,  \
                                              comm);                    \
    if (!d) {                                                           \
        sw_route_plain(outcount, outtype, dest, outtag, comm, true);    \
        return host.Isendrecv##SUFFIX(out, outcount, outtype, dest,     \
                                      outtag, in, incount, intype,      \
                                      source, intag, comm, request);    \
    }                                                                   \
    outgoing_t going = {out, outcount, outtype, dest, outtag, NULL};    \
    return both(&going, in, incount, intype, d, source, intag, comm,    \
                request);                                               \
}                                                                       \
                                                                        \
int sw_far_Isendrecv_replace##SUFFIX(                                   \
    void *buffer, COUNT count, MPI_Datatype type, int dest, int outtag, \
    int source, int intag, MPI_Comm comm, MPI_Request *request)         \
{                                                                       \
    const sw_datatype_t *d = NULL;                                      \
    if (source != MPI_PROC_NULL || dest != MPI_PROC_NULL)               \
        d = sw_route_receive(count, type, 0, comm);                     \
    if (!d)                                                             \
        return host.Isendrecv_replace##SUFFIX(buffer, count, type, dest,\
                                              outtag, source, intag,    \
                                              comm, request);           \
    outgoing_t going = {NULL, count, type, dest, outtag, NULL};         \
    going.data = sw_set_aside(buffer, count, d, comm, &going.copy);     \
    return both(&going, buffer, count, type, d, source, intag, comm,    \
                request);                                               \
}

ISENDRECV(, int)
#if SW_LARGE_COUNT
ISENDRECV(_c, MPI_Count)
#endif
#endif
