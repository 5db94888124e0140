/*
 * persistent.c - MPI_Send_init, MPI_Recv_init and their modes, MPI_Start,
 * MPI_Startall.
 *
 * A persistent send of a large message is the host's persistent request for
 * the descriptor, which is filled anew at each start. Beside it there is one
 * for the message itself, for starts at which no descriptor may travel.
 */
#include "complete.h"
#include "route.h"

/* What a start will offer; the slot of this trial is given back. */
static sw_track_t *persistent(const void *buffer, int64_t count,
                              MPI_Datatype type, int dest, int tag,
                              MPI_Comm comm)
{
    sw_route_lasts(buffer, count, type, dest, comm);
    sw_offer_t offer;
    sw_descriptor_t descriptor;
    sw_slot_t *slot = sw_route(buffer, count, type, dest, tag, comm,
                               false, &offer, &descriptor);
    if (sw_likely(!slot))
        return NULL;
    sw_route_sent(slot);
    sw_route_withdraw(slot);
    sw_track_t *t = sw_track_new();
    if (!t)
        return NULL;
    t->persistent = true;
    t->in.type = sw_route_type(type, count, comm);
    sw_datatype_hold(t->in.type);
    t->in.count = count;
    t->offer = offer;
    t->descriptor = descriptor;
    t->comm = sw_comm_state(comm);
    sw_comm_hold(t->comm);
    t->rank = dest;
    t->tag = tag;
    return t;
}

static int add(sw_track_t *t, int rc, const MPI_Request *request)
{
    if (rc != MPI_SUCCESS) {
        if (t->plain != MPI_REQUEST_NULL)
            host.Request_free(&t->plain);
        sw_track_drop(t);
        return rc;
    }
    t->handle = *request;
    sw_track_add(t);
    return rc;
}

#define SEND_INIT(NAME, COUNT, INIT, SYNCHRONOUS)                       \
int sw_MPI_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm,                     \
                  MPI_Request *request)                                 \
{                                                                       \
    sw_track_t *t = persistent(buffer, count, type, dest, tag, comm);   \
    if (!t)                                                             \
        return host.NAME(buffer, count, type, dest, tag, comm, request);\
    t->synchronous = SYNCHRONOUS;                                       \
    int rc = host.NAME(buffer, count, type, dest, tag, comm, &t->plain);\
    if (rc == MPI_SUCCESS)                                              \
        rc = host.INIT(&t->descriptor, SW_DESCRIPTOR_BYTES, MPI_BYTE,   \
                       dest, tag, comm, request);                       \
    return add(t, rc, request);                                         \
}

#define RECV_INIT(NAME, COUNT)                                          \
int sw_MPI_##NAME(void *buffer, COUNT count, MPI_Datatype type,         \
                  int source, int tag, MPI_Comm comm,                   \
                  MPI_Request *request)                                 \
{                                                                       \
    const sw_datatype_t *d = sw_route_receive(count, type, source,      \
                                              comm);                    \
    const sw_recv_buffer_t in = sw_recv_buffer(buffer, count, d);       \
    int rc = host.NAME(SW_RECV_BUFFER(in, type), source, tag, comm,     \
                       request);                                        \
    if (!d || rc != MPI_SUCCESS) {                                      \
        sw_temporary_free(in.block);                                    \
        return rc;                                                      \
    }                                                                   \
    sw_track_t *t = sw_track_receive(&in, sw_comm_state(comm), source,  \
                                     tag);                              \
    t->persistent = true;                                               \
    return add(t, rc, request);                                         \
}

SEND_INIT(Send_init, int, Send_init, false)
SEND_INIT(Rsend_init, int, Send_init, false)
SEND_INIT(Ssend_init, int, Ssend_init, true)
SEND_INIT(Bsend_init, int, Bsend_init, false)
RECV_INIT(Recv_init, int)
#if SW_LARGE_COUNT
SEND_INIT(Send_init_c, MPI_Count, Send_init, false)
SEND_INIT(Rsend_init_c, MPI_Count, Send_init, false)
SEND_INIT(Ssend_init_c, MPI_Count, Ssend_init, true)
SEND_INIT(Bsend_init_c, MPI_Count, Bsend_init, false)
RECV_INIT(Recv_init_c, MPI_Count)
#endif

/* Put the message on offer again; false: it must not travel so any more. While
 * there is no slot, wait until receivers release some. */
static bool offer(sw_track_t *t)
{
    bool no;
    sw_idle_t idle = {0};
    while (!(t->slot = sw_route_repeat(t, &no)) && !no) {
        sw_track_progress();
        sw_link_poke();
        sw_idle(&idle);
    }
    return !no;
}

static int start(sw_track_t *t, MPI_Request *request)
{
    if (t->receive)
        return host.Start(request);
    if (!offer(t))
        return host.Start(&t->plain);   /* the program's stays inactive */
    int rc = host.Start(request);
    sw_slot_fill(t->slot, &t->offer);
    sw_route_sent(t->slot);
    if (rc != MPI_SUCCESS)
        sw_route_withdraw(t->slot);
    return rc;
}

int sw_MPI_Start(MPI_Request *request)
{
    sw_track_t *t = request ? sw_track_of(*request) : NULL;
    if (!t || !t->persistent || (t->active && !t->receive))
        return host.Start(request);
    sw_match_enter();
    /* Open MPI gives a request that it has not quite done with another handle
     * when it is started again, and the old one may soon be another's. */
    sw_track_claim(t);
    int rc = start(t, request);
    if (rc == MPI_SUCCESS)
        sw_track_begin(t, *request);
    sw_track_unclaim(t);
    sw_match_leave();
    return rc;
}

int sw_MPI_Startall(int n, MPI_Request requests[])
{
    if (!sw_any_tracks() || n < 0 || !requests)
        return host.Startall(n, requests);
    for (int i = 0; i < n; i++) {
        int rc = sw_MPI_Start(&requests[i]);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}
