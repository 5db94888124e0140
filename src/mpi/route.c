/*
 * route.c - see route.h.
 */
#include "route.h"

static sw_slot_t *offer_it(const sw_offer_t *offer,
                           sw_descriptor_t *descriptor)
{
    sw_slot_t *slot = sw_slot_offer(offer);
    if (slot)
        sw_descriptor_fill(descriptor, &sw_link_cookie, sw_link_place,
                           slot->offset, sw_slot_ticket(slot), slot->bytes);
    return slot;
}

/* As long as a descriptor, and not dense: packed now. */
static sw_slot_t *offer_short(const void *buffer, int64_t count,
                              const sw_datatype_t *type, MPI_Comm comm,
                              const sw_offer_t *offer,
                              sw_descriptor_t *descriptor)
{
    char packed[SW_DESCRIPTOR_BYTES];
    sw_offer_t of_packed = *offer;
    sw_pack(buffer, count, type, packed, comm);
    of_packed.data = packed;
    return offer_it(&of_packed, descriptor);
}

sw_slot_t *sw_route_repeat(sw_track_t *t)
{
    return t->type->dense
               ? offer_it(&t->offer, &t->descriptor)
               : offer_short(t->buffer, t->count, t->type, t->comm, &t->offer,
                             &t->descriptor);
}

sw_slot_t *sw_route_slow(const void *buffer, int64_t count,
                         const sw_datatype_t *type, int dest, int tag,
                         MPI_Comm comm, sw_offer_t *offer,
                         sw_descriptor_t *descriptor)
{
    size_t bytes = (size_t)count * type->size;
    if (!sw_accelerating() || tag < 0)
        return NULL;
    bool small = bytes == SW_DESCRIPTOR_BYTES;
    if (!small && (!type->dense || !buffer || !type->grain ||
                   SW_DESCRIPTOR_BYTES % type->grain ||
                   (!sw_slot_reaches(buffer, bytes) &&
                    (!sw_link_stages || bytes > SW_STAGED_MAX))))
        return NULL;
    sw_comm_t *c = sw_comm_state(comm);
    sw_link_t *link = c && c->lineage ? sw_link(c, dest) : NULL;
    if (!link)
        return NULL;
    sw_comm_use(comm);
    *offer = (sw_offer_t){.lineage = c->lineage, .dest = link->place,
                          .tag = tag, .data = buffer, .bytes = bytes};
    return type->dense ? offer_it(offer, descriptor)
                       : offer_short(buffer, count, type, comm, offer,
                                     descriptor);
}
