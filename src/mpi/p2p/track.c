/*
 * track.c - see track.h.
 *
 * Their beginning and end. What happens between is in progress.c.
 */
#include "track.h"

#include "mpi/base/buffer.h"
#include "node/base/settings.h"
#include "mpi/base/datatype.h"
#include "mpi/base/comm.h"
#include "complete.h"
#include "handles.h"
#include "posted.h"
#include "route.h"
#include "serve.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Atomic int sw_tracks, sw_posted, sw_special;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_track_t *spare;
sw_tracks_t sw_sends, sw_freed;
/* Sends whose request the program has freed: the host may still read the
 * descriptor, until the receiver has it. So many are looked at when a track is
 * wanted. */
static sw_tracks_t zombies;
#define ZOMBIES_LOOKED 4

bool sw_tracks_shared;

void sw_tracks_enter(void)
{
    if (sw_tracks_shared)
        pthread_mutex_lock(&lock);
}

void sw_tracks_leave(void)
{
    if (sw_tracks_shared)
        pthread_mutex_unlock(&lock);
}

bool sw_tracks_try(void)
{
    return !pthread_mutex_trylock(&lock);
}

static pthread_mutex_t match = PTHREAD_MUTEX_INITIALIZER;

void sw_match_enter(void)
{
    if (sw_threaded)
        pthread_mutex_lock(&match);
}

void sw_match_leave(void)
{
    if (sw_threaded)
        pthread_mutex_unlock(&match);
}

static void count(_Atomic int *counter, int by)
{
    (void)sw_counter_add(counter, by, sw_tracks_shared, memory_order_relaxed);
}

static void bury(void)
{
    for (int i = 0; i < ZOMBIES_LOOKED && zombies; i++) {
        sw_track_t *t = zombies;
        zombies = t->after;
        if (!sw_slot_is(t->slot, SW_SLOT_TAKEN))
            continue;
        sw_tracks_remove(t);
        sw_slot_leave(t->slot);
        t->next = spare;
        spare = t;
    }
}

sw_track_t *sw_track_new(void)
{
    sw_tracks_enter();
    if (sw_unlikely(zombies))
        bury();
    sw_track_t *t = spare;
    if (t)
        spare = t->next;
    sw_tracks_leave();
    if (!t && (t = aligned_alloc(SW_LINE, sizeof *t))) {
        t->handle = MPI_REQUEST_NULL;
        t->ring = NULL;
        t->walk = t->looked = 0;
    }
    if (t) {
        t->receive = t->persistent = t->synchronous = t->matched = false;
        t->active = t->freed = t->cancelled = t->owes = false;
        t->held = t->claimed = false;
        t->taken = t->early = t->pair = false;
        t->slot = NULL;
        t->comm = NULL;
        t->plain = t->second = MPI_REQUEST_NULL;
        t->copy = NULL;
        t->in.block = NULL;
        t->rank = MPI_PROC_NULL;
    }
    return t;
}

sw_track_t *sw_track_receive(const sw_recv_buffer_t *in, sw_comm_t *comm,
                             int source, int tag)
{
    sw_track_t *t = sw_track_new();
    if (!t) {
        sw_say("out of memory in a receive");
        abort();
    }
    t->receive = true;
    t->in = *in;
    sw_datatype_hold(in->type);
    sw_comm_hold(comm);
    t->comm = comm;
    t->rank = source;
    t->tag = tag;
    return t;
}

/* What it has held. */
static void release(sw_track_t *t)
{
    if (t->receive || t->persistent)
        sw_datatype_drop(t->in.type);
    if (t->comm)
        sw_comm_drop(t->comm);
    sw_temporary_free(t->in.block);
}

void sw_track_drop(sw_track_t *t)
{
    release(t);
    sw_tracks_enter();
    t->handle = MPI_REQUEST_NULL;
    t->next = spare;
    spare = t;
    sw_tracks_leave();
}

/* May a peer be waiting for it? A receive that cannot hold a large message
 * keeps nobody waiting; but one that is freed ends in nobody's call. */
static void owe(sw_track_t *t)
{
    if (t->owes)
        return;
    t->owes = true;
    count(&sw_posted, 1);
    if (sw_served)
        sw_agent_wake();
}

