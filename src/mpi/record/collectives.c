/*
 * collectives.c - collectives: which members a member waits for, and what the
 * matrix has of them; see traffic.h.
 *
 * All members begin the collectives of a communicator in the same order (MPI
 * 4.1, 6.1). So the count of those begun names one, alike on all members.
 */
#include "traffic.h"

static uint32_t partners_of(const sw_known_comm_t *c, sw_waits_t waits,
                            int root)
{
    switch (waits) {
    case SW_WAITS_ALL: return (uint32_t)c->n - 1;
    case SW_WAITS_ROOT: return root != c->me;
    case SW_WAITS_AT_ROOT: return root == c->me ? (uint32_t)c->n - 1 : 0;
    case SW_WAITS_LOWER: return (uint32_t)c->me;
    case SW_WAITS_NEIGHBOURS: return c->ins > 0 ? (uint32_t)c->ins : 0;
    default: return 0;
    }
}

/* For the trace: a number in the communicator, between groups one in
 * MPI_COMM_WORLD; -1: there is none, or this rank has no part in it. */
static int64_t root_of(const sw_known_comm_t *c, sw_waits_t waits, int root)
{
    if (waits != SW_WAITS_ROOT && waits != SW_WAITS_AT_ROOT)
        return -1;
    if (!c->inter)
        return root;
    return root == MPI_ROOT ? sw_job.rank : sw_known_rank(c, root);
}

/* The stamp of the collective that was begun last; 0: no rank looks for it. */
static uint64_t stamp_of(const sw_known_comm_t *c)
{
    return c->id && c->n > 1 ? sw_board_nth(c->id, c->collectives) : 0;
}

void sw_collective_before(sw_event_t *e, MPI_Comm comm, sw_waits_t waits,
                          int root)
{
    sw_event_comm(e, comm);
    sw_collective_begins(e, waits, root);
}

void sw_collective_begins(sw_event_t *e, sw_waits_t waits, int root)
{
    sw_known_comm_t *c = e->comm;
    if (sw_unlikely(!c))
        return;
    c->collectives++;
    SW_EVENT_NOTE(e, SW_NOTE_COLLECTIVE, c->collectives, c->number);
    if (c->inter)
        SW_EVENT_NOTE(e, SW_NOTE_MEANS, SW_TRACE_THE_CALL,
                      sw_tracer_signed(root_of(c, waits, root)));
    if (!c->id || c->inter || !sw_event_is_watched(e))
        return;
    e->post = stamp_of(c);
    e->wanted = e->post ? e->post : 1; /* of one member: none looks */
    e->partners = partners_of(c, waits, root);
}

static void look(sw_event_t *e, const sw_known_comm_t *c, uint64_t stamp,
                 sw_waits_t waits, int root)
{
    int first = waits == SW_WAITS_ROOT ? root : 0;
    int end = waits == SW_WAITS_ROOT    ? root + 1
              : waits == SW_WAITS_LOWER ? c->me
                                        : c->n;
    if (!partners_of(c, waits, root))
        e->looked = true; /* waits for no rank */
    if (waits == SW_WAITS_NEIGHBOURS) {
        for (int i = 0; i < c->ins && c->in; i++)
            if (c->in[i] != c->me)
                sw_event_look(e, sw_known_rank(c, c->in[i]), stamp);
        return;
    }
    if (e->looked)
        return;
    for (int i = first; i < end; i++)
        if (i != c->me)
            sw_event_look(e, sw_known_rank(c, i), stamp);
}

void sw_collective_late(sw_event_t *e, sw_waits_t waits, int root)
{
    const sw_known_comm_t *c = e->comm;
    if (!c || c->inter)
        return;
    if (!e->partners) {
        e->stands_for = e->amount.time;
        e->looked = waits != SW_WAITS_NEIGHBOURS;
    }
    if (e->stands_for && !e->looked)
        look(e, c, e->wanted, waits, root);
}

void sw_collective_pending(sw_event_t *e, sw_waits_t waits, int root,
                           MPI_Request request)
{
    const sw_known_comm_t *c = e->comm;
    if (!c)
        return;
    /* It may end when recording goes on, and then be looked for. */
    if (e->paused && !c->inter)
        e->wanted = stamp_of(c);
    sw_pending_t p = {.request = (uintptr_t)request,
                      .communicator = e->comm,
                      .kind = SW_PENDING_COLLECTIVE,
                      .waits = (uint8_t)waits,
                      .peer = root,
                      .stamp = e->wanted,
                      .name = sw_event_starts(e)};
    sw_pending_add(&p);
}

