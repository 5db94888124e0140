/*
 * requests.c - operations begun and not completed (watch/watch.h).
 *
 * Entries are found by the request's handle, in a table with open addresses. No
 * entry moves while its request lives.
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

#define WINDOW 256
#define NO_ENTRY UINT32_MAX

/* Has the process ever begun one? */
static _Atomic bool begun;

static sw_watch_request_t *entry(uint32_t at)
{
    return &sw_watch->requests[at % SW_WATCH_REQUESTS];
}

static uint32_t place_of(uint64_t handle)
{
    return (uint32_t)(handle * 0x9e3779b97f4a7c15u >> 40);
}

/* With the lock held where several threads call MPI, as all below. */
static sw_watch_request_t *find(uint64_t handle)
{
    uint32_t at = place_of(handle);
    for (uint32_t i = 0; i < WINDOW; i++) {
        sw_watch_request_t *r = entry(at + i);
        if (r->handle == handle && r->kind != SW_WATCH_FREE &&
            r->kind != SW_WATCH_GONE)
            return r;
        if (r->kind == SW_WATCH_FREE)
            break;
    }
    return NULL;
}

static void lock(void)
{
    if (sw_unlikely(sw_threaded))
        sw_watch_lock();
}

static void unlock(void)
{
    if (sw_unlikely(sw_threaded))
        sw_watch_unlock();
}

static void end(sw_watch_request_t *r)
{
    uint32_t at = (uint32_t)(r - sw_watch->requests);
    r->serial++;
    r->kind = entry(at + 1)->kind == SW_WATCH_FREE ? SW_WATCH_FREE
                                                   : SW_WATCH_GONE;
    while (r->kind == SW_WATCH_FREE && entry(--at)->kind == SW_WATCH_GONE)
        entry(at)->kind = SW_WATCH_FREE;
}

/* A receive whose message is known without a status. */
static bool is_plain(const sw_watch_request_t *r)
{
    return r->kind == SW_WATCH_RECEIVES && r->active && !r->cancelled &&
           !r->partitions && r->peer >= 0 && r->tag >= 0;
}

/* NULL: no room. A request under the same handle has completed: a thread has
 * heard of it later than this one of the next request. It is left in *old, for
 * its message to be counted without the lock, which a new pair takes. */
static sw_watch_request_t *add(uint64_t handle, sw_watch_request_t *old)
{
    uint32_t at = place_of(handle);
    sw_watch_request_t *before = find(handle);
    if (sw_unlikely(before)) {
        *old = *before;
        end(before);
    }
    for (uint32_t i = 0; i < WINDOW; i++) {
        sw_watch_request_t *r = entry(at + i);
        if (r->kind == SW_WATCH_FREE || r->kind == SW_WATCH_GONE)
            return r;
    }
    return NULL;
}

void sw_watched_request(const sw_watched_t *w, int kind, MPI_Request request,
                        bool persistent, int partitions)
{
    const sw_watch_call_t *c = &w->thread->call;
    const uint32_t has = c->has;
    sw_watch_request_t old = {.kind = SW_WATCH_FREE};
    if (request == MPI_REQUEST_NULL)
        return;
    atomic_store_explicit(&begun, true, memory_order_relaxed);
    lock();
    sw_watch_request_t *r = add((uintptr_t)request, &old);
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
        r->kind = (uint8_t)kind;
    }
    unlock();
    if (sw_unlikely(is_plain(&old)))
        sw_watched_count(old.comm, false, old.peer, old.tag);
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

void sw_watched_promised(const sw_watched_t *w, MPI_Request request,
                         const MPI_Comm *comm, uint64_t made)
{
    promised_t *p = malloc(sizeof *p);
    sw_watched_request(w, SW_WATCH_COLLECTIVE, request, false, 0);
    if (!p)
        return;
    sw_watch_lock();
    *p = (promised_t){promised, (uintptr_t)request, made, comm};
    promised = p;
    sw_watch_unlock();
}

