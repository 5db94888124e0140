/*
 * slot.c - the sender's table, and taking from it; see slot.h.
 *
 * Slots come in blocks of the control segment, listed in a directory that the
 * peers can read. Two lists run through the slots themselves: the free ones,
 * and the orphans, which the sender has left and whose receivers have not come
 * yet. Orphans are looked at when a slot is wanted.
 */
#include "slot.h"

#include "move.h"
#include "layout/share.h"
#include "node/arena/arena.h"

#include <errno.h>
#include <pthread.h>

#define SLOTS 256u              /* in a block                                */
#define BLOCKS 480u             /* the directory is one page                 */
#define FIRST SW_PAIR           /* where a block's first slot lies           */
#define ORPHANS_LOOKED 8

/* What is gathered aside is shown to the receiver in so many steps, of at
 * least and at most so many bytes. */
#define STEPS 8
#define STEP_MIN ((size_t)4 << 10)
#define STEP_MAX ((size_t)32 << 10)

/* How long a sender waits before it copies aside, ns, if nobody takes anything
 * from it: a copy costs less than what it has waited then. While somebody is
 * at it, or beyond the memory that may lie aside, only those that seem stuck
 * for good. */
#define PATIENCE        50000u
#define PATIENCE_LARGE  1000000u
#define PATIENCE_LAST   1000000000u
#define LARGE           ((size_t)1 << 20)
#define ASIDE_MAX       ((size_t)256 << 20)

typedef struct {
    sw_block_t block;
    _Atomic uint32_t blocks;
    _Atomic uint32_t warned;                 /* see sw_slots_warn            */
    /* For searchers: slots in use, and all offers ever made. */
    _Atomic uint32_t used;
    _Atomic uint64_t offers;
    /* Written by all receivers, away from what the owner reads often. */
    _Alignas(SW_LINE) _Atomic uint64_t taken;   /* messages                  */
    _Atomic uint32_t busy;                      /* receivers that copy now   */
    _Alignas(SW_LINE) uint64_t at[BLOCKS];      /* the blocks' first slots   */
} directory_t;

_Static_assert(sizeof(directory_t) <= SW_PAGE, "the directory is one page");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t directory_offset;
static directory_t *mine;               /* what directory() asks for         */
static sw_slot_t *free_slots, *orphans, *last_orphan;
static uint64_t order;
static _Atomic size_t aside_bytes;
static sw_slot_stats_t stats;

static directory_t *directory(void)
{
    const sw_segment_t *segment = sw_segment();
    return segment && directory_offset
        ? (directory_t *)(segment->base + directory_offset) : NULL;
}

uint64_t sw_slots_directory(void)
{
    pthread_mutex_lock(&lock);
    if (!directory_offset)
        directory_offset = sw_segment_alloc(sizeof(directory_t),
                                            sizeof(directory_t), 1);
    if (directory_offset) {
        mine = directory();
        sw_slots_warned_at = &mine->warned;
    }
    pthread_mutex_unlock(&lock);
    return directory_offset;
}

static _Atomic uint32_t nobody;
_Atomic uint32_t *sw_slots_warned_at = &nobody;

void sw_slots_warn(const sw_peer_t *peer, uint64_t directory_at)
{
    directory_t *d = (directory_t *)(peer->control + directory_at);
    atomic_store(&d->warned, 1);
}

#define put(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

static void set(sw_slot_t *slot, uint64_t ticket, int state)
{
    atomic_store_explicit(&slot->state,
                          ticket * SW_SLOT_STATES + (unsigned)state,
                          memory_order_release);
}

static sw_slot_t *pop(sw_slot_t **list)
{
    sw_slot_t *slot = *list;
    if (slot)
        *list = (sw_slot_t *)(uintptr_t)slot->next;
    return slot;
}

static void push(sw_slot_t **list, sw_slot_t *slot)
{
    slot->next = (uint64_t)(uintptr_t)*list;
    *list = slot;
}

/* One more block of slots; false when the pool is full. The lock is held. */
static bool grow(void)
{
    directory_t *d = directory();
    uint32_t n = d ? atomic_load(&d->blocks) : BLOCKS;
    if (n == BLOCKS)
        return false;
    size_t bytes = FIRST + SLOTS * sizeof(sw_slot_t);
    uint64_t offset = sw_segment_alloc(bytes, bytes, 1);
    if (!offset)
        return false;
    d->at[n] = offset + FIRST;
    for (unsigned i = SLOTS; i-- > 0;) {
        uint64_t at = offset + FIRST + i * sizeof(sw_slot_t);
        sw_slot_t *slot = (sw_slot_t *)(sw_segment()->base + at);
        slot->offset = at;
        slot->directory = directory_offset;
        push(&free_slots, slot);
    }
    atomic_store_explicit(&d->blocks, n + 1, memory_order_release);
    return true;
}

