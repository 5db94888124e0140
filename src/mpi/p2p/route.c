/*
 * route.c - see route.h.
 */
#include "route.h"

#include "mpi/base/reach.h"
#include "node/control.h"

/* May a message as long as a descriptor be under way on the channel? */
static bool noted(const sw_link_t *link, unsigned channel)
{
    if (sw_likely(!link->warned))
        return false;
    return atomic_load(&link->uncounted) >> channel & 1 ||
           atomic_load(&link->sent[channel]) !=
               atomic_load(&link->row.heard->channel[channel]);
}

static sw_link_t *link_to(MPI_Comm comm, int dest, uint64_t *context_id)
{
    sw_comm_t *c = sw_comm_state(comm);
    if (!c || !c->context_id)
        return NULL;
    *context_id = c->context_id;
    return sw_link(c, dest);
}

void sw_route_note(int dest, int tag, MPI_Comm comm, bool once)
{
    uint64_t context_id = 0;
    sw_link_t *link = tag < 0 ? NULL : link_to(comm, dest, &context_id);
    if (link && !link->warned) {
        sw_slots_warn(link->peer, link->directory);
        link->warned = true;
    }
    if (!link)
        return;
    unsigned channel = sw_channel(context_id, tag);
    if (once)
        sw_count(&link->sent[channel], 1);
    else
        atomic_fetch_or(&link->uncounted, (uint64_t)1 << channel);
    if (!sw_threaded)
        return;
    /* Either this thread sees the descriptor under way, or the other one sees
     * the count. */
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < 100000 && atomic_load(&link->under_way[channel]); i++)
        sw_os_yield();
}

static void sent(sw_link_t *link, unsigned channel)
{
    if (sw_threaded)
        atomic_fetch_sub(&link->under_way[channel], 1);
}

void sw_route_sent(const sw_slot_t *slot)
{
    sent(sw_link_at(slot->dest), sw_channel(slot->context_id, slot->tag));
}

static sw_slot_t *offer_it(sw_link_t *link, sw_offer_t *offer,
                           sw_descriptor_t *descriptor, bool *no)
{
    unsigned channel = sw_channel(offer->context_id, offer->tag);
    if (sw_threaded) {
        atomic_fetch_add(&link->under_way[channel], 1);
        atomic_thread_fence(memory_order_seq_cst);
    }
    *no = noted(link, channel);
    sw_slot_t *slot = *no ? NULL : sw_slot_offer(offer);
    if (!slot) {
        sent(link, channel);
        return NULL;
    }
    sw_row_offer(&link->row, channel, 1);
    sw_descriptor_fill(descriptor, &sw_link_cookie, sw_world.place,
                       slot->offset, sw_slot_ticket(slot), slot->bytes,
                       &slot->given);
    return slot;
}

void sw_route_withdraw(sw_slot_t *slot)
{
    sw_row_offer(&sw_link_at(slot->dest)->row,
                 sw_channel(slot->context_id, slot->tag), -1);
    sw_slot_withdraw(slot);
}

void sw_route_refuse(const sw_link_t *link, sw_slot_t *slot)
{
    unsigned channel = sw_channel(slot->context_id, slot->tag);
    sw_slot_refuse(link->peer, slot);
    sw_ledger_take(link->place, channel);
}

/* A receive without gaps is not expected to get so short a descriptor, so
 * nobody may wait for it (sw_recv_buffer_is_large): gather the data at once. */
static void bind(sw_offer_t *offer)
{
    offer->readable = false;
    if (offer->bytes >= sw_threshold_shown_min)
        sw_offer_bind(offer);
}

static bool may_stage(size_t bytes)
{
    return bytes <= sw_threshold_staged_max &&
           sw_slot_aside() + bytes <= sw_threshold_staged_all;
}

sw_slot_t *sw_route_repeat(sw_offer_t *offer, sw_descriptor_t *descriptor,
                           bool *no)
{
    bind(offer);
    offer->direct = false;
    *no = !offer->layout && !offer->readable && !may_stage(offer->bytes);
    return *no ? NULL : offer_it(sw_link_at(offer->dest), offer, descriptor,
                                 no);
}

