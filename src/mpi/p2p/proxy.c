/*
 * proxy.c - see proxy.h.
 */
#include "proxy.h"

#include "either.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* A word: a state, whether the last proxy is the sender's own, the tag, and how
 * many proxies. */
enum {
    NONE,
    WANTED,
    SENDING,
    SENT,
    REFUSED,
    STATE = 7,
    OWN = 8,
    TAG_AT = 4,
    COUNT_AT = 35
};

/* Questions without an answer so far. */
static int open_questions;

/* Of a sender, by place: the messages in line that no question covers yet, up
 * to the one at hand. */
typedef struct {
    sw_early_t *first; /* NULL: none */
    uint64_t count;
    bool mixed;   /* a later one has another tag */
    bool stopped; /* ask no more in this turn */
} uncovered_t;
static uncovered_t *uncovered;

/* Receiving ---------------------------------------------------------------- */

static bool same_sender(const sw_early_t *a, const sw_early_t *b)
{
    return a->envelope.pattern.context == b->envelope.pattern.context &&
           a->envelope.pattern.source == b->envelope.pattern.source;
}

/* The next message of a sender that no proxy stands for, from `at` on. */
static sw_early_t *next_without(sw_early_t *at, const sw_early_t *sender)
{
    while (at && (!same_sender(at, sender) || at->proxied || at->unproxied))
        at = at->after;
    return at;
}

static uint64_t word_of(const sw_slot_t *slot)
{
    return atomic_load_explicit(&slot->proxy, memory_order_acquire);
}

static void set(sw_slot_t *slot, uint64_t word)
{
    atomic_store_explicit(&slot->proxy, word, memory_order_release);
}

/* m's sender has answered: for so many of its messages. */
static void note(sw_early_t *m, sw_slot_t *slot, uint64_t word)
{
    sw_early_t *at = sw_matcher_held_up();
    bool sent = (word & STATE) == SENT;
    for (uint64_t left = word >> COUNT_AT; left--;) {
        at = next_without(at, m);
        at->proxied = sent;
        at->unproxied = !sent;
        at->proxy = sent ? at->proxy : NULL;
    }
    set(slot, NONE);
    open_questions--;
}

/* Asks for proxies of what is uncovered, through the slot of m, which is the
 * last of it if it is its own. */
static void ask(sw_early_t *m, sw_slot_t *slot, const uncovered_t *u, bool own)
{
    const sw_pattern_t *p = &u->first->envelope.pattern;
    sw_posted_t *r = sw_matcher_open(p);
    sw_early_t *at = u->first;
    for (uint64_t left = u->count; left--; at = at->after) {
        at = next_without(at, m);
        at->proxy = r && r->elsewhere ? ((sw_near_receive_t *)r)->what.comm
                                      : NULL;
        at->unproxied = !at->proxy;
    }
    if (!r || !r->elsewhere)
        return;
    set(slot, WANTED | (own ? OWN : 0) | (uint64_t)p->tag << TAG_AT |
                  u->count << COUNT_AT);
    open_questions++;
    sw_mailbox_ring(m->envelope.place);
}

/* The answers that are there. */
static void take_answers(void)
{
    sw_early_t *m = open_questions ? sw_matcher_held_up() : NULL;
    for (; m; m = m->after) {
        sw_slot_t *slot = sw_near_synchronous(m);
        uint64_t word = slot ? word_of(slot) : NONE;
        if ((word & STATE) == SENT || (word & STATE) == REFUSED)
            note(m, slot, word);
    }
}

/* One message in line: it goes on where the sender's last one stopped. */
static void cover(sw_early_t *m)
{
    uncovered_t *u = &uncovered[m->envelope.place];
    sw_slot_t *slot = sw_near_synchronous(m);
    if (m->proxied || m->unproxied || u->stopped ||
        (u->first && !same_sender(u->first, m)))
        return;
    if (m->proxy) {         /* a question is open */
        u->stopped = !slot; /* ... and a later one carries it */
        return;
    }
    if (!u->first)
        *u = (uncovered_t){.first = m};
    u->mixed |= u->first->envelope.pattern.tag != m->envelope.pattern.tag;
    u->count += !u->mixed;
    if (!slot)
        return;
    u->stopped = u->mixed;
    ask(m, slot, u, !u->mixed);
    u->first = NULL;
}

void sw_proxies_turn(void)
{
    take_answers();
    memset(uncovered, 0, (size_t)sw_roster.places * sizeof *uncovered);
    for (sw_early_t *m = sw_matcher_held_up(); m; m = m->after)
        cover(m);
}

void sw_proxies_start(void)
{
    uncovered = calloc((size_t)sw_roster.places, sizeof *uncovered);
    if (!uncovered) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
}

/* From the last question back: the sender answers from the first on, so what it
 * has answered stays a beginning of the line. */
void sw_proxy_settle(void)
{
    if (sw_likely(!open_questions))
        return;
    int n = 0;
    sw_early_t **asked = malloc((size_t)open_questions * sizeof *asked);
    if (!asked) {
        sw_say("out of memory for messages that are held up");
        abort();
    }
    for (sw_early_t *m = sw_matcher_held_up(); m; m = m->after) {
        sw_slot_t *slot = sw_near_synchronous(m);
        if (slot && (word_of(slot) & STATE) != NONE)
            asked[n++] = m;
    }
    for (int i = n; i-- > 0;) {
        sw_slot_t *slot = sw_near_synchronous(asked[i]);
        uint64_t word = word_of(slot);
        if ((word & STATE) == WANTED)
            atomic_compare_exchange_strong(&slot->proxy, &word,
                                           (word & ~(uint64_t)STATE) | REFUSED);
    }
    for (int i = 0; i < n; i++) {
        sw_slot_t *slot = sw_near_synchronous(asked[i]);
        while ((word_of(slot) & STATE) == SENDING)
            sw_os_pause();
        note(asked[i], slot, word_of(slot));
    }
    free(asked);
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

/* Proxies go in the order of the messages. */
static void answer(sw_near_send_t *s, uint64_t word)
{
    const MPI_Comm comm = s->what.comm->handle;
    const bool can = comm != MPI_COMM_NULL;
    const uint64_t rest = word & ~(uint64_t)STATE;
    if (!atomic_compare_exchange_strong(&s->slot->proxy, &word,
                                        rest | (can ? SENDING : REFUSED)) ||
        !can)
        return;
    MPI_Request earlier;
    bool own = rest & OWN;
    int tag = (int)(rest >> TAG_AT & INT32_MAX), to = s->what.partner;
    for (uint64_t left = (rest >> COUNT_AT) - own; left--;) {
        host.Isend(NULL, 0, MPI_BYTE, to, tag, comm, &earlier);
        host.Request_free(&earlier);
    }
    if (own)
        host.Issend(NULL, 0, MPI_BYTE, to, tag, comm, &s->proxy);
    s->proxied = own;
    set(s->slot, rest | SENT);
}

void sw_proxy_serve(sw_near_send_t *s)
{
    while (s->slot && (word_of(s->slot) & STATE) == WANTED) {
        sw_near_send_t *first = s;
        for (sw_near_send_t *at = s->list ? s->after : s; at != s;
             at = at->after)
            if (at->place == s->place && at->order < first->order && at->slot &&
                (word_of(at->slot) & STATE) == WANTED)
                first = at;
        answer(first, word_of(first->slot));
    }
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
