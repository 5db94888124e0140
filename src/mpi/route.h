/*
 * route.h - does a message travel as a descriptor? The sender decides, from
 * what the receiver knows as well or need not know.
 *
 * From STRAIGHTWAY_P2P_MIN bytes on it does, if the buffer is dense and its
 * basic type divides a descriptor (descriptor.h). And so does every message
 * that is as long as a descriptor is: a probe that sees this length must know
 * what it sees (probe.c).
 */
#ifndef SW_MPI_ROUTE_H
#define SW_MPI_ROUTE_H

#include "buffer.h"
#include "call.h"
#include "link.h"
#include "track.h"

/* Put the message on offer and fill its descriptor; NULL: the host sends it as
 * it is. `offer` gets what describes it. */
sw_slot_t *sw_route_slow(const void *buffer, int64_t count,
                         const sw_datatype_t *type, int dest, int tag,
                         MPI_Comm comm, sw_offer_t *offer,
                         sw_descriptor_t *descriptor);

/* Offer again what a persistent request's track describes. */
sw_slot_t *sw_route_repeat(sw_track_t *t);

/* A type's description, if it has been met or a message of `count` elements
 * could be large; else NULL, and nobody asks the host about it. */
static inline const sw_datatype_t *sw_route_type(MPI_Datatype type,
                                                 int64_t count, MPI_Comm comm)
{
    size_t slot = sw_handle_mix((uintptr_t)type) % SW_DATATYPES_CACHED;
    const sw_datatype_t *d = atomic_load_explicit(&sw_datatype_cache[slot],
                                                  memory_order_acquire);
    if (sw_likely(d && d->handle == type))
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
                                  MPI_Comm comm, sw_offer_t *offer,
                                  sw_descriptor_t *descriptor)
{
    if (!sw_linked)
        return NULL;
    const sw_datatype_t *d = sw_route_type(type, count, comm);
    if (!d || count <= 0)
        return NULL;
    size_t bytes = (size_t)count * d->size;
    if (sw_likely(bytes < sw_settings.p2p_min && bytes != SW_DESCRIPTOR_BYTES))
        return NULL;
    return sw_route_slow(buffer, count, d, dest, tag, comm, offer,
                         descriptor);
}

/* Only if the message is exactly as long as a descriptor. */
static inline sw_slot_t *sw_route_short(const void *buffer, int64_t count,
                                        MPI_Datatype type, int dest, int tag,
                                        MPI_Comm comm, sw_offer_t *offer,
                                        sw_descriptor_t *descriptor)
{
    if (!sw_linked)
        return NULL;
    const sw_datatype_t *d = sw_route_type(type, count, comm);
    if (!d || count <= 0 || (size_t)count * d->size != SW_DESCRIPTOR_BYTES)
        return NULL;
    return sw_route_slow(buffer, count, d, dest, tag, comm, offer,
                         descriptor);
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
