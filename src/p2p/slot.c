/*
 * slot.c - the sender's table; see slot.h. The receiver's side is in take.c.
 *
 * Two lists run through the slots themselves: the free ones, and the orphans,
 * which the sender has left and whose receivers have not come yet. A sender
 * that wants a slot looks at the orphans.
 */
#include "move.h"
#include "takers.h"
#include "layout/share.h"
#include "node/arena/arena.h"

#include <pthread.h>

#define SLOTS 256u    /* in a block of the segment */
#define FIRST SW_PAIR /* where a block's first slot lies */

#define ORPHANS_LOOKED 8
/* So many wait before the sender looks: the receivers' cores have their lines,
 * and the one to look at next is asked for ahead. */
#define ORPHANS_KEPT 16

/* What is gathered aside is shown to the receiver in so many steps, of at
 * least and at most so many bytes. */
#define STEPS 8
#define STEP_MIN ((size_t)4 << 10)
#define STEP_MAX ((size_t)32 << 10)

/* How long a sender waits before it copies aside, ns, if no receiver takes
 * anything from it: a copy costs less than what it has waited then. While a
 * receiver is at it, or beyond the memory that may lie aside, only those that
 * seem stuck for good. */
#define PATIENCE_SMALL 1000u
#define PATIENCE 50000u
#define PATIENCE_LARGE 1000000u
#define PATIENCE_LAST 1000000000u
#define SMALL ((size_t)4 << 10)
#define LARGE ((size_t)1 << 20)
#define ASIDE_MAX ((size_t)256 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t takers; /* ours: its offset in the segment */
static sw_slot_t *free_slots, *orphans, *last_orphan;
static unsigned orphan_count;
static _Atomic size_t aside_bytes;
static sw_slot_stats_t stats;

