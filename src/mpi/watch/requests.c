/*
 * requests.c - operations begun and not completed (watch/watch.h).
 *
 * Entries are found by the request's handle, in tables with open addresses: the
 * handle chooses a shard, whose entries change under the shard's lock. No entry
 * moves while its request lives.
 *
 * A thread's search for its own request needs no lock. While the request lives
 * no entry between its place and its own becomes free, so that the search does
 * not end too early. Another request may take an entry there, which has kept a
 * handle of old: its new handle is written before its kind, and the search
 * reads the kind first (release and acquire).
 *
 * The host may give the handle of a completed request to another thread before
 * this thread hears of it. So a call that completes requests notes, before it
 * goes to the host, which entries it means: their places, and serial numbers
 * that no other request gets.
 */
#include "watched.h"

#include "mpi/base/guard.h"

#include <stdlib.h>
#include <string.h>

#define ROOM (SW_WATCH_REQUESTS / SW_WATCH_SHARDS)
#define WINDOW 256
#define NO_ENTRY UINT32_MAX

/* Has the process ever begun one? */
static _Atomic bool begun;

/* The place where the search for a handle begins. */
static uint32_t place_of(uint64_t handle)
{
    return (uint32_t)(handle * 0x9e3779b97f4a7c15u >> 40) % SW_WATCH_REQUESTS;
}

/* The entry so many places behind this one, in the same shard. */
static sw_watch_request_t *entry(uint32_t place, uint32_t behind)
{
    return &sw_watch->requests[place / ROOM * ROOM + (place + behind) % ROOM];
}

static void lock(uint32_t place)
{
    if (sw_unlikely(sw_threaded))
        sw_watch_lock(SW_WATCH_LOCK_REQUESTS + place / ROOM);
}

static void unlock(uint32_t place)
{
    if (sw_unlikely(sw_threaded))
        sw_watch_unlock(SW_WATCH_LOCK_REQUESTS + place / ROOM);
}

static bool is_it(const sw_watch_request_t *r, uint8_t kind, uint64_t handle)
{
    return r->handle == handle && kind != SW_WATCH_FREE &&
           kind != SW_WATCH_GONE;
}

static uint8_t kind_of(const sw_watch_request_t *r)
{
    return __atomic_load_n(&r->kind, __ATOMIC_ACQUIRE);
}

/* The calling thread's own request, or any with the lock held. */
static sw_watch_request_t *find(uint64_t handle)
{
    uint32_t place = place_of(handle);
    for (uint32_t i = 0; i < WINDOW; i++) {
        sw_watch_request_t *r = entry(place, i);
        uint8_t kind = kind_of(r);
        if (sw_likely(is_it(r, kind, handle)))
            return r;
        if (kind == SW_WATCH_FREE)
            break;
    }
    return NULL;
}

/* One request more (1) or fewer (-1) is a receive that stands, or persistent.
 */
static void flow(const sw_watch_request_t *r, uint8_t kind, int by)
{
    bool receives = kind == SW_WATCH_RECEIVES;
    _Atomic int64_t *sum = r->persistent ? &sw_watch_flow.persistent
                                         : &sw_watch_flow.posted;
    if ((receives || (r->persistent && kind == SW_WATCH_SENDS)) &&
        !r->partitions)
        (void)sw_counter_add(sum, by, sw_threaded, memory_order_relaxed);
}

/* With the lock held. */
static void end(sw_watch_request_t *r)
{
    uint32_t place = (uint32_t)(r - sw_watch->requests);
    flow(r, r->kind, -1);
    bool last = entry(place, 1)->kind == SW_WATCH_FREE;
    r->serial++;
    __atomic_store_n(&r->kind, last ? SW_WATCH_FREE : SW_WATCH_GONE,
                     __ATOMIC_RELEASE);
    for (uint32_t i = ROOM - 1; last; i--) {
        r = entry(place, i);
        if (r->kind != SW_WATCH_GONE)
            break;
        __atomic_store_n(&r->kind, SW_WATCH_FREE, __ATOMIC_RELEASE);
    }
}

