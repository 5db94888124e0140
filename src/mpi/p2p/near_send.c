/*
 * near_send.c - see near_send.h.
 */
#include "near_send.h"

#include "mpi/base/failure.h"
#include "mpi/base/progress.h"
#include "mpi/base/raise.h"
#include "mpi/base/reach.h"
#include "mpi/base/status.h"
#include "either.h"
#include "near_device.h"
#include "near_pieces.h"
#include "proxy.h"
#include "mpi/request/complete.h"
#include "node/base/settings.h"
#include "p2p/by_device.h"
#include "way.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Messages up to so many bytes are copied into the mailbox: any, and those that
 * the receiver cannot read where they lie. A setting may say otherwise. */
#define EAGER ((size_t)1536)
#define EAGER_PRIVATE ((size_t)4096)

static size_t eager, eager_private;
/* By place: sends that wait for a place in the mailbox, in their order. */
static sw_near_send_t **waiting;
static _Atomic int waiting_count;
/* Sends that are offered and may need this process: to help the receiver, or
 * to copy aside. */
static sw_near_send_t *offered;
/* Detached ones that are over. To dispose of one may free its communicator, for
 * which we call the host: threads of the program do so, and no helper. */
static sw_near_send_t *ended;

/* See sw_request_done. */
static void learn_done(void)
{
#ifdef OMPI_MAJOR_VERSION
    MPI_Request q[2];
    for (int i = 0; i < 2; i++)
        if (host.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                       sw_datatype_comm(MPI_COMM_WORLD), &q[i]) != MPI_SUCCESS)
            return;
    if (q[0] == q[1])
        sw_request_done = q[0];
    host.Waitall(2, q, MPI_STATUSES_IGNORE);
#endif
}

void sw_near_sends_start(void)
{
    size_t asked = sw_settings.p2p_min;
    eager = sw_min(asked ? asked - 1 : EAGER, sw_mailbox_most);
    eager_private = asked ? eager : sw_min(EAGER_PRIVATE, sw_mailbox_most);
    learn_done();
    sw_near_device_start();
    waiting = calloc((size_t)sw_roster.places, sizeof *waiting);
    if (!waiting) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
}

/* Lists: rings, whose first is *list. The caller has the lock. */

static void add(sw_near_send_t **list, sw_near_send_t *s)
{
    s->list = list;
    if (!*list) {
        *list = s->after = s->before = s;
        return;
    }
    s->after = *list;
    s->before = (*list)->before;
    s->before->after = s->after->before = s;
}

static void take_out(sw_near_send_t *s)
{
    if (!s->list)
        return;
    if (*s->list == s)
        *s->list = s->after == s ? NULL : s->after;
    s->before->after = s->after;
    s->after->before = s->before;
    s->list = NULL;
}

/* Sending ------------------------------------------------------------------ */

sw_cell_t *sw_near_reserve(sw_mailbox_out_t **out, int place, size_t bytes)
{
    *out = sw_mailbox_to(place);
    return *out ? sw_mailbox_reserve(*out, bytes) : NULL;
}

static void address(sw_cell_t *cell, const sw_near_t *w, uint32_t kind,
                    size_t bytes)
{
    cell->size = (uint32_t)bytes * SW_CELL_KINDS + kind;
    cell->context = w->comm->context_id;
    cell->source = w->comm->me;
    cell->tag = w->tag;
}

static sw_envelope_t envelope(const sw_near_t *w, uint32_t kind, size_t bytes)
{
    return (sw_envelope_t){
        .pattern = {w->comm->context_id, w->comm->me, w->tag},
        .place = sw_roster.place,
        .kind = kind,
        .bytes = (uint32_t)bytes};
}

/* A short message to oneself. */
static bool put_own(const sw_near_t *w, const sw_data_t *data)
{
    const sw_envelope_t e = envelope(w, SW_CELL_DATA, w->bytes);
    if (!data->layout)
        return sw_matcher_local(&e, data->at);
    char *packed = malloc(w->bytes + 1);
    if (!packed)
        return false;
    sw_data_pack(data, w->bytes, packed);
    bool done = sw_matcher_local(&e, packed);
    free(packed);
    return done;
}

