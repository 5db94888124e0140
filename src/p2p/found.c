/*
 * found.c - the messages that a sender has on offer for a probe; see slot.h.
 */
#include "directory.h"

/* What searchers read while the slot may be in use for others. */
#define get(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* Is the slot on offer to `me`, and what is looked for? Others take and offer
 * slots meanwhile: what was read counts if the state has not changed. */
static bool matches(sw_slot_t *slot, uint64_t context_id, int me, int tag,
                    uint64_t *at, uint64_t *bytes, bool *used)
{
    uint64_t before = atomic_load_explicit(&slot->state, memory_order_acquire);
    unsigned is = before % SW_SLOT_STATES;
    *used = is != SW_SLOT_FREE;
    if (is != SW_SLOT_OFFERED && is != SW_SLOT_MOVING)
        return false;
    bool same = (!context_id || get(slot->context_id) == context_id) &&
                get(slot->dest) == me && (tag < 0 || get(slot->tag) == tag) &&
                !atomic_load(&slot->matched);
    *at = get(slot->order);
    *bytes = get(slot->bytes);
    atomic_thread_fence(memory_order_acquire);
    uint64_t after = atomic_load_explicit(&slot->state, memory_order_relaxed);
    return same && after / SW_SLOT_STATES == before / SW_SLOT_STATES;
}

/* Go through all slots, or until so many were in use. */
static sw_found_t search(const sw_peer_t *peer, sw_directory_t *d,
                         uint64_t context_id, int me, int tag, uint64_t after,
                         uint64_t until, uint32_t left)
{
    uint32_t blocks = atomic_load_explicit(&d->blocks, memory_order_acquire);
    sw_found_t found = {.order = UINT64_MAX};
    for (uint32_t i = 0; i < blocks * SW_SLOTS && left; i++) {
        sw_slot_t *slot = (sw_slot_t *)(peer->control + d->at[i / SW_SLOTS] +
                                        i % SW_SLOTS * sizeof *slot);
        uint64_t at, bytes;
        bool used, is = matches(slot, context_id, me, tag, &at, &bytes, &used);
        left -= used;
        if (!is || at <= after || at > until)
            continue;
        found.count++;
        found.largest = sw_max(found.largest, bytes);
        if (at < found.order) {
            found.first = slot;
            found.order = at;
            found.bytes = bytes;
        }
    }
    return found;
}

/* While nothing is offered slots go out of use only, and those that were in
 * use are all there are to look at. A slot is free before `used` says so. */
sw_found_t sw_slots_find(const sw_peer_t *peer, uint64_t directory_at,
                         uint64_t context_id, int me, int tag, uint64_t after,
                         uint64_t until)
{
    sw_directory_t *d = (sw_directory_t *)(peer->control + directory_at);
    uint64_t before = atomic_load_explicit(&d->offers, memory_order_acquire);
    uint32_t used = atomic_load_explicit(&d->used, memory_order_acquire);
    sw_found_t found = search(peer, d, context_id, me, tag, after, until, used);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&d->offers, memory_order_relaxed) != before)
        found = search(peer, d, context_id, me, tag, after, until, UINT32_MAX);
    return found;
}

uint64_t sw_slots_offered(const sw_peer_t *peer, uint64_t directory_at)
{
    sw_directory_t *d = (sw_directory_t *)(peer->control + directory_at);
    return atomic_load_explicit(&d->offers, memory_order_acquire);
}
