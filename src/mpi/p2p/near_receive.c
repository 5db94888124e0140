/*
 * near_receive.c - see near_receive.h.
 */
#include "near_receive.h"

#include "mpi/base/progress.h"
#include "mpi/base/raise.h"
#include "mpi/base/reach.h"
#include "mpi/base/status.h"
#include "give.h"
#include "near_device.h"
#include "near_pieces.h"
#include "near_send.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* Meeting ------------------------------------------------------------------ */

sw_data_t sw_near_target(const sw_near_receive_t *r)
{
    const sw_near_t *w = &r->what;
    if (r->block)
        return sw_data_plain(r->block);
    return (sw_data_t){.at = w->buffer,
                       .count = w->count,
                       .layout = w->type->dense ? NULL : w->type->layout};
}

static void put(const sw_data_t *to, const void *payload, size_t n)
{
    if (sw_likely(!to->layout))
        memcpy(to->at, payload, n);
    else
        sw_layout_unpack(to->layout, to->at, to->count, 0, n, payload);
}

/* The slot of another rank's offer. */
static sw_slot_t *slot_of(const sw_envelope_t *e, const sw_near_offer_t *offer)
{
    const sw_peer_t *peer = sw_roster.at[e->place].peer;
    sw_slot_t *slot = (sw_slot_t *)(peer->control + offer->slot);
    sw_assert(sw_slot_ticket(slot) == offer->ticket);
    return slot;
}

/* Is the data here already (sw_near_secure)? */
static bool is_secured(const sw_envelope_t *e, const sw_near_offer_t *offer)
{
    return !offer->slot && !offer->send && e->place != sw_roster.place;
}

/* Fetch what its sender offers. */
static int fetch(const sw_target_t *to, const sw_envelope_t *e,
                 const sw_near_offer_t *offer)
{
    if (e->place == sw_roster.place)
        return sw_near_fetch_own(offer, to);
    if (sw_unlikely(is_secured(e, offer))) {
        put(&to->data, offer->copy, sw_min(to->room, offer->bytes));
        free(offer->copy);
        return 0;
    }
    int failed = sw_slot_take(sw_roster.at[e->place].peer, slot_of(e, offer),
                              to);
    sw_mailbox_ring(e->place);
    return failed;
}

/* The same to where a receive's bytes go. What a device has moved to its memory
 * needs no block. */
static int fetch_for(sw_near_receive_t *r, const sw_data_t *to,
                     const sw_envelope_t *e, const sw_near_offer_t *offer)
{
    sw_data_t device;
    sw_target_t target = {.data = *to,
                          .room = r->what.bytes,
                          .place = e->place,
                          .drives = !sw_matcher_helps};
    if (sw_unlikely(r->block) && sw_near_device_target(r, &device))
        target.device = &device;
    int failed = fetch(&target, e, offer);
    if (sw_likely(failed != SW_SLOT_CARRIED))
        return failed;
    sw_temporary_free(r->block);
    r->block = NULL;
    return 0;
}

void *sw_near_accept(const sw_envelope_t *e, const void *payload)
{
    if (e->kind != SW_CELL_OFFER || e->place == sw_roster.place ||
        !((const sw_near_offer_t *)payload)->slot)
        return NULL;
    sw_slot_t *slot = slot_of(e, payload);
    return sw_slot_gives(slot) ? sw_slot_accept(slot) : NULL;
}

/* Does its data come in pieces? */
static bool in_pieces(const sw_envelope_t *e, const void *payload)
{
    const sw_near_offer_t *offer = payload;
    return e->kind == SW_CELL_OFFER && e->place != sw_roster.place &&
           !offer->slot && !is_secured(e, offer);
}

/* One that comes in pieces, or is given away, has no slot. */
sw_slot_t *sw_near_synchronous(const sw_early_t *m)
{
    const sw_envelope_t *e = &m->envelope;
    const sw_near_offer_t *offer = (const sw_near_offer_t *)m->payload;
    if (e->kind != SW_CELL_OFFER || e->place == sw_roster.place ||
        !offer->slot || !offer->synchronous)
        return NULL;
    return slot_of(e, offer);
}

void sw_near_secure(sw_early_t *m)
{
    const sw_envelope_t *e = &m->envelope;
    sw_near_offer_t *offer = (sw_near_offer_t *)m->payload;
    if (!sw_near_synchronous(m))
        return;
    offer->synchronous = false;
    char *copy = malloc(offer->bytes + 1);
    const sw_target_t to = {.data = sw_data_plain(copy), .room = offer->bytes};
    int failed = copy ? fetch(&to, e, offer) : -1;
    if (failed) {
        free(copy);
        if (failed == SW_SLOT_UNREAD)
            offer->slot = 0; /* it comes in pieces when it is met */
        return;
    }
    offer->slot = offer->send = 0;
    offer->copy = copy;
}