/* Copy a short message into the mailbox. False: there is no place. */
static bool put(const sw_near_t *w, int place, const sw_data_t *data)
{
    if (place == sw_roster.place)
        return put_own(w, data);
    sw_mailbox_out_t *out;
    sw_cell_t *cell = sw_near_reserve(&out, place, w->bytes);
    if (sw_unlikely(!cell))
        return false;
    address(cell, w, SW_CELL_DATA, w->bytes);
    if (sw_likely(!data->layout))
        memcpy(cell->payload, data->at, w->bytes);
    else
        sw_data_pack(data, w->bytes, cell->payload);
    sw_mailbox_send(out, cell);
    return true;
}

/* A sender that waits gains nothing by a copy of its own: up to 1 MiB the
 * receiver's system call is quicker than two copies, one after the other. Of
 * several messages under way the copies overlap. */
static bool is_quick_by_cma(const sw_near_send_t *s)
{
    return s->blocking && s->what.bytes >= (16u << 10) &&
           s->what.bytes <= (1u << 20);
}

/* Where the receiver shall find a longer one. */
static void bind(sw_near_send_t *s)
{
    sw_offer_t *o = &s->offer;
    if (sw_unlikely(s->device)) {
        sw_near_device_bind(s);
        return;
    }
    o->readable = s->given.at;
    o->direct = false;
    if (s->given.at)
        return;
    if (s->mode != SW_SEND_BUFFERED && s->what.bytes > eager && sw_way_shows)
        sw_offer_bind(o);
    if (!o->readable && !o->layout && s->mode != SW_SEND_BUFFERED &&
        s->place != sw_roster.place &&
        sw_roster.at[s->place].reached & SW_AGREE_CMA)
        o->direct = sw_way_cma || s->what.bytes > SW_STAGED_MAX ||
                    (sw_way_shows && is_quick_by_cma(s)) ||
                    sw_slot_aside() + s->what.bytes > SW_STAGED_ALL;
}

static bool put_offer(sw_near_send_t *s, const sw_near_offer_t *offer)
{
    const sw_near_t *w = &s->what;
    if (s->place == sw_roster.place) {
        const sw_envelope_t e = envelope(w, SW_CELL_OFFER, sizeof *offer);
        return sw_matcher_local(&e, offer);
    }
    sw_mailbox_out_t *out;
    sw_cell_t *cell = sw_near_reserve(&out, s->place, sizeof *offer);
    if (!cell)
        return false;
    address(cell, w, SW_CELL_OFFER, sizeof *offer);
    memcpy(cell->payload, offer, sizeof *offer);
    sw_mailbox_send(out, cell);
    return true;
}

static bool offer(sw_near_send_t *s)
{
    if (s->place == sw_roster.place) {
        const sw_near_offer_t own = {.bytes = s->what.bytes,
                                     .send = (uintptr_t)s};
        return put_offer(s, &own);
    }
    if (!s->slot && !s->in_pieces) {
        s->offer = (sw_offer_t){
            .dest = s->place,
            .data = s->data.at,
            .bytes = s->what.bytes,
            .layout = (sw_layout_t *)(uintptr_t)s->data.layout,
            .count = s->data.count,
            .given = s->given};
        bind(s);
        s->slot = sw_slot_offer(&s->offer);
        s->in_pieces = !s->slot;
        if (s->in_pieces && s->given.at)
            s->data = sw_data_plain(sw_parcel_find(&s->given));
    }
    sw_near_offer_t o = {.bytes = s->what.bytes,
                         .send = (uintptr_t)s,
                         .synchronous = s->mode == SW_SEND_SYNCHRONOUS};
    if (s->slot) {
        o.slot = s->slot->offset;
        o.ticket = sw_slot_ticket(s->slot);
    }
    return put_offer(s, &o);
}

/* Does the receiver read it where it lies? */
static bool is_readable(const sw_near_send_t *s)
{
    sw_shown_t shown;
    return sw_way_shows && sw_data_is_coarse(s->data.layout) &&
           sw_data_show(&s->data, s->what.bytes, &shown);
}

static bool is_short(const sw_near_send_t *s)
{
    if (s->mode == SW_SEND_SYNCHRONOUS || s->given.at || s->device)
        return false;
    return s->what.bytes <= eager ||
           (s->what.bytes <= eager_private &&
            (s->mode == SW_SEND_BUFFERED || !is_readable(s)));
}

/* Its program forgets it. Until it is over, waits for anything serve it. */
static void detach(sw_near_send_t *s)
{
    s->detached = true;
    sw_comm_hold(s->what.comm);
    sw_near_serve(1);
}

/* Its program has forgotten it, and it is over. */
static void dispose(sw_near_send_t *s)
{
    sw_near_serve(-1);
    if (s->slot)
        sw_slot_leave(s->slot);
    if (s->given.at && s->in_pieces)
        sw_parcel_drop(&s->given);
    sw_temporary_free(s->packed);
    sw_comm_drop(s->what.comm);
    free(s);
}

