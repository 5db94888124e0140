/*
 * route.c - see route.h.
 */
#include "route.h"

#include "reach.h"
#include "tally.h"

/* Where messages as long as a descriptor go through the host and cannot be
 * counted: bits, by receiver, communicator and tag. Two that share a bit lose
 * speed only. */
#define NOTES (1u << 16)
static _Atomic uint64_t notes[NOTES / 64];
static _Atomic bool any_notes;

/* Descriptors that are between the look at the notes and the host. Whoever
 * notes waits for those of other threads, so that none comes behind its
 * message. */
static _Atomic int under_way;

static unsigned note_of(uint64_t lineage, int place, int tag)
{
    uint64_t x = lineage ^ ((uint64_t)(uint32_t)place << 32 | (uint32_t)tag);
    return (unsigned)(sw_handle_mix(x) % NOTES);
}

static bool noted(const sw_offer_t *offer)
{
    if (sw_likely(!atomic_load_explicit(&any_notes, memory_order_relaxed)))
        return false;
    unsigned n = note_of(offer->lineage, offer->dest, offer->tag);
    return atomic_load(&notes[n / 64]) >> n % 64 & 1;
}

static sw_link_t *link_to(MPI_Comm comm, int dest, uint64_t *lineage)
{
    sw_comm_t *c = sw_comm_state(comm);
    if (!c || !c->lineage)
        return NULL;
    *lineage = c->lineage;
    return sw_link(c, dest);
}

void sw_route_note(int dest, int tag, MPI_Comm comm, bool once)
{
    uint64_t lineage = 0;
    sw_link_t *link = tag < 0 ? NULL : link_to(comm, dest, &lineage);
    if (link && !link->warned) {
        sw_slots_warn(link->peer, link->directory);
        link->warned = true;
    }
    if (!link || (once && !sw_threaded &&
                  sw_tally_add(&sw_tally_sent, lineage, link->place, tag)))
        return;
    unsigned n = note_of(lineage, link->place, tag);
    uint64_t bit = (uint64_t)1 << n % 64;
    if (atomic_load(&notes[n / 64]) & bit)
        return;
    atomic_store(&any_notes, true);
    atomic_fetch_or(&notes[n / 64], bit);
    for (int i = 0; sw_threaded && i < 100000 && atomic_load(&under_way); i++)
        sw_os_yield();
}

void sw_route_sent(void)
{
    if (sw_threaded)
        atomic_fetch_sub(&under_way, 1);
}

static sw_slot_t *offer_it(sw_offer_t *offer,
                           sw_descriptor_t *descriptor, bool *no)
{
    if (sw_threaded)
        atomic_fetch_add(&under_way, 1);
    *no = noted(offer);
    offer->behind = sw_tally_of(&sw_tally_sent, offer->lineage, offer->dest,
                                offer->tag);
    sw_slot_t *slot = *no ? NULL : sw_slot_offer(offer);
    if (slot)
        sw_descriptor_fill(descriptor, &sw_link_cookie, sw_link_place,
                           slot->offset, sw_slot_ticket(slot), slot->bytes);
    else
        sw_route_sent();
    return slot;
}

sw_slot_t *sw_route_repeat(sw_track_t *t, bool *no)
{
    return offer_it(&t->offer, &t->descriptor, no);
}

sw_slot_t *sw_route_slow(const void *buffer, int64_t count,
                         const sw_datatype_t *type, int dest, int tag,
                         MPI_Comm comm, sw_offer_t *offer,
                         sw_descriptor_t *descriptor)
{
    size_t bytes = (size_t)count * type->size;
    *offer = (sw_offer_t){.tag = tag, .data = buffer, .bytes = bytes,
                          .layout = type->dense ? NULL : type->layout,
                          .count = count};
    if (!sw_accelerating() || tag < 0 || !type->cuts ||
        !(type->dense ? (bool)buffer : (bool)type->layout) ||
        sw_out_of_reach(buffer, type))
        return NULL;
    if (!type->dense && bytes < sw_link_coarse_min &&
        sw_data_is_coarse(type->layout))
        return NULL;
    sw_offer_bind(offer);
    /* A receive without gaps is not expected to get so short a descriptor, so
     * nobody may wait for it (sw_landing_is_large): gather the data at once. */
    if (bytes < sw_settings.p2p_min)
        offer->readable = false;
    if (type->dense && !offer->readable &&
        (!sw_link_stages || bytes > SW_STAGED_MAX))
        return NULL;
    sw_link_t *link = link_to(comm, dest, &offer->lineage);
    if (!link)
        return NULL;
    offer->dest = link->place;
    sw_comm_use(comm);
    bool no;
    return offer_it(offer, descriptor, &no);
}