/* Memory for a copy of the data; NULL when the arena is full. */
static void *make_aside(size_t bytes)
{
    void *p = sw_arena_alloc_shared(bytes, SW_LINE);
    if (p)
        atomic_fetch_add(&aside_bytes, bytes);
    return p;
}

static void drop(void *aside, size_t bytes)
{
    if (!aside)
        return;
    atomic_fetch_sub(&aside_bytes, bytes);
    sw_arena_free(aside);
}

/* The lock is held. */
static void change_used(int by)
{
    _Atomic uint32_t *used = &mine->used;
    sw_assert(by > 0 || atomic_load(used) > 0);
    atomic_store_explicit(used, atomic_load_explicit(
                              used, memory_order_relaxed) + (uint32_t)by,
                          memory_order_release);
}

static void retire(sw_slot_t *slot)
{
    sw_assert(sw_slot_is(slot, SW_SLOT_TAKEN) ||
              sw_slot_is(slot, SW_SLOT_OFFERED));
    drop(slot->aside, slot->bytes);
    slot->aside = NULL;
    if (slot->how)
        sw_layout_drop(slot->how);
    slot->how = NULL;
    set(slot, sw_slot_ticket(slot) + 1, SW_SLOT_FREE);
    change_used(-1);
    push(&free_slots, slot);
}

static void bury(sw_slot_t *slot)
{
    slot->next = 0;
    if (orphans)
        last_orphan->next = (uint64_t)(uintptr_t)slot;
    else
        orphans = slot;
    last_orphan = slot;
}

/* Take back the slots of orphans that have arrived; the others go to the end,
 * so that all are looked at in turn. */
static void reap(void)
{
    for (int i = 0; i < ORPHANS_LOOKED && orphans; i++) {
        sw_slot_t *slot = pop(&orphans);
        if (sw_slot_is(slot, SW_SLOT_TAKEN))
            retire(slot);
        else
            bury(slot);
    }
}

bool sw_slots_quiet(void)
{
    pthread_mutex_lock(&lock);
    sw_slot_t *first = orphans;
    bool any = false;
    for (sw_slot_t *slot = first; slot && !any;
         slot = (sw_slot_t *)(uintptr_t)slot->next)
        any = !sw_slot_is(slot, SW_SLOT_TAKEN);
    pthread_mutex_unlock(&lock);
    return !any;
}

sw_slot_t *sw_slot_offer(const sw_offer_t *offer)
{
    void *aside = NULL;
    sw_layout_t *layout = offer->layout;
    sw_shown_t shown = offer->shown;
    if (!offer->readable) {
        aside = make_aside(offer->bytes);
        if (!aside)
            return NULL;
        layout = NULL;
        sw_data_show(&(sw_data_t){.at = aside}, offer->bytes, &shown);
    }
    pthread_mutex_lock(&lock);
    if (orphans)
        reap();
    sw_slot_t *slot = free_slots || grow() ? pop(&free_slots) : NULL;
    if (slot) {
        sw_assert(sw_slot_is(slot, SW_SLOT_FREE));
        put(slot->order, ++order);
        change_used(1);
        atomic_store_explicit(&mine->offers, order, memory_order_release);
        stats.offered++;
        stats.bytes += offer->bytes;
    }
    pthread_mutex_unlock(&lock);
    if (!slot) {
        drop(aside, offer->bytes);
        return NULL;
    }
    /* The new ticket comes before what is written now; see matches. */
    atomic_thread_fence(memory_order_release);
    put(slot->context_id, offer->context_id);
    put(slot->dest, offer->dest);
    put(slot->tag, offer->tag);
    put(slot->bytes, offer->bytes);
    slot->shown = shown;
    slot->how = layout;
    if (layout)
        sw_layout_hold(layout);
    slot->aside = aside;
    slot->since = 0;
    atomic_store_explicit(&slot->ready, aside ? 0 : offer->bytes,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->matched, 0, memory_order_relaxed);
    set(slot, sw_slot_ticket(slot), SW_SLOT_OFFERED);
    return slot;
}

