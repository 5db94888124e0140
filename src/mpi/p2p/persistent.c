/*
 * persistent.c - MPI_Send_init, MPI_Recv_init and their modes.
 *
 * A persistent send of a large message is the host's persistent request for
 * the descriptor, which is filled anew at each start. Beside it there is one
 * for the message itself, for starts at which no descriptor may travel. The
 * buffer is the program's until the start: nothing is shown or staged before.
 */
#include "receives.h"
#include "route.h"
#include "sends.h"

/* What a start will offer, or NULL: the host carries it. */
static sw_send_t *persistent(const void *buffer, int64_t count,
                             MPI_Datatype type, int dest, int tag,
                             MPI_Comm comm)
{
    sw_offer_t offer;
    static const sw_descriptor_t none;
    if (sw_likely(!sw_route_lasting(buffer, count, type, dest, tag, comm,
                                    &offer)))
        return NULL;
    sw_send_t *s = sw_send_new(NULL, &offer, &none, sw_comm_state(comm));
    if (!s)
        return NULL;
    s->type = sw_route_type(type, count, comm);
    s->lasts = s->type->dense;
    sw_datatype_hold(s->type);
    return s;
}

static int add(sw_track_t *t, const MPI_Request *request)
{
    t->persistent = t->lasting = true;
    t->handle = *request;
    sw_track_add(t);
    return MPI_SUCCESS;
}

static int add_send(sw_send_t *s, int rc, const MPI_Request *request)
{
    if (rc == MPI_SUCCESS)
        return add(&s->track, request);
    if (s->plain != MPI_REQUEST_NULL)
        host.Request_free(&s->plain);
    sw_track_drop(&s->track);
    return rc;
}

#define SEND_INIT(NAME, COUNT, INIT, SYNCHRONOUS)                       \
int sw_far_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm,                     \
                  MPI_Request *request)                                 \
{                                                                       \
    sw_send_t *s = persistent(buffer, count, type, dest, tag, comm);    \
    if (!s)                                                             \
        return host.NAME(buffer, count, type, dest, tag, comm, request);\
    s->synchronous = SYNCHRONOUS;                                       \
    int rc = host.NAME(buffer, count, type, dest, tag, comm, &s->plain);\
    if (rc == MPI_SUCCESS)                                              \
        rc = host.INIT(&s->descriptor, SW_DESCRIPTOR_BYTES, MPI_BYTE,   \
                       dest, tag, comm, request);                       \
    return add_send(s, rc, request);                                    \
}

#define RECV_INIT(NAME, COUNT)                                          \
int sw_far_##NAME(void *buffer, COUNT count, MPI_Datatype type,         \
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
    sw_receive_t *r = sw_receive_new(&sw_receive_kind, &in,             \
                                     sw_comm_state(comm), source, tag); \
    return add(&r->track, request);                                     \
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