static void count(uint64_t *what)
{
    __atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

bool sw_slots_open(void)
{
    pthread_mutex_lock(&lock);
    if (!takers && sw_segment())
        takers = sw_segment_alloc(sizeof(sw_takers_t), sizeof(sw_takers_t), 1);
    pthread_mutex_unlock(&lock);
    return takers;
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
    size_t bytes = FIRST + SLOTS * sizeof(sw_slot_t);
    uint64_t offset = takers ? sw_segment_alloc(bytes, bytes, 1) : 0;
    if (!offset)
        return false;
    for (unsigned i = SLOTS; i-- > 0;) {
        uint64_t at = offset + FIRST + i * sizeof(sw_slot_t);
        sw_slot_t *slot = (sw_slot_t *)(sw_segment()->base + at);
        slot->offset = at;
        slot->takers = takers;
        push(&free_slots, slot);
    }
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

size_t sw_slot_aside(void)
{
    return atomic_load_explicit(&aside_bytes, memory_order_relaxed);
}

static void drop(void *aside, size_t bytes)
{
    if (!aside)
        return;
    atomic_fetch_sub(&aside_bytes, bytes);
    sw_arena_free(aside);
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
    sw_slot_set(slot, sw_slot_ticket(slot) + 1, SW_SLOT_FREE);
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
    orphan_count++;
}

/* The owner frees copies aside as soon as it can. */
static bool too_many_orphans(void)
{
    return orphans &&
           (orphan_count > ORPHANS_KEPT || !free_slots ||
            atomic_load_explicit(&aside_bytes, memory_order_relaxed));
}

/* Take back the slots of orphans that have arrived; the others go to the end,
 * so that all are looked at in turn. */
static void reap(void)
{
    for (int i = 0; i < ORPHANS_LOOKED && too_many_orphans(); i++) {
        sw_slot_t *slot = pop(&orphans);
        orphan_count--;
        if (sw_slot_is(slot, SW_SLOT_TAKEN))
            retire(slot);
        else
            bury(slot);
    }
}

bool sw_slots_quiet(bool (*gone)(int place))
{
    pthread_mutex_lock(&lock);
    sw_slot_t *first = orphans;
    bool any = false;
    for (sw_slot_t *slot = first; slot && !any;
         slot = (sw_slot_t *)(uintptr_t)slot->next)
        any = !sw_slot_is(slot, SW_SLOT_TAKEN) && !(gone && gone(slot->dest));
    pthread_mutex_unlock(&lock);
    return !any;
}

sw_slot_t *sw_slot_offer(const sw_offer_t *offer)
{
    void *aside = NULL;
    bool direct = !offer->readable && offer->direct;
    bool gathers = !offer->readable && !direct && !offer->device;
    pthread_mutex_lock(&lock);
    reap();
    /* After that: the pages of a copy that was taken are warm. */
    if (gathers)
        aside = make_aside(offer->bytes);
    sw_slot_t *slot = NULL;
    if ((aside || !gathers) && (free_slots || grow()))
        slot = pop(&free_slots);
    if (slot) {
        sw_assert(sw_slot_is(slot, SW_SLOT_FREE));
        stats.offered++;
        stats.bytes += offer->bytes;
        stats.direct += direct;
        stats.gathered += gathers;
    }
    pthread_mutex_unlock(&lock);
    if (!slot) {
        drop(aside, offer->bytes);
        return NULL;
    }
    sw_shown_t shown = offer->shown;
    if (direct)
        shown = (sw_shown_t){.at = (uintptr_t)offer->data,
                             .span = SW_SHOWN_DIRECT};
    else if (gathers)
        sw_data_show(&(sw_data_t){.at = aside}, offer->bytes, &shown);
    sw_layout_t *layout = gathers ? NULL : offer->layout;
    slot->dest = offer->dest;
    slot->bytes = offer->bytes;
    slot->shown = shown;
    slot->given = offer->given;
    if (sw_unlikely(offer->device))
        slot->device = *offer->device;
    slot->how = layout;
    if (layout)
        sw_layout_hold(layout);
    slot->aside = aside;
    slot->since = 0;
    atomic_store_explicit(&slot->ready, aside ? 0 : offer->bytes,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->unread, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->proxy, 0, memory_order_relaxed);
    sw_slot_set(slot, sw_slot_ticket(slot), SW_SLOT_OFFERED);
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
        sw_slot_set(slot, sw_slot_ticket(slot), SW_SLOT_TAKEN);
}

void sw_slot_nudge_by(sw_slot_t *slot, const sw_peer_t *receiver,
                      sw_slot_gather_t *gather, const void *message)
{
    uint64_t now = sw_os_now();
    sw_takers_t *t = (sw_takers_t *)((char *)slot - slot->offset +
                                     slot->takers);
    uint64_t taken = atomic_load_explicit(&t->taken, memory_order_relaxed);
    if (!slot->since || slot->seen != taken) {
        slot->since = now;
        slot->seen = taken;
        return;
    }
    uint64_t patience = slot->bytes <= SMALL  ? PATIENCE_SMALL
                        : slot->bytes < LARGE ? PATIENCE
                                              : PATIENCE_LARGE;
    if (atomic_load_explicit(&t->busy, memory_order_relaxed) ||
        atomic_load_explicit(&aside_bytes, memory_order_relaxed) + slot->bytes >
            ASIDE_MAX)
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
    const sw_data_t to = {.at = copy};
    gather(message, copy);
    sw_data_show(&to, slot->bytes, &slot->shown);
    atomic_store_explicit(&slot->state, state + SW_SLOT_OFFERED,
                          memory_order_release);
    slot->aside = copy;
    count(&stats.moved_aside);
}

/* Data of a slot's that the processor reaches. */
typedef struct {
    const sw_slot_t *slot;
    const void *at;
} message_t;

static void gather(const void *message, char *copy)
{
    const message_t *m = message;
    const sw_data_t from = sw_slot_data(m->slot, m->at), to = {.at = copy};
    sw_move(&from, &to, 0, m->slot->bytes, m->slot->bytes);
}

void sw_slot_nudge(sw_slot_t *slot, const sw_peer_t *receiver, const void *data)
{
    const message_t message = {slot, data};
    sw_slot_nudge_by(slot, receiver, gather, &message);
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

void sw_slot_orphan(sw_slot_t *slot)
{
    pthread_mutex_lock(&lock);
    bury(slot);
    if (orphan_count >= ORPHANS_KEPT)
        sw_prefetch_write(orphans);
    pthread_mutex_unlock(&lock);
}

void sw_slot_stats(sw_slot_stats_t *to)
{
    pthread_mutex_lock(&lock);
    *to = stats;
    pthread_mutex_unlock(&lock);
    sw_slot_taken_stats(to);
}
