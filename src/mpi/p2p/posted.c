/*
 * posted.c - see posted.h.
 */
#include "posted.h"

#include "node/base/settings.h"
#include "mpi/base/comm.h"

#include <stdlib.h>

#define PER_PLACE (SW_CHANNELS + 1)     /* the last one: any                 */
#define LOOKS 8u                        /* in one turn                       */
#define RECOUNT 256u                    /* turns                             */
#define DUE 64u
#define PAUSE_MOST 63u

static sw_tracks_t *rings;      /* [places + 1][PER_PLACE], the last: any    */
static int places;
static _Atomic unsigned open_ones;      /* receives in rings                 */
/* All of them. While they are few a turn looks at each, which costs less than
 * a look at what the senders count. */
static sw_receive_t *all;
#define FEW LOOKS
static _Atomic int64_t looks;

/* The rings of what is on offer. A look at all of them may find nothing: the
 * host has still to match what is on offer, or the program has still to post
 * the receive. Turns without a look then become more. */
static sw_tracks_t *due[DUE];
static _Atomic unsigned due_count;
static unsigned turn, in_vain, pause, pausing;
static _Atomic unsigned turns;
static bool on_offer;

static void change_open(int by)
{
    (void)sw_counter_add(&open_ones, (unsigned)by, false,
                         memory_order_relaxed);
}

static void join_all(sw_receive_t *r)
{
    r->all_after = all;
    r->all_before = NULL;
    if (all)
        all->all_before = r;
    all = r;
    change_open(1);
}

static void leave_all(sw_receive_t *r)
{
    if (r->all_after)
        r->all_after->all_before = r->all_before;
    if (r->all_before)
        r->all_before->all_after = r->all_after;
    else
        all = r->all_after;
    change_open(-1);
}

void sw_posted_remove(sw_receive_t *r)
{
    if (!r->track.ring)
        return;
    sw_tracks_remove(&r->track);
    leave_all(r);
}

void sw_posted_start(int n)
{
    places = n;
    rings = calloc((size_t)(n + 1) * PER_PLACE, sizeof *rings);
    if (!rings) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
}

static sw_tracks_t *ring_of(int place, unsigned channel)
{
    return &rings[place * PER_PLACE + (int)channel];
}

/* The place of a member, or -1: no descriptor comes from it. */
static int place_of(sw_comm_t *c, int source)
{
    const sw_link_t *link = sw_link(c, source);
    return link ? link->place : -1;
}

bool sw_posted_add(sw_receive_t *r)
{
    sw_comm_t *c = r->track.comm;
    if (!rings || !c || !c->context_id ||
        sw_recv_buffer_room(&r->in) < SW_DESCRIPTOR_BYTES)
        return false;
    int place = r->source == MPI_ANY_SOURCE ? places : place_of(c, r->source);
    if (place < 0)
        return false;
    sw_tracks_add(ring_of(place, r->tag == MPI_ANY_TAG
                                 ? SW_CHANNELS
                                 : sw_channel(c->context_id, r->tag)),
                  &r->track);
    join_all(r);
    /* What is on offer may be for this one. */
    if (on_offer)
        sw_ledger_recount();
    return true;
}

bool sw_posted_rings(sw_comm_t *c, int source, int tag,
                     sw_tracks_t *to[SW_POSTED_RINGS])
{
    int place = rings && c->context_id ? place_of(c, source) : -1;
    if (place < 0)
        return false;
    unsigned channel = sw_channel(c->context_id, tag);
    to[0] = ring_of(place, channel);
    to[1] = ring_of(place, SW_CHANNELS);
    to[2] = ring_of(places, channel);
    to[3] = ring_of(places, SW_CHANNELS);
    return true;
}

static void add_due(sw_tracks_t *ring)
{
    unsigned n = atomic_load_explicit(&due_count, memory_order_relaxed);
    for (unsigned i = 0; i < n; i++)
        if (due[i] == ring)
            return;
    if (!*ring || n == DUE)
        return;
    due[n] = ring;
    atomic_store_explicit(&due_count, n + 1, memory_order_relaxed);
}

static void find_due(int place, unsigned channels)
{
    on_offer = true;
    add_due(ring_of(place, SW_CHANNELS));
    add_due(ring_of(places, SW_CHANNELS));
    for (; channels; channels &= channels - 1) {
        unsigned channel = (unsigned)__builtin_ctz(channels);
        add_due(ring_of(place, channel));
        add_due(ring_of(places, channel));
    }
}

bool sw_posted_any(void)
{
    unsigned n = atomic_load_explicit(&open_ones, memory_order_relaxed);
    if (n <= FEW)
        return n;
    unsigned t = atomic_load_explicit(&turns, memory_order_relaxed) + 1;
    atomic_store_explicit(&turns, t, memory_order_relaxed);
    if (sw_unlikely(t % RECOUNT == 0))
        sw_ledger_recount();
    return sw_ledger_rung() ||
           atomic_load_explicit(&due_count, memory_order_relaxed);
}

static bool found(const sw_receive_t *r, bool dense)
{
    return sw_receive_shows(r) || (!dense && !sw_recv_buffer_shows(&r->in));
}

static void count_looks(unsigned n)
{
    (void)sw_counter_add(&looks, n, false, memory_order_relaxed);
}

/* Of those that this turn has not looked at yet. */
static sw_receive_t *next_of_few(uint64_t now, bool dense)
{
    for (sw_receive_t *r = all, *after; r; r = after) {
        after = r->all_after;
        if (r->track.held || r->looked == now)
            continue;
        r->looked = now;
        if (!sw_receive_is_open(r)) {
            sw_posted_remove(r);
            continue;
        }
        count_looks(1);
        if (found(r, dense)) {
            r->track.held = true;
            return r;
        }
    }
    return NULL;
}

static void forget_due(unsigned i)
{
    unsigned last = atomic_load_explicit(&due_count, memory_order_relaxed) - 1;
    due[i] = due[last];
    atomic_store_explicit(&due_count, last, memory_order_relaxed);
}

/* The next one to look at, or NULL: its ring has none, or another call is at
 * it. */
static sw_receive_t *step(unsigned i)
{
    sw_receive_t *r = (sw_receive_t *)*due[i];
    while (r && !r->track.held && !sw_receive_is_open(r)) {
        sw_posted_remove(r);
        r = (sw_receive_t *)*due[i];
    }
    if (!r) {
        forget_due(i);
        return NULL;
    }
    *due[i] = r->track.after;
    return r->track.held ? NULL : r;
}

sw_receive_t *sw_posted_next(uint64_t now, bool dense)
{
    unsigned n;
    if (atomic_load_explicit(&open_ones, memory_order_relaxed) <= FEW)
        return next_of_few(now, dense);
    if (sw_ledger_rung()) {
        atomic_store_explicit(&due_count, 0, memory_order_relaxed);
        on_offer = false;
        in_vain = pause = pausing = 0;
        sw_ledger_due(find_due);
    }
    if (pausing) {
        pausing--;
        return NULL;
    }
    for (unsigned i = 0; i < LOOKS && (n = atomic_load_explicit(
             &due_count, memory_order_relaxed)); i++) {
        sw_receive_t *r = step(turn++ % n);
        if (!r)
            continue;
        count_looks(1);
        if (++in_vain >= open_ones) {
            in_vain = 0;
            pausing = pause = sw_min(2 * pause + 1, PAUSE_MOST);
        }
        if (found(r, dense)) {
            r->track.held = true;
            return r;
        }
        if (pausing)
            return NULL;
    }
    return NULL;
}

int64_t sw_posted_looks(void)
{
    return atomic_load(&looks);
}
