/*
 * feed.c - see feed.h; ring.h has the memory, and which side wakes the other.
 *
 * A rank keeps what it knows of its feed in memory of its own (struct sw_feed):
 * where it writes next, and how far it may go before it must look again.
 */
#include "feed.h"

#include "ring.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MASK (SW_FEED_ENTRIES - 1)

#define SPIN_NS 10000u           /* an awake engine answers in a few µs */
#define SKIPS 32                 /* waits that do not spin after one in vain */
#define AWAKE_NS 20000000u       /* of a rank that has a core of its own */
#define LOOK_NS 100000000u       /* is the engine still there? */
#define PATIENCE_NS 10000000000u /* for an engine that is still to come */

struct sw_feed {
    sw_feed_shared_t *shared;
    sw_feeds_head_t *head;
    uint64_t put;
    uint64_t room; /* `put` may go up to here */
    uint64_t half; /* when `put` is here, ring if half full */
    uint32_t rank;
    uint32_t parts; /* of answers read */
    int skips;
    bool gone;
    uint32_t *which;
    size_t which_room;
};

static void ring(sw_feed_t *feed)
{
    sw_feeds_head_t *head = feed->head;
    uint64_t bit = (uint64_t)1 << feed->rank % 64;
    atomic_fetch_or_explicit(&head->news[feed->rank / 64], bit,
                             memory_order_release);
    atomic_fetch_add(&head->doorbell, 1);
    if (atomic_load(&head->asleep))
        sw_os_futex_wake_all(&head->doorbell);
}

/* From now on every put fails: the ring never has room. */
static bool lost(sw_feed_t *feed)
{
    if (!feed->gone && feed->rank == 0)
        sw_say("virtual time has ended; the program goes on without it");
    feed->gone = true;
    feed->room = feed->put;
    return false;
}

static bool over(const sw_feed_t *feed)
{
    return atomic_load_explicit(&feed->shared->over, memory_order_acquire);
}

/* Ended without saying so, or never came. */
static bool server_gone(const sw_feed_t *feed, uint64_t since)
{
    switch (atomic_load_explicit(&feed->head->state, memory_order_acquire)) {
    case SW_SERVER_NOT_YET: return sw_os_now() - since > PATIENCE_NS;
    case SW_SERVER_RUNS: return sw_watch_gone(&feed->head->server);
    default: return true;
    }
}

/* The engine has taken so much that it is worth waking up, or has answered. */
static bool ready(const sw_feed_t *feed, uint64_t wake_at)
{
    if (wake_at == UINT64_MAX)
        return atomic_load(&feed->shared->parts) != feed->parts;
    return atomic_load(&feed->shared->taken) >= wake_at;
}

/* Spinning pays where the engine has a core of its own, and robs it of the
 * core where it has none: after a spin in vain the next waits do not try. */
static bool spin(sw_feed_t *feed, uint64_t wake_at)
{
    if (feed->skips > 0) {
        feed->skips--;
        return ready(feed, wake_at);
    }
    uint64_t until = 0;
    for (;;) {
        for (int i = 0; i < 16; i++) {
            if (ready(feed, wake_at))
                return true;
            sw_os_pause();
        }
        uint64_t now = sw_os_now();
        if (!until)
            until = now + SPIN_NS;
        else if (now > until)
            break;
    }
    feed->skips = SKIPS;
    return false;
}

/* The first time soon, then less and less often: a rank that is needed helps
 * at once (a long message is sent on in pieces), and many that are not leave
 * the cores alone: all together they take a tenth of one at most. */
#define IDLE_FIRST 100000u
#define IDLE_LAST 50000u /* for each rank of the run */

static uint64_t longer(const sw_feed_t *feed, uint64_t idle)
{
    uint64_t last = (uint64_t)IDLE_LAST * feed->head->ranks;
    return sw_min(2 * idle, sw_max(last, IDLE_FIRST));
}

void (*sw_feed_idle)(void);
bool sw_feed_awake;

/* A core that has slept computes slower for a while (its caches, its
 * frequency). A normal run never sees that: a rank that waits spins there. So a
 * rank that shares its core with none but the engine keeps it, and the engine
 * has it whenever it wants. */
static bool stay_awake(sw_feed_t *feed, uint64_t wake_at, uint64_t since)
{
    uint64_t idle = since + IDLE_FIRST;
    for (uint64_t now = since; now - since < AWAKE_NS; now = sw_os_now()) {
        if (ready(feed, wake_at))
            return true;
        if (sw_feed_idle && now >= idle) {
            sw_feed_idle();
            idle = now + IDLE_FIRST;
        }
        sched_yield();
    }
    return false;
}

