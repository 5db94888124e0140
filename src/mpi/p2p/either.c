/*
 * either.c - see either.h.
 */
#include "either.h"

#include "far.h"
#include "near_pieces.h"
#include "near_probe.h"
#include "mpi/base/raise.h"
#include "node/base/settings.h"

#include <stdlib.h>

typedef struct {
    sw_near_irecv_t near;       /* first */
    MPI_Request far;            /* the host's part                          */
    bool asked;                 /* it is under way                          */
    bool alone;                 /* and surely gets a message                */
    bool cancelled;             /* and cancelled                            */
    bool unwanted;              /* by the program, too                      */
    bool came;                  /* the host has the message                 */
    MPI_Status status;          /* then                                     */
} either_t;

static int asked;               /* by how many                              */
static bool helps;              /* this is a helper                         */

bool sw_either_asks(void)
{
    return asked;
}

void sw_either_helps(bool begins)
{
    helps = begins;
    if (!begins)
        for (sw_early_t *m = sw_matcher_held_up(); m; m = m->after)
            sw_near_secure(m);
}

static either_t *of(sw_track_t *t)
{
    return (either_t *)t;
}

static sw_near_receive_t *receive_of(sw_track_t *t)
{
    return &of(t)->near.receive;
}

static bool is_done(const either_t *e)
{
    return atomic_load_explicit(
        &((either_t *)(uintptr_t)e)->near.receive.done, memory_order_acquire);
}

static void be_done(either_t *e)
{
    atomic_store_explicit(&e->near.receive.done, true, memory_order_release);
}

/* The host's part ---------------------------------------------------------- */

/* Of what is asked; the caller has the lock, here and below. */
static void settled(either_t *e)
{
    e->asked = false;
    asked--;
}

/* Has the host settled it? */
static bool ask(either_t *e)
{
    int flag = 0, gone = 0;
    if (!e->asked)
        return true;
    int rc = host.Test(&e->far, &flag, &e->status);
    if (!flag && rc == MPI_SUCCESS)
        return false;
    if (rc == MPI_SUCCESS)
        host.Test_cancelled(&e->status, &gone);
    e->near.base.track.result = rc;
    e->came = !gone;
    settled(e);
    return true;
}

static void cancel_far(either_t *e)
{
    if (e->asked && !e->cancelled)
        host.Cancel(&e->far);
    e->cancelled = true;
}

/* A message of ours is there: see sw_matcher_claim. */
static sw_claim_t claim(sw_posted_t *posted)
{
    either_t *e = (either_t *)((char *)posted -
                               offsetof(either_t, near.receive.posted));
    if (helps && e->asked)
        return SW_CLAIM_LATER;
    cancel_far(e);
    if (!ask(e))
        return SW_CLAIM_LATER;
    if (!e->came)
        return SW_CLAIM_OURS;
    be_done(e);
    return SW_CLAIM_LOST;
}

void sw_either_start(void)
{
    sw_matcher_claim = claim;
}

/* Look whether it is over. */
static void look(either_t *e)
{
    if (is_done(e) || !ask(e) || !(e->came || e->unwanted))
        return;
    if (!e->alone && !sw_matcher_withdraw(&e->near.receive.posted))
        return;                 /* a message of ours has met it             */
    e->near.receive.cancelled = !e->came;
    be_done(e);
}

/* Requests ----------------------------------------------------------------- */

static bool ready(sw_track_t *t)
{
    either_t *e = of(t);
    if (!is_done(e)) {
        sw_near_turn(false);
        sw_match_enter();
        look(e);
        sw_match_leave();
    }
    return t->ended = is_done(e);
}

static int peek(sw_track_t *t, MPI_Status *status)
{
    if (!of(t)->came)
        return sw_near_received(receive_of(t), status);
    if (status != MPI_STATUS_IGNORE)
        *status = of(t)->status;
    return MPI_SUCCESS;
}

static int finish(sw_track_t *t, MPI_Status *status)
{
    sw_near_receive_t *r = receive_of(t);
    int rc = peek(t, status);
    if (of(t)->came)
        sw_temporary_free(r->block);
    r->block = NULL;
    return rc;
}

static int tag_of(const sw_near_t *w)
{
    return w->tag == SW_PATTERN_ANY ? MPI_ANY_TAG : w->tag;
}

static int begin_far(either_t *e)
{
    const sw_near_t *w = &e->near.receive.what;
    int rc = e->near.base.track.persistent
        ? host.Start(&e->far)
        : SW_FAR_COUNTED(Irecv, w->count, w->buffer, w->type->handle,
                         MPI_ANY_SOURCE, tag_of(w), w->comm->handle, &e->far);
    e->asked = rc == MPI_SUCCESS;
    asked += e->asked;
    return rc;
}

