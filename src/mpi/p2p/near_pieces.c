/*
 * near_pieces.c - see near_pieces.h.
 */
#include "near_pieces.h"

#include "near_send.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

/* Payloads. */
typedef struct {
    uint64_t send, receive, bytes;
} order_t;

typedef struct {
    uint64_t receive, at;
    char data[];
} piece_t;

/* The receiver's side. */
typedef struct pull {
    sw_near_receive_t *receive;
    int place;                  /* the sender's                             */
    order_t order;
    uint64_t missing;
    bool asked;
    struct pull *next;
} pull_t;

static pull_t *pulls;
static uint64_t serial;
/* The sender's: those that are pulled, in their order. */
static sw_near_send_t *pulled, **last = &pulled;
static int open_count;          /* of both                                  */

bool sw_near_pieces_any(void)
{
    return open_count;
}

/* Receiving ---------------------------------------------------------------- */

void sw_near_pull(sw_near_receive_t *r, int place, const sw_near_offer_t *offer,
                  size_t bytes)
{
    pull_t *p = malloc(sizeof *p), **at = &pulls;
    if (!p) {
        sw_say("out of memory in a receive");
        abort();
    }
    *p = (pull_t){.receive = r, .place = place, .missing = bytes,
                  .order = {offer->ticket, ++serial, bytes}};
    while (*at)
        at = &(*at)->next;
    *at = p;
    open_count++;
}

static void end_pull(pull_t **at)
{
    pull_t *p = *at;
    *at = p->next;
    free(p);
    open_count--;
}

bool sw_near_pull_lost(sw_near_receive_t *r)
{
    for (pull_t **at = &pulls; *at; at = &(*at)->next)
        if ((*at)->receive == r) {
            end_pull(at);
            return true;
        }
    return false;
}

static void complete(pull_t **at)
{
    sw_near_receive_t *r = (*at)->receive;
    end_pull(at);
    atomic_store_explicit(&r->done, true, memory_order_release);
}

static void take_piece(const sw_cell_t *cell)
{
    piece_t head;
    memcpy(&head, cell->payload, sizeof head);
    size_t n = sw_cell_bytes(cell) - sizeof head;
    pull_t **at = &pulls;
    while (*at && (*at)->order.receive != head.receive)
        at = &(*at)->next;
    if (!*at)
        return;
    const sw_data_t to = sw_near_target((*at)->receive);
    const sw_data_t from = sw_data_plain((char *)(uintptr_t)cell->payload +
                                         sizeof head - head.at);
    sw_data_copy(&from, &to, head.at, head.at + n);
    (*at)->missing -= n;
    if (!(*at)->missing)
        complete(at);
}

/* False: there is no place in the sender's mailbox now. */
static bool ask(pull_t *p)
{
    sw_mailbox_out_t *out;
    sw_cell_t *cell = sw_near_reserve(&out, p->place, sizeof p->order);
    if (!cell)
        return false;
    cell->size = sizeof p->order * SW_CELL_KINDS + SW_CELL_PULL;
    memcpy(cell->payload, &p->order, sizeof p->order);
    sw_mailbox_send(out, cell);
    return p->asked = true;
}

static void ask_all(void)
{
    for (pull_t **at = &pulls; *at;) {
        pull_t *p = *at;
        if (!p->asked && ask(p) && !p->missing)
            complete(at);       /* it has no room for anything */
        else
            at = &p->next;
    }
}

/* Sending ------------------------------------------------------------------ */

static void take_order(const sw_cell_t *cell)
{
    order_t order;
    memcpy(&order, cell->payload, sizeof order);
    sw_near_send_t *s = (sw_near_send_t *)(uintptr_t)order.send;
    s->receive = order.receive;
    s->wanted = order.bytes;
    s->behind = NULL;
    s->pulled = true;
    *last = s;
    last = &s->behind;
    open_count++;
}

/* False: enough is under way. */
static bool put_piece(sw_near_send_t *s)
{
    size_t n = sw_min(s->wanted - s->at, sw_mailbox_most - sizeof(piece_t));
    sw_mailbox_out_t *out = sw_mailbox_to(s->place);
    if (!out || !sw_pipe_is_calm(&out->pipe))
        return false;
    sw_cell_t *cell = sw_mailbox_reserve(out, sizeof(piece_t) + n);
    if (!cell)
        return false;
    const piece_t head = {s->receive, s->at};
    memcpy(cell->payload, &head, sizeof head);
    const sw_data_t to = sw_data_plain(cell->payload + sizeof head - s->at);
    sw_data_copy(&s->data, &to, s->at, s->at + n);
    s->at += n;
    cell->size = (uint32_t)(sizeof head + n) * SW_CELL_KINDS + SW_CELL_PIECE;
    sw_mailbox_send(out, cell);
    return true;
}

/* Streams go one after another, but none waits for a receiver that is slow. */
static void put_pieces(void)
{
    for (sw_near_send_t **at = &pulled; *at;) {
        sw_near_send_t *s = *at;
        while (s->at < s->wanted && put_piece(s))
            ;
        if (s->at < s->wanted && !sw_near_send_forsaken(s)) {
            at = &s->behind;
            continue;
        }
        *at = s->behind;
        if (!*at)
            last = at;
        open_count--;
        atomic_store_explicit(&s->done, true, memory_order_release);
    }
}

void sw_near_pieces_turn(void)
{
    ask_all();
    put_pieces();
}

static void take(int place, const sw_cell_t *cell)
{
    if (sw_cell_kind(cell) == SW_CELL_PULL)
        take_order(cell);
    else
        take_piece(cell);
}

void sw_near_pieces_start(void)
{
    sw_matcher_other = take;
}