static void activate(sw_track_t *t)
{
    t->active = true;
    t->taken = t->early = t->cancelled = t->done = t->ended = false;
    t->spread = false;
    t->heard = false;
    t->error = t->result = MPI_SUCCESS;
    if (!t->receive && t->slot)
        sw_tracks_add(&sw_sends, t);
    if (t->receive && sw_posted_add(t) && sw_recv_buffer_is_large(&t->in))
        owe(t);
    if (!t->receive || t->pair)
        count(&sw_special, 1);
}

static void deactivate(sw_track_t *t)
{
    if (!t->active)
        return;
    t->active = false;
    sw_tracks_remove(t);
    if (t->owes)
        count(&sw_posted, -1);
    t->owes = false;
    if (!t->receive || t->pair || t->ended)
        count(&sw_special, -1);
}

void sw_track_add(sw_track_t *t)
{
    sw_tracks_enter();
    sw_handles_add(t);
    count(&sw_tracks, 1);
    if (!t->persistent)
        activate(t);
    sw_tracks_leave();
}

void sw_track_begin(sw_track_t *t, MPI_Request handle)
{
    sw_tracks_enter();
    deactivate(t);
    if (sw_unlikely(t->handle != handle)) {
        sw_handles_remove(t);
        t->handle = handle;
        sw_handles_add(t);
    }
    activate(t);
    sw_tracks_leave();
}

sw_track_t *sw_track_of(MPI_Request handle)
{
    if (!sw_any_tracks() || handle == MPI_REQUEST_NULL)
        return NULL;
    sw_note_track(handle);
    sw_tracks_enter();
    sw_track_t *t = sw_handles_find(handle);
    sw_tracks_leave();
    return t;
}

sw_track_t *sw_track_to_cancel(MPI_Request handle)
{
    sw_track_t *t = sw_track_of(handle);
    if (t || !sw_any_tracks())
        return t;
    sw_tracks_enter();
    t = sw_handles_first(handle);
    while (t && (t->handle != handle || t->freed))
        t = t->next;
    sw_tracks_leave();
    return t;
}

static void forget(sw_track_t *t)
{
    sw_handles_remove(t);
    count(&sw_tracks, -1);
}

void sw_track_claims(sw_track_t *t, bool claimed)
{
    sw_tracks_enter();
    t->claimed = claimed;
    sw_tracks_leave();
}

void sw_track_holds(sw_track_t *t, bool held)
{
    sw_tracks_enter();
    while (held && sw_unlikely(t->held)) {
        sw_tracks_leave();
        sw_os_yield();
        sw_tracks_enter();
    }
    t->held = held;
    sw_tracks_leave();
}

/* A host's error in either half ends that half, and is kept. */
static bool ask_pair(sw_track_t *t)
{
    MPI_Status ignored;
    int received = 1, sent = 1;
    if (t->plain != MPI_REQUEST_NULL) {
        int rc = host.Test(&t->plain, &received, &t->status);
        t->result = rc ? rc : t->result;
        received = received || rc;
    }
    if (t->second != MPI_REQUEST_NULL) {
        int rc = sw_MPI_Test(&t->second, &sent, &ignored);
        t->result = t->result ? t->result : rc;
        sent = sent || rc;
    }
    if (!received || !sent)
        return false;
    t->ended = true;
    host.Grequest_complete(t->handle);
    return true;
}

bool sw_track_ask(sw_track_t *t)
{
    int done = 0;
    if (t->done || t->ended)
        return true;
    if (t->pair)
        return ask_pair(t);
    if (!t->persistent && (t->receive || t->synchronous)) {
        host.Request_get_status(t->handle, &done, &t->status);
        t->done = done;
        return done;
    }
    MPI_Request handle = t->handle;
    t->result = host.Test(&handle, &done, &t->status);
    t->ended = done || t->result != MPI_SUCCESS;
    if (t->ended && t->receive)
        count(&sw_special, 1);
    return t->ended;
}

/* Receives ---------------------------------------------------------------- */

void sw_track_take(sw_track_t *t)
{
    if (t->early) {
        memcpy(t->in.buffer, t->head, sw_min(t->bytes, sizeof t->head));
        t->taken = true;
        return;
    }
    t->taken = sw_fetch(&t->in, t->comm, &t->bytes, &t->error);
}