static void keep_promise(uint64_t handle)
{
    promised_t **at = &promised, *p;
    sw_watch_lock();
    while ((p = *at) && p->handle != handle)
        at = &p->next;
    if (p)
        *at = p->next;
    sw_watch_unlock();
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
    to->entry = (uint32_t)(r - sw_watch->requests);
    to->serial = r->serial;
    if (waits)
        r->waited = waits;
    return r->kind == SW_WATCH_RECEIVES && !is_plain(r);
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
    lock();
    for (int64_t i = 0; i < n; i++)
        wanted |= note(&items[i], (uintptr_t)requests[i], by);
    unlock();
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

/* A request has completed, with this status; NULL: it is not known. The entry
 * may be that of another thread's request by now. */
static void complete(sw_watched_item_t *i, const MPI_Status *status)
{
    sw_watch_request_t *r = &sw_watch->requests[i->entry];
    lock();
    bool same = r->serial == i->serial;
    sw_watch_request_t was = *r;
    if (same && r->persistent) {
        r->active = false;
        r->waited = 0;
    } else if (same) {
        end(r);
    }
    unlock();
    i->entry = NO_ENTRY;
    if (!same)
        return;
    if (was.kind == SW_WATCH_RECEIVES && !was.partitions) {
        if (is_plain(&was) || (status && was.peer != SW_WATCH_NOBODY &&
                               !(was.cancelled && was_cancelled(status))))
            sw_watched_came(was.comm, was.peer, was.tag, status);
    } else if (sw_unlikely(promised) && was.kind == SW_WATCH_COLLECTIVE) {
        keep_promise(was.handle);
    }
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
        lock();
        sw_watch_request_t *r = find((uintptr_t)requests[i]), was = {0};
        if (r && r->persistent) {
            r->ready = 0;
            if (r->kind == SW_WATCH_COLLECTIVE)
                r->number = sw_watched_next(sw_watched_comm_of(r->comm),
                                            r->procedure, SW_WATCH_NOBODY);
            r->active = true;
            was = *r;
        }
        unlock();
        if (was.kind == SW_WATCH_SENDS && was.peer >= 0 && !was.partitions)
            sw_watched_count(was.comm, true, was.peer, was.tag);
        if (were)
            were[i] = (uintptr_t)requests[i];
    }
}

/* Open MPI may give another handle for a request that it has not quite done
 * with when it is started again. */
void sw_watched_started(int n, const MPI_Request *requests,
                        const uint64_t *were)
{
    for (int i = 0; were && i < n; i++) {
        uint64_t handle = (uintptr_t)requests[i];
        if (sw_likely(handle == were[i]))
            continue;
        lock();
        sw_watch_request_t *from = find(were[i]), *to = NULL,
                           old = {.kind = SW_WATCH_FREE};
        if (from) {
            sw_watch_request_t kept = *from;
            end(from);
            if ((to = add(handle, &old))) {
                kept.serial = to->serial;
                *to = kept;
                to->handle = handle;
            }
        }
        unlock();
        if (is_plain(&old))
            sw_watched_count(old.comm, false, old.peer, old.tag);
    }
}

void sw_watched_freed(MPI_Request request)
{
    lock();
    sw_watch_request_t *r = find((uintptr_t)request), was = {0};
    if (r) {
        was = *r;
        end(r);
    }
    unlock();
    if (is_plain(&was)) /* its message comes later, unseen */
        sw_watched_count(was.comm, false, was.peer, was.tag);
}

void sw_watched_cancelled(MPI_Request request)
{
    lock();
    sw_watch_request_t *r = find((uintptr_t)request);
    if (r)
        r->cancelled = true;
    unlock();
}

void sw_watched_ready(MPI_Request request, int64_t partitions)
{
    lock();
    sw_watch_request_t *r = find((uintptr_t)request);
    if (r && partitions > 0)
        r->ready += (uint32_t)partitions;
    unlock();
}
