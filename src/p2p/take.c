/*
 * take.c - the receiver takes what a slot offers; see slot.h.
 */
#include "by_device.h"
#include "move.h"
#include "takers.h"
#include "node/temporary.h"

#include <errno.h>

/* For --stats: see sw_slot_stats. */
static _Atomic uint64_t joint, accepted;

void sw_slot_taken_stats(sw_slot_stats_t *to)
{
    to->joint = atomic_load(&joint);
    to->accepted = atomic_load(&accepted);
    to->carried = sw_by_device_count();
}

/* What the sender has gathered so far, more than `at`; 0: it has died. */
static uint64_t ready_behind(const sw_peer_t *peer, const sw_slot_t *slot,
                             uint64_t at)
{
    uint64_t ready;
    unsigned turns = 0;
    while ((ready = atomic_load_explicit(&((sw_slot_t *)(uintptr_t)slot)->ready,
                                         memory_order_acquire)) <= at)
        if (sw_peer_turn(peer, &turns))
            return 0;
    sw_assert(ready <= slot->bytes);
    return ready;
}

static sw_takers_t *takers_of(const sw_peer_t *peer, const sw_slot_t *slot)
{
    return (sw_takers_t *)(peer->control + slot->takers);
}

#define GONE UINT64_MAX

/* Returns the ticket; GONE: the sender has died while it copied aside. */
static uint64_t claim(const sw_peer_t *peer, sw_slot_t *slot)
{
    uint64_t ticket = sw_slot_ticket(slot), base = ticket * SW_SLOT_STATES;
    atomic_fetch_add_explicit(&takers_of(peer, slot)->busy, 1,
                              memory_order_relaxed);
    uint64_t expected = base + SW_SLOT_OFFERED;
    for (unsigned turns = 0; !atomic_compare_exchange_strong_explicit(
             &slot->state, &expected, base + SW_SLOT_CLAIMED,
             memory_order_acquire, memory_order_acquire);
         expected = base + SW_SLOT_OFFERED)
        if (sw_peer_turn(peer, &turns)) {
            errno = ESRCH;
            return GONE;
        }
    return ticket;
}

static void release(const sw_peer_t *peer, sw_slot_t *slot, uint64_t ticket)
{
    sw_takers_t *t = takers_of(peer, slot);
    /* Since its claim the slot is the receiver's. */
    sw_assert(ticket == GONE || (sw_slot_ticket(slot) == ticket &&
                                 (sw_slot_is(slot, SW_SLOT_CLAIMED) ||
                                  sw_slot_is(slot, SW_SLOT_JOINT))));
    sw_slot_set(slot, ticket, SW_SLOT_TAKEN);
    atomic_fetch_add_explicit(&t->taken, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&t->busy, 1, memory_order_relaxed);
}

static int find(const sw_peer_t *peer, const sw_slot_t *slot, sw_data_t *from)
{
    if (sw_likely(!sw_slot_gives(slot)))
        return sw_data_find(peer, &slot->shown, slot->bytes, from);
    *from = sw_data_plain(sw_parcel_find(&slot->given));
    errno = EBADMSG;
    return from->at ? 0 : -1;
}

/* The receiver has all that it wants. */
static void finish(const sw_peer_t *peer, sw_slot_t *slot, uint64_t ticket)
{
    if (sw_unlikely(sw_slot_gives(slot)))
        sw_parcel_drop(&slot->given);
    release(peer, slot, ticket);
}

/* What is there already, then what comes while the sender fills the slot. */
static int follow(const sw_peer_t *peer, const sw_slot_t *slot,
                  const sw_data_t *from, const sw_data_t *to, size_t begin,
                  size_t end)
{
    for (size_t at = begin, next; at < end; at = next) {
        next = sw_min(end, ready_behind(peer, slot, at));
        if (next <= at) {
            errno = ESRCH;
            return -1;
        }
        sw_move(from, to, at, next, end);
    }
    return 0;
}

/* Does the data lie out of the arena, to be read by CMA? */
static bool is_direct(const sw_slot_t *slot)
{
    return !sw_slot_gives(slot) && slot->shown.span == SW_SHOWN_DIRECT;
}

