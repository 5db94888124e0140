/*
 * sendrecv.c - MPI_Sendrecv and MPI_Sendrecv_replace.
 *
 * The host exchanges what is sent, a descriptor or the message, for what comes,
 * of which the same is true: then each fetches. While the program has posted
 * other receives, a peer may be waiting for these. The blocking ones are then a
 * receive, a send and two waits, which serve the others meanwhile.
 */
#include "aside.h"

#include "mpi/base/raise.h"
#include "mpi/request/unhelped.h"
#include "doubt.h"
#include "route.h"
#include "send.h"

/* The host has exchanged: fetch, then wait to be fetched from. After an error
 * it is not known what was sent: the data is left where it can be found. */
static int settle(int rc, const sw_recv_buffer_t *in, MPI_Comm comm,
                  MPI_Status *status, sw_slot_t *slot, const void *out)
{
    int error = MPI_SUCCESS;
    if (rc == MPI_SUCCESS && in->type)
        error = sw_received_on(in, comm, status);
    else
        sw_temporary_free(in->block);
    if (slot) {
        sw_send_await(slot, out);
        sw_slot_leave(slot);
    }
    return rc != MPI_SUCCESS ? rc : sw_raise(comm, error);
}

/* The send's end first: meanwhile what comes is fetched. */
static int both(MPI_Request *receive, MPI_Request *send, MPI_Status *status)
{
    int sent = sw_wait_one(send, MPI_STATUS_IGNORE);
    int received = sw_wait_one(receive, status);
    return received ? received : sent;
}

#define SPLIT(SUFFIX, COUNT)                                            \
/* From nobody nothing is asked: MPICH 4.0's nonblocking receive says that\
 * rank 0 has sent it. */                                               \
static int split##SUFFIX(                                               \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Status *status)           \
{                                                                       \
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;    \
    int rc = MPI_SUCCESS;                                               \
    if (source != MPI_PROC_NULL)                                        \
        rc = sw_MPI_Irecv##SUFFIX(in, incount, intype, source, intag,   \
                                  comm, &receive);                      \
    if (rc != MPI_SUCCESS)                                              \
        return rc;                                                      \
    rc = sw_MPI_Isend##SUFFIX(out, outcount, outtype, dest, outtag,     \
                              comm, &send);                             \
    if (rc != MPI_SUCCESS) {                                            \
        if (source != MPI_PROC_NULL) {                                  \
            sw_MPI_Cancel(&receive);                                    \
            sw_wait_one(&receive, status);                              \
        }                                                               \
        return rc;                                                      \
    }                                                                   \
    rc = both(&receive, &send, status);                                 \
    if (source == MPI_PROC_NULL && status != MPI_STATUS_IGNORE)         \
        status->MPI_SOURCE = MPI_PROC_NULL;                             \
    return rc;                                                          \
}

#define SENDRECV(SUFFIX, COUNT)                                         \
int sw_far_Sendrecv##SUFFIX(                                            \
    const void *out, COUNT outcount, MPI_Datatype outtype, int dest,    \
    int outtag, void *in, COUNT incount, MPI_Datatype intype,           \
    int source, int intag, MPI_Comm comm, MPI_Status *status)           \
{                                                                       \
    if (!sw_linked && !sw_unhelped())                                   \
        return host.Sendrecv##SUFFIX(out, outcount, outtype, dest,      \
                                     outtag, in, incount, intype,       \
                                     source, intag, comm, status);      \
    const sw_datatype_t *d = sw_route_receive(incount, intype, source,  \
                                              comm);                    \
    if (sw_owing() ||                       /* as MPI_Recv */           \
        (sw_threaded && (d || sw_route_large(outcount, outtype, comm))))\
        return split##SUFFIX(out, outcount, outtype, dest, outtag, in,  \
                             incount, intype, source, intag, comm,      \
                             status);                                   \
    sw_offer_t offer;                                                   \
    sw_descriptor_t descriptor;                                         \
    sw_slot_t *slot = dest == MPI_PROC_NULL ? NULL :                    \
        sw_route(out, outcount, outtype, dest, outtag, comm, true,      \
                 &offer, &descriptor);                                  \
    if (slot)                       /* the host may wait for what comes */ \
        sw_slot_fill(slot, &offer);                                     \
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;\
    const sw_recv_buffer_t recv_buffer = sw_recv_buffer(in, incount, d);\
    int rc = sw_checked_on(slot                                         \
        ? host.Sendrecv##SUFFIX(&descriptor, SW_DESCRIPTOR_BYTES,       \
                                MPI_BYTE, dest, outtag,                 \
                                SW_RECV_BUFFER(recv_buffer, intype),    \
                                source, intag, comm, to)                \
        : host.Sendrecv##SUFFIX(out, outcount, outtype, dest, outtag,   \
                                SW_RECV_BUFFER(recv_buffer, intype),    \
                                source, intag, comm, to),               \
        to, comm, in, incount, intype);                                 \
    if (slot)                                                           \
        sw_route_sent(slot);                                            \
    return settle(rc, &recv_buffer, comm, to, slot, out);               \
}                                                                       \
                                                                        \
int sw_far_Sendrecv_replace##SUFFIX(                                    \
    void *buffer, COUNT count, MPI_Datatype type, int dest, int outtag, \
    int source, int intag, MPI_Comm comm, MPI_Status *status)           \
{                                                                       \
    const sw_datatype_t *d = NULL;                                      \
    if (sw_linked && (source != MPI_PROC_NULL || dest != MPI_PROC_NULL))\
        d = sw_route_receive(count, type, 0, comm);                     \
    if (!d)                                                             \
        return sw_checked(                                              \
            host.Sendrecv_replace##SUFFIX(buffer, count, type, dest,    \
                                          outtag, source, intag, comm,  \
                                          status), 1, status);          \
    void *block;                                                        \
    const void *copy = sw_set_aside(buffer, count, d, comm, &block);    \
    int rc = sw_MPI_Sendrecv##SUFFIX(copy, count, type, dest, outtag,   \
                                     buffer, count, type, source,       \
                                     intag, comm, status);              \
    sw_temporary_free(block);                                           \
    return rc;                                                          \
}

SPLIT(, int)
SENDRECV(, int)
#if SW_LARGE_COUNT
SPLIT(_c, MPI_Count)
SENDRECV(_c, MPI_Count)
#endif