void sw_track_peek(sw_track_t *t, MPI_Status *status)
{
    int gone = 0;
    if (t->cancelled)
        host.Test_cancelled(status, &gone);
    /* The program may have released the buffer of one that is gone. */
    if (gone)
        return;
    if (sw_likely(!t->taken && sw_plainly_none(&t->in)))
        return;
    size_t bytes = t->taken ? 0 : sw_status_bytes(status);
    if (bytes == SW_DESCRIPTOR_BYTES)
        sw_track_take(t);
    if (t->taken) {
        sw_status_set_bytes(status, t->bytes);
        return;
    }
    if (bytes == SW_DESCRIPTOR_BYTES && !t->heard) {
        t->heard = true;
        sw_heard(t->comm, status->MPI_SOURCE, status->MPI_TAG);
    }
    if (t->in.block && !t->spread && bytes != SIZE_MAX) {
        sw_recv_buffer_spread(&t->in, bytes, t->comm);
        t->spread = true;
    }
}

/* Sends ------------------------------------------------------------------- */

bool sw_track_ready(sw_track_t *t)
{
    if (t->pair && t->active)
        return sw_track_ask(t);
    if (t->receive || !t->active)
        return true;
    if (!t->slot) {
        if (t->ended)
            return true;
        int done = 0;
        t->result = host.Test(&t->plain, &done, &t->status);
        t->ended = done || t->result != MPI_SUCCESS;
        return t->ended;
    }
    /* A cancelled one is the host's to judge; see end_cancelled. */
    if (t->cancelled || sw_slot_released(t->slot))
        return true;
    const sw_peer_t *receiver = sw_link_at(t->slot->dest)->peer;
    sw_slot_help(t->slot, receiver, t->offer.data);
    /* A synchronous one may lie aside once it is matched. */
    if (!t->synchronous || sw_track_ask(t))
        sw_slot_nudge(t->slot, receiver, t->offer.data);
    return sw_slot_released(t->slot);
}

/* The host has completed a send that was to be cancelled. */
static void end_cancelled(sw_track_t *t, const MPI_Status *status)
{
    int gone = 0;
    host.Test_cancelled(status, &gone);
    if (gone) {
        sw_route_withdraw(t->slot);
        return;
    }
    while (!sw_slot_released(t->slot)) {
        sw_slot_nudge(t->slot, sw_link_at(t->slot->dest)->peer,
                      t->offer.data);
        sw_os_yield();
    }
    sw_slot_leave(t->slot);
}

/* The end ----------------------------------------------------------------- */

int sw_track_finish(sw_track_t *t, MPI_Status *status)
{
    int error = MPI_SUCCESS;
    if (t->receive) {
        if (t->ended)
            *status = t->status;
        sw_track_peek(t, status);
        if (t->taken)
            error = t->error;
        if (t->pair && t->result)
            error = t->result;
        sw_temporary_free(t->copy);
        t->copy = NULL;
    } else if (!t->slot) {
        *status = t->status;
    } else if (t->cancelled) {
        end_cancelled(t, status);
    } else {
        sw_slot_leave(t->slot);
    }
    MPI_Request ours = t->handle;
    bool over = !t->persistent, send = !t->receive && !t->synchronous;
    if (over)
        release(t);
    sw_tracks_enter();
    deactivate(t);
    t->held = t->claimed = false;
    if (over) {
        forget(t);
        t->next = spare;
        spare = t;
    }
    sw_tracks_leave();
    if (over && send)
        host.Request_free(&ours);
    return error;
}

void sw_track_free(sw_track_t *t)
{
    MPI_Request handle = t->handle;
    sw_track_hold(t);
    if (t->receive && t->active) {
        sw_tracks_enter();
        sw_tracks_remove(t);
        sw_tracks_add(&sw_freed, t);
        owe(t);
        t->freed = true;            /* progress ends it */
        t->held = false;
        sw_tracks_leave();
        return;
    }
    t->freed = true;
    release(t);
    host.Request_free(&handle);
    if (t->plain != MPI_REQUEST_NULL)
        host.Request_free(&t->plain);
    sw_tracks_enter();
    bool active_send = t->active && t->slot;
    deactivate(t);
    forget(t);
    if (active_send) {
        sw_tracks_add(&zombies, t);
    } else {
        t->next = spare;
        spare = t;
    }
    sw_tracks_leave();
}

int sw_track_cancel(sw_track_t *t, MPI_Request *request)
{
    if (t->pair || (t->active && !t->receive && !t->slot))
        return host.Cancel(&t->plain);
    t->cancelled = true;
    return host.Cancel(request);
}