/* Describes a message in *offer. NULL: the host carries any such message. */
static sw_link_t *describe(const void *buffer, int64_t count,
                           const sw_datatype_t *type, int dest, int tag,
                           MPI_Comm comm, sw_offer_t *offer)
{
    size_t bytes = (size_t)count * type->size;
    *offer = (sw_offer_t){.tag = tag, .data = buffer, .bytes = bytes,
                          .layout = type->dense ? NULL : type->layout,
                          .count = count};
    if (!sw_accelerating() || tag < 0 || !type->cuts ||
        !(type->dense ? (bool)buffer : (bool)type->layout) ||
        sw_out_of_reach(buffer, type))
        return NULL;
    if (!type->dense && bytes < sw_threshold_coarse_min &&
        sw_data_is_coarse(type->layout))
        return NULL;
    sw_link_t *link = link_to(comm, dest, &offer->context_id);
    if (link)
        offer->dest = link->place;
    return link;
}

/* A private buffer: does its message travel all the same? */
static bool goes_private(sw_offer_t *offer, const sw_link_t *link)
{
    offer->direct = sw_threshold_cma &&
                    sw_world.at[link->place].reached & SW_AGREE_CMA;
    return offer->direct || may_stage(offer->bytes);
}

bool sw_route_lasting(const void *buffer, int64_t count, MPI_Datatype type,
                      int dest, int tag, MPI_Comm comm, sw_offer_t *offer)
{
    const sw_datatype_t *d = sw_linked ? sw_route_type(type, count, comm)
                                       : NULL;
    if (!d || count <= 0)
        return false;
    size_t bytes = (size_t)count * d->size;
    sw_link_t *link = bytes >= sw_route_min(d)
        ? describe(buffer, count, d, dest, tag, comm, offer) : NULL;
    if (link && d->dense) {
        sw_show_ahead(buffer, bytes);
        if (!sw_show_may(buffer, bytes) && !goes_private(offer, link))
            link = NULL;
    }
    if (link)
        sw_comm_use(comm);
    else if (bytes == SW_DESCRIPTOR_BYTES)
        sw_route_note(dest, tag, comm, false);
    return link;
}

sw_slot_t *sw_route_slow(const void *buffer, int64_t count,
                         const sw_datatype_t *type, int dest, int tag,
                         MPI_Comm comm, sw_offer_t *offer,
                         sw_descriptor_t *descriptor)
{
    sw_link_t *link = describe(buffer, count, type, dest, tag, comm, offer);
    if (!link)
        return NULL;
    bind(offer);
    if (type->dense && !offer->readable && !goes_private(offer, link))
        return NULL;
    sw_comm_use(comm);
    bool no;
    return offer_it(link, offer, descriptor, &no);
}

/* Does the rank at a place reach the owner of a parcel that this rank holds? */
static bool reaches(int place, const sw_token_t *owner)
{
    const sw_token_t *mine = &sw_world.at[sw_world.place].said.self.card.token;
    return sw_world.at[place].reaches_all & SW_AGREE_ARENA ||
           !memcmp(mine, owner, sizeof *owner);
}

sw_slot_t *sw_route_parcel(const sw_parcel_name_t *given, size_t bytes,
                           int dest, int tag, MPI_Comm comm,
                           sw_descriptor_t *descriptor)
{
    sw_offer_t offer = {.tag = tag, .bytes = bytes, .readable = true,
                        .given = *given};
    bool no;
    if (!sw_linked || !sw_accelerating() || tag < 0)
        return NULL;
    sw_link_t *link = link_to(comm, dest, &offer.context_id);
    if (!link || !reaches(link->place, &given->owner))
        return NULL;
    offer.dest = link->place;
    sw_comm_use(comm);
    return offer_it(link, &offer, descriptor, &no);
}