/* Into the mailbox with it, if there is a place. The caller has the lock. */
static bool push(sw_near_send_t *s)
{
    if (is_short(s)) {
        if (!put(&s->what, s->place, &s->data))
            return false;
        s->sent = true;
        atomic_store_explicit(&s->done, true, memory_order_release);
        return true;
    }
    if (s->mode == SW_SEND_SYNCHRONOUS || s->place == sw_roster.place)
        s->sent = true; /* before it is met */
    if (!offer(s))
        return s->sent = false;
    s->sent = true;
    if (s->given.at && s->slot) { /* its taker needs no sender */
        sw_slot_orphan(s->slot);
        s->slot = NULL;
        return true;
    }
    static uint64_t orders;
    s->order = ++orders;
    add(&offered, s);
    return true;
}

/* What else the sender has to do at once. */
static void fill(sw_near_send_t *s)
{
    if (s->slot && s->sent)
        sw_slot_fill(s->slot, &s->offer);
}

/* The helper may end a detached one as soon as this thread has left. */
static void begin(sw_near_send_t *s)
{
    sw_shadow_match_enter();
    if (waiting[s->place] || !push(s)) {
        add(&waiting[s->place], s);
        atomic_fetch_add(&waiting_count, 1);
    }
    bool detached = s->detached, over = detached && !s->list;
    if (detached)
        fill(s);
    sw_shadow_match_leave();
    if (over)
        dispose(s);
    else if (!detached)
        fill(s);
}

/* No other message has this tag there (near_probe.c). */
#define BUFFERED 0x4000

static int to_oneself(const sw_near_t *w, char *to, int me, MPI_Comm comm)
{
    int rc = host.Bsend(w->buffer, (int)w->count, w->type->handle, me, BUFFERED,
                        comm);
    return rc ? rc
              : host.Recv(to, (int)w->bytes, MPI_PACKED, me, BUFFERED, comm,
                          MPI_STATUS_IGNORE);
}

/* A receive of the host's could take it (either.h), so it takes another
 * communicator. That one lacks what was attached to w->comm alone
 * (MPI_Comm_attach_buffer): then no accounts are kept. */
static int through_another(const sw_near_t *w, char *to)
{
    MPI_Comm own = sw_datatype_comm(MPI_COMM_SELF);
    int rc = to_oneself(w, to, 0, own);
#ifdef SW_HAS_Comm_attach_buffer
    if (rc != MPI_SUCCESS)
        sw_pack(w->buffer, w->count, w->type, to, own);
    return MPI_SUCCESS;
#else
    return sw_raise(w->comm->handle, rc);
#endif
}

/* A buffered message passes through the buffer that the program has attached:
 * the host keeps the accounts of it, and raises its errors. This rank sends it
 * to itself, by the host, which matches nothing else here; one thread at a
 * time. */
static int through_buffer(const sw_near_t *w, char *to)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int rc = sw_unlikely(sw_either_asks())
                 ? through_another(w, to)
                 : to_oneself(w, to, w->comm->me, w->comm->handle);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* The host may know no devices: it gets packed data, which take as much of the
 * attached buffer. */
static int through_host_buffer(const sw_near_t *w, char *to)
{
    int rc;
    const sw_datatype_t *bytes = sw_datatype(MPI_PACKED,
                                             sw_comm_or_any(w->comm), &rc);
    if (!sw_settings.gpu || !bytes || !sw_out_of_reach(w->buffer, w->type))
        return through_buffer(w, to);
    char *block = sw_temporary(w->bytes);
    sw_pack(w->buffer, w->count, w->type, block, sw_comm_or_any(w->comm));
    sw_near_device_staged(w->type);
    sw_near_t packed = *w;
    packed.buffer = block;
    packed.type = bytes;
    packed.count = (int64_t)w->bytes;
    rc = through_buffer(&packed, to);
    sw_temporary_free(block);
    return rc;
}

/* All but `offer`, which offer() fills. */
static void clear(sw_near_send_t *s)
{
    s->packed = NULL;
    s->slot = NULL;
    s->device = false;
    s->given = (sw_parcel_name_t){0};
    s->sent = s->proxied = s->in_pieces = s->pulled = false;
    s->detached = s->blocking = false;
    s->wanted = s->at = 0;
    s->turns = 0;
    s->list = NULL;
    atomic_store_explicit(&s->done, false, memory_order_relaxed);
}