void sw_near_meet(sw_posted_t *posted, const sw_envelope_t *e,
                  const void *payload)
{
    sw_near_receive_t *r = (sw_near_receive_t *)posted;
    size_t room = r->what.bytes, bytes = sw_near_length(e, payload);
    size_t n = sw_min(room, bytes);
    const sw_data_t to = sw_near_target(r);
    int failed = 0;
    bool later = sw_unlikely(in_pieces(e, payload));
    sw_assert(!r->done);
    if (sw_likely(e->kind == SW_CELL_DATA))
        put(&to, payload, n);
    else if (!later && (!r->into || bytes > room || r->block ||
                        !(r->parcel = sw_near_accept(e, payload))))
        failed = fetch_for(r, &to, e, payload);
    later = later || failed == SW_SLOT_UNREAD;
    if (sw_unlikely(later)) {
        failed = 0;
        sw_near_pull(r, e->place, payload, n);
    }
    r->source = e->pattern.source;
    r->tag = e->pattern.tag;
    r->bytes = n;
    r->error = failed         ? MPI_ERR_OTHER
               : bytes > room ? MPI_ERR_TRUNCATE
                              : MPI_SUCCESS;
    if (!later)
        atomic_store_explicit(&r->done, true, memory_order_release);
}

/* Posting ------------------------------------------------------------------ */

void sw_near_prepare(sw_near_receive_t *r, const sw_near_t *what)
{
    r->posted.pattern = (sw_pattern_t){what->comm->context_id,
                                       SW_NEAR_FIELD(what->partner),
                                       SW_NEAR_FIELD(what->tag)};
    r->posted.queued.queue = NULL;
    r->posted.elsewhere = false;
    sw_near_copy(&r->what, what);
    r->block = NULL;
    r->into = NULL;
    r->parcel = NULL;
    r->error = MPI_SUCCESS;
    r->cancelled = false;
    atomic_store_explicit(&r->done, false, memory_order_relaxed);
}

/* Where we cannot unpack, the data waits in a block of ours. */
void sw_near_equip(sw_near_receive_t *r)
{
    const sw_near_t *w = &r->what;
    if (sw_unlikely((!w->type->dense && !w->type->layout) ||
                    sw_out_of_reach(w->buffer, w->type)) &&
        w->bytes)
        r->block = sw_temporary(w->bytes);
}

void sw_near_post(sw_near_receive_t *r)
{
    sw_near_equip(r);
    sw_shadow_match_enter();
    if (sw_matcher_post(&r->posted))
        sw_near_pieces_turn();
    sw_shadow_match_leave();
}

/* It gets the message that a probe has taken out. */
static void hand(sw_near_receive_t *r, sw_early_t *m)
{
    sw_near_equip(r);
    sw_shadow_match_enter();
    sw_matcher_hand(m, &r->posted);
    sw_near_pieces_turn();
    sw_shadow_match_leave();
}

void sw_near_status(MPI_Status *status, int source, int tag, size_t bytes)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    int error = status->MPI_ERROR;
    sw_status_empty(status);
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_ERROR = error;
    sw_status_set_bytes(status, bytes);
}

/* The host unpacks whole elements; of a last one in parts, the rest stays. */
static void spread(sw_near_receive_t *r)
{
    const sw_near_t *w = &r->what;
    MPI_Comm comm = sw_comm_or_any(w->comm);
    int64_t whole = (int64_t)(r->bytes / w->type->size);
    sw_near_device_staged(w->type);
    size_t rest = r->bytes % w->type->size;
    sw_unpack(r->block, w->buffer, whole, w->type, comm);
    if (rest) {
        char *one = sw_temporary(w->type->size);
        void *at = sw_buffer_element(w->buffer, whole, w->type);
        sw_pack(at, 1, w->type, one, comm);
        memcpy(one, r->block + (size_t)whole * w->type->size, rest);
        sw_unpack(one, at, 1, w->type, comm);
        sw_temporary_free(one);
    }
    sw_temporary_free(r->block);
    r->block = NULL;
}

/* The program gets the parcel instead of its buffer. */
static void replace_buffer(sw_near_receive_t *r)
{
    free(r->what.buffer);
    *r->into = r->what.buffer = r->parcel;
    r->parcel = NULL;
    sw_give_count(SW_GIVE_TAKEN, r->bytes);
}

void sw_near_keep_buffer(sw_near_receive_t *r)
{
    r->into = NULL;
    if (r->parcel)
        memcpy(r->what.buffer, r->parcel, r->bytes);
    free(r->parcel);
    r->parcel = NULL;
}

int sw_near_received(sw_near_receive_t *r, MPI_Status *status)
{
    if (sw_unlikely(r->cancelled)) {
        sw_temporary_free(r->block);
        r->block = NULL;
        sw_status_empty(status);
        if (status != MPI_STATUS_IGNORE)
            host.Status_set_cancelled(status, 1);
        return MPI_SUCCESS;
    }
    if (sw_unlikely(r->block))
        spread(r);
    if (sw_unlikely(r->parcel))
        replace_buffer(r);
    sw_near_status(status, r->source, r->tag, r->bytes);
    return r->error;
}