void sw_collective_persistent(sw_event_t *e, sw_collective_t what,
                              sw_waits_t waits, int root, MPI_Request request)
{
    if (!e->comm)
        return;
    sw_pending_t p = {.request = (uintptr_t)request,
                      .communicator = e->comm,
                      .kind = SW_PENDING_COLLECTIVE,
                      .waits = (uint8_t)waits,
                      .peer = root,
                      .tag = (int32_t)what,
                      .persistent = true,
                      .number = e->amount.size,
                      .sent = e->amount.sent,
                      .received = e->amount.received,
                      .device_sent = e->device_sent,
                      .device_received = e->device_received,
                      .piece = e->piece};
    e->amount.sent = e->amount.received = 0;
    e->amount.sent_between = e->amount.received_between = 0;
    sw_pending_add(&p);
}

void sw_collective_starts(sw_event_t *e, sw_pending_t *p)
{
    sw_known_comm_t *c = p->communicator;
    e->comm = c;
    c->collectives++;
    p->stamp = c->id ? sw_board_nth(c->id, c->collectives) : 0;
    sw_event_post(e, p->stamp);
    SW_EVENT_NOTE(e, SW_NOTE_COLLECTIVE, c->collectives, c->number);
    SW_EVENT_NOTE(e, SW_NOTE_MEANS, (uint64_t)p->tag + 1,
                  sw_tracer_signed(root_of(c, (sw_waits_t)p->waits, p->peer)),
                  p->number, p->sent, p->received);
    p->name = sw_event_starts(e);
    sw_pending_start(p);
    e->amount.sent += p->sent;
    e->amount.received += p->received;
    sw_record_device_moved(e, p, p->sent, p->received);
    sw_record_between_again(e, p);
}

void sw_collective_ended(sw_event_t *e, const sw_pending_t *p)
{
    sw_known_comm_t *c = p->communicator;
    if (!e->comm)
        e->comm = c;
    if (e->stands_for && p->stamp && !c->inter)
        look(e, c, p->stamp, (sw_waits_t)p->waits, p->peer);
    SW_EVENT_NOTE(e, SW_NOTE_ENDS, p->name);
}

/* The matrix -------------------------------------------------------------- */

static void exchanged(sw_event_t *e, int member, uint64_t bytes, bool sent)
{
    int64_t rank = sw_known_rank(e->comm, member);
    if (sent)
        sw_peers_sent(&e->recorder->peers, SW_PEERS_COLLECTIVES, rank, bytes);
    else
        sw_peers_received(&e->recorder->peers, SW_PEERS_COLLECTIVES, rank,
                          bytes);
}

static void blocks(sw_event_t *e, const sw_moves_data_t *p, bool sent)
{
    uint64_t size = p->types ? 0 : sw_known_type(p->type)->size;
    for (int i = 0; i < e->comm->targets; i++) {
        uint64_t n = (uint64_t)sw_counts_at(p->counts, i);
        if (n)
            exchanged(e, i,
                      n * (p->types ? sw_known_type(p->types[i])->size : size),
                      sent);
    }
}

void sw_collective_exchanged(sw_event_t *e, bool in_place,
                             const sw_moves_data_t *sent,
                             const sw_moves_data_t *received)
{
    blocks(e, in_place ? received : sent, true);
    blocks(e, received, false);
}

void sw_collective_send(sw_event_t *e, int root, const sw_moves_data_t *sent)
{
    if (sw_moves_is_root(e->comm, root))
        blocks(e, sent, true);
    else if (!sw_moves_is_idle(e->comm, root))
        exchanged(e, root, e->amount.received, false);
}

void sw_collective_receive(sw_event_t *e, int root,
                           const sw_moves_data_t *received)
{
    if (sw_moves_is_root(e->comm, root))
        blocks(e, received, false);
    else if (!sw_moves_is_idle(e->comm, root))
        exchanged(e, root, e->amount.sent, true);
}
