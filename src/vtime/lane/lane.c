/*
 * lane.c - see lane.h; ring.h has the memory, and which side wakes the other.
 *
 * A rank keeps what it knows of its lane in memory of its own (struct sw_lane):
 * where it writes next, and how far it may go before it must look again.
 */
#include "lane.h"

#include "ring.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MASK (SW_LANE_ENTRIES - 1)

#define SPIN_NS 10000u          /* an awake engine answers in a few µs */
#define SKIPS 32                /* waits that do not spin after one in vain */
#define AWAKE_NS 20000000u      /* of a rank that has a core of its own */
#define LOOK_NS 100000000u      /* is the engine still there? */
#define PATIENCE_NS 10000000000u    /* for an engine that is still to come */

struct sw_lane {
    sw_lane_shared_t *shared;
    sw_lanes_head_t *head;
    uint64_t put;
    uint64_t room;              /* `put` may go up to here */
    uint64_t half;              /* when `put` is here, ring if half full */
    uint32_t rank;
    uint32_t parts;             /* of answers read */
    int skips;
    bool gone;
    uint32_t *which;
    size_t which_room;
};

static void ring(sw_lane_t *lane)
{
    sw_lanes_head_t *head = lane->head;
    uint64_t bit = (uint64_t)1 << lane->rank % 64;
    atomic_fetch_or_explicit(&head->news[lane->rank / 64], bit,
                             memory_order_release);
    atomic_fetch_add(&head->doorbell, 1);
    if (atomic_load(&head->asleep))
        sw_os_futex_wake_all(&head->doorbell);
}

/* From now on every put fails: the ring never has room. */
static bool lost(sw_lane_t *lane)
{
    if (!lane->gone && lane->rank == 0)
        sw_say("virtual time has ended; the program goes on without it");
    lane->gone = true;
    lane->room = lane->put;
    return false;
}

static bool over(const sw_lane_t *lane)
{
    return atomic_load_explicit(&lane->shared->over, memory_order_acquire);
}

/* Ended without a word, or never came. */
static bool server_gone(const sw_lane_t *lane, uint64_t since)
{
    switch (atomic_load_explicit(&lane->head->state, memory_order_acquire)) {
    case SW_SERVER_NOT_YET:
        return sw_os_now() - since > PATIENCE_NS;
    case SW_SERVER_RUNS:
        return sw_watch_gone(&lane->head->server);
    default:
        return true;
    }
}

/* The engine has taken so much that it is worth waking up, or has answered. */
static bool ready(const sw_lane_t *lane, uint64_t wake_at)
{
    if (wake_at == UINT64_MAX)
        return atomic_load(&lane->shared->parts) != lane->parts;
    return atomic_load(&lane->shared->taken) >= wake_at;
}

/* Spinning pays where the engine has a core of its own, and robs it of the
 * core where it has none: after a spin in vain the next waits do not try. */
static bool spin(sw_lane_t *lane, uint64_t wake_at)
{
    if (lane->skips > 0) {
        lane->skips--;
        return ready(lane, wake_at);
    }
    uint64_t until = 0;
    for (;;) {
        for (int i = 0; i < 16; i++) {
            if (ready(lane, wake_at))
                return true;
            sw_os_pause();
        }
        uint64_t now = sw_os_now();
        if (!until)
            until = now + SPIN_NS;
        else if (now > until)
            break;
    }
    lane->skips = SKIPS;
    return false;
}

/* The first time soon, then less and less often: a rank that is needed helps
 * at once (a long message is sent on in pieces), and many that are not leave
 * the cores alone: all together they take a tenth of one at most. */
#define IDLE_FIRST 100000u
#define IDLE_LAST 50000u        /* for each rank of the run */

static uint64_t longer(const sw_lane_t *lane, uint64_t idle)
{
    uint64_t last = (uint64_t)IDLE_LAST * lane->head->ranks;
    return sw_min(2 * idle, sw_max(last, IDLE_FIRST));
}

void (*sw_lane_idle)(void);
bool sw_lane_awake;

/* A core that has slept computes slower for a while (its caches, its
 * frequency). A normal run never sees that: a rank that waits spins there. So a
 * rank that shares its core with none but the engine keeps it, and the engine
 * has it whenever it wants. */
static bool stay_awake(sw_lane_t *lane, uint64_t wake_at, uint64_t since)
{
    uint64_t idle = since + IDLE_FIRST;
    for (uint64_t now = since; now - since < AWAKE_NS; now = sw_os_now()) {
        if (ready(lane, wake_at))
            return true;
        if (sw_lane_idle && now >= idle) {
            sw_lane_idle();
            idle = now + IDLE_FIRST;
        }
        sched_yield();
    }
    return false;
}

