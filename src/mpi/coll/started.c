/*
 * started.c - see started.h.
 */
#include "started.h"

#include "mpi/base/failure.h"
#include "mpi/request/complete.h"

#include "offload/agent.h"

#include <stdlib.h>

static sw_track_t *spare;

/* The request -------------------------------------------------------------- */

static bool ready(sw_track_t *t)
{
    sw_edge_ways_push();
    return sw_listed_ready(t);
}

/* The datatypes, and the operation, last as long as the collective. */
static void hold_handles(sw_started_t *s)
{
    if (sw_collective_reduces(s->id)) {
        sw_datatype_hold(s->reduction.type);
        sw_operation_hold(&s->reduction.o);
    } else if (sw_collective_is_near(s->id)) {
        sw_near_hold(&s->near);
    } else if (s->id != SW_COLL_BARRIER) {
        sw_moving_hold(&s->moving, &s->move, s->track.comm->n);
    }
}

static void drop_handles(sw_started_t *s)
{
    if (sw_collective_reduces(s->id)) {
        sw_operation_drop(&s->reduction.o);
        sw_datatype_drop(s->reduction.type);
    } else if (sw_collective_is_near(s->id)) {
        sw_near_drop(&s->near);
    } else if (s->id != SW_COLL_BARRIER) {
        sw_moving_drop(&s->move, s->track.comm->n);
    }
}

/* Gives the program what was made for it, if the collective is `done`. */
static void settle_up(sw_started_t *s, bool done)
{
    MPI_Comm comm = sw_comm_or_any(s->track.comm);
    s->operands.comm = comm;
    if (sw_collective_reduces(s->id))
        sw_operands_end(&s->operands, done);
    else if (sw_collective_is_near(s->id))
        sw_near_end(&s->near, comm, done);
    else if (s->id != SW_COLL_BARRIER)
        sw_moving_end(&s->moving, comm, done);
}

/* Gives the program its memory back. */
static int finish(sw_track_t *t, MPI_Status *status)
{
    sw_started_t *s = (sw_started_t *)t;
    int outcome = sw_list_end(&s->list);
    if (!s->bound)
        settle_up(s, outcome == SW_OK);
    if (!t->persistent)
        drop_handles(s);
    sw_status_empty(status);
    if (sw_unlikely(outcome == SW_BROKEN && t->comm->handle != MPI_COMM_NULL))
        return sw_failure_raise(t->comm->handle);
    return sw_outcome(s->id, outcome);
}

/* Of a persistent one. */
static void release(sw_track_t *t)
{
    sw_started_t *s = (sw_started_t *)t;
    if (!t->persistent)
        return;
    drop_handles(s);
    sw_comm_apart_end(&s->apart);
}

static void progress(void)
{
    sw_edge_ways_push();
    sw_lists_push(true);
}

static int start(sw_track_t *t);

static const sw_track_kind_t started_kind = {
    .size = sizeof(sw_started_t),
    .spare = &spare,
    .ready = ready,
    .peek = sw_listed_peek,
    .finish = finish,
    .start = start,
    .release = release,
    .progress = progress,
    SW_LISTED_KIND,
};

/* Starting ----------------------------------------------------------------- */

static void out_of_memory(void)
{
    sw_say("out of memory for a nonblocking collective");
    abort();
}

sw_started_t *sw_started_new(int row, MPI_Comm comm)
{
    sw_comm_t *c = sw_serve_started(row, comm);
    if (!c)
        return NULL;
    sw_started_t *s = (sw_started_t *)sw_track_new(&started_kind, c);
    if (!s)
        out_of_memory();
    s->id = (sw_collective_t)(row % SW_COLL_COUNT);
    s->bound = false;
    return s;
}

void *sw_started_room(sw_started_t *s, size_t bytes)
{
    void *at = sw_scratch(&s->room, bytes);
    if (!at)
        out_of_memory();
    return at;
}