/* Returns an error that the host has raised. */
static int describe(sw_near_send_t *s, const sw_near_t *w, sw_send_mode_t mode)
{
    bool buffered = mode == SW_SEND_BUFFERED;
    clear(s);
    sw_near_copy(&s->what, w);
    s->mode = mode;
    s->place = sw_near_place(w->comm, w->partner);
    s->data = (sw_data_t){.at = w->buffer,
                          .count = w->count,
                          .layout = w->type->dense ? NULL : w->type->layout};
    if (sw_likely(!buffered && (w->type->dense || w->type->layout) &&
                  !sw_out_of_reach(w->buffer, w->type)) ||
        (!w->bytes && !buffered))
        return MPI_SUCCESS;
    s->device = !buffered && w->bytes > eager && sw_near_device_offers(s);
    if (s->device)
        return MPI_SUCCESS;
    int rc = MPI_SUCCESS;
    s->packed = sw_temporary(w->bytes);
    if (buffered)
        rc = through_host_buffer(w, s->packed);
    else
        sw_near_device_gather(s, s->packed);
    s->data = sw_data_plain(s->packed);
    if (rc != MPI_SUCCESS) {
        sw_temporary_free(s->packed);
        s->packed = NULL;
    }
    return rc;
}

/* It is over: give back what it holds. */
static void end(sw_near_send_t *s)
{
    sw_shadow_match_enter();
    take_out(s);
    sw_shadow_match_leave();
    if (s->slot)
        sw_slot_leave(s->slot);
    s->slot = NULL;
    sw_temporary_free(s->packed);
    s->packed = NULL;
}

bool sw_near_send_forsaken(sw_near_send_t *s)
{
    return (++s->turns & 4095) == 0 &&
           sw_peer_gone(sw_roster.at[s->place].peer);
}

/* Has the receiver taken it, or does a copy lie aside? One that the receiver
 * has taken and could not read loses its slot: the receiver asks for pieces. */
static bool is_released(sw_near_send_t *s, bool sync)
{
    if (!sw_slot_is(s->slot, SW_SLOT_TAKEN))
        return !sync && s->slot->aside;
    if (sw_likely(!sw_slot_is_unread(s->slot)))
        return true;
    sw_slot_leave(s->slot);
    s->slot = NULL;
    s->in_pieces = true;
    return false;
}

/* The processor helps with nothing, and a helper thread packs nothing. */
static void nudge_device(sw_near_send_t *s, bool sync,
                         const sw_peer_t *receiver)
{
    if (!sync && !sw_matcher_helps)
        sw_slot_nudge_by(s->slot, receiver, sw_near_device_gather, s);
}

/* Is it over? Do what it needs of us. The caller has the lock. */
static bool push_on(sw_near_send_t *s)
{
    if (atomic_load_explicit(&s->done, memory_order_acquire))
        return true;
    if (s->in_pieces && s->sent)
        return s->done = !s->pulled && sw_near_send_forsaken(s);
    if (!s->sent || !s->slot)
        return false;
    bool sync = s->mode == SW_SEND_SYNCHRONOUS;
    const sw_peer_t *receiver = sw_roster.at[s->place].peer;
    if (sync && !sw_matcher_helps)
        sw_proxy_serve(s);
    if (is_released(s, sync))
        return s->done = sw_proxy_over(s);
    if (!s->slot)
        return false;
    if (sw_unlikely(s->device))
        nudge_device(s, sync, receiver);
    else {
        sw_slot_help(s->slot, receiver, s->offer.data);
        if (!sync)
            sw_slot_nudge(s->slot, receiver, s->offer.data);
    }
    s->done = is_released(s, sync) && sw_proxy_over(s);
    return s->done;
}

/* The same where another thread may have the lock, and do it. */
static bool advance(sw_near_send_t *s)
{
    bool shared = sw_threaded || sw_shadow_match_shared;
    if (atomic_load_explicit(&s->done, memory_order_acquire))
        return true;
    if (shared && !sw_shadow_match_try())
        return false;
    bool over = push_on(s);
    if (shared)
        sw_shadow_match_give_back();
    return over;
}

static sw_near_send_t *new_send(void)
{
    sw_near_send_t *s = calloc(1, sizeof *s);
    if (!s) {
        sw_say("out of memory in a send");
        abort();
    }
    return s;
}

