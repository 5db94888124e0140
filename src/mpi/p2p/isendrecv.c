/*
 * isendrecv.c - MPI_Isendrecv and MPI_Isendrecv_replace.
 *
 * Where a descriptor may be received, they are a receive and a send, each as
 * any other of ours, behind one generalized request, which the program gets: a
 * pair (track.h). The host's own forms will not do: MPICH's leaves the status
 * empty, so that nobody knows whether what came could be a descriptor. What
 * only sends, to be counted (route.h), is ours in the _replace form as well:
 * Open MPI's calls MPI_Isendrecv, which would be counted again.
 */
#include "aside.h"
#include "complete.h"
#include "route.h"
#include "send.h"

#ifdef SW_HAS_Isendrecv

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

static int receive(sw_track_t *t, MPI_Datatype type, MPI_Comm comm)
{
#if SW_LARGE_COUNT
    if (t->in.count > INT32_MAX)
        return host.Irecv_c(SW_RECV_BUFFER(t->in, type), t->rank, t->tag, comm,
                            &t->plain);
#endif
    return host.Irecv(SW_RECV_BUFFER(t->in, type), t->rank, t->tag, comm,
                      &t->plain);
}

/* The receive first, so that nothing is sent if it is refused. */
static int both(const outgoing_t *out, void *in, int64_t count,
                MPI_Datatype type, const sw_datatype_t *d, int source, int tag,
                MPI_Comm comm, MPI_Request *request)
{
    const sw_recv_buffer_t recv_buffer = sw_recv_buffer(in, count, d);
    sw_track_t *t = sw_track_receive(&recv_buffer, sw_comm_state(comm), source,
                                     tag);
    t->pair = true;
    t->copy = out->copy;
    t->held = true;                 /* until both are under way */
    host.Grequest_start(query, release, cancel, NULL, &t->handle);
    sw_match_enter();
    int rc = receive(t, type, comm);
    if (rc == MPI_SUCCESS)
        sw_track_add(t);
    sw_match_leave();
    if (rc != MPI_SUCCESS) {
        host.Grequest_complete(t->handle);
        host.Request_free(&t->handle);
        sw_temporary_free(t->copy);
        sw_track_drop(t);
        return rc;
    }
    *request = t->handle;
    rc = send_off(out, comm, &t->second);
    if (rc != MPI_SUCCESS)
        host.Cancel(&t->plain);
    sw_track_let_go(t);
    if (rc != MPI_SUCCESS)
        sw_wait_one(request, MPI_STATUS_IGNORE);
    return rc;
}

#define ISENDRECV(SUFFIX, COUNT)                                        \
int sw_MPI_Isendrecv##SUFFIX(                                           \
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
int sw_MPI_Isendrecv_replace##SUFFIX(                                   \
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
