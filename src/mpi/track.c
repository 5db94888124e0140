/*
 * track.c - see track.h.
 *
 * One lock guards the table, the list of active tracks and who holds what.
 * Without MPI_THREAD_MULTIPLE only one thread comes here at a time, and the
 * lock is left alone. Copies are made without it: the thread that makes one
 * holds the track.
 */
#include "track.h"

#include "buffer.h"
#include "call.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096u

_Atomic int sw_tracks, sw_posted;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_track_t *table[BUCKETS];
static sw_track_t *spare;
static sw_track_t active = {.after = &active, .before = &active};
/* Sends whose request the program has freed: the host may still read the
 * descriptor, until the receiver has it. */
static sw_track_t *zombies;

static void enter(void)
{
    if (sw_threaded)
        pthread_mutex_lock(&lock);
}

static void leave(void)
{
    if (sw_threaded)
        pthread_mutex_unlock(&lock);
}

static sw_track_t **bucket(MPI_Request handle)
{
    return &table[sw_handle_mix((uintptr_t)handle) % BUCKETS];
}

static void bury(void)
{
    for (sw_track_t **link = &zombies; *link;) {
        sw_track_t *t = *link;
        if (!sw_slot_is(t->slot, SW_SLOT_TAKEN)) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        sw_slot_leave(t->slot);
        t->next = spare;
        spare = t;
    }
}

sw_track_t *sw_track_new(void)
{
    enter();
    if (sw_unlikely(zombies))
        bury();
    sw_track_t *t = spare;
    if (t)
        spare = t->next;
    leave();
    if (!t)
        t = malloc(sizeof *t);
    if (t) {
        t->receive = t->persistent = t->synchronous = false;
        t->active = t->freed = t->cancelled = t->held = false;
        t->taken = t->blind = false;
        t->slot = NULL;
    }
    return t;
}

sw_track_t *sw_track_receive(void *buffer, int64_t count,
                             const sw_datatype_t *type, MPI_Comm comm)
{
    sw_track_t *t = sw_track_new();
    if (!t) {
        sw_say("out of memory in a receive");
        abort();
    }
    t->receive = true;
    t->buffer = buffer;
    t->count = count;
    t->type = type;
    t->comm = comm;
    return t;
}

void sw_track_drop(sw_track_t *t)
{
    enter();
    t->next = spare;
    spare = t;
    leave();
}

/* A receive that cannot hold a large message keeps nobody waiting. */
static bool owes(const sw_track_t *t)
{
    return t->receive &&
           (size_t)t->count * t->type->size >= sw_settings.p2p_min;
}

static void activate(sw_track_t *t)
{
    t->active = true;
    t->taken = t->cancelled = t->ended = false;
    t->error = MPI_SUCCESS;
    t->after = &active;
    t->before = active.before;
    active.before->after = t;
    active.before = t;
    if (owes(t))
        atomic_fetch_add_explicit(&sw_posted, 1, memory_order_relaxed);
}

static void deactivate(sw_track_t *t)
{
    if (!t->active)
        return;
    t->active = false;
    t->after->before = t->before;
    t->before->after = t->after;
    if (owes(t))
        atomic_fetch_sub_explicit(&sw_posted, 1, memory_order_relaxed);
}

void sw_track_add(sw_track_t *t)
{
    enter();
    sw_track_t **first = bucket(t->handle);
    t->next = *first;
    *first = t;
    atomic_fetch_add_explicit(&sw_tracks, 1, memory_order_relaxed);
    if (!t->persistent)
        activate(t);
    leave();
}

void sw_track_begin(sw_track_t *t)
{
    enter();
    deactivate(t);
    activate(t);
    leave();
}

sw_track_t *sw_track_of(MPI_Request handle)
{
    if (!sw_any_tracks() || handle == MPI_REQUEST_NULL)
        return NULL;
    enter();
    sw_track_t *t = *bucket(handle);
    while (t && t->handle != handle)
        t = t->next;
    leave();
    return t;
}

/* Out of the table; the lock is held. */
static void forget(sw_track_t *t)
{
    sw_track_t **link = bucket(t->handle);
    while (*link && *link != t)
        link = &(*link)->next;
    if (*link)
        *link = t->next;
    atomic_fetch_sub_explicit(&sw_tracks, 1, memory_order_relaxed);
}

void sw_track_hold(sw_track_t *t)
{
    pthread_t me = pthread_self();
    while (true) {
        enter();
        bool mine = !t->held || pthread_equal(t->holder, me);
        if (mine) {
            t->held = true;
            t->holder = me;
        }
        leave();
        if (mine)
            return;
        sw_os_yield();
    }
}