static void push_waiting(void)
{
    for (int i = 0; i < sw_roster.places; i++)
        while (waiting[i]) {
            sw_near_send_t *s = waiting[i];
            take_out(s);
            if (!push(s)) {
                /* It stays the first. */
                add(&waiting[i], s);
                waiting[i] = s;
                break;
            }
            atomic_fetch_sub(&waiting_count, 1);
            fill(s);
            if (s->detached && !s->list)
                add(&ended, s);
        }
}

#define LOOKED 4

void sw_near_sends_turn(void)
{
    sw_near_pieces_turn();
    if (sw_likely(!atomic_load_explicit(&waiting_count, memory_order_relaxed) &&
                  !offered))
        return;
    if (atomic_load(&waiting_count))
        push_waiting();
    for (int i = 0; i < LOOKED && offered; i++) {
        sw_near_send_t *s = offered;
        offered = s->after;
        if (!push_on(s))
            continue;
        take_out(s);
        if (s->detached)
            add(&ended, s);
    }
}

void sw_near_sends_dispose(void)
{
    for (sw_near_send_t *s; sw_unlikely(s = ended);) {
        take_out(s);
        dispose(s);
    }
}

bool sw_near_sends_any(void)
{
    return atomic_load_explicit(&waiting_count, memory_order_relaxed) ||
           offered || sw_near_pieces_any();
}

/* True: a device has moved the data. Else the processor can. */
static bool fetch_by_device(sw_near_send_t *s, const sw_target_t *to, size_t n)
{
    if (sw_likely(!s->device && !to->device))
        return false;
    if (sw_by_device(&s->data, to->device ? to->device : &to->data, n))
        return true;
    if (s->device)
        sw_near_device_pack(s);
    return false;
}

int sw_near_fetch_own(const sw_near_offer_t *offer, const sw_target_t *to)
{
    sw_near_send_t *s = (sw_near_send_t *)(uintptr_t)offer->send;
    size_t n = sw_min(to->room, offer->bytes);
    int rc = 0;
    if (fetch_by_device(s, to, n))
        rc = to->device ? SW_SLOT_CARRIED : 0;
    else if (!s->data.layout && !to->data.layout)
        memmove(to->data.at, s->data.at, n);
    else
        sw_data_copy(&s->data, &to->data, 0, n);
    atomic_store_explicit(&s->done, true, memory_order_release);
    return rc;
}

/* Blocking ----------------------------------------------------------------- */

static void await(sw_near_send_t *s)
{
    int left = sw_near_spins;
    while (!advance(s) && left-- > 0)
        if (sw_near_turn(false))
            left = sw_near_spins;
    if (!s->done) {
        sw_wait_t wait = {.doorbell = sw_mailbox_doorbell};
        while (!advance(s)) {
            sw_wait_step(&wait);
            sw_near_turn(true);
        }
        sw_wait_end(&wait);
    }
    end(s);
}

/* MPI_Bsend is over at once. */
static int buffered(const sw_near_t *w)
{
    sw_near_send_t *s = malloc(sizeof *s);
    if (!s)
        return sw_raise(w->comm->handle, MPI_ERR_NO_MEM);
    int rc = describe(s, w, SW_SEND_BUFFERED);
    if (rc != MPI_SUCCESS) {
        free(s);
        return rc;
    }
    detach(s);
    begin(s);
    return MPI_SUCCESS;
}

/* A short message without gaps, of which nothing remains to be done. False: it
 * is another kind of message, or there is no place for it now. */
static inline bool at_once(const sw_near_t *w, sw_send_mode_t mode)
{
    int place = sw_near_place(w->comm, w->partner);
    bool shared = sw_threaded || sw_shadow_match_shared;
    size_t most = w->bytes <= eager ||
                          sw_arena_offset(w->buffer, w->bytes) != UINT64_MAX
                      ? eager
                      : eager_private;
    if (sw_unlikely(w->bytes > most || mode != SW_SEND_STANDARD ||
                    !w->type->dense || sw_device_possible()))
        return false;
    const sw_data_t data = sw_data_plain(w->buffer);
    if (sw_unlikely(shared))
        sw_shadow_match_enter();
    bool done = !waiting[place] && put(w, place, &data);
    if (sw_unlikely(shared))
        sw_shadow_match_leave();
    return done;
}

int sw_near_send(const sw_near_t *w, sw_send_mode_t mode)
{
    sw_near_send_t s;
    if (sw_likely(at_once(w, mode)))
        return MPI_SUCCESS;
    if (mode == SW_SEND_BUFFERED)
        return buffered(w);
    sw_progress_use(w->comm->handle);
    describe(&s, w, mode);
    s.blocking = true;
    begin(&s);
    await(&s);
    return MPI_SUCCESS;
}

