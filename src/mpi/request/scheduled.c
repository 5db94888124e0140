/*
 * scheduled.c - see scheduled.h.
 */
#include "scheduled.h"

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

static void look_for_failure(sw_scheduled_t *s)
{
    static _Atomic uint64_t asked;
    int rank;
    uint64_t now = sw_os_now();
    MPI_Comm comm = s->shadow.comm->handle;
    if (comm == MPI_COMM_NULL || now - atomic_load(&asked) < ASK)
        return;
    atomic_store(&asked, now);
    if (sw_failure_of(comm, &rank))
        sw_schedule_break(s->schedule);
}

/* A member that waits looks at the host between. That takes as long as some
 * pushes, and the others are often about to come. */
#define TRIES 4

bool sw_scheduled_ready(sw_shadow_t *shadow)
{
    sw_scheduled_t *s = (sw_scheduled_t *)shadow;
    for (int i = 0; i < TRIES; i++) {
        if (sw_schedule_push(s->schedule, true))
            return shadow->ended = true;
        sw_os_pause();
    }
    if (sw_unlikely(sw_failure_told))
        look_for_failure(s);
    return false;
}

bool sw_scheduled_over(sw_shadow_t *shadow)
{
    sw_scheduled_t *s = (sw_scheduled_t *)shadow;
    if (sw_unlikely(sw_failure_told))
        look_for_failure(s);
    return sw_schedule_is_over(s->schedule);
}

/* Its block may not have been found yet. */
sw_doorbell_t *sw_scheduled_bell(sw_shadow_t *shadow)
{
    return ((sw_scheduled_t *)shadow)->schedule->on->bell;
}

int sw_scheduled_peek(sw_shadow_t *shadow, MPI_Status *status)
{
    sw_status_empty(status);
    return MPI_SUCCESS;
}

/* MPI forbids both for what is under way. */
void sw_scheduled_free(sw_shadow_t *shadow)
{
    if (shadow->active)
        return;
    ((sw_scheduled_t *)shadow)->made = false;
    sw_shadow_forget(shadow);
}

int sw_scheduled_cancel(sw_shadow_t *shadow)
{
    return sw_raise_pending(shadow->comm, MPI_ERR_REQUEST);
}

/* Starting ----------------------------------------------------------------- */

void sw_scheduled_request(sw_scheduled_t *s)
{
    if (sw_unlikely(!s->made) &&
        host.Recv_init(NULL, 0, MPI_BYTE, 0, 0,
                       sw_datatype_comm(MPI_COMM_WORLD),
                       &s->request) != MPI_SUCCESS) {
        /* The others begin it, and this member cannot. */
        sw_say("the host has no request for what this rank begins with others");
        abort();
    }
    s->made = s->shadow.kept = true;
    s->shadow.handle = s->request;
}

/* The thread is there: this rank has told the others so (mpi/base/roster.c). */
void sw_scheduled_watch(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Atomic bool runs;
    if (sw_likely(atomic_load_explicit(&runs, memory_order_acquire))) {
        sw_agent_wake_for_schedules();
        return;
    }
    pthread_mutex_lock(&lock);
    sw_schedules_shared = true;
    bool there = sw_agent_runs() || sw_agent_start(NULL, false);
    sw_assert(there);
    atomic_store(&runs, there);
    pthread_mutex_unlock(&lock);
}

void sw_scheduled_set_out(sw_scheduled_t *s)
{
    if (!sw_schedule_set_out(s->schedule))
        sw_scheduled_watch();
}

void sw_scheduled_owe(sw_scheduled_t *s)
{
    sw_shadows_enter();
    sw_shadow_owe(&s->shadow);
    sw_shadows_leave();
}

void sw_scheduled_stop(sw_shadow_t *spare)
{
    for (sw_shadow_t *shadow = spare; shadow; shadow = shadow->after) {
        sw_scheduled_t *s = (sw_scheduled_t *)shadow;
        if (s->made)
            host.Request_free(&s->request);
        s->made = s->shadow.kept = false;
        sw_handles_remove(&s->shadow);
    }
}
