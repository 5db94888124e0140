/*
 * route.h - does a message travel as a descriptor? The sender decides, from
 * what the receiver knows as well or need not know.
 *
 * From STRAIGHTWAY_P2P_MIN bytes on (sw_threshold_scattered_min, if it has
 * gaps) it does, if a basic element of its data ends where a descriptor does
 * (decode.h).
 *
 * A probe that sees as many bytes as a descriptor has must know what it sees
 * (probe.c). So while a message of that very length is under way, no descriptor
 * follows it on the same channel: large messages go through the host, too. Both
 * sides count these messages (p2p/ledger.h), so the sender knows when the last
 * one has come. No receiver counts a message that was cut short, or that a
 * persistent request sent. Such a message keeps the channel for the host for
 * good, which costs speed only.
 */
#ifndef SW_MPI_P2P_ROUTE_H
#define SW_MPI_P2P_ROUTE_H

#include "threshold.h"
#include "mpi/base/buffer.h"
#include "node/base/settings.h"
#include "mpi/base/datatype.h"
#include "mpi/base/link.h"

/* Put the message on offer and fill its descriptor; NULL: the host sends it as
 * it is. `offer` gets what describes it. */
sw_slot_t *sw_route_slow(const void *buffer, int64_t count,
                         const sw_datatype_t *type, int dest, int tag,
                         MPI_Comm comm, sw_offer_t *offer,
                         sw_descriptor_t *descriptor);

/* Put a parcel on offer that is given away; NULL: it goes by value. */
sw_slot_t *sw_route_parcel(const sw_parcel_name_t *given, size_t bytes,
                           int dest, int tag, MPI_Comm comm,
                           sw_descriptor_t *descriptor);

/* The host has been given the descriptor, or will not be. */
void sw_route_sent(const sw_slot_t *slot);
/* Nobody will take it. */
void sw_route_withdraw(sw_slot_t *slot);
/* The receiver's side: it came where there was no room for a descriptor. */
void sw_route_refuse(const sw_link_t *link, sw_slot_t *slot);

/* A message like this one is about to travel many times: may it travel as a
 * descriptor? *offer describes it then. The program still owns the buffer. So
 * its data is shown now only if nobody else can write to it. */
bool sw_route_lasting(const void *buffer, int64_t count, MPI_Datatype type,
                      int dest, int tag, MPI_Comm comm, sw_offer_t *offer);

/* Offer again what a persistent request offers; *no: it must not travel as a
 * descriptor any more. */
sw_slot_t *sw_route_repeat(sw_offer_t *offer, sw_descriptor_t *descriptor,
                           bool *no);

/* A message as long as a descriptor goes through the host; now and once, or
 * whenever. */
void sw_route_note(int dest, int tag, MPI_Comm comm, bool once);

/* The bytes from which messages of a type do not travel through the host. */
static inline size_t sw_route_min(const sw_datatype_t *type)
{
    return type->dense ? sw_settings.p2p_min : sw_threshold_scattered_min;
}

/* A type's description, if it has been met or a message of `count` elements
 * could be large; else NULL, and nobody asks the host about it. */
static inline const sw_datatype_t *sw_route_type(MPI_Datatype type,
                                                 int64_t count, MPI_Comm comm)
{
    const sw_datatype_t *d = sw_datatype_cached(type);
    if (sw_likely(d))
        return d;
    int size = 0, code;
    if (count <= 0 || type == MPI_DATATYPE_NULL ||
        host.Type_size(type, &size) != MPI_SUCCESS ||
        (size != MPI_UNDEFINED &&
         (uint64_t)size * (uint64_t)count < SW_DESCRIPTOR_BYTES))
        return NULL;
    return sw_datatype_slow(type, comm, &code);
}

static inline sw_slot_t *sw_route(const void *buffer, int64_t count,
                                  MPI_Datatype type, int dest, int tag,
                                  MPI_Comm comm, bool once,
                                  sw_offer_t *offer,
                                  sw_descriptor_t *descriptor)
{
    if (!sw_linked)
        return NULL;
    const sw_datatype_t *d = sw_route_type(type, count, comm);
    if (!d || count <= 0)
        return NULL;
    size_t bytes = (size_t)count * d->size;
    sw_slot_t *slot = NULL;
    if (sw_unlikely(bytes >= sw_route_min(d)))
        slot = sw_route_slow(buffer, count, d, dest, tag, comm, offer,
                             descriptor);
    if (sw_unlikely(bytes == SW_DESCRIPTOR_BYTES && !slot))
        sw_route_note(dest, tag, comm, once);
    return slot;
}

/* One that the host is to carry anyway. */
static inline void sw_route_plain(int64_t count, MPI_Datatype type, int dest,
                                  int tag, MPI_Comm comm, bool once)
{
    if (!sw_linked)
        return;
    const sw_datatype_t *d = sw_route_type(type, count, comm);
    if (d && count > 0 && (size_t)count * d->size == SW_DESCRIPTOR_BYTES)
        sw_route_note(dest, tag, comm, once);
}

/* Is it long enough? */
static inline bool sw_route_large(int64_t count, MPI_Datatype type,
                                  MPI_Comm comm)
{
    const sw_datatype_t *d =
        sw_linked ? sw_route_type(type, count, comm) : NULL;
    return d && count > 0 && (size_t)count * d->size >= sw_route_min(d);
}

/* Could a descriptor reach a receive of `count` elements? Then its type. */
static inline const sw_datatype_t *sw_route_receive(int64_t count,
                                                    MPI_Datatype type,
                                                    int source, MPI_Comm comm)
{
    if (!sw_linked || source == MPI_PROC_NULL || count <= 0)
        return NULL;
    const sw_datatype_t *d = sw_route_type(type, count, comm);
    return d && (size_t)count * d->size >= SW_DESCRIPTOR_BYTES ? d : NULL;
}

#endif