static bool await(sw_feed_t *feed, uint64_t wake_at)
{
    sw_feed_shared_t *shared = feed->shared;
    if (spin(feed, wake_at))
        return true;
    uint64_t since = sw_os_now(), looked = since;
    if (sw_feed_awake && stay_awake(feed, wake_at, since))
        return true;
    atomic_store_explicit(&shared->wake_at, wake_at, memory_order_relaxed);
    atomic_store(&shared->asleep, 1);
    uint64_t idle = IDLE_FIRST;
    bool there;
    for (;;) {
        uint32_t event = atomic_load(&shared->event);
        there = ready(feed, wake_at);
        if (there || over(feed))
            break;
        sw_os_futex_wait(&shared->event, event, sw_feed_idle ? idle : LOOK_NS);
        if (sw_feed_idle && !ready(feed, wake_at)) {
            sw_feed_idle();
            idle = longer(feed, idle);
        }
        uint64_t now = sw_os_now();
        if (now - looked >= LOOK_NS) {
            looked = now;
            if (server_gone(feed, since)) {
                there = ready(feed, wake_at);
                break;
            }
        }
    }
    atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
    return there || lost(feed);
}

/* No room, as far as is known. */
static __attribute__((noinline)) bool make_room(sw_feed_t *feed)
{
    if (feed->gone)
        return false;
    if (atomic_load_explicit(&feed->shared->taken, memory_order_acquire) +
            SW_FEED_ENTRIES ==
        feed->put) {
        ring(feed);
        if (!await(feed, feed->put - SW_FEED_ENTRIES / 2))
            return false;
    }
    feed->room = atomic_load_explicit(&feed->shared->taken,
                                      memory_order_acquire) +
                 SW_FEED_ENTRIES;
    return true;
}

static void half_full(sw_feed_t *feed)
{
    uint64_t taken = atomic_load_explicit(&feed->shared->taken,
                                          memory_order_acquire);
    if (feed->put - taken >= SW_FEED_ENTRIES / 2) {
        ring(feed);
        feed->half = feed->put + SW_FEED_ENTRIES / 4;
    } else {
        feed->half = taken + SW_FEED_ENTRIES / 2;
    }
}

/* Where the next entry goes; NULL: the engine is gone. */
static inline sw_feed_entry_t *entry(sw_feed_t *feed)
{
    if (sw_unlikely(feed->put == feed->room) && !make_room(feed))
        return NULL;
    return &feed->shared->entry[feed->put & MASK];
}

/* It is written. */
static inline bool publish(sw_feed_t *feed, bool asks)
{
    uint64_t put = ++feed->put;
    atomic_store(&feed->shared->put, put);
    if (sw_unlikely(asks || put == atomic_load(&feed->shared->ring_at)))
        ring(feed);
    if (sw_unlikely(put == feed->half))
        half_full(feed);
    return sw_likely(!over(feed)) || lost(feed);
}

sw_feed_t *sw_feed_begin(sw_feeds_t *feeds, uint32_t rank)
{
    if (rank >= feeds->ranks)
        return NULL;
    sw_feed_shared_t *shared = sw_feed_shared(feeds, rank);
    if (feeds->own[rank] || atomic_load(&shared->state) != SW_FEED_NOBODY)
        return NULL;
    sw_feed_t *feed = calloc(1, sizeof *feed);
    if (!feed)
        return NULL;
    feed->shared = shared;
    feed->head = feeds->head;
    feed->rank = rank;
    feed->room = SW_FEED_ENTRIES;
    feed->half = SW_FEED_ENTRIES / 2;
    feeds->own[rank] = feed;
    sw_watch_process(&shared->process, getpid());
    atomic_store(&shared->state, SW_FEED_BEGUN);
    return feed;
}

bool sw_feed_put(sw_feed_t *feed, const sw_vop_t *op)
{
    sw_feed_entry_t *to = entry(feed);
    if (sw_unlikely(!to))
        return false;
    to->what = SW_ENTRY_OP;
    to->op = *op;
    /* A rank that asks rings. */
    return publish(feed, op->kind == SW_OP_CLOCK);
}

/* A head, and its bytes in the entries behind it. */
static bool tell(sw_feed_t *feed, uint32_t what, sw_feed_told_t head,
                 const void *bytes)
{
    sw_feed_entry_t *to = entry(feed);
    if (!to)
        return false;
    to->what = what;
    to->told = head;
    if (!publish(feed, false))
        return false;
    for (uint32_t i = 0; i < head.bytes; i += SW_FEED_BYTES) {
        if (!(to = entry(feed)))
            return false;
        to->what = SW_ENTRY_MORE;
        to->n = (uint32_t)sw_min(head.bytes - i, SW_FEED_BYTES);
        memcpy(to->byte, (const char *)bytes + i, to->n);
        if (!publish(feed, false))
            return false;
    }
    return true;
}