/* Is it known without a status what such a receive has received? */
static bool is_plain(int32_t peer, int32_t tag, bool cancelled)
{
    return peer >= 0 && tag >= 0 && !cancelled;
}

/* An entry for a request that has just begun, with the lock held; NULL: no
 * room. A request under the same handle has completed: the thread that waits
 * for that one has not heard of it yet. */
static sw_watch_request_t *add(uint64_t handle)
{
    uint32_t place = place_of(handle);
    sw_watch_request_t *found = NULL;
    for (uint32_t i = 0; i < WINDOW; i++) {
        sw_watch_request_t *r = entry(place, i);
        bool free = r->kind == SW_WATCH_FREE;
        if (sw_unlikely(is_it(r, r->kind, handle))) {
            end(r);
            return found ? found : r;
        }
        if (!found && (free || r->kind == SW_WATCH_GONE))
            found = r;
        if (free)
            break;
    }
    return found;
}

void sw_watched_request(const sw_watched_t *w, int kind, MPI_Request request,
                        bool persistent, int partitions)
{
    const sw_watch_call_t *c = &w->thread->call;
    const uint32_t has = c->has, place = place_of((uintptr_t)request);
    if (request == MPI_REQUEST_NULL)
        return;
    atomic_store_explicit(&begun, true, memory_order_relaxed);
    lock(place);
    sw_watch_request_t *r = add((uintptr_t)request);
    if (sw_likely(r)) {
        r->handle = (uintptr_t)request;
        r->pc = c->from.pc;
        r->bytes = has & SW_WATCH_HAS_BYTES ? c->bytes : 0;
        r->number = has & SW_WATCH_HAS_NUMBER ? c->number : 0;
        r->procedure = (uint16_t)c->procedure;
        r->persistent = persistent;
        r->active = !persistent;
        r->cancelled = false;
        r->comm = has & SW_WATCH_HAS_COMM ? c->comm : 0;
        r->peer = has & SW_WATCH_HAS_PEER ? c->peer : SW_WATCH_NOBODY;
        r->tag = has & SW_WATCH_HAS_PEER ? c->tag : SW_WATCH_NOBODY;
        r->waited = 0;
        r->partitions = (uint32_t)partitions;
        r->ready = 0;
        flow(r, (uint8_t)kind, 1);
        __atomic_store_n(&r->kind, (uint8_t)kind, __ATOMIC_RELEASE);
    }
    unlock(place);
    if (sw_unlikely(!r))
        sw_watch_lose(requests);
}

/* Communicators that requests make. They are few. */
typedef struct promised {
    struct promised *next;
    uint64_t handle, made;
    const MPI_Comm *comm;
} promised_t;
static promised_t *promised;
static _Atomic bool has_promised;

void sw_watched_promised(const sw_watched_t *w, MPI_Request request,
                         const MPI_Comm *comm, uint64_t made)
{
    promised_t *p = malloc(sizeof *p);
    sw_watched_request(w, SW_WATCH_COLLECTIVE, request, false, 0);
    if (!p)
        return;
    sw_watch_lock(SW_WATCH_LOCK_PROMISES);
    *p = (promised_t){promised, (uintptr_t)request, made, comm};
    promised = p;
    atomic_store_explicit(&has_promised, true, memory_order_relaxed);
    sw_watch_unlock(SW_WATCH_LOCK_PROMISES);
}

static void keep_promise(uint64_t handle)
{
    promised_t **at = &promised, *p;
    sw_watch_lock(SW_WATCH_LOCK_PROMISES);
    while ((p = *at) && p->handle != handle)
        at = &p->next;
    if (p)
        *at = p->next;
    sw_watch_unlock(SW_WATCH_LOCK_PROMISES);
    if (p)
        sw_watched_comm_meet(*p->comm, p->made);
    free(p);
}

/* Completion --------------------------------------------------------------- */

