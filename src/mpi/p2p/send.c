/*
 * send.c - MPI_Send, MPI_Isend and their modes.
 *
 * A blocking send sends the descriptor and waits for the slot. Small messages
 * pay a look at the type's size and a comparison.
 *
 * MPI_Rsend differs from MPI_Send in what the program promises only. Buffered
 * sends stay with the host.
 */
#include "send.h"

#include "mpi/request/unhelped.h"
#include "route.h"
#include "sends.h"

void sw_send_await(sw_slot_t *slot, const void *data)
{
    const sw_peer_t *receiver = sw_link_at(slot->dest)->peer;
    int left = sw_wait_spins;
    while (!sw_slot_released(slot) && left > 0) {
        left--;
        sw_slot_help(slot, receiver, data);
        if ((left & 15) == 0)
            sw_os_pause();
    }
    if (sw_slot_released(slot))
        return;
    sw_wait_t wait = {.doorbell = &slot->doorbell};
    while (true) {
        sw_wait_step(&wait);
        sw_slot_help(slot, receiver, data);
        if (sw_slot_released(slot))
            break;
        sw_slot_nudge(slot, receiver, data);
        if (sw_slot_released(slot))
            break;
    }
    sw_wait_end(&wait);
}

/* Send a tracked descriptor: as a persistent request of the host's own, or
 * synchronous, of which each has a handle of its own anyway. */
static int begin(bool synchronous, sw_send_t *s, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    int rc = (synchronous ? host.Issend : host.Send_init)(
        &s->descriptor, SW_DESCRIPTOR_BYTES, MPI_BYTE, dest, tag, comm,
        &s->track.handle);
    if (rc == MPI_SUCCESS && !synchronous)
        rc = host.Start(&s->track.handle);
    sw_slot_fill(s->slot, &s->offer);
    sw_route_sent(s->slot);
    if (rc != MPI_SUCCESS) {
        sw_route_withdraw(s->slot);
        sw_track_drop(&s->track);
        return rc;
    }
    s->synchronous = synchronous;
    s->track.lasting = !synchronous;
    sw_track_add(&s->track);
    *request = s->track.handle;
    return MPI_SUCCESS;
}

/* A nonblocking send of the host's, of which the program knows nothing. */
static int complete(int rc, MPI_Request *request)
{
    return rc ? rc : sw_wait_one(request, MPI_STATUS_IGNORE);
}

/* A track whose descriptor is filled, or NULL: the host is to send. */
static sw_send_t *tracked(const void *buffer, int64_t count,
                          MPI_Datatype type, int dest, int tag,
                          MPI_Comm comm)
{
    sw_offer_t offer;
    sw_descriptor_t descriptor;
    sw_slot_t *slot = sw_route(buffer, count, type, dest, tag, comm,
                               true, &offer, &descriptor);
    if (sw_likely(!slot))
        return NULL;
    sw_send_t *s = sw_send_new(slot, &offer, &descriptor, sw_comm_state(comm));
    if (!s) {
        sw_route_sent(slot);
        sw_route_withdraw(slot);
    }
    return s;
}

/* Send a descriptor. What it stands for is gathered when the host has it. */
static int send_off(sw_slot_t *slot, const sw_offer_t *offer,
                    const sw_descriptor_t *descriptor, int dest, int tag,
                    MPI_Comm comm)
{
    if (sw_likely(sw_slot_full(slot)))
        return host.Send(descriptor, SW_DESCRIPTOR_BYTES, MPI_BYTE, dest, tag,
                         comm);
    MPI_Request request;
    int rc = host.Isend(descriptor, SW_DESCRIPTOR_BYTES, MPI_BYTE, dest, tag,
                        comm, &request);
    if (rc != MPI_SUCCESS)
        return rc;
    sw_slot_fill(slot, offer);
    return host.Wait(&request, MPI_STATUS_IGNORE);
}

#define SEND(NAME, INAME, COUNT)                                        \
int sw_far_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm)                     \
{                                                                       \
    sw_offer_t offer;                                                   \
    sw_descriptor_t descriptor;                                         \
    sw_slot_t *slot = sw_route(buffer, count, type, dest, tag, comm,    \
                               true, &offer, &descriptor);              \
    MPI_Request request;                                                \
    if (!slot && sw_unhelped())                                         \
        return complete(host.INAME(buffer, count, type, dest, tag,      \
                                   comm, &request), &request);          \
    if (sw_likely(!slot))                                               \
        return host.NAME(buffer, count, type, dest, tag, comm);         \
    int rc = send_off(slot, &offer, &descriptor, dest, tag, comm);      \
    sw_route_sent(slot);                                                \
    if (rc != MPI_SUCCESS) {                                            \
        sw_route_withdraw(slot);                                         \
        return rc;                                                      \
    }                                                                   \
    sw_send_await(slot, buffer);                                        \
    sw_slot_leave(slot);                                                \
    return MPI_SUCCESS;                                                 \
}

#define SSEND(NAME, INAME, COUNT)                                       \
int sw_far_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm)                     \
{                                                                       \
    sw_send_t *s = tracked(buffer, count, type, dest, tag, comm);       \
    MPI_Request request;                                                \
    if (!s && sw_unhelped())                                            \
        return complete(host.INAME(buffer, count, type, dest, tag,      \
                                   comm, &request), &request);          \
    if (sw_likely(!s))                                                  \
        return host.NAME(buffer, count, type, dest, tag, comm);         \
    int rc = begin(true, s, dest, tag, comm, &request);                 \
    return rc ? rc : sw_wait_one(&request, MPI_STATUS_IGNORE);          \
}

#define ISEND(NAME, COUNT, SYNCHRONOUS)                                 \
int sw_far_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm,                     \
                  MPI_Request *request)                                 \
{                                                                       \
    sw_send_t *s = tracked(buffer, count, type, dest, tag, comm);       \
    if (sw_likely(!s))                                                  \
        return host.NAME(buffer, count, type, dest, tag, comm, request);\
    return begin(SYNCHRONOUS, s, dest, tag, comm, request);             \
}

#define BSEND(NAME, COUNT)                                              \
int sw_far_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm)                     \
{                                                                       \
    sw_route_plain(count, type, dest, tag, comm, true);                 \
    return host.NAME(buffer, count, type, dest, tag, comm);             \
}

#define IBSEND(NAME, COUNT)                                             \
int sw_far_##NAME(const void *buffer, COUNT count, MPI_Datatype type,   \
                  int dest, int tag, MPI_Comm comm,                     \
                  MPI_Request *request)                                 \
{                                                                       \
    sw_route_plain(count, type, dest, tag, comm, true);                 \
    return host.NAME(buffer, count, type, dest, tag, comm, request);    \
}

SEND(Send, Isend, int)
SEND(Rsend, Irsend, int)
SSEND(Ssend, Issend, int)
BSEND(Bsend, int)
ISEND(Isend, int, false)
ISEND(Irsend, int, false)
ISEND(Issend, int, true)
IBSEND(Ibsend, int)
#if SW_LARGE_COUNT
SEND(Send_c, Isend_c, MPI_Count)
SEND(Rsend_c, Irsend_c, MPI_Count)
SSEND(Ssend_c, Issend_c, MPI_Count)
BSEND(Bsend_c, MPI_Count)
ISEND(Isend_c, MPI_Count, false)
ISEND(Irsend_c, MPI_Count, false)
ISEND(Issend_c, MPI_Count, true)
IBSEND(Ibsend_c, MPI_Count)
#endif