size_t *sw_started_counts(sw_started_t *s)
{
    return sw_started_room(s, (size_t)s->track.comm->n * sizeof(size_t));
}

const sw_datatype_t **sw_started_types(sw_started_t *s)
{
    return sw_started_room(s, 2 * (size_t)s->track.comm->n *
                                  sizeof(sw_datatype_t *));
}

void sw_started_drop(sw_started_t *s, int row, sw_reason_t reason)
{
    sw_decline(row, reason);
    sw_track_forgo(&s->track);
}

static bool settle_fold(sw_started_t *s)
{
    const sw_reduction_t *k = &s->reduction;
    sw_operands_t *o = &s->operands;
    sw_operands(o, k->in, k->ins, k->out, k->outs, k->type, k->o.packed,
                sw_comm_or_any(s->track.comm));
    s->fold.args = (sw_fold_args_t){
        .id = s->id, .root = k->root, .reducer = &k->o.reducer, .in = o->in,
        .out = o->out, .n = (size_t)k->ins, .counts = k->counts};
    return !o->in_copy && !o->out_copy;
}

static bool settle_pairs(sw_started_t *s)
{
    sw_moving_begin(&s->moving, &s->move, s->track.comm, &s->pairs.args);
    return !sw_moving_packs(&s->moving);
}

static bool settle_near(sw_started_t *s)
{
    sw_near_settle(&s->near, sw_comm_or_any(s->track.comm),
                   &s->neighbourhood.args);
    return !sw_near_packs(&s->near);
}

/* What the arguments mean to the rooms below. True: they will mean the same at
 * the next start. */
static bool settle(sw_started_t *s)
{
    return s->id == SW_COLL_BARRIER ? true
         : sw_collective_reduces(s->id)           ? settle_fold(s)
         : sw_collective_is_near(s->id)           ? settle_near(s)
                                    : settle_pairs(s);
}

static void begin(sw_started_t *s)
{
    sw_slates_t *on = s->track.persistent ? sw_comm_apart_slates(&s->apart)
                                          : sw_comm_slates(s->track.comm);
    if (!s->bound)
        s->bound = settle(s) && s->track.persistent;
    if (s->id == SW_COLL_BARRIER)
        sw_arrival_begin(&s->arrival, on);
    else if (sw_collective_reduces(s->id))
        sw_fold_begin(&s->fold, on);
    else if (sw_collective_is_near(s->id))
        sw_neighbourhood_begin(&s->neighbourhood, on);
    else
        sw_pairs_begin(&s->pairs, on);
}

static void set_out(sw_started_t *s)
{
    begin(s);
    s->listed.list = &s->list;
    sw_listed_set_out(&s->listed);
}

int sw_started_go(sw_started_t *s, MPI_Request *request)
{
    sw_track_t *t = &s->track;
    sw_listed_request(&s->listed);
    hold_handles(s);
    set_out(s);
    sw_track_add(t);
    sw_listed_owe(&s->listed);
    *request = t->handle;
    return MPI_SUCCESS;
}

/* Persistent ones ---------------------------------------------------------- */

int sw_started_keep(sw_started_t *s, MPI_Request *request)
{
    sw_track_t *t = &s->track;
    sw_listed_request(&s->listed);
    t->persistent = true;
    hold_handles(s);
    sw_comm_apart(t->comm, &s->apart);
    sw_track_add(t);
    *request = t->handle;
    return MPI_SUCCESS;
}

static int start(sw_track_t *t)
{
    sw_started_t *s = (sw_started_t *)t;
    set_out(s);
    sw_listed_owe(&s->listed);
    return MPI_SUCCESS;
}

void sw_started_start(void)
{
    sw_lists_shared |= sw_threaded;
    sw_track_kind_add(&started_kind);
}

void sw_started_stop(void)
{
    sw_edge_ways_stop();
    sw_agent_stop();
    sw_listed_stop(spare);
}
