/*
 * shadow.c - see shadow.h. The beginning and the end of every shadow.
 */
#include "shadow.h"

#include "handles.h"
#include "mpi/base/link.h"
#include "mpi/base/raise.h"
#include "node/base/aligned.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Atomic int sw_shadows, sw_owed, sw_active;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t match = PTHREAD_MUTEX_INITIALIZER;

bool sw_shadows_shared;
/* Does the helper match messages while this thread is in the host? */
_Atomic bool sw_shadow_match_shared;

void sw_shadows_enter(void)
{
    if (sw_shadows_shared)
        pthread_mutex_lock(&lock);
}

void sw_shadows_leave(void)
{
    if (sw_shadows_shared)
        pthread_mutex_unlock(&lock);
}

void sw_shadow_match_enter(void)
{
    if (sw_threaded || sw_shadow_match_shared)
        pthread_mutex_lock(&match);
}

void sw_shadow_match_leave(void)
{
    if (sw_threaded || sw_shadow_match_shared)
        pthread_mutex_unlock(&match);
}

bool sw_shadow_match_try(void)
{
    return !pthread_mutex_trylock(&match);
}

void sw_shadow_match_give_back(void)
{
    pthread_mutex_unlock(&match);
}

static void count(_Atomic int *counter, int by)
{
    (void)sw_counter_add(counter, by, sw_shadows_shared, memory_order_relaxed);
}

void sw_shadows_add(sw_shadows_t *ring, sw_shadow_t *s)
{
    s->ring = ring;
    if (!*ring) {
        *ring = s->after = s->before = s;
        return;
    }
    s->after = *ring;
    s->before = (*ring)->before;
    s->before->after = s->after->before = s;
}

void sw_shadows_remove(sw_shadow_t *s)
{
    sw_shadows_t *ring = s->ring;
    if (!ring)
        return;
    if (*ring == s)
        *ring = s->after == s ? NULL : s->after;
    s->before->after = s->after;
    s->after->before = s->before;
    s->ring = NULL;
}

/* Life --------------------------------------------------------------------- */

sw_shadow_t *sw_shadow_new(const sw_shadow_kind_t *kind, sw_comm_t *comm)
{
    sw_shadows_enter();
    sw_shadow_t *s = *kind->spare;
    if (s)
        *kind->spare = s->after;
    sw_shadows_leave();
    if (!s) {
        s = sw_aligned(SW_LINE, kind->size);
        if (!s)
            return NULL;
        memset(s, 0, kind->size);
        s->handle = MPI_REQUEST_NULL;
        s->kind = kind;
    }
    s->persistent = s->active = s->freed = false;
    s->owes = s->claimed = s->held = s->ended = false;
    s->comm = comm;
    sw_comm_hold(comm);
    return s;
}

static void release(sw_shadow_t *s)
{
    s->kind->release(s);
    sw_comm_drop(s->comm);
}

/* It is in no table and no ring any more. The caller has the lock. */
static void spare(sw_shadow_t *s)
{
    s->after = *s->kind->spare;
    *s->kind->spare = s;
}

void sw_shadow_forgo(sw_shadow_t *s)
{
    release(s);
    sw_shadows_enter();
    spare(s);
    sw_shadows_leave();
}

void sw_shadow_drop(sw_shadow_t *s)
{
    s->handle = MPI_REQUEST_NULL;
    sw_shadow_forgo(s);
}

bool sw_shadow_owe(sw_shadow_t *s)
{
    if (s->owes)
        return false;
    s->owes = true;
    count(&sw_owed, 1);
    return true;
}

static void activate(sw_shadow_t *s)
{
    s->active = true;
    s->ended = false;
    s->result = MPI_SUCCESS;
    if (s->kind->owes)
        sw_shadow_owe(s);
    count(&sw_active, 1);
}

static void deactivate(sw_shadow_t *s)
{
    if (!s->active)
        return;
    s->active = false;
    if (s->owes)
        count(&sw_owed, -1);
    s->owes = false;
    count(&sw_active, -1);
}

void sw_shadow_add(sw_shadow_t *s)
{
    sw_shadows_enter();
    sw_handles_add(s);
    count(&sw_shadows, 1);
    if (!s->persistent)
        activate(s);
    sw_shadows_leave();
}

