/*
 * proxy.c - see proxy.h.
 */
#include "proxy.h"

#include "either.h"
#include "node/base/settings.h"

enum { NONE, WANTED, SENDING, SENT, REFUSED, STATE = 7, OWN = 8, TAG = 16 };

/* Questions without an answer so far. */
static int open_questions;

/* Receiving ---------------------------------------------------------------- */

static bool same_sender(const sw_early_t *a, const sw_early_t *b)
{
    return a->envelope.pattern.context == b->envelope.pattern.context &&
           a->envelope.pattern.source == b->envelope.pattern.source;
}

/* The first message of the same sender that has none. */
static sw_early_t *first_without(const sw_early_t *m)
{
    sw_early_t *at = sw_matcher_held_up();
    while (!same_sender(at, m) || at->proxied)
        at = at->after;
    return at;
}

static uint64_t state_of(const sw_slot_t *slot)
{
    return atomic_load_explicit(&slot->proxy, memory_order_acquire) & STATE;
}

static void set(sw_slot_t *slot, uint64_t word)
{
    atomic_store_explicit(&slot->proxy, word, memory_order_release);
}

/* Of m's sender, which has answered. */
static void note(sw_early_t *m, sw_slot_t *slot)
{
    sw_early_t *next = first_without(m);
    if (state_of(slot) == SENT)
        next->proxied = true;
    else
        next->proxy = NULL;
    set(slot, NONE);
    open_questions--;
}

/* Asks for one for `next`, through the slot of m. False: there can be none. */
static bool ask(sw_early_t *m, sw_slot_t *slot, sw_early_t *next)
{
    const sw_pattern_t *p = &next->envelope.pattern;
    sw_posted_t *r = sw_matcher_open(p);
    if (!r || !r->elsewhere)
        return false;
    next->proxy = ((sw_near_receive_t *)r)->what.comm;
    set(slot, WANTED | (next == m ? OWN : 0) | (uint64_t)p->tag * TAG);
    open_questions++;
    sw_mailbox_ring(m->envelope.place);
    return true;
}

bool sw_proxy_stands(sw_early_t *m)
{
    sw_slot_t *slot = sw_near_synchronous(m);
    while (slot && !m->proxied) {
        switch (state_of(slot)) {
        case WANTED:
        case SENDING:
            return false;
        case REFUSED:
            note(m, slot);
            return true;
        case SENT:
            note(m, slot);
            break;
        default: {
            sw_early_t *next = first_without(m);
            if (next != m && sw_near_synchronous(next))
                return false;
            if (!ask(m, slot, next))
                return true;
        }
        }
    }
    return true;
}

void sw_proxy_settle(void)
{
    if (sw_likely(!open_questions))
        return;
    for (sw_early_t *m = sw_matcher_held_up(); m; m = m->after) {
        sw_slot_t *slot = sw_near_synchronous(m);
        if (!slot || state_of(slot) == NONE)
            continue;
        uint64_t word = atomic_load(&slot->proxy);
        if ((word & STATE) == WANTED)
            atomic_compare_exchange_strong(&slot->proxy, &word, REFUSED);
        while (state_of(slot) == SENDING)
            sw_os_pause();
        note(m, slot);
    }
}

sw_early_t *sw_proxy_named(const MPI_Status *status, const sw_comm_t *c)
{
    if (!sw_proxy_is(status, c))
        return NULL;
    sw_proxy_settle();
    sw_early_t *m = sw_matcher_held_up();
    while (m && !(m->proxied && m->envelope.pattern.context == c->context_id &&
                  m->envelope.pattern.source == status->MPI_SOURCE &&
                  m->envelope.pattern.tag == status->MPI_TAG))
        m = m->after;
    sw_assert(m);
    return m;
}

void sw_proxy_remove(const MPI_Status *status, const sw_comm_t *c,
                     MPI_Message *taken)
{
    sw_early_t *m = sw_proxy_named(status, c);
    if (taken)
        host.Mrecv(NULL, 0, MPI_BYTE, taken, MPI_STATUS_IGNORE);
    else
        host.Recv(NULL, 0, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG,
                  c->handle, MPI_STATUS_IGNORE);
    if (m)
        m->proxied = false;
}

/* Sending ------------------------------------------------------------------ */

void sw_proxy_serve(sw_near_send_t *s)
{
    uint64_t word = atomic_load_explicit(&s->slot->proxy,
                                         memory_order_relaxed);
    if (sw_likely((word & STATE) != WANTED))
        return;
    const MPI_Comm comm = s->what.comm->handle;
    const bool can = comm != MPI_COMM_NULL;
    const uint64_t rest = word & ~(uint64_t)STATE;
    if (!atomic_compare_exchange_strong(&s->slot->proxy, &word,
                                        rest | (can ? SENDING : REFUSED)) ||
        !can)
        return;
    MPI_Request earlier;
    bool own = rest & OWN;
    int tag = (int)(rest / TAG), to = s->what.partner;
    if (own)
        host.Issend(NULL, 0, MPI_BYTE, to, tag, comm, &s->proxy);
    else {
        host.Isend(NULL, 0, MPI_BYTE, to, tag, comm, &earlier);
        host.Request_free(&earlier);
    }
    s->proxied = own;
    set(s->slot, rest | SENT);
}

bool sw_proxy_over(sw_near_send_t *s)
{
    int flag = 1;
    if (sw_likely(!s->proxied))
        return true;
    if (sw_matcher_helps)
        return false;
    host.Test(&s->proxy, &flag, MPI_STATUS_IGNORE);
    s->proxied = !flag;
    return flag;
}
