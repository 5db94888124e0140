/*
 * messages.c - counts of messages by pair (watch/watch.h).
 *
 * The pairs are a table with open addresses: a pair that finds none of WINDOW
 * entries free is not counted, and the process says so. An entry of a
 * communicator that is gone may be taken by another pair.
 */
#include "watched.h"

#define WINDOW 64

/* How many pairs a communicator's row has. */
static uint16_t pairs_of[SW_WATCH_COMMS];

static inline uint32_t place_of(uint32_t comm, bool sends, int32_t peer)
{
    return comm * 61 + (uint32_t)peer * 2 + sends;
}

static sw_watch_pair_t *entry(uint32_t at)
{
    return &sw_watch->pairs[at % SW_WATCH_PAIRS];
}

static bool is_it(const sw_watch_pair_t *p, uint32_t comm, bool sends,
                  int32_t peer)
{
    return __atomic_load_n(&p->comm, __ATOMIC_ACQUIRE) == comm &&
           p->peer == peer && p->sends == sends;
}

/* NULL: the table is full there. With the lock held. */
static sw_watch_pair_t *add(uint32_t comm, bool sends, int32_t peer)
{
    uint32_t at = place_of(comm, sends, peer);
    sw_watch_pair_t *p = NULL;
    for (uint32_t i = 0; i < WINDOW; i++) {
        sw_watch_pair_t *q = entry(at + i);
        if (is_it(q, comm, sends, peer))
            return q;
        if (!p && (!q->comm || q->comm == SW_WATCH_NO_ROW))
            p = q;
    }
    if (!p)
        return NULL;
    p->peer = peer;
    p->sends = sends;
    p->newest = 0;
    atomic_store_explicit(&p->messages, 0, memory_order_relaxed);
    atomic_store_explicit(&p->tag_sum, 0, memory_order_relaxed);
    atomic_store_explicit(&p->tag_squares, 0, memory_order_relaxed);
    for (int i = 0; i < SW_WATCH_TAGS; i++)
        p->latest[i] = SW_WATCH_NOBODY;
    pairs_of[comm]++;
    __atomic_store_n(&p->comm, comm, __ATOMIC_RELEASE);
    return p;
}

static sw_watch_pair_t *find(uint32_t comm, bool sends, int32_t peer)
{
    uint32_t at = place_of(comm, sends, peer);
    for (uint32_t i = 0; i < WINDOW; i++) {
        sw_watch_pair_t *p = entry(at + i);
        if (sw_likely(is_it(p, comm, sends, peer)))
            return p;
        if (!p->comm)
            break;
    }
    sw_watch_lock(SW_WATCH_LOCK_PAIRS);
    sw_watch_pair_t *p = add(comm, sends, peer);
    sw_watch_unlock(SW_WATCH_LOCK_PAIRS);
    if (!p)
        sw_watch_lose(pairs);
    return p;
}

static inline void add_to(_Atomic uint64_t *sum, uint64_t what)
{
    (void)sw_counter_add(sum, what, sw_threaded, memory_order_relaxed);
}

/* Two threads that count at once may leave one of the latest tags out. */
void sw_watched_count(uint32_t comm, bool sends, int32_t peer, int32_t tag)
{
    sw_watch_pair_t *p = sw_likely(comm) ? find(comm, sends, peer) : NULL;
    uint64_t t = (uint32_t)tag;
    (void)sw_counter_add(sends ? &sw_watch_flow.sent : &sw_watch_flow.received,
                         1, sw_threaded, memory_order_relaxed);
    if (sw_unlikely(!p))
        return;
    unsigned newest = p->newest;
    if (p->latest[newest] != tag) {
        newest = newest + 1 < SW_WATCH_TAGS ? newest + 1 : 0;
        p->latest[newest] = tag;
        p->newest = (uint8_t)newest;
    }
    add_to(&p->messages, 1);
    add_to(&p->tag_sum, t);
    add_to(&p->tag_squares, t * t);
}

void sw_watched_forget_pairs(uint32_t comm)
{
    if (!pairs_of[comm])
        return;
    sw_watch_lock(SW_WATCH_LOCK_PAIRS);
    for (uint32_t i = 0; i < SW_WATCH_PAIRS; i++)
        if (sw_watch->pairs[i].comm == comm)
            __atomic_store_n(&sw_watch->pairs[i].comm, SW_WATCH_NO_ROW,
                             __ATOMIC_RELEASE);
    pairs_of[comm] = 0;
    sw_watch_unlock(SW_WATCH_LOCK_PAIRS);
}

void sw_watched_came(uint32_t comm, int32_t peer, int32_t tag,
                     const MPI_Status *status)
{
    if (peer == SW_WATCH_ANY)
        peer = sw_watched_rank(sw_watched_comm_of(comm), status->MPI_SOURCE);
    if (tag == SW_WATCH_ANY)
        tag = status->MPI_TAG;
    if (peer >= 0 && tag >= 0)
        sw_watched_count(comm, false, peer, tag);
}

bool sw_watched_truncated(int error)
{
    int class = MPI_SUCCESS;
    return host.Error_class(error, &class) == MPI_SUCCESS &&
           class == MPI_ERR_TRUNCATE;
}