void sw_shadow_begin(sw_shadow_t *s)
{
    sw_shadows_enter();
    deactivate(s);
    activate(s);
    sw_shadows_leave();
}

static void take_out(sw_shadow_t *s)
{
    sw_handles_remove(s);
    count(&sw_shadows, -1);
}

/* The program has forgotten them, and they are not over. */
static sw_shadows_t freed;

void sw_shadow_forget(sw_shadow_t *s)
{
    MPI_Request handle = s->handle;
    bool open = s->active && !s->kind->ready(s);
    if (s->active && !open)
        s->kind->finish(s, MPI_STATUS_IGNORE);
    s->freed = true;
    s->kept = false;
    if (!open)
        release(s);
    host.Request_free(&handle);
    sw_shadows_enter();
    deactivate(s);
    take_out(s);
    if (open) {
        count(&sw_shadows, 1);
        count(&sw_owed, 1);
        sw_shadows_add(&freed, s);
    } else {
        spare(s);
    }
    sw_shadows_leave();
}

void sw_shadow_go_on(void)
{
    if (sw_likely(!freed))
        return;
    sw_shadows_enter();
    sw_shadow_t *s = freed;
    if (s)
        sw_shadows_remove(s);
    sw_shadows_leave();
    if (!s)
        return;
    bool over = s->kind->ready(s);
    if (over) {
        s->kind->finish(s, MPI_STATUS_IGNORE);
        release(s);
    }
    sw_shadows_enter();
    if (over) {
        count(&sw_shadows, -1);
        count(&sw_owed, -1);
        spare(s);
    } else {
        sw_shadows_add(&freed, s);
    }
    sw_shadows_leave();
}

sw_shadow_t *sw_shadow_of(MPI_Request handle)
{
    if (!sw_any_shadows() || handle == MPI_REQUEST_NULL)
        return NULL;
    sw_shadows_enter();
    sw_shadow_t *s = sw_handles_find(handle);
    sw_shadows_leave();
    return s;
}

sw_shadow_t *sw_shadow_to_cancel(MPI_Request handle)
{
    sw_shadow_t *s = sw_shadow_of(handle);
    if (s || !sw_any_shadows())
        return s;
    sw_shadows_enter();
    s = sw_handles_first(handle);
    while (s && (s->handle != handle || s->freed || s->idle))
        s = s->next;
    sw_shadows_leave();
    return s;
}

void sw_shadow_claims(sw_shadow_t *s, bool claimed)
{
    sw_shadows_enter();
    s->claimed = claimed;
    sw_shadows_leave();
}

void sw_shadow_holds(sw_shadow_t *s, bool held)
{
    sw_shadows_enter();
    while (held && sw_unlikely(s->held)) {
        sw_shadows_leave();
        sw_os_yield();
        sw_shadows_enter();
    }
    s->held = held;
    sw_shadows_leave();
}

/* Completion --------------------------------------------------------------- */

#define RARELY 8

void sw_shadow_poke(bool rarely)
{
    static __thread unsigned asked __attribute__((tls_model("initial-exec")));
    if (!rarely || ++asked % RARELY == 0)
        sw_link_poke();
}

int sw_shadow_finish(sw_shadow_t *s, MPI_Status *status)
{
    int error = s->kind->finish(s, status);
    bool over = !s->persistent;
    if (over)
        release(s);
    sw_shadows_enter();
    deactivate(s);
    s->held = s->claimed = false;
    if (over) {
        take_out(s);
        spare(s);
    }
    sw_shadows_leave();
    return error;
}

int sw_shadow_conclude(sw_shadow_t *s, MPI_Status *status, int as, int *rc)
{
    sw_comm_t *c = s->comm; /* needed for longer than the shadow */
    int result = s->result;
    sw_comm_hold(c);
    int error = sw_shadow_finish(s, status);
    if (result != MPI_SUCCESS)
        error = result;
    if (sw_unlikely(error != MPI_SUCCESS && *rc == MPI_SUCCESS))
        *rc = result == MPI_SUCCESS ? sw_raise_pending(c, as ? as : error)
              : as                  ? as
                                    : result;
    sw_comm_drop(c);
    return error;
}