/* Blocking ----------------------------------------------------------------- */

int sw_near_finish(sw_near_receive_t *r, MPI_Status *status)
{
    MPI_Comm comm = r->what.comm->handle;
    sw_progress_use(comm);
    if (!r->done)
        sw_near_await(&r->done);
    return sw_raise(comm, sw_near_received(r, status));
}

int sw_near_recv(const sw_near_t *what, MPI_Status *status)
{
    sw_near_receive_t r;
    sw_near_prepare(&r, what);
    sw_near_post(&r);
    return sw_near_finish(&r, status);
}

int sw_near_mrecv(const sw_near_t *what, sw_early_t *m, MPI_Status *status)
{
    sw_near_receive_t r;
    sw_near_prepare(&r, what);
    hand(&r, m);
    if (sw_unlikely(!r.done))
        sw_near_await(&r.done);
    return sw_raise_pending(what->comm, sw_near_received(&r, status));
}

/* Requests ----------------------------------------------------------------- */

static sw_near_receive_t *of(sw_shadow_t *s)
{
    return &((sw_near_irecv_t *)s)->receive;
}

static bool is_over(sw_shadow_t *s)
{
    return atomic_load_explicit(&of(s)->done, memory_order_acquire);
}

static bool ready(sw_shadow_t *s)
{
    if (!is_over(s)) {
        sw_near_turn(false);
        if (!is_over(s))
            return false;
    }
    return s->ended = true;
}

static int peek(sw_shadow_t *s, MPI_Status *status)
{
    return sw_near_received(of(s), status);
}

static sw_near_irecv_t *new_shadow(const sw_near_t *what)
{
    sw_near_irecv_t *i = (sw_near_irecv_t *)sw_shadow_new(&sw_near_irecv_kind,
                                                          what->comm);
    if (!i) {
        sw_say("out of memory in a receive");
        abort();
    }
    sw_datatype_hold(what->type);
    sw_near_prepare(&i->receive, what);
    sw_scheduled_request(&i->base);
    return i;
}

int sw_near_irecv(const sw_near_t *what, MPI_Request *request)
{
    return sw_near_itake(what, NULL, request);
}

int sw_near_itake(const sw_near_t *what, void **into, MPI_Request *request)
{
    sw_near_irecv_t *i = new_shadow(what);
    i->receive.into = into;
    sw_shadow_add(&i->base.shadow);
    *request = i->base.shadow.handle;
    sw_near_post(&i->receive);
    return MPI_SUCCESS;
}

int sw_near_imrecv(const sw_near_t *what, sw_early_t *m, MPI_Request *request)
{
    sw_near_irecv_t *i = new_shadow(what);
    sw_shadow_add(&i->base.shadow);
    *request = i->base.shadow.handle;
    hand(&i->receive, m);
    return MPI_SUCCESS;
}

int sw_near_recv_init(const sw_near_t *what, MPI_Request *request)
{
    sw_near_irecv_t *i = new_shadow(what);
    i->base.shadow.persistent = true;
    sw_shadow_add(&i->base.shadow);
    *request = i->base.shadow.handle;
    return MPI_SUCCESS;
}

static int start(sw_shadow_t *s)
{
    sw_near_receive_t *r = of(s);
    const sw_near_t what = r->what;
    sw_near_prepare(r, &what);
    sw_near_post(r);
    return MPI_SUCCESS;
}

static void free_request(sw_shadow_t *s)
{
    ((sw_near_irecv_t *)s)->base.made = false;
    sw_shadow_match_enter();
    sw_near_keep_buffer(of(s));
    sw_shadow_match_leave();
    sw_shadow_forget(s);
}

static int cancel(sw_shadow_t *s)
{
    sw_near_receive_t *r = of(s);
    sw_shadow_match_enter();
    bool open = sw_matcher_withdraw(&r->posted);
    sw_shadow_match_leave();
    if (open) {
        r->cancelled = true;
        atomic_store_explicit(&r->done, true, memory_order_release);
    }
    return MPI_SUCCESS;
}

static void release(sw_shadow_t *s)
{
    sw_datatype_drop(of(s)->what.type);
}

static void progress(void)
{
    sw_near_turn(true);
}

static void await_some(sw_shadow_t *s)
{
    sw_near_await(&of(s)->done);
}

static sw_doorbell_t *bell(sw_shadow_t *s)
{
    return sw_mailbox_doorbell;
}

static sw_shadow_t *spare;

const sw_shadow_kind_t sw_near_irecv_kind = {
    .size = sizeof(sw_near_irecv_t),
    .spare = &spare,
    .ready = ready,
    .over = is_over,
    .await = await_some,
    .bell = bell,
    .peek = peek,
    .finish = peek,
    .start = start,
    .free = free_request,
    .cancel = cancel,
    .owes = true,
    .release = release,
    .progress = progress,
};
