/*
 * listed.c - see listed.h.
 */
#include "listed.h"

#include "complete.h"
#include "handles.h"
#include "mpi/base/datatype.h"
#include "mpi/base/failure.h"
#include "mpi/base/raise.h"
#include "node/base/settings.h"
#include "offload/agent.h"

#include <pthread.h>
#include <stdlib.h>

/* Completing --------------------------------------------------------------- */

/* Nanoseconds between two questions to the host about failures. */
#define ASK 1000000

static void look_for_failure(sw_listed_t *l)
{
    static _Atomic uint64_t asked;
    int rank;
    uint64_t now = sw_os_now();
    MPI_Comm comm = l->track.comm->handle;
    if (comm == MPI_COMM_NULL || now - atomic_load(&asked) < ASK)
        return;
    atomic_store(&asked, now);
    if (sw_failure_of(comm, &rank))
        sw_list_break(l->list);
}

/* A member that waits looks at the host between. That takes as long as some
 * pushes, and the others are often about to come. */
#define TRIES 4

bool sw_listed_ready(sw_track_t *t)
{
    sw_listed_t *l = (sw_listed_t *)t;
    for (int i = 0; i < TRIES; i++) {
        if (sw_list_push(l->list, true))
            return t->ended = true;
        sw_os_pause();
    }
    if (sw_unlikely(sw_failure_told))
        look_for_failure(l);
    return false;
}

bool sw_listed_over(sw_track_t *t)
{
    sw_listed_t *l = (sw_listed_t *)t;
    if (sw_unlikely(sw_failure_told))
        look_for_failure(l);
    return sw_list_is_over(l->list);
}

/* Its block may not have been found yet. */
sw_doorbell_t *sw_listed_bell(sw_track_t *t)
{
    return ((sw_listed_t *)t)->list->on->bell;
}

int sw_listed_peek(sw_track_t *t, MPI_Status *status)
{
    sw_status_empty(status);
    return MPI_SUCCESS;
}

/* MPI forbids both for what is under way. */
void sw_listed_free(sw_track_t *t)
{
    if (t->active)
        return;
    ((sw_listed_t *)t)->made = false;
    sw_track_forget(t);
}

int sw_listed_cancel(sw_track_t *t)
{
    return sw_raise_pending(t->comm, MPI_ERR_REQUEST);
}

/* Starting ----------------------------------------------------------------- */

void sw_listed_request(sw_listed_t *l)
{
    if (sw_unlikely(!l->made) &&
        host.Recv_init(NULL, 0, MPI_BYTE, 0, 0,
                       sw_private_comm(MPI_COMM_WORLD), &l->request) !=
            MPI_SUCCESS) {
        /* The others begin it, and this member cannot. */
        sw_say("the host has no request for what this rank begins with others");
        abort();
    }
    l->made = l->track.kept = true;
    l->track.handle = l->request;
}

/* The thread is there: this rank has told the others so (mpi/base/world.c). */
void sw_listed_watch(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Atomic bool runs;
    if (sw_likely(atomic_load_explicit(&runs, memory_order_acquire))) {
        sw_agent_wake_for_lists();
        return;
    }
    pthread_mutex_lock(&lock);
    sw_lists_shared = true;
    bool there = sw_agent_runs() || sw_agent_start(NULL, false);
    sw_assert(there);
    atomic_store(&runs, there);
    pthread_mutex_unlock(&lock);
}

void sw_listed_set_out(sw_listed_t *l)
{
    if (!sw_list_set_out(l->list))
        sw_listed_watch();
}

void sw_listed_owe(sw_listed_t *l)
{
    sw_tracks_enter();
    sw_track_owe(&l->track);
    sw_tracks_leave();
}

void sw_listed_stop(sw_track_t *spare)
{
    for (sw_track_t *t = spare; t; t = t->after) {
        sw_listed_t *l = (sw_listed_t *)t;
        if (l->made)
            host.Request_free(&l->request);
        l->made = l->track.kept = false;
        sw_handles_remove(&l->track);
    }
}
