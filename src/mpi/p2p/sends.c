/*
 * sends.c - see sends.h.
 */
#include "sends.h"

#include "mpi/base/link.h"
#include "mpi/request/complete.h"
#include "node/arena/show.h"
#include "route.h"

/* Sends of which somebody may still want something. */
static sw_tracks_t sends;
/* Those whose request the program has freed: the host may still read the
 * descriptor, until the receiver has it. So many are looked at when a send
 * begins. */
static sw_tracks_t zombies;
#define ZOMBIES_LOOKED 4

static void bury(void)
{
    sw_tracks_enter();
    for (int i = 0; i < ZOMBIES_LOOKED && zombies; i++) {
        sw_send_t *s = (sw_send_t *)zombies;
        zombies = s->track.after;
        if (!sw_slot_is(s->slot, SW_SLOT_TAKEN))
            continue;
        sw_tracks_remove(&s->track);
        sw_slot_leave(s->slot);
        sw_track_spare(&s->track);
    }
    sw_tracks_leave();
}

bool sw_sends_quiet(bool (*gone)(int place))
{
    bool any = false;
    sw_tracks_enter();
    sw_track_t *t = zombies;
    while (t && !any) {
        const sw_slot_t *slot = ((sw_send_t *)t)->slot;
        any = !sw_slot_is(slot, SW_SLOT_TAKEN) && !gone(slot->dest);
        t = t->after == zombies ? NULL : t->after;
    }
    sw_tracks_leave();
    return !any;
}

sw_send_t *sw_send_new(sw_slot_t *slot, const sw_offer_t *offer,
                       const sw_descriptor_t *descriptor, sw_comm_t *comm)
{
    if (sw_unlikely(zombies))
        bury();
    sw_send_t *s = (sw_send_t *)sw_track_new(&sw_send_kind, comm);
    if (!s)
        return NULL;
    s->slot = slot;
    s->offer = *offer;
    s->descriptor = *descriptor;
    s->plain = MPI_REQUEST_NULL;
    s->type = NULL;
    s->lasts = false;
    return s;
}

static void release(sw_track_t *t)
{
    sw_send_t *s = (sw_send_t *)t;
    if (s->type)
        sw_datatype_drop(s->type);
}

static void enlist(sw_track_t *t)
{
    if (((sw_send_t *)t)->slot)
        sw_tracks_add(&sends, t);
}

static bool ready(sw_track_t *t)
{
    sw_send_t *s = (sw_send_t *)t;
    if (!s->slot) {
        if (t->ended)
            return true;
        int done = 0;
        t->result = host.Test(&s->plain, &done, &t->status);
        t->ended = done || t->result != MPI_SUCCESS;
        return t->ended;
    }
    /* A cancelled one is the host's to judge; see end_cancelled. */
    if (t->cancelled || sw_slot_released(s->slot))
        return true;
    const sw_peer_t *receiver = sw_link_at(s->slot->dest)->peer;
    sw_slot_help(s->slot, receiver, s->offer.data);
    /* A synchronous one may lie aside once it is matched. */
    if (!s->synchronous || sw_track_ask(t))
        sw_slot_nudge(s->slot, receiver, s->offer.data);
    return sw_slot_released(s->slot);
}

static int peek(sw_track_t *t, MPI_Status *status)
{
    sw_status_empty(status);
    return MPI_SUCCESS;
}

/* The host has completed a send that the program has cancelled. */
static void end_cancelled(sw_send_t *s, const MPI_Status *status)
{
    int gone = 0;
    host.Test_cancelled(status, &gone);
    if (gone) {
        sw_route_withdraw(s->slot);
        return;
    }
    while (!sw_slot_released(s->slot)) {
        sw_slot_nudge(s->slot, sw_link_at(s->slot->dest)->peer,
                      s->offer.data);
        sw_os_yield();
    }
    sw_slot_leave(s->slot);
}

static int finish(sw_track_t *t, MPI_Status *status)
{
    sw_send_t *s = (sw_send_t *)t;
    if (!s->slot)
        *status = t->status;
    else if (t->cancelled)
        end_cancelled(s, status);
    else
        sw_slot_leave(s->slot);
    return MPI_SUCCESS;
}

/* Put the message on offer again; false: it must not travel so any more. While
 * there is no slot, wait until receivers release some. */
static bool offer(sw_send_t *s)
{
    bool no;
    sw_idle_t idle = {0};
    while (!(s->slot = sw_route_repeat(&s->offer, &s->descriptor, &no)) &&
           !no) {
        sw_track_progress();
        sw_link_poke();
        sw_idle(&idle);
    }
    return !no;
}

static int start(sw_track_t *t, MPI_Request *request)
{
    sw_send_t *s = (sw_send_t *)t;
    if (s->lasts)
        sw_show_own(s->offer.data, s->offer.bytes);
    s->lasts = false;
    if (!offer(s))
        return host.Start(&s->plain);   /* the program's stays inactive */
    int rc = host.Start(request);
    sw_slot_fill(s->slot, &s->offer);
    sw_route_sent(s->slot);
    if (rc != MPI_SUCCESS)
        sw_route_withdraw(s->slot);
    return rc;
}

static void free_request(sw_track_t *t)
{
    sw_send_t *s = (sw_send_t *)t;
    if (s->plain != MPI_REQUEST_NULL)
        host.Request_free(&s->plain);
    sw_track_forget(t, t->active && s->slot ? &zombies : NULL);
}

static int cancel(sw_track_t *t, MPI_Request *request)
{
    sw_send_t *s = (sw_send_t *)t;
    if (t->active && !s->slot)
        return host.Cancel(&s->plain);
    t->cancelled = true;
    return host.Cancel(request);
}

/* So many are looked at in a turn. */
#define LOOKED 8

/* A send that needs us, held then: to help its receiver, or to see how long
 * nobody has come. */
static sw_track_t *next(void)
{
    sw_track_t *found = NULL;
    sw_tracks_enter();
    for (int i = 0; i < LOOKED && sends; i++) {
        sw_track_t *t = sends;
        sw_slot_t *slot = ((sw_send_t *)t)->slot;
        if (t->held || t == found) {
            sends = t->after;
            continue;
        }
        if (sw_slot_released(slot)) {
            sw_tracks_remove(t);
            continue;
        }
        sends = t->after;
        found = t;
        if (sw_slot_is(slot, SW_SLOT_JOINT))
            break;
    }
    if (found)
        found->held = true;
    sw_tracks_leave();
    return found;
}

static void progress(void)
{
    sw_track_t *t = sends ? next() : NULL;
    if (!t)
        return;
    ready(t);
    sw_track_let_go(t);
}

static sw_track_t *spare;

const sw_track_kind_t sw_send_kind = {
    .size = sizeof(sw_send_t),
    .spare = &spare,
    .ready = ready,
    .ask = sw_track_ask_host,
    .peek = peek,
    .finish = finish,
    .start = start,
    .free = free_request,
    .cancel = cancel,
    .enlist = enlist,
    .delist = sw_tracks_remove,
    .release = release,
    .progress = progress,
};