void *sw_watched_scratch(size_t bytes)
{
    static __thread struct {
        void *at;
        size_t room;
    } mine __attribute__((tls_model("initial-exec")));
    if (mine.room < bytes) {
        void *at = malloc(2 * bytes);
        if (!at)
            return NULL;
        free(mine.at);
        mine.at = at;
        mine.room = 2 * bytes;
    }
    return mine.at;
}

/* What the call means by a handle. Returns whether its status is wanted. */
static bool note(sw_watched_item_t *to, uint64_t handle, int32_t waits)
{
    sw_watch_request_t *r = find(handle);
    to->entry = NO_ENTRY;
    if (!r || !r->active)
        return false;
    bool receives = r->kind == SW_WATCH_RECEIVES && !r->partitions;
    to->entry = (uint32_t)(r - sw_watch->requests);
    to->serial = r->serial;
    to->handle = handle;
    to->comm = r->comm;
    to->peer = receives ? r->peer : SW_WATCH_NOBODY;
    to->tag = r->tag;
    to->kind = r->kind;
    to->cancelled = r->cancelled;
    if (waits)
        r->waited = waits;
    return receives && !is_plain(r->peer, r->tag, r->cancelled);
}

MPI_Status *sw_watched_wait(sw_watched_t *w, sw_watched_wait_t *c, int64_t n,
                            const MPI_Request *requests, MPI_Status *statuses,
                            bool several, bool waits)
{
    bool ignored = several ? statuses == MPI_STATUSES_IGNORE
                           : statuses == MPI_STATUS_IGNORE;
    bool wanted = false;
    int32_t by = waits ? w->thread->tid : 0;
    w->thread->call.has |= SW_WATCH_HAS_REQUESTS;
    w->thread->call.requests = n > 0 ? (uint64_t)n : 0;
    c->n = n;
    c->items = NULL;
    c->statuses = ignored ? NULL : statuses;
    if (n <= 0 || !requests ||
        !atomic_load_explicit(&begun, memory_order_relaxed))
        return statuses;
    sw_watched_item_t *items = c->few;
    MPI_Status *own = c->few_statuses;
    if (n > SW_WATCHED_FEW) {
        size_t bytes = sw_round_up((size_t)n * sizeof *items, 16);
        char *room = sw_watched_scratch(
            bytes + (several && ignored ? (size_t)n * sizeof *own : 0));
        if (!room)
            return statuses;
        items = (sw_watched_item_t *)(void *)room;
        own = several ? (MPI_Status *)(void *)(room + bytes) : own;
    }
    for (int64_t i = 0; i < n; i++)
        wanted |= note(&items[i], (uintptr_t)requests[i], by);
    c->items = items;
    if (!ignored || !wanted)
        return statuses;
    return c->statuses = own;
}

static bool was_cancelled(const MPI_Status *status)
{
    int flag = 0;
    host.Test_cancelled(status, &flag);
    return flag;
}

/* A receive has completed, with this status; NULL: it is not known. */
static void count(const sw_watched_item_t *i, const MPI_Status *status)
{
    if (is_plain(i->peer, i->tag, i->cancelled) ||
        (status && !(i->cancelled && was_cancelled(status))))
        sw_watched_came(i->comm, i->peer, i->tag, status);
}

/* A request has completed. Its entry may be another request's by now. */
static void complete(sw_watched_item_t *i, const MPI_Status *status)
{
    sw_watch_request_t *r = &sw_watch->requests[i->entry];
    uint32_t place = i->entry;
    i->entry = NO_ENTRY;
    lock(place);
    if (sw_likely(r->serial == i->serial)) {
        i->cancelled = r->cancelled;
        if (r->persistent) {
            r->active = false;
            r->waited = 0;
        } else {
            end(r);
        }
    }
    unlock(place);
    if (i->peer != SW_WATCH_NOBODY)
        count(i, status);
    if (sw_unlikely(i->kind == SW_WATCH_COLLECTIVE &&
                    atomic_load_explicit(&has_promised, memory_order_relaxed)))
        keep_promise(i->handle);
}

void sw_watched_done(sw_watched_wait_t *c, int64_t at, int64_t told)
{
    if (c->items && c->items[at].entry != NO_ENTRY)
        complete(&c->items[at], c->statuses ? &c->statuses[told] : NULL);
}