void sw_track_let_go(sw_track_t *t)
{
    enter();
    t->held = false;
    leave();
}

/* Receives ---------------------------------------------------------------- */

void sw_status_set_bytes(MPI_Status *status, size_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
#ifdef SW_HAS_Status_set_elements_x
    if (host.Status_set_elements_x) {
        host.Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
        return;
    }
#endif
    host.Status_set_elements(status, MPI_BYTE, (int)bytes);
}

/* The first bytes of what has arrived, by signature. */
static void peek(const void *buffer, int64_t count, const sw_datatype_t *type,
                 MPI_Comm comm, sw_descriptor_t *to)
{
    if (type->dense) {
        memcpy(to, buffer, sizeof *to);
        return;
    }
    int64_t n = (int64_t)((sizeof *to + type->size - 1) / type->size);
    n = n < count ? n : count;
    char *bytes = sw_temporary((size_t)n * type->size);
    sw_pack(buffer, n, type, bytes, comm);
    memcpy(to, bytes, sizeof *to);
    sw_temporary_free(bytes);
}

/* Whole elements are unpacked; of a last one in parts, the rest stays. */
static void spread(const char *data, size_t bytes, void *buffer,
                   const sw_datatype_t *type, MPI_Comm comm)
{
    int64_t whole = (int64_t)(bytes / type->size);
    size_t rest = bytes % type->size;
    sw_unpack(data, buffer, whole, type, comm);
    if (rest) {
        char *one = sw_temporary(type->size);
        void *at = sw_element(buffer, whole, type);
        sw_pack(at, 1, type, one, comm);
        memcpy(one, data + (size_t)whole * type->size, rest);
        sw_unpack(one, at, 1, type, comm);
        sw_temporary_free(one);
    }
}

/* 192 bytes have been received. If they are a descriptor, fetch: true, with
 * *bytes the message's length and *error an error class. */
static bool take(void *buffer, int64_t count, const sw_datatype_t *type,
                 MPI_Comm comm, size_t *bytes, int *error)
{
    sw_descriptor_t d;
    size_t room = (size_t)count * type->size;
    if (room < sizeof d)
        return false;
    peek(buffer, count, type, comm, &d);
    if (sw_likely(!sw_descriptor_valid(&d, &sw_link_cookie)))
        return false;
    const sw_link_t *link = sw_link_at(d.source);
    sw_slot_t *slot = link ? sw_slot_of(link->peer, &d, sw_link_place) : NULL;
    if (!slot)
        return false;
    int rc;
    size_t n = sw_min(room, d.bytes);
    if (type->dense) {
        rc = sw_slot_take(link->peer, slot, buffer, room);
    } else {
        char *data = sw_temporary(n);
        rc = sw_slot_take(link->peer, slot, data, n);
        if (rc == 0)
            spread(data, n, buffer, type, comm);
        sw_temporary_free(data);
    }
    *bytes = n;
    *error = rc ? MPI_ERR_OTHER
             : d.bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    static _Atomic bool said;
    if (rc)
        sw_say_once(&said, "a message of %llu bytes could not be fetched from "
                    "its sender: %m", (unsigned long long)d.bytes);
    return true;
}

int sw_received(void *buffer, int64_t count, const sw_datatype_t *type,
                MPI_Comm comm, MPI_Status *status)
{
    size_t bytes;
    int error;
    if (sw_likely(sw_status_bytes(status) != SW_DESCRIPTOR_BYTES) ||
        !take(buffer, count, type, comm, &bytes, &error))
        return MPI_SUCCESS;
    sw_status_set_bytes(status, bytes);
    return error;
}

static void take_tracked(sw_track_t *t)
{
    t->taken = take(t->buffer, t->count, t->type, t->comm, &t->bytes,
                    &t->error);
}

void sw_track_peek(sw_track_t *t, MPI_Status *status)
{
    int gone = 0;
    if (t->cancelled)
        host.Test_cancelled(status, &gone);
    if (!t->taken && !gone &&
        (t->blind || sw_status_bytes(status) == SW_DESCRIPTOR_BYTES))
        take_tracked(t);
    if (t->taken)
        sw_status_set_bytes(status, t->bytes);
}

/* Sends ------------------------------------------------------------------- */

bool sw_track_ended(sw_track_t *t)
{
    int done = 0;
    if (t->ended)
        return true;
    if (t->synchronous && !t->persistent) {
        host.Request_get_status(t->handle, &done, MPI_STATUS_IGNORE);
        return done;
    }
    MPI_Request handle = t->handle;
    host.Test(&handle, &done, MPI_STATUS_IGNORE);
    t->ended = done;
    return done;
}