static bool await(sw_lane_t *lane, uint64_t wake_at)
{
    sw_lane_shared_t *shared = lane->shared;
    if (spin(lane, wake_at))
        return true;
    uint64_t since = sw_os_now(), looked = since;
    if (sw_lane_awake && stay_awake(lane, wake_at, since))
        return true;
    atomic_store_explicit(&shared->wake_at, wake_at, memory_order_relaxed);
    atomic_store(&shared->asleep, 1);
    uint64_t idle = IDLE_FIRST;
    bool there;
    for (;;) {
        uint32_t event = atomic_load(&shared->event);
        there = ready(lane, wake_at);
        if (there || over(lane))
            break;
        sw_os_futex_wait(&shared->event, event,
                         sw_lane_idle ? idle : LOOK_NS);
        if (sw_lane_idle && !ready(lane, wake_at)) {
            sw_lane_idle();
            idle = longer(lane, idle);
        }
        uint64_t now = sw_os_now();
        if (now - looked >= LOOK_NS) {
            looked = now;
            if (server_gone(lane, since)) {
                there = ready(lane, wake_at);
                break;
            }
        }
    }
    atomic_store_explicit(&shared->asleep, 0, memory_order_relaxed);
    return there || lost(lane);
}

/* No room, as far as is known. */
static __attribute__((noinline)) bool make_room(sw_lane_t *lane)
{
    if (lane->gone)
        return false;
    if (atomic_load_explicit(&lane->shared->taken, memory_order_acquire) +
        SW_LANE_ENTRIES == lane->put) {
        ring(lane);
        if (!await(lane, lane->put - SW_LANE_ENTRIES / 2))
            return false;
    }
    lane->room = atomic_load_explicit(&lane->shared->taken,
                                      memory_order_acquire) + SW_LANE_ENTRIES;
    return true;
}

static void half_full(sw_lane_t *lane)
{
    uint64_t taken = atomic_load_explicit(&lane->shared->taken,
                                          memory_order_acquire);
    if (lane->put - taken >= SW_LANE_ENTRIES / 2) {
        ring(lane);
        lane->half = lane->put + SW_LANE_ENTRIES / 4;
    } else {
        lane->half = taken + SW_LANE_ENTRIES / 2;
    }
}

/* Where the next entry goes; NULL: the engine is gone. */
static inline sw_lane_entry_t *entry(sw_lane_t *lane)
{
    if (sw_unlikely(lane->put == lane->room) && !make_room(lane))
        return NULL;
    return &lane->shared->entry[lane->put & MASK];
}

/* It is written. */
static inline bool publish(sw_lane_t *lane, bool asks)
{
    uint64_t put = ++lane->put;
    atomic_store(&lane->shared->put, put);
    if (sw_unlikely(asks || put == atomic_load(&lane->shared->ring_at)))
        ring(lane);
    if (sw_unlikely(put == lane->half))
        half_full(lane);
    return sw_likely(!over(lane)) || lost(lane);
}

sw_lane_t *sw_lane_begin(sw_lanes_t *lanes, uint32_t rank)
{
    if (rank >= lanes->ranks)
        return NULL;
    sw_lane_shared_t *shared = sw_lane_shared(lanes, rank);
    if (lanes->own[rank] || atomic_load(&shared->state) != SW_LANE_NOBODY)
        return NULL;
    sw_lane_t *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->shared = shared;
    lane->head = lanes->head;
    lane->rank = rank;
    lane->room = SW_LANE_ENTRIES;
    lane->half = SW_LANE_ENTRIES / 2;
    lanes->own[rank] = lane;
    sw_watch_process(&shared->process, getpid());
    atomic_store(&shared->state, SW_LANE_BEGUN);
    return lane;
}

bool sw_lane_put(sw_lane_t *lane, const sw_vop_t *op)
{
    sw_lane_entry_t *to = entry(lane);
    if (sw_unlikely(!to))
        return false;
    to->what = SW_ENTRY_OP;
    to->op = *op;
    /* A rank that asks rings. */
    return publish(lane, op->kind == SW_OP_CLOCK);
}

/* A head, and its bytes in the entries behind it. */
static bool tell(sw_lane_t *lane, uint32_t what, sw_lane_told_t head,
                 const void *bytes)
{
    sw_lane_entry_t *to = entry(lane);
    if (!to)
        return false;
    to->what = what;
    to->told = head;
    if (!publish(lane, false))
        return false;
    for (uint32_t i = 0; i < head.bytes; i += SW_LANE_BYTES) {
        if (!(to = entry(lane)))
            return false;
        to->what = SW_ENTRY_MORE;
        to->n = (uint32_t)sw_min(head.bytes - i, SW_LANE_BYTES);
        memcpy(to->byte, (const char *)bytes + i, to->n);
        if (!publish(lane, false))
            return false;
    }
    return true;
}

