/*
 * fetch.h - a message has been received: if it is a descriptor, fetch what it
 * stands for.
 */
#ifndef SW_MPI_P2P_FETCH_H
#define SW_MPI_P2P_FETCH_H

#include "threshold.h"
#include "mpi/base/reach.h"
#include "mpi/base/recv_buffer.h"
#include "mpi/base/status.h"
#include "node/base/settings.h"

/* Could a message come whose sender waits for this receive? The sender of one
 * that is shorter than any without gaps waits for nobody (route.c). It matters
 * to receives with gaps only, which are likely to get such messages. */
static inline bool sw_recv_buffer_is_large(const sw_recv_buffer_t *in)
{
    return sw_recv_buffer_room(in) >=
           (in->type->dense ? sw_settings.p2p_min : sw_threshold_scattered_min);
}

sw_recv_buffer_t sw_recv_buffer_slow(void *buffer, int64_t count,
                                     const sw_datatype_t *type);

/* `type` may be NULL: the host's affair alone. */
static inline sw_recv_buffer_t sw_recv_buffer(void *buffer, int64_t count,
                                              const sw_datatype_t *type)
{
#ifndef OMPI_MAJOR_VERSION
    if (sw_unlikely(type && !type->dense))
        return sw_recv_buffer_slow(buffer, count, type);
#endif
    if (type && sw_device_possible())
        return sw_recv_buffer_slow(buffer, count, type);
    return (sw_recv_buffer_t){.buffer = buffer, .count = count, .type = type};
}

/* What the host is given: address, count, datatype. */
#define SW_RECV_BUFFER(in, TYPE)                                        \
    (in).block ? (in).block : (in).buffer,                              \
    (in).block ? (int)sw_recv_buffer_room(&(in)) : (in).count,          \
    (in).block ? MPI_PACKED : (TYPE)

/* `bytes` bytes have come into the block. */
void sw_recv_buffer_spread(const sw_recv_buffer_t *in, size_t bytes,
                           const sw_comm_t *c);

/* 192 bytes have been received. If they are a descriptor, fetch: true, with
 * *bytes the message's length and *error an error class. */
bool sw_fetch(const sw_recv_buffer_t *in, const sw_comm_t *c, size_t *bytes,
              int *error);

/* The same while the host may still be writing the descriptor into a dense
 * buffer of `room` bytes: the first SW_DESCRIPTOR_BYTES of the message go to
 * `head`. Makes no MPI call. */
bool sw_fetch_early(void *buffer, size_t room, void *head, size_t *bytes,
                    int *error);

/* Does a dense buffer show a descriptor that gives a parcel of no more bytes
 * than there is room for? The process holds it then, and it is returned; else
 * NULL, and nothing has happened. Makes no MPI call. */
void *sw_fetch_parcel(const sw_recv_buffer_t *in, size_t *bytes);

/* 192 bytes have been received there. If they are a descriptor: true, with what
 * it stands for as a block of its own, NULL in case of an error class. */
bool sw_fetch_block(const sw_descriptor_t *d, void **block, size_t *bytes,
                    int *error);

/* A message as long as a descriptor has come, and is none: the sender hears of
 * it (p2p/ledger.h). */
void sw_heard(sw_comm_t *c, int source, int tag);

int sw_received_slow(const sw_recv_buffer_t *in, sw_comm_t *c,
                     MPI_Status *status);

/* A receive has completed: fetch if need be, and correct the status. Returns
 * MPI_SUCCESS or an error class, not yet raised. The block is freed. */
static inline int sw_received(const sw_recv_buffer_t *in, sw_comm_t *c,
                              MPI_Status *status)
{
    return sw_likely(sw_plainly_none(in))
        ? MPI_SUCCESS : sw_received_slow(in, c, status);
}

/* The same on a communicator that is there. */
static inline int sw_received_on(const sw_recv_buffer_t *in, MPI_Comm comm,
                                 MPI_Status *status)
{
    return sw_likely(sw_plainly_none(in))
        ? MPI_SUCCESS
        : sw_received_slow(in, sw_comm_state(comm), status);
}

#endif