bool sw_track_ready(sw_track_t *t)
{
    /* A cancelled one is the host's to judge; see end_cancelled. */
    if (t->receive || !t->active || t->cancelled || sw_slot_released(t->slot))
        return true;
    /* A synchronous one may lie aside once it is matched. */
    if (!t->synchronous || sw_track_ended(t))
        sw_slot_nudge(t->slot, t->offer.data);
    return sw_slot_released(t->slot);
}

/* The host has completed a send that was to be cancelled. */
static void end_cancelled(sw_track_t *t, const MPI_Status *status)
{
    int gone = 0;
    host.Test_cancelled(status, &gone);
    if (gone) {
        sw_slot_withdraw(t->slot);
        return;
    }
    while (!sw_slot_released(t->slot)) {
        sw_slot_nudge(t->slot, t->offer.data);
        sw_os_yield();
    }
    sw_slot_leave(t->slot);
}

/* The end ----------------------------------------------------------------- */

int sw_track_finish(sw_track_t *t, MPI_Status *status)
{
    int error = MPI_SUCCESS;
    if (t->receive) {
        sw_track_peek(t, status);
        if (t->taken)
            error = t->error;
    } else if (t->cancelled) {
        end_cancelled(t, status);
    } else {
        sw_slot_leave(t->slot);
    }
    MPI_Request ours = t->handle;
    bool over = !t->persistent, send = !t->receive && !t->synchronous;
    enter();
    deactivate(t);
    t->held = false;
    if (over) {
        forget(t);
        t->next = spare;
        spare = t;
    }
    leave();
    if (over && send)
        host.Request_free(&ours);
    return error;
}

void sw_track_free(sw_track_t *t)
{
    MPI_Request handle = t->handle;
    sw_track_hold(t);
    if (t->receive && t->active) {
        t->freed = true;            /* progress ends it */
        sw_track_let_go(t);
        return;
    }
    host.Request_free(&handle);
    enter();
    bool active_send = t->active;
    deactivate(t);
    forget(t);
    t->next = active_send ? zombies : spare;
    if (active_send)
        zombies = t;
    else
        spare = t;
    leave();
}

/* Has a descriptor arrived for it? Where the buffer is dense it shows itself:
 * its check tells whether it is all there. */
static bool arrived(const sw_track_t *t)
{
    int done = 0;
    if ((size_t)t->count * t->type->size < SW_DESCRIPTOR_BYTES || t->cancelled)
        return false;
    if (t->type->dense)
        return t->buffer && sw_descriptor_begins(t->buffer, &sw_link_cookie);
    if (t->persistent)      /* see sw_track_ended */
        return false;
    MPI_Status status;
    host.Request_get_status(t->handle, &done, &status);
    return done && sw_status_bytes(&status) == SW_DESCRIPTOR_BYTES;
}

/* A receive whose request the program has freed: has it ended? */
static bool finish_freed(sw_track_t *t)
{
    MPI_Request handle = t->handle;
    MPI_Status status;
    int done = 0;
    host.Test(&handle, &done, &status);
    if (!done)
        return false;
    if (handle != MPI_REQUEST_NULL)     /* persistent: now inactive */
        host.Request_free(&handle);
    t->persistent = false;
    sw_track_finish(t, &status);
    return true;
}

/* The next active track, from `t` on, that needs us; held by us then. */
static sw_track_t *needing(sw_track_t *t, pthread_t me, bool *held)
{
    for (; t != &active; t = t->after) {
        if (t->held && !pthread_equal(t->holder, me))
            continue;
        if (t->receive ? t->freed || (!t->taken && arrived(t))
                       : !sw_slot_released(t->slot)) {
            *held = t->held;
            t->held = true;
            t->holder = me;
            return t;
        }
    }
    return NULL;
}

/* Fetch what has arrived, whatever this thread waits for. */
void sw_track_progress(void)
{
    static __thread bool inside __attribute__((tls_model("initial-exec")));
    if (!sw_any_tracks() || inside)
        return;
    inside = true;
    pthread_t me = pthread_self();
    bool held;
    enter();
    sw_track_t *t = needing(active.after, me, &held);
    leave();
    while (t) {
        if (t->receive && t->freed) {
            if (finish_freed(t))
                break;      /* it is no longer in the list: the next time */
        } else if (t->receive) {
            take_tracked(t);
        } else {
            sw_track_ready(t);
        }
        enter();
        t->held = held;
        t = needing(t->after, me, &held);
        leave();
    }
    inside = false;
}