/* Has the host a message that no other thread can take? */
static bool host_has(const sw_near_t *w)
{
    int flag = 0;
    if (!sw_threaded && w->comm->handle != MPI_COMM_NULL)
        host.Iprobe(MPI_ANY_SOURCE, tag_of(w), w->comm->handle, &flag,
                    MPI_STATUS_IGNORE);
    return flag;
}

/* Post it with us, and with the host unless a message of ours is there. Where
 * both have one, it is posted with one of them alone. */
static int post(either_t *e)
{
    sw_near_receive_t *r = &e->near.receive;
    int rc = MPI_SUCCESS;
    e->cancelled = e->unwanted = e->came = e->asked = false;
    sw_near_equip(r);
    sw_match_enter();
    bool early = sw_matcher_find(&r->posted.pattern);
    e->alone = early && sw_near_hosts_turn() && host_has(&r->what);
    if (!early || e->alone)
        rc = begin_far(e);
    r->posted.elsewhere = e->asked;
    if (rc == MPI_SUCCESS && !e->alone && sw_matcher_post(&r->posted))
        sw_near_pieces_turn();
    sw_match_leave();
    return rc;
}

static either_t *new_track(const sw_near_t *what)
{
    sw_track_t *t = sw_track_new(&sw_either_kind, what->comm);
    if (!t) {
        sw_say("out of memory in a receive");
        abort();
    }
    sw_datatype_hold(what->type);
    sw_near_prepare(receive_of(t), what);
    of(t)->asked = of(t)->came = false;
    of(t)->far = MPI_REQUEST_NULL;
    sw_listed_request(&of(t)->near.base);
    return of(t);
}

static int added(either_t *e, int rc, MPI_Request *request)
{
    sw_track_t *t = &e->near.base.track;
    if (rc != MPI_SUCCESS) {
        sw_temporary_free(e->near.receive.block);
        sw_track_forgo(t);
        return rc;
    }
    sw_track_add(t);
    *request = t->handle;
    return MPI_SUCCESS;
}

int sw_either_itake(const sw_near_t *what, void **into, MPI_Request *request)
{
    either_t *e = new_track(what);
    e->near.receive.into = into;
    return added(e, post(e), request);
}

int sw_either_recv_init(const sw_near_t *what, MPI_Request *request)
{
    either_t *e = new_track(what);
    int rc = SW_FAR_COUNTED(Recv_init, what->count, what->buffer,
                            what->type->handle, MPI_ANY_SOURCE, tag_of(what),
                            what->comm->handle, &e->far);
    e->near.base.track.persistent = true;
    return added(e, rc, request);
}

static int start(sw_track_t *t)
{
    sw_near_receive_t *r = receive_of(t);
    const sw_near_t what = r->what;
    sw_near_prepare(r, &what);
    return post(of(t));
}

static int cancel(sw_track_t *t)
{
    either_t *e = of(t);
    sw_match_enter();
    if (!is_done(e)) {
        cancel_far(e);
        e->unwanted = true;
        look(e);
    }
    sw_match_leave();
    return MPI_SUCCESS;
}

static void free_request(sw_track_t *t)
{
    of(t)->near.base.made = false;
    sw_match_enter();
    sw_near_keep_buffer(receive_of(t));
    sw_match_leave();
    sw_track_forget(t);
}

static void release(sw_track_t *t)
{
    sw_datatype_drop(receive_of(t)->what.type);
    if (of(t)->far != MPI_REQUEST_NULL)     /* a persistent one's */
        host.Request_free(&of(t)->far);
}

static sw_track_t *spare;

const sw_track_kind_t sw_either_kind = {
    .size = sizeof(either_t),
    .spare = &spare,
    .ready = ready,
    .peek = peek,
    .finish = finish,
    .start = start,
    .free = free_request,
    .cancel = cancel,
    .owes = true,
    .release = release,
};

/* Blocking ----------------------------------------------------------------- */

int sw_either_recv(const sw_near_t *w, MPI_Status *status)
{
    const sw_pattern_t pattern = {w->comm->context_id, SW_PATTERN_ANY, w->tag};
    sw_near_found_t found;
    sw_near_await_message(w->comm, &pattern, &found);
    if (found.early)
        return sw_near_mrecv(w, found.early, status);
    if (found.rc != MPI_SUCCESS)
        return found.rc;
    return sw_far_mrecv(w->buffer, w->count, w->type->handle, &found.message,
                        status);
}
