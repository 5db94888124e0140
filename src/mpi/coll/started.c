/*
 * started.c - see started.h.
 */
#include "started.h"

#include "call.h"
#include "counted.h"
#include "moving.h"
#include "mpi/base/failure.h"
#include "mpi/request/complete.h"
#include "mpi/request/scheduled.h"

#include "offload/agent.h"
#include "offload/arrival.h"
#include "offload/folds.h"
#include "offload/neighbourhood.h"
#include "offload/pairs.h"

#include <stdlib.h>

typedef struct {
    union {
        sw_shadow_t shadow;
        sw_scheduled_t scheduled;
    };
    union {
        sw_schedule_t schedule;
        sw_pairs_t pairs;
        sw_neighbourhood_t neighbourhood;
        sw_fold_t fold;
        sw_arrival_t arrival;
    };
    sw_coll_call_t call;    /* what the arguments said */
    sw_operands_t operands; /* ... and what we made of it */
    sw_moving_t moving;
    /* Of a persistent one. */
    sw_comm_apart_t apart; /* its slates */
    bool bound;            /* what we made holds for each start */
} started_t;

static sw_shadow_t *spare;

/* The request -------------------------------------------------------------- */

static bool ready(sw_shadow_t *shadow)
{
    sw_edge_ways_push();
    return sw_scheduled_ready(shadow);
}

/* The datatypes, and the operation, last as long as the collective. */
static void hold_handles(started_t *s)
{
    if (sw_collective_reduces(s->call.id)) {
        sw_datatype_hold(s->call.reduction.type);
        sw_operation_hold(&s->call.reduction.o);
    } else if (sw_collective_is_near(s->call.id)) {
        sw_sides_hold(&s->call.sides);
    } else {
        sw_moving_hold(&s->moving, &s->call.move, s->shadow.comm->n);
    }
}

static void drop_handles(started_t *s)
{
    if (sw_collective_reduces(s->call.id)) {
        sw_operation_drop(&s->call.reduction.o);
        sw_datatype_drop(s->call.reduction.type);
    } else if (sw_collective_is_near(s->call.id)) {
        sw_sides_drop(&s->call.sides);
    } else {
        sw_moving_drop(&s->call.move, s->shadow.comm->n);
    }
}

/* Gives the program what was made for it, if the collective is `done`. */
static void settle_up(started_t *s, bool done)
{
    MPI_Comm comm = sw_comm_or_any(s->shadow.comm);
    s->operands.comm = comm;
    if (sw_collective_reduces(s->call.id))
        sw_operands_end(&s->operands, done);
    else if (sw_collective_is_near(s->call.id))
        sw_sides_end(&s->call.sides, comm, done);
    else
        sw_moving_end(&s->moving, comm, done);
}

/* Gives the program its memory back. */
static int finish(sw_shadow_t *shadow, MPI_Status *status)
{
    started_t *s = (started_t *)shadow;
    int outcome = sw_schedule_end(&s->schedule);
    if (!s->bound)
        settle_up(s, outcome == SW_OK);
    if (!shadow->persistent)
        drop_handles(s);
    sw_status_empty(status);
    if (sw_unlikely(outcome == SW_BROKEN &&
                    shadow->comm->handle != MPI_COMM_NULL))
        return sw_failure_raise(shadow->comm->handle);
    return sw_call_outcome(s->call.id, outcome);
}

/* Of a persistent one. */
static void release(sw_shadow_t *shadow)
{
    started_t *s = (started_t *)shadow;
    if (!shadow->persistent)
        return;
    drop_handles(s);
    sw_comm_apart_end(&s->apart);
}

static void progress(void)
{
    sw_edge_ways_push();
    sw_schedules_push(true);
}

static int start(sw_shadow_t *shadow);

static const sw_shadow_kind_t started_kind = {
    .size = sizeof(started_t),
    .spare = &spare,
    .ready = ready,
    .peek = sw_scheduled_peek,
    .finish = finish,
    .start = start,
    .release = release,
    .progress = progress,
    SW_SCHEDULED_KIND,
};

/* Starting ----------------------------------------------------------------- */

