/*
 * track.c - see track.h. The beginning and the end of every track.
 */
#include "track.h"

#include "handles.h"
#include "mpi/base/link.h"
#include "mpi/base/raise.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Atomic int sw_tracks, sw_owed, sw_active;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t match = PTHREAD_MUTEX_INITIALIZER;

bool sw_tracks_shared;
/* Does the helper match messages while this thread is in the host? */
_Atomic bool sw_match_shared;

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

void sw_match_enter(void)
{
    if (sw_threaded || sw_match_shared)
        pthread_mutex_lock(&match);
}

void sw_match_leave(void)
{
    if (sw_threaded || sw_match_shared)
        pthread_mutex_unlock(&match);
}

bool sw_match_try(void)
{
    return !pthread_mutex_trylock(&match);
}

void sw_match_give_back(void)
{
    pthread_mutex_unlock(&match);
}

static void count(_Atomic int *counter, int by)
{
    (void)sw_counter_add(counter, by, sw_tracks_shared, memory_order_relaxed);
}

void sw_tracks_add(sw_tracks_t *ring, sw_track_t *t)
{
    t->ring = ring;
    if (!*ring) {
        *ring = t->after = t->before = t;
        return;
    }
    t->after = *ring;
    t->before = (*ring)->before;
    t->before->after = t->after->before = t;
}

void sw_tracks_remove(sw_track_t *t)
{
    sw_tracks_t *ring = t->ring;
    if (!ring)
        return;
    if (*ring == t)
        *ring = t->after == t ? NULL : t->after;
    t->before->after = t->after;
    t->after->before = t->before;
    t->ring = NULL;
}

/* Life --------------------------------------------------------------------- */

sw_track_t *sw_track_new(const sw_track_kind_t *kind, sw_comm_t *comm)
{
    sw_tracks_enter();
    sw_track_t *t = *kind->spare;
    if (t)
        *kind->spare = t->after;
    sw_tracks_leave();
    if (!t) {
        t = aligned_alloc(SW_LINE, kind->size);
        if (!t)
            return NULL;
        memset(t, 0, kind->size);
        t->handle = MPI_REQUEST_NULL;
        t->kind = kind;
    }
    t->persistent = t->active = t->freed = false;
    t->owes = t->claimed = t->held = t->ended = false;
    t->comm = comm;
    sw_comm_hold(comm);
    return t;
}

static void release(sw_track_t *t)
{
    t->kind->release(t);
    sw_comm_drop(t->comm);
}

/* It is in no table and no ring any more. The caller has the lock. */
static void spare(sw_track_t *t)
{
    t->after = *t->kind->spare;
    *t->kind->spare = t;
}

void sw_track_forgo(sw_track_t *t)
{
    release(t);
    sw_tracks_enter();
    spare(t);
    sw_tracks_leave();
}

void sw_track_drop(sw_track_t *t)
{
    t->handle = MPI_REQUEST_NULL;
    sw_track_forgo(t);
}

bool sw_track_owe(sw_track_t *t)
{
    if (t->owes)
        return false;
    t->owes = true;
    count(&sw_owed, 1);
    return true;
}

static void activate(sw_track_t *t)
{
    t->active = true;
    t->ended = false;
    t->result = MPI_SUCCESS;
    if (t->kind->owes)
        sw_track_owe(t);
    count(&sw_active, 1);
}

static void deactivate(sw_track_t *t)
{
    if (!t->active)
        return;
    t->active = false;
    if (t->owes)
        count(&sw_owed, -1);
    t->owes = false;
    count(&sw_active, -1);
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

void sw_track_begin(sw_track_t *t)
{
    sw_tracks_enter();
    deactivate(t);
    activate(t);
    sw_tracks_leave();
}

static void take_out(sw_track_t *t)
{
    sw_handles_remove(t);
    count(&sw_tracks, -1);
}

/* The program has forgotten them, and they are not over. */
static sw_tracks_t freed;

void sw_track_forget(sw_track_t *t)
{
    MPI_Request handle = t->handle;
    bool open = t->active && !t->kind->ready(t);
    if (t->active && !open)
        t->kind->finish(t, MPI_STATUS_IGNORE);
    t->freed = true;
    t->kept = false;
    if (!open)
        release(t);
    host.Request_free(&handle);
    sw_tracks_enter();
    deactivate(t);
    take_out(t);
    if (open) {
        count(&sw_tracks, 1);
        count(&sw_owed, 1);
        sw_tracks_add(&freed, t);
    } else {
        spare(t);
    }
    sw_tracks_leave();
}

void sw_track_go_on(void)
{
    if (sw_likely(!freed))
        return;
    sw_tracks_enter();
    sw_track_t *t = freed;
    if (t)
        sw_tracks_remove(t);
    sw_tracks_leave();
    if (!t)
        return;
    bool over = t->kind->ready(t);
    if (over) {
        t->kind->finish(t, MPI_STATUS_IGNORE);
        release(t);
    }
    sw_tracks_enter();
    if (over) {
        count(&sw_tracks, -1);
        count(&sw_owed, -1);
        spare(t);
    } else {
        sw_tracks_add(&freed, t);
    }
    sw_tracks_leave();
}

sw_track_t *sw_track_of(MPI_Request handle)
{
    if (!sw_any_tracks() || handle == MPI_REQUEST_NULL)
        return NULL;
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
    while (t && (t->handle != handle || t->freed || t->idle))
        t = t->next;
    sw_tracks_leave();
    return t;
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

/* Completion --------------------------------------------------------------- */

#define RARELY 8

void sw_track_poke(bool rarely)
{
    static __thread unsigned asked
        __attribute__((tls_model("initial-exec")));
    if (!rarely || ++asked % RARELY == 0)
        sw_link_poke();
}

int sw_track_finish(sw_track_t *t, MPI_Status *status)
{
    int error = t->kind->finish(t, status);
    bool over = !t->persistent;
    if (over)
        release(t);
    sw_tracks_enter();
    deactivate(t);
    t->held = t->claimed = false;
    if (over) {
        take_out(t);
        spare(t);
    }
    sw_tracks_leave();
    return error;
}

int sw_track_conclude(sw_track_t *t, MPI_Status *status, int as, int *rc)
{
    sw_comm_t *c = t->comm;     /* needed for longer than the track */
    int result = t->result;
    sw_comm_hold(c);
    int error = sw_track_finish(t, status);
    if (result != MPI_SUCCESS)
        error = result;
    if (sw_unlikely(error != MPI_SUCCESS && *rc == MPI_SUCCESS))
        *rc = result == MPI_SUCCESS ? sw_raise_pending(c, as ? as : error)
              : as                  ? as : result;
    sw_comm_drop(c);
    return error;
}
