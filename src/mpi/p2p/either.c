/*
 * either.c - see either.h.
 */
#include "either.h"

#include "far.h"
#include "near_pieces.h"
#include "near_probe.h"
#include "proxy.h"
#include "mpi/base/raise.h"
#include "node/base/settings.h"

#include <stdlib.h>

typedef struct {
    sw_near_irecv_t near; /* first */
    MPI_Request far;      /* the host's part */
    bool asked;           /* it is under way */
    bool alone;           /* and surely gets a message */
    bool cancelled;       /* and cancelled */
    bool unwanted;        /* by the program, too */
    bool came;            /* the host has the message */
    MPI_Status status;    /* then */
} either_t;

static int asked; /* by how many */

bool sw_either_asks(void)
{
    return asked;
}

void sw_either_helps(bool begins)
{
    sw_matcher_helps = begins;
    if (!begins && sw_matcher_held_up())
        sw_proxies_turn();
    if (!begins)
        for (sw_early_t *m = sw_matcher_held_up(); m; m = m->after)
            if (sw_proxy_stands(m))
                sw_near_secure(m);
}

static either_t *of(sw_shadow_t *s)
{
    return (either_t *)s;
}

static sw_near_receive_t *receive_of(sw_shadow_t *s)
{
    return &of(s)->near.receive;
}

static bool is_done(const either_t *e)
{
    return atomic_load_explicit(&((either_t *)(uintptr_t)e)->near.receive.done,
                                memory_order_acquire);
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
    e->near.base.shadow.result = rc;
    e->came = !gone;
    settled(e);
    return true;
}

static int tag_of(const sw_near_t *w)
{
    return w->tag == SW_PATTERN_ANY ? MPI_ANY_TAG : w->tag;
}

static int begin_far(either_t *e)
{
    const sw_near_t *w = &e->near.receive.what;
    int rc = e->near.base.shadow.persistent
                 ? host.Start(&e->far)
                 : SW_FAR_COUNTED(Irecv, w->count, w->buffer, w->type->handle,
                                  MPI_ANY_SOURCE, tag_of(w), w->comm->handle,
                                  &e->far);
    e->asked = rc == MPI_SUCCESS;
    e->cancelled = false;
    asked += e->asked;
    return rc;
}

static void cancel_far(either_t *e)
{
    if (e->asked && !e->cancelled)
        host.Cancel(&e->far);
    e->cancelled = true;
}

static either_t *posted_by(sw_posted_t *posted)
{
    return (either_t *)((char *)posted -
                        offsetof(either_t, near.receive.posted));
}

/* The message of ours, if the host has given it a proxy (proxy.h): from now on
 * the host has given it none. */
static sw_early_t *by_proxy(either_t *e)
{
    sw_early_t *m = e->came && e->near.base.shadow.result == MPI_SUCCESS
                        ? sw_proxy_named(&e->status, e->near.receive.what.comm)
                        : NULL;
    if (m)
        e->came = m->proxied = false;
    return m;
}

/* A message of ours is there: see sw_matcher_claim. If the host has its proxy,
 * that alone says where it goes: the proxy comes, or another message did. */
static sw_claim_t claim(sw_posted_t *posted, sw_early_t *held)
{
    either_t *e = posted_by(posted);
    if (sw_matcher_helps && e->asked)
        return SW_CLAIM_LATER;
    bool proxied = held && held->proxied;
    if (!proxied)
        cancel_far(e);
    while (!ask(e))
        if (!proxied)
            return SW_CLAIM_LATER;
    sw_early_t *m = by_proxy(e);
    if (!e->came && (!m || m == held))
        return SW_CLAIM_OURS;
    if (m) {
        sw_matcher_let_go(m);
        sw_matcher_hand(m, posted);
    } else
        be_done(e);
    return SW_CLAIM_LOST;
}

/* A message of ours goes to no receive that the host has matched with its
 * proxy: none was open, or a later one has got it. That one begins anew. */
static void recall(sw_early_t *m)
{
    const sw_pattern_t *p = &m->envelope.pattern;
    const sw_comm_t *c = m->proxy;
    for (int flag = 0; m->proxied && c->handle != MPI_COMM_NULL;) {
        MPI_Status status;
        host.Iprobe(p->source, p->tag, c->handle, &flag, &status);
        sw_posted_t *r = flag ? NULL : sw_matcher_open(p);
        if (flag)
            sw_proxy_remove(&status, c, NULL);
        if (!r || !posted_by(r)->asked || !ask(posted_by(r)))
            continue;
        if (by_proxy(posted_by(r)) == m) {
            if (!posted_by(r)->unwanted)
                begin_far(posted_by(r));
        } else {
            sw_matcher_withdraw(r);
            be_done(posted_by(r));
        }
    }
}