void sw_near_send_parcel(const sw_near_t *w, const sw_parcel_name_t *given)
{
    sw_near_send_t *s = new_send();
    sw_near_copy(&s->what, w);
    s->place = sw_near_place(w->comm, w->partner);
    s->given = *given;
    sw_progress_use(w->comm->handle);
    detach(s);
    begin(s);
}

/* Requests ----------------------------------------------------------------- */

static sw_near_send_t *of(sw_shadow_t *shadow)
{
    return &((sw_near_isend_t *)shadow)->send;
}

static bool ready(sw_shadow_t *shadow)
{
    sw_near_send_t *s = of(shadow);
    if (!advance(s)) {
        sw_near_turn(false);
        if (!advance(s))
            return false;
    }
    return shadow->ended = true;
}

static bool is_over(sw_shadow_t *shadow)
{
    return advance(of(shadow));
}

static int peek(sw_shadow_t *shadow, MPI_Status *status)
{
    sw_status_empty(status);
    return MPI_SUCCESS;
}

static int finish(sw_shadow_t *shadow, MPI_Status *status)
{
    end(of(shadow));
    sw_status_empty(status);
    return MPI_SUCCESS;
}

static sw_near_isend_t *new_shadow(const sw_near_t *w)
{
    sw_near_isend_t *i = (sw_near_isend_t *)sw_shadow_new(&sw_near_isend_kind,
                                                          w->comm);
    if (!i) {
        sw_say("out of memory in a send");
        abort();
    }
    sw_datatype_hold(w->type);
    sw_scheduled_request(&i->base);
    return i;
}

int sw_near_isend(const sw_near_t *w, sw_send_mode_t mode, MPI_Request *request)
{
    /* To MPI_PROC_NULL hosts give one request again and again, which is
     * complete: the cheapest one that there is, and none of ours. */
    if (sw_likely(at_once(w, mode))) {
        if (sw_request_done == MPI_REQUEST_NULL)
            return host.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0,
                              w->comm->handle, request);
        *request = sw_request_done;
        return MPI_SUCCESS;
    }
    sw_near_isend_t *i = new_shadow(w);
    int rc = describe(&i->send, w, mode);
    if (rc != MPI_SUCCESS) {
        sw_shadow_forgo(&i->base.shadow);
        return rc;
    }
    sw_shadow_add(&i->base.shadow);
    *request = i->base.shadow.handle;
    begin(&i->send);
    return MPI_SUCCESS;
}

int sw_near_send_init(const sw_near_t *w, sw_send_mode_t mode,
                      MPI_Request *request)
{
    sw_near_isend_t *i = new_shadow(w);
    i->send = (sw_near_send_t){.what = *w, .mode = mode};
    i->base.shadow.persistent = true;
    sw_shadow_add(&i->base.shadow);
    *request = i->base.shadow.handle;
    return MPI_SUCCESS;
}

static int start(sw_shadow_t *shadow)
{
    sw_near_send_t *s = of(shadow);
    const sw_near_t what = s->what;
    int rc = describe(s, &what, s->mode);
    if (rc == MPI_SUCCESS)
        begin(s);
    return rc;
}

static void free_request(sw_shadow_t *shadow)
{
    ((sw_near_isend_t *)shadow)->base.made = false;
    sw_shadow_forget(shadow);
}

static int cancel(sw_shadow_t *shadow)
{
    return MPI_SUCCESS; /* it is on its way */
}

static void release(sw_shadow_t *shadow)
{
    sw_datatype_drop(of(shadow)->what.type);
}

static void await_some(sw_shadow_t *shadow)
{
    sw_near_send_t *s = of(shadow);
    int left = sw_near_spins;
    while (!advance(s) && left-- > 0)
        if (sw_near_turn(false))
            left = sw_near_spins;
}

static sw_doorbell_t *bell(sw_shadow_t *shadow)
{
    return sw_mailbox_doorbell;
}

static sw_shadow_t *spare;

const sw_shadow_kind_t sw_near_isend_kind = {
    .size = sizeof(sw_near_isend_t),
    .spare = &spare,
    .ready = ready,
    .over = is_over,
    .await = await_some,
    .bell = bell,
    .peek = peek,
    .finish = finish,
    .start = start,
    .free = free_request,
    .cancel = cancel,
    .owes = true,
    .release = release,
};