void sw_slot_fill_slow(sw_slot_t *slot, const sw_offer_t *offer)
{
    size_t bytes = offer->bytes, step = sw_min(bytes / STEPS, STEP_MAX);
    const sw_data_t from = sw_offer_data(offer), to = {.at = slot->aside};
    step = sw_max(step, STEP_MIN);
    sw_assert(slot->aside && slot->bytes == bytes);
    for (size_t at = 0, end; at < bytes; at = end) {
        end = bytes - at < 2 * step ? bytes : at + step;
        sw_move(&from, &to, at, end, bytes);
        atomic_store_explicit(&slot->ready, end, memory_order_release);
    }
}

/* A receiver that has died takes nothing: the message counts as taken. */
static void forsake(sw_slot_t *slot, const sw_peer_t *receiver)
{
    if (sw_peer_gone(receiver))
        set(slot, sw_slot_ticket(slot), SW_SLOT_TAKEN);
}

void sw_slot_nudge(sw_slot_t *slot, const sw_peer_t *receiver,
                   const void *data)
{
    uint64_t now = sw_os_now();
    directory_t *d = (directory_t *)((char *)slot - slot->offset +
                                     slot->directory);
    uint64_t taken = atomic_load_explicit(&d->taken, memory_order_relaxed);
    if (!slot->since || slot->seen != taken) {
        slot->since = now;
        slot->seen = taken;
        return;
    }
    uint64_t patience = slot->bytes < LARGE ? PATIENCE : PATIENCE_LARGE;
    if (atomic_load_explicit(&d->busy, memory_order_relaxed) ||
        atomic_load_explicit(&aside_bytes, memory_order_relaxed) +
            slot->bytes > ASIDE_MAX)
        patience = PATIENCE_LAST;
    if (now - slot->since < patience)
        return;
    slot->since = now;
    if (sw_slot_is(slot, SW_SLOT_CLAIMED) || sw_slot_is(slot, SW_SLOT_JOINT))
        forsake(slot, receiver);
    if (!sw_slot_is(slot, SW_SLOT_OFFERED))
        return;
    sw_assert(!slot->aside);
    void *copy = make_aside(slot->bytes);
    if (!copy) {
        forsake(slot, receiver);
        return;
    }
    uint64_t state = sw_slot_ticket(slot) * SW_SLOT_STATES;
    uint64_t expected = state + SW_SLOT_OFFERED;
    if (!atomic_compare_exchange_strong(&slot->state, &expected,
                                        state + SW_SLOT_MOVING)) {
        drop(copy, slot->bytes);
        return;
    }
    const sw_data_t from = sw_slot_data(slot, data), to = {.at = copy};
    sw_move(&from, &to, 0, slot->bytes, slot->bytes);
    sw_data_show(&to, slot->bytes, &slot->shown);
    atomic_store_explicit(&slot->state, state + SW_SLOT_OFFERED,
                          memory_order_release);
    slot->aside = copy;
    __atomic_fetch_add(&stats.moved_aside, 1, __ATOMIC_RELAXED);
}

void sw_slot_leave(sw_slot_t *slot)
{
    sw_assert(!sw_slot_is(slot, SW_SLOT_FREE));
    pthread_mutex_lock(&lock);
    if (sw_slot_is(slot, SW_SLOT_TAKEN))
        retire(slot);
    else
        bury(slot);
    pthread_mutex_unlock(&lock);
}

void sw_slot_withdraw(sw_slot_t *slot)
{
    pthread_mutex_lock(&lock);
    retire(slot);
    pthread_mutex_unlock(&lock);
}

/* What searchers read while the slot may be in use for others: see matches. */
#define get(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* The receiver ------------------------------------------------------------ */

sw_slot_t *sw_slot_of(const sw_peer_t *peer, const sw_descriptor_t *d, int me)
{
    if (!peer->control || d->slot % 8 ||
        d->slot > peer->card.control_span - sizeof(sw_slot_t))
        return NULL;
    sw_slot_t *slot = (sw_slot_t *)(peer->control + d->slot);
    /* On offer under this ticket, and it stays so until we take it: then the
     * rest may be looked at. */
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    unsigned is = state % SW_SLOT_STATES;
    return state / SW_SLOT_STATES == d->ticket &&
                   (is == SW_SLOT_OFFERED || is == SW_SLOT_MOVING) &&
                   slot->dest == me && slot->bytes == d->bytes
               ? slot : NULL;
}