/* ... or in a device's memory? */
static bool is_devices(const sw_slot_t *slot)
{
    return !sw_slot_gives(slot) && slot->shown.span == SW_SHOWN_DEVICE;
}

/* The bytes [begin, end) of data out of the arena, by CMA. Not 0: the system
 * has refused it, or there is no memory for them. */
static int read_direct(const sw_peer_t *peer, const sw_slot_t *slot,
                       const sw_data_t *to, size_t begin, size_t end)
{
    const sw_part_t part = {.address = slot->shown.at, .form = SW_FORM_CMA};
    if (!is_direct(slot))
        return -1;
    if (!to->layout)
        return sw_peer_read(peer, &part, begin, to->at + begin, end - begin);
    char *block = sw_temporary_try(end - begin);
    if (!block)
        return -1;
    const sw_data_t from = sw_data_plain(block - begin);
    int rc = sw_peer_read(peer, &part, begin, block, end - begin);
    if (rc == 0)
        sw_data_copy(&from, to, begin, end);
    sw_temporary_free(block);
    return rc;
}

/* Of data in the sender's device. */
static int take_by_device(const sw_peer_t *peer, sw_slot_t *slot,
                          const sw_target_t *to, size_t n)
{
    if (sw_by_device_take(peer, slot, to, n))
        return to->device ? SW_SLOT_CARRIED : 0;
    errno = ESRCH;
    return -1;
}

/* To the receiver's device, what the processor finds. False: not so. */
static bool carry(const sw_peer_t *peer, const sw_slot_t *slot,
                  const sw_data_t *from, const sw_data_t *to, size_t n)
{
    for (uint64_t ready = 0; ready < n;)
        if (!(ready = ready_behind(peer, slot, ready)))
            return false;
    return sw_by_device(from, to, n);
}

/* May the sender pass it in another way, if this one has failed? */
static bool may_be_unread(const sw_slot_t *slot)
{
    return is_direct(slot) || is_devices(slot);
}

int sw_slot_take(const sw_peer_t *peer, sw_slot_t *slot, const sw_target_t *to)
{
    uint64_t ticket = claim(peer, slot);
    if (ticket == GONE)
        return -1;
    size_t n = sw_min(to->room, slot->bytes);
    sw_data_t from;
    int rc = find(peer, slot, &from);
    int error = errno;
    if (rc == 0) {
        if (sw_unlikely(to->device) &&
            carry(peer, slot, &from, to->device, n)) {
            rc = SW_SLOT_CARRIED;
        } else if (sw_slot_full(slot) && !sw_slot_gives(slot) &&
                   sw_joint_open(&slot->joint, &from, &to->data, n)) {
            sw_slot_set(slot, ticket, SW_SLOT_JOINT);
            rc = sw_joint_pull(&slot->joint, peer, &from, &to->data);
            if (atomic_load_explicit(&slot->joint.pushed, memory_order_relaxed))
                atomic_fetch_add_explicit(&joint, 1, memory_order_relaxed);
        } else {
            rc = follow(peer, slot, &from, &to->data, 0, n);
        }
        error = errno;
        sw_data_done(&from);
    } else {
        rc = is_devices(slot) ? take_by_device(peer, slot, to, n)
                              : read_direct(peer, slot, &to->data, 0, n);
        error = errno;
        if (rc < 0 && may_be_unread(slot) && !sw_peer_gone(peer)) {
            atomic_store_explicit(&slot->unread, 1, memory_order_relaxed);
            rc = SW_SLOT_UNREAD;
        }
    }
    finish(peer, slot, ticket);
    errno = error;
    return rc;
}

void *sw_slot_accept(sw_slot_t *slot)
{
    void *p = sw_parcel_accept(&slot->given);
    sw_assert(!p || sw_slot_is(slot, SW_SLOT_OFFERED));
    /* The sender neither waits for it nor moves it. */
    if (p) {
        sw_slot_set(slot, sw_slot_ticket(slot), SW_SLOT_TAKEN);
        atomic_fetch_add_explicit(&accepted, 1, memory_order_relaxed);
    }
    return p;
}
