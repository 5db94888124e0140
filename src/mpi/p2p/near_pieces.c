/*
 * near_pieces.c - see near_pieces.h.
 */
#include "near_pieces.h"

#include "near_device.h"
#include "near_send.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* The payload of a SW_CELL_PULL. */
typedef struct {
    uint64_t send, bytes;
} order_t;

/* The receiver's side of a message. */
typedef struct pull {
    sw_near_receive_t *receive;
    order_t order;
    uint64_t at; /* bytes that have come */
    struct pull *next;
} pull_t;

/* What is under way with the rank at a place: pulls from it, and sends that it
 * pulls, each in their order. */
typedef struct {
    pull_t *pulls, *last_pull;
    pull_t *unasked; /* the first of which it has not been told */
    sw_near_send_t *sends, *last_send;
} link_t;

static link_t *links;  /* by place */
static int open_count; /* pulls and sends in all links */

static void no_memory(void)
{
    sw_say("out of memory for a message in pieces");
    abort();
}

bool sw_near_pieces_any(void)
{
    return open_count;
}

/* Receiving ---------------------------------------------------------------- */

void sw_near_pull(sw_near_receive_t *r, int place, const sw_near_offer_t *offer,
                  size_t bytes)
{
    link_t *link = &links[place];
    pull_t *p = malloc(sizeof *p);
    if (!p)
        no_memory();
    *p = (pull_t){.receive = r, .order = {offer->send, bytes}};
    if (link->pulls)
        link->last_pull->next = p;
    else
        link->pulls = p;
    link->last_pull = p;
    if (!link->unasked)
        link->unasked = p;
    open_count++;
}

static void complete(link_t *link)
{
    pull_t *p = link->pulls;
    sw_near_receive_t *r = p->receive;
    link->pulls = p->next;
    free(p);
    open_count--;
    atomic_store_explicit(&r->done, true, memory_order_release);
}

static void take_piece(link_t *link, const sw_cell_t *cell)
{
    pull_t *p = link->pulls;
    size_t n = sw_cell_bytes(cell);
    sw_assert(p && p != link->unasked && p->at + n <= p->order.bytes);
    const sw_data_t to = sw_near_target(p->receive);
    const sw_data_t from = sw_data_plain((char *)(uintptr_t)cell->payload -
                                         p->at);
    sw_data_copy(&from, &to, p->at, p->at + n);
    p->at += n;
    if (p->at == p->order.bytes)
        complete(link);
}

/* False: there is no place in the sender's mailbox now. */
static bool ask(int place, const pull_t *p)
{
    sw_mailbox_out_t *out;
    sw_cell_t *cell = sw_near_reserve(&out, place, sizeof p->order);
    if (!cell)
        return false;
    cell->size = sizeof p->order * SW_CELL_KINDS + SW_CELL_PULL;
    memcpy(cell->payload, &p->order, sizeof p->order);
    sw_mailbox_send(out, cell);
    return true;
}

/* Sending ------------------------------------------------------------------ */

static void take_order(link_t *link, const sw_cell_t *cell)
{
    order_t order;
    memcpy(&order, cell->payload, sizeof order);
    sw_near_send_t *s = (sw_near_send_t *)(uintptr_t)order.send;
    s->wanted = order.bytes;
    s->pulled = true;
    s->behind = NULL;
    if (link->sends)
        link->last_send->behind = s;
    else
        link->sends = s;
    link->last_send = s;
    open_count++;
}

/* False: enough is under way, or this is a helper, and the data lie in a
 * device's memory. */
static bool put_piece(sw_near_send_t *s)
{
    if (sw_unlikely(s->device)) {
        if (sw_matcher_helps)
            return false;
        sw_near_device_pack(s);
    }
    size_t n = sw_min(s->wanted - s->at, sw_mailbox_most);
    sw_mailbox_out_t *out = sw_mailbox_to(s->place);
    if (!out || !sw_pipe_is_calm(&out->pipe))
        return false;
    sw_cell_t *cell = sw_mailbox_reserve(out, n);
    if (!cell)
        return false;
    const sw_data_t to = sw_data_plain(cell->payload - s->at);
    sw_data_copy(&s->data, &to, s->at, s->at + n);
    s->at += n;
    cell->size = (uint32_t)n * SW_CELL_KINDS + SW_CELL_PIECE;
    sw_mailbox_send(out, cell);
    return true;
}

/* All pieces that there is a place for. True: that were all, or the receiver
 * has died. */
static bool put_pieces(sw_near_send_t *s)
{
    do
        if (!put_piece(s))
            return sw_near_send_forsaken(s);
    while (s->at < s->wanted);
    return true;
}

void sw_near_pieces_turn(void)
{
    for (int i = 0; i < sw_roster.places && open_count; i++) {
        link_t *link = &links[i];
        while (link->unasked && ask(i, link->unasked))
            link->unasked = link->unasked->next;
        for (sw_near_send_t *s; (s = link->sends) && put_pieces(s);) {
            link->sends = s->behind;
            open_count--;
            atomic_store_explicit(&s->done, true, memory_order_release);
        }
    }
}

static void take(int place, const sw_cell_t *cell)
{
    if (sw_cell_kind(cell) == SW_CELL_PULL)
        take_order(&links[place], cell);
    else
        take_piece(&links[place], cell);
}

void sw_near_pieces_start(void)
{
    links = calloc((size_t)sw_roster.places, sizeof *links);
    if (!links)
        no_memory();
    sw_matcher_other = take;
}