sw_coll_call_t *sw_call_start(sw_collective_t id, sw_call_form_t form,
                              MPI_Comm comm, MPI_Request *request)
{
    sw_coll_call_t asked; /* only what is counted is set */
    asked.id = id;
    asked.form = form;
    asked.reason = SW_REASON_ARGUMENTS;
    sw_comm_t *c = request ? sw_call_serves_started(id, comm, &asked.reason)
                           : NULL;
    if (!c) {
        sw_count_host(&asked);
        return NULL;
    }
    started_t *s = (started_t *)sw_shadow_new(&started_kind, c);
    if (!s) {
        sw_say("out of memory for a nonblocking collective");
        abort();
    }
    s->bound = false;
    sw_coll_call_t *k = &s->call;
    k->id = id;
    k->form = form;
    k->comm = comm;
    k->c = c;
    k->request = request;
    k->used = SW_CALL_FEW;
    k->result = MPI_SUCCESS;
    k->reason = SW_REASON_ARGUMENTS;
    sw_count_ours(k, 1);
    return k;
}

static started_t *started(sw_coll_call_t *k)
{
    return (started_t *)(void *)((char *)k - offsetof(started_t, call));
}

/* What the arguments mean to the rooms below. True: they will mean the same at
 * the next start. */
static bool settle(started_t *s)
{
    sw_coll_call_t *k = &s->call;
    MPI_Comm comm = sw_comm_or_any(s->shadow.comm);
    if (sw_collective_reduces(k->id)) {
        sw_reduction_bind(&k->reduction, k->id, comm, &s->operands,
                          &s->fold.args);
        return !s->operands.in_copy && !s->operands.out_copy;
    }
    if (sw_collective_is_near(k->id)) {
        sw_sides_settle(&k->sides, comm, &s->neighbourhood.args);
        return !sw_sides_packs(&k->sides);
    }
    sw_moving_begin(&s->moving, k, comm, &s->pairs.args);
    return !sw_moving_packs(&s->moving);
}

static void begin(started_t *s)
{
    sw_slates_t *on = s->shadow.persistent ? sw_comm_apart_slates(&s->apart)
                                           : sw_comm_slates(s->shadow.comm);
    if (!s->bound)
        s->bound = settle(s) && s->shadow.persistent;
    if (s->call.id == SW_COLL_BARRIER)
        sw_arrival_begin(&s->arrival, on);
    else if (sw_collective_reduces(s->call.id))
        sw_fold_begin(&s->fold, on);
    else if (sw_collective_is_near(s->call.id))
        sw_neighbourhood_begin(&s->neighbourhood, on);
    else
        sw_pairs_begin(&s->pairs, on);
}

static void set_out(started_t *s)
{
    begin(s);
    s->scheduled.schedule = &s->schedule;
    sw_scheduled_set_out(&s->scheduled);
}

bool sw_call_set_out(sw_coll_call_t *k, bool right, int *rc)
{
    started_t *s = started(k);
    sw_shadow_t *shadow = &s->shadow;
    bool persistent = k->form == SW_CALL_PERSISTENT;
    *rc = k->result;
    if (sw_unlikely(!right || sw_call_tuned_away(k))) {
        sw_count_declined(k);
        sw_shadow_forgo(shadow);
        return *rc != MPI_SUCCESS;
    }
    if (sw_collective_is_near(k->id))
        sw_sides_find_way(&k->sides, k->id, k->c);
    sw_scheduled_request(&s->scheduled);
    shadow->persistent = persistent;
    hold_handles(s);
    if (persistent)
        sw_comm_apart(shadow->comm, &s->apart);
    else
        set_out(s);
    sw_shadow_add(shadow);
    if (!persistent)
        sw_scheduled_owe(&s->scheduled);
    *k->request = shadow->handle;
    return true;
}

static int start(sw_shadow_t *shadow)
{
    started_t *s = (started_t *)shadow;
    set_out(s);
    sw_scheduled_owe(&s->scheduled);
    return MPI_SUCCESS;
}

void sw_started_start(void)
{
    sw_schedules_shared |= sw_threaded;
    sw_shadow_kind_add(&started_kind);
    sw_adjacency_start();
}

void sw_started_stop(void)
{
    sw_edge_ways_stop();
    sw_agent_stop();
    sw_scheduled_stop(spare);
}