bool sw_lane_context(sw_lane_t *lane, uint32_t number, uint64_t id, uint32_t n,
                     const uint32_t *members)
{
    return tell(lane, SW_ENTRY_CONTEXT, (sw_lane_told_t){
        id, number, n * (uint32_t)sizeof *members}, members);
}

bool sw_lane_section(sw_lane_t *lane, uint32_t number, const char *name)
{
    return tell(lane, SW_ENTRY_SECTION, (sw_lane_told_t){
        0, number, (uint32_t)strnlen(name, SW_LANE_NAME)}, name);
}

/* A list that does not fit into one part: the rank joins the parts here. */
static bool collect(sw_lane_t *lane, uint32_t got, uint32_t here,
                    uint32_t count)
{
    if (here > count - got || here > SW_LANE_PLACES || !here)
        return false;
    if (lane->which_room < count) {
        free(lane->which);
        lane->which = malloc(count * sizeof *lane->which);
        lane->which_room = lane->which ? count : 0;
        if (!lane->which)
            return false;
    }
    memcpy(lane->which + got, lane->shared->which, here * sizeof *lane->which);
    return true;
}

bool sw_lane_ask(sw_lane_t *lane, const sw_vop_t *op,
                 sw_op_answer_t *answer)
{
    sw_lane_shared_t *shared = lane->shared;
    sw_lane_entry_t *to = entry(lane);
    if (!to)
        return false;
    to->what = SW_ENTRY_OP;
    to->op = *op;
    if (!publish(lane, true) || !await(lane, UINT64_MAX))
        return false;
    *answer = (sw_op_answer_t){
        .clock = shared->clock, .until = shared->until,
        .found = shared->found, .count = shared->count,
        .peer = shared->peer, .tag = shared->tag, .bytes = shared->bytes,
        .which = shared->which,
    };
    uint32_t got = shared->here;
    lane->parts++;
    if (got == answer->count)
        return true;
    if (!collect(lane, 0, got, answer->count))
        return lost(lane);
    while (got < answer->count) {
        atomic_store(&shared->read, lane->parts);
        ring(lane);
        if (!await(lane, UINT64_MAX))
            return false;
        uint32_t here = shared->here;
        if (!collect(lane, got, here, answer->count))
            return lost(lane);
        got += here;
        lane->parts++;
    }
    answer->which = lane->which;
    return true;
}

uint32_t sw_lane_given(const sw_lane_t *lane, uint32_t thread)
{
    return atomic_load(&lane->shared->of_thread[thread].given);
}

/* `given` is stored before `asleep` is loaded there, and loaded after `asleep`
 * is stored here: ring.h's argument. */
bool sw_lane_await(sw_lane_t *lane, uint32_t thread, uint32_t given,
                   sw_ps_t *clock)
{
    sw_lane_shared_t *shared = lane->shared;
    _Atomic uint32_t *word = &shared->of_thread[thread].given;
    uint64_t since = sw_os_now(), looked = since, idle = IDLE_FIRST;
    for (int i = 0; i < 1000 && atomic_load(word) == given; i++)
        sw_os_pause();
    atomic_store(&shared->of_thread[thread].asleep, 1);
    while (atomic_load(word) == given && !over(lane)) {
        sw_os_futex_wait(word, given, sw_lane_idle ? idle : LOOK_NS);
        if (sw_lane_idle && atomic_load(word) == given) {
            sw_lane_idle();
            idle = longer(lane, idle);
        }
        uint64_t now = sw_os_now();
        if (now - looked >= LOOK_NS) {
            looked = now;
            if (server_gone(lane, since))
                break;
        }
    }
    atomic_store_explicit(&shared->of_thread[thread].asleep, 0,
                          memory_order_relaxed);
    *clock = shared->of_thread[thread].clock;
    return atomic_load(word) != given;
}

_Atomic uint32_t *sw_lane_inside(sw_lane_t *lane)
{
    return &lane->shared->inside;
}

_Atomic uint64_t *sw_lane_sleeps(sw_lane_t *lane, uint32_t thread)
{
    return &lane->shared->of_thread[thread].sleeps;
}

void sw_lane_end(sw_lane_t *lane, bool ended_well)
{
    atomic_store(&lane->shared->state,
                 ended_well ? SW_LANE_ENDED_WELL : SW_LANE_ENDED);
    ring(lane);
    lane->gone = true;
    lane->room = lane->put;
}

void sw_lane_forget(sw_lane_t *lane)
{
    if (lane)
        free(lane->which);
    free(lane);
}