void sw_watched_done_all(sw_watched_wait_t *c, int64_t n)
{
    for (int64_t i = 0; c->items && i < n; i++)
        sw_watched_done(c, i, i);
}

void sw_watched_done_some(sw_watched_wait_t *c, int count, const int *indices)
{
    for (int i = 0; c->items && count != MPI_UNDEFINED && i < count; i++)
        sw_watched_done(c, indices[i], i);
}

void sw_watched_wait_ends(sw_watched_wait_t *c, const MPI_Request *requests,
                          bool failed)
{
    for (int64_t k = 0; c->items && k < c->n; k++) {
        sw_watched_item_t *i = &c->items[k];
        if (i->entry == NO_ENTRY)
            continue;
        if (failed && requests[k] == MPI_REQUEST_NULL)
            complete(i, NULL);
        else if (sw_watch->requests[i->entry].serial == i->serial)
            sw_watch->requests[i->entry].waited = 0;
    }
}

/* Starts and ends ---------------------------------------------------------- */

void sw_watched_starts(int n, const MPI_Request *requests, uint64_t *were)
{
    for (int i = 0; requests && i < n; i++) {
        sw_watch_request_t *r = find((uintptr_t)requests[i]);
        if (r && r->persistent) {
            r->ready = 0;
            if (r->kind == SW_WATCH_COLLECTIVE)
                r->number = sw_watched_next(sw_watched_comm_of(r->comm),
                                            r->procedure, SW_WATCH_NOBODY);
            r->active = true;
            if (r->kind == SW_WATCH_SENDS && r->peer >= 0 && !r->partitions)
                sw_watched_count(r->comm, true, r->peer, r->tag);
        }
        if (were)
            were[i] = (uintptr_t)requests[i];
    }
}

/* A request has got another handle. */
static void move(uint64_t from, uint64_t handle)
{
    uint32_t place = place_of(from);
    sw_watch_request_t kept;
    lock(place);
    sw_watch_request_t *r = find(from);
    if (r) {
        kept = *r;
        end(r);
    }
    unlock(place);
    if (!r)
        return;
    place = place_of(handle);
    lock(place);
    if ((r = add(handle))) {
        uint8_t kind = kept.kind;
        kept.handle = handle;
        kept.serial = r->serial;
        kept.kind = r->kind;
        *r = kept;
        flow(r, kind, 1);
        __atomic_store_n(&r->kind, kind, __ATOMIC_RELEASE);
    }
    unlock(place);
    if (!r)
        sw_watch_lose(requests);
}

/* Open MPI may give another handle for a request that it has not quite done
 * with when it is started again. */
void sw_watched_started(int n, const MPI_Request *requests,
                        const uint64_t *were)
{
    for (int i = 0; were && i < n; i++)
        if (sw_unlikely((uintptr_t)requests[i] != were[i]))
            move(were[i], (uintptr_t)requests[i]);
}

/* A receive's message comes later, unseen. */
void sw_watched_freed(MPI_Request request)
{
    uint32_t place = place_of((uintptr_t)request);
    sw_watched_item_t item = {.peer = SW_WATCH_NOBODY};
    lock(place);
    sw_watch_request_t *r = find((uintptr_t)request);
    (void)note(&item, (uintptr_t)request, 0);
    if (r)
        end(r);
    unlock(place);
    if (item.peer != SW_WATCH_NOBODY) {
        atomic_store(&sw_watch_flow.unsure, true);
        count(&item, NULL);
    }
}

void sw_watched_cancelled(MPI_Request request)
{
    sw_watch_request_t *r = find((uintptr_t)request);
    if (r)
        r->cancelled = true;
}

void sw_watched_ready(MPI_Request request, int64_t partitions)
{
    sw_watch_request_t *r = find((uintptr_t)request);
    if (r && partitions > 0)
        (void)__atomic_fetch_add(&r->ready, (uint32_t)partitions,
                                 __ATOMIC_RELAXED);
}