void sw_either_start(void)
{
    sw_proxies_start();
    sw_matcher_claim = claim;
    sw_matcher_settle = sw_proxy_settle;
    sw_matcher_recall = recall;
}

/* Look whether it is over. */
static void look(either_t *e)
{
    if (is_done(e) || !ask(e) || !(e->came || e->unwanted))
        return;
    sw_early_t *m = by_proxy(e);
    if (!e->alone && !sw_matcher_withdraw(&e->near.receive.posted))
        return; /* a message of ours has met it */
    if (m) {
        sw_matcher_let_go(m);
        sw_matcher_hand(m, &e->near.receive.posted);
        return;
    }
    e->near.receive.cancelled = !e->came;
    be_done(e);
}

/* Requests ----------------------------------------------------------------- */

static bool ready(sw_shadow_t *s)
{
    either_t *e = of(s);
    if (!is_done(e)) {
        sw_near_turn(false);
        sw_shadow_match_enter();
        look(e);
        sw_shadow_match_leave();
    }
    return s->ended = is_done(e);
}

static int peek(sw_shadow_t *s, MPI_Status *status)
{
    if (!of(s)->came)
        return sw_near_received(receive_of(s), status);
    if (status != MPI_STATUS_IGNORE)
        *status = of(s)->status;
    return MPI_SUCCESS;
}

static int finish(sw_shadow_t *s, MPI_Status *status)
{
    sw_near_receive_t *r = receive_of(s);
    int rc = peek(s, status);
    if (of(s)->came)
        sw_temporary_free(r->block);
    r->block = NULL;
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
    sw_shadow_match_enter();
    bool early = sw_matcher_find(&r->posted.pattern);
    e->alone = early && sw_near_hosts_turn() && host_has(&r->what);
    if (!early || e->alone)
        rc = begin_far(e);
    r->posted.elsewhere = e->asked;
    if (rc == MPI_SUCCESS && !e->alone && sw_matcher_post(&r->posted))
        sw_near_pieces_turn();
    sw_shadow_match_leave();
    return rc;
}

static either_t *new_shadow(const sw_near_t *what)
{
    sw_shadow_t *s = sw_shadow_new(&sw_either_kind, what->comm);
    if (!s) {
        sw_say("out of memory in a receive");
        abort();
    }
    sw_datatype_hold(what->type);
    sw_near_prepare(receive_of(s), what);
    of(s)->asked = of(s)->came = false;
    of(s)->far = MPI_REQUEST_NULL;
    sw_scheduled_request(&of(s)->near.base);
    return of(s);
}

static int added(either_t *e, int rc, MPI_Request *request)
{
    sw_shadow_t *s = &e->near.base.shadow;
    if (rc != MPI_SUCCESS) {
        sw_temporary_free(e->near.receive.block);
        sw_shadow_forgo(s);
        return rc;
    }
    sw_shadow_add(s);
    *request = s->handle;
    return MPI_SUCCESS;
}

int sw_either_itake(const sw_near_t *what, void **into, MPI_Request *request)
{
    either_t *e = new_shadow(what);
    e->near.receive.into = into;
    return added(e, post(e), request);
}

int sw_either_recv_init(const sw_near_t *what, MPI_Request *request)
{
    either_t *e = new_shadow(what);
    int rc = SW_FAR_COUNTED(Recv_init, what->count, what->buffer,
                            what->type->handle, MPI_ANY_SOURCE, tag_of(what),
                            what->comm->handle, &e->far);
    e->near.base.shadow.persistent = true;
    return added(e, rc, request);
}

static int start(sw_shadow_t *s)
{
    sw_near_receive_t *r = receive_of(s);
    const sw_near_t what = r->what;
    sw_near_prepare(r, &what);
    return post(of(s));
}

static int cancel(sw_shadow_t *s)
{
    either_t *e = of(s);
    sw_shadow_match_enter();
    if (!is_done(e)) {
        cancel_far(e);
        e->unwanted = true;
        look(e);
    }
    sw_shadow_match_leave();
    return MPI_SUCCESS;
}

static void free_request(sw_shadow_t *s)
{
    of(s)->near.base.made = false;
    sw_shadow_match_enter();
    sw_near_keep_buffer(receive_of(s));
    sw_shadow_match_leave();
    sw_shadow_forget(s);
}

static void release(sw_shadow_t *s)
{
    sw_datatype_drop(receive_of(s)->what.type);
    if (of(s)->far != MPI_REQUEST_NULL) /* a persistent one's */
        host.Request_free(&of(s)->far);
}

static sw_shadow_t *spare;

const sw_shadow_kind_t sw_either_kind = {
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