bool sw_feed_context(sw_feed_t *feed, uint32_t number, uint64_t id, uint32_t n,
                     const uint32_t *members)
{
    return tell(feed, SW_ENTRY_CONTEXT,
                (sw_feed_told_t){id, number, n * (uint32_t)sizeof *members},
                members);
}

bool sw_feed_section(sw_feed_t *feed, uint32_t number, const char *name)
{
    return tell(
        feed, SW_ENTRY_SECTION,
        (sw_feed_told_t){0, number, (uint32_t)strnlen(name, SW_FEED_NAME)},
        name);
}

/* A list that does not fit into one part: the rank joins the parts here. */
static bool collect(sw_feed_t *feed, uint32_t got, uint32_t here,
                    uint32_t count)
{
    if (here > count - got || here > SW_FEED_PLACES || !here)
        return false;
    if (feed->which_room < count) {
        free(feed->which);
        feed->which = malloc(count * sizeof *feed->which);
        feed->which_room = feed->which ? count : 0;
        if (!feed->which)
            return false;
    }
    memcpy(feed->which + got, feed->shared->which, here * sizeof *feed->which);
    return true;
}

bool sw_feed_ask(sw_feed_t *feed, const sw_vop_t *op, sw_op_answer_t *answer)
{
    sw_feed_shared_t *shared = feed->shared;
    sw_feed_entry_t *to = entry(feed);
    if (!to)
        return false;
    to->what = SW_ENTRY_OP;
    to->op = *op;
    if (!publish(feed, true) || !await(feed, UINT64_MAX))
        return false;
    *answer = (sw_op_answer_t){
        .clock = shared->clock,
        .until = shared->until,
        .found = shared->found,
        .count = shared->count,
        .peer = shared->peer,
        .tag = shared->tag,
        .bytes = shared->bytes,
        .which = shared->which,
    };
    uint32_t got = shared->here;
    feed->parts++;
    if (got == answer->count)
        return true;
    if (!collect(feed, 0, got, answer->count))
        return lost(feed);
    while (got < answer->count) {
        atomic_store(&shared->read, feed->parts);
        ring(feed);
        if (!await(feed, UINT64_MAX))
            return false;
        uint32_t here = shared->here;
        if (!collect(feed, got, here, answer->count))
            return lost(feed);
        got += here;
        feed->parts++;
    }
    answer->which = feed->which;
    return true;
}

uint32_t sw_feed_given(const sw_feed_t *feed, uint32_t thread)
{
    return atomic_load(&feed->shared->of_thread[thread].given);
}

/* `given` is stored before `asleep` is loaded there, and loaded after `asleep`
 * is stored here: ring.h's argument. */
bool sw_feed_await(sw_feed_t *feed, uint32_t thread, uint32_t given,
                   sw_ps_t *clock)
{
    sw_feed_shared_t *shared = feed->shared;
    _Atomic uint32_t *word = &shared->of_thread[thread].given;
    uint64_t since = sw_os_now(), looked = since, idle = IDLE_FIRST;
    for (int i = 0; i < 1000 && atomic_load(word) == given; i++)
        sw_os_pause();
    atomic_store(&shared->of_thread[thread].asleep, 1);
    while (atomic_load(word) == given && !over(feed)) {
        sw_os_futex_wait(word, given, sw_feed_idle ? idle : LOOK_NS);
        if (sw_feed_idle && atomic_load(word) == given) {
            sw_feed_idle();
            idle = longer(feed, idle);
        }
        uint64_t now = sw_os_now();
        if (now - looked >= LOOK_NS) {
            looked = now;
            if (server_gone(feed, since))
                break;
        }
    }
    atomic_store_explicit(&shared->of_thread[thread].asleep, 0,
                          memory_order_relaxed);
    /* In this order: a clock that is read before the word may be an old one. */
    bool is = atomic_load(word) != given;
    *clock = shared->of_thread[thread].clock;
    return is;
}

_Atomic uint32_t *sw_feed_inside(sw_feed_t *feed)
{
    return &feed->shared->inside;
}

_Atomic uint64_t *sw_feed_sleeps(sw_feed_t *feed, uint32_t thread)
{
    return &feed->shared->of_thread[thread].sleeps;
}

void sw_feed_end(sw_feed_t *feed, bool ended_well)
{
    atomic_store(&feed->shared->state,
                 ended_well ? SW_FEED_ENDED_WELL : SW_FEED_ENDED);
    ring(feed);
    feed->gone = true;
    feed->room = feed->put;
}

void sw_feed_forget(sw_feed_t *feed)
{
    if (feed)
        free(feed->which);
    free(feed);
}