/* What the sender has gathered so far, more than `at`; 0: it has died. */
static uint64_t ready_behind(const sw_peer_t *peer, const sw_slot_t *slot,
                             uint64_t at)
{
    uint64_t ready;
    unsigned turns = 0;
    while ((ready = atomic_load_explicit(
                &((sw_slot_t *)(uintptr_t)slot)->ready,
                memory_order_acquire)) <= at)
        if (sw_peer_turn(peer, &turns))
            return 0;
    sw_assert(ready <= slot->bytes);
    return ready;
}

static directory_t *directory_of(const sw_peer_t *peer, const sw_slot_t *slot)
{
    return (directory_t *)(peer->control + slot->directory);
}

#define GONE UINT64_MAX

/* Returns the ticket; GONE: the sender has died while it copied aside. */
static uint64_t claim(const sw_peer_t *peer, sw_slot_t *slot)
{
    uint64_t ticket = sw_slot_ticket(slot), base = ticket * SW_SLOT_STATES;
    atomic_fetch_add_explicit(&directory_of(peer, slot)->busy, 1,
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
    directory_t *d = directory_of(peer, slot);
    /* Since its claim the slot is the receiver's. */
    sw_assert(ticket == GONE || (sw_slot_ticket(slot) == ticket &&
                                 (sw_slot_is(slot, SW_SLOT_CLAIMED) ||
                                  sw_slot_is(slot, SW_SLOT_JOINT))));
    set(slot, ticket, SW_SLOT_TAKEN);
    atomic_fetch_add_explicit(&d->taken, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&d->busy, 1, memory_order_relaxed);
    sw_doorbell_ring(&slot->doorbell);
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

int sw_slot_take(const sw_peer_t *peer, sw_slot_t *slot, const sw_target_t *to)
{
    uint64_t ticket = claim(peer, slot);
    if (ticket == GONE)
        return -1;
    size_t n = sw_min(to->room, slot->bytes);
    sw_data_t from;
    int rc = sw_data_find(peer, &slot->shown, slot->bytes, &from);
    int error = errno;
    if (rc == 0) {
        if (sw_slot_full(slot) &&
            sw_joint_open(&slot->joint, &from, &to->data, n)) {
            set(slot, ticket, SW_SLOT_JOINT);
            rc = sw_joint_pull(&slot->joint, peer, &from, &to->data);
        } else {
            rc = follow(peer, slot, &from, &to->data, 0, n);
        }
        error = errno;
        sw_data_done(&from);
    }
    release(peer, slot, ticket);
    errno = error;
    return rc;
}

int sw_slot_take_apart(const sw_peer_t *peer, sw_slot_t *slot, void *head,
                       void *to, size_t room)
{
    uint64_t ticket = claim(peer, slot);
    if (ticket == GONE)
        return -1;
    size_t n = sw_min(room, slot->bytes);
    size_t first = sw_min(n, SW_DESCRIPTOR_BYTES);
    const sw_data_t apart = {.at = head}, rest = {.at = to};
    sw_data_t from;
    int rc = sw_data_find(peer, &slot->shown, slot->bytes, &from);
    int error = errno;
    if (rc == 0) {
        rc = follow(peer, slot, &from, &apart, 0, first);
        if (rc == 0)
            rc = follow(peer, slot, &from, &rest, first, n);
        error = errno;
        sw_data_done(&from);
    }
    release(peer, slot, ticket);
    errno = error;
    return rc;
}

void sw_slot_refuse(const sw_peer_t *peer, sw_slot_t *slot)
{
    release(peer, slot, claim(peer, slot));
}

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
static sw_found_t search(const sw_peer_t *peer, directory_t *d,
                         uint64_t context_id, int me, int tag, uint64_t after,
                         uint64_t until, uint32_t left)
{
    uint32_t blocks = atomic_load_explicit(&d->blocks, memory_order_acquire);
    sw_found_t found = {.order = UINT64_MAX};
    for (uint32_t i = 0; i < blocks * SLOTS && left; i++) {
        sw_slot_t *slot = (sw_slot_t *)(peer->control + d->at[i / SLOTS] +
                                        i % SLOTS * sizeof *slot);
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
    directory_t *d = (directory_t *)(peer->control + directory_at);
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
    directory_t *d = (directory_t *)(peer->control + directory_at);
    return atomic_load_explicit(&d->offers, memory_order_acquire);
}

void sw_slot_stats(sw_slot_stats_t *to)
{
    pthread_mutex_lock(&lock);
    *to = stats;
    pthread_mutex_unlock(&lock);
}
