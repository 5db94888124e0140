/*
 * messages.c - sends, receives and probes; see traffic.h.
 *
 * Messages from one rank to another on one communicator with one tag are
 * numbered by both, and come in this order (MPI 4.1, 3.5). So the receiver of
 * the k-th finds the sender's stamp under this number, and a sender the
 * receiver's. Receives that name source and tag are numbered when they are
 * posted, others when it is known whose message they took. These post the stamp
 * then, with the time at which they were posted (profile/record/later.h).
 */
#include "traffic.h"

#include "p2p/tally.h"

/* Bytes below which every host sends without waiting for the receiver. */
#define SMALL 1024

/* See told(). */
#if defined(OMPI_MAJOR_VERSION)
#define SW_ISENDRECV_UNTOLD false
#else
#define SW_ISENDRECV_UNTOLD true
#endif

/* What two partners' stamps of one message differ in: not in their places. */
#define BOTH 0x25a5a5a5a5a5a000u

/* Keys of the sender's stamp and of the receiver's; one is made of the other.
 * A sum of products first, which a processor computes side by side. */
static uint64_t stamp(uint64_t id, int64_t from, int64_t to, int tag,
                      uint64_t number, bool of_sender)
{
    uint64_t pair = (uint64_t)from << 32 | (uint64_t)to;
    uint64_t x = id * 0x9e3779b97f4a7c15u + pair * 0xbf58476d1ce4e5b9u +
                 (uint64_t)(uint32_t)tag * 0x94d049bb133111ebu +
                 number / SW_BOARD_RUN * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x = sw_board_in_run(x, number);
    return of_sender ? x : x ^ BOTH;
}

/* The ranks' stamps of a message that the process sends or receives. */
static void stamps_of(const sw_known_comm_t *c, int64_t them, int tag,
                      uint64_t number, bool sends, uint64_t *own,
                      uint64_t *theirs)
{
    int64_t me = sw_job.rank;
    *own = stamp(c->id, sends ? me : them, sends ? them : me, tag, number,
                 sends);
    *theirs = *own ^ BOTH;
}

/* The number of the next message to or from `member`, with the own stamp and
 * the partner's where they are looked for. 0: no rank asks for it. */
static uint64_t next_stamps(const sw_known_comm_t *c, int member, int tag,
                            bool sends, uint64_t *own, uint64_t *theirs)
{
    *own = *theirs = 0;
    if (!c || !c->id)
        return 0;
    int64_t them = sw_known_rank(c, member);
    bool seen = them != sw_job.rank && sw_board_of(them);
    if (!seen && (!sw_tracing || them < 0))
        return 0;
    sw_tally_t *numbers = sends ? &sw_numbers_sent : &sw_numbers_received;
    uint64_t n = sw_tally_next(numbers, c->id, (int)them, tag);
    if (!n || !seen)
        return n;
    stamps_of(c, them, tag, n, sends, own, theirs);
    return n;
}

/* A peer as the trace names it. */
static uint64_t peer_of(const sw_known_comm_t *c, int member)
{
    int64_t rank = sw_known_rank(c, member);
    if (member == MPI_ANY_SOURCE)
        rank = SW_PEER_ANY;
    else if (rank < 0)
        rank = SW_PEER_ELSEWHERE;
    return sw_tracer_signed(rank);
}

static uint64_t tag_of(int tag)
{
    return sw_tracer_signed(tag == MPI_ANY_TAG ? SW_PEER_ANY : tag);
}

static void note(sw_event_t *e, sw_note_kind_t kind, const sw_known_comm_t *c,
                 int member, int tag, uint64_t number)
{
    SW_EVENT_NOTE(e, kind, peer_of(c, member), tag_of(tag), number,
                  sw_comm_number(c));
}

/* A request's message has come. */
static void note_came(sw_event_t *e, const sw_pending_t *p, int member, int tag,
                      uint64_t number, uint64_t bytes)
{
    const sw_known_comm_t *c = p->communicator;
    SW_EVENT_NOTE(e, SW_NOTE_CAME, p->name, peer_of(c, member), tag_of(tag),
                  number, bytes, sw_comm_number(c));
}

void sw_record_send_before(sw_event_t *e, MPI_Comm comm, int dest, int tag)
{
    sw_event_comm(e, comm);
    if (dest == MPI_PROC_NULL)
        return;
    uint64_t n = next_stamps(e->comm, dest, tag, true, &e->post, &e->wanted);
    e->partners = e->wanted != 0;
    note(e, SW_NOTE_SENDS, e->comm, dest, tag, n);
}

void sw_record_send_after(sw_event_t *e, MPI_Comm comm, int dest, int64_t count,
                          MPI_Datatype type)
{
    sw_event_comm_after(e, comm);
    if (dest == MPI_PROC_NULL || e->paused)
        return;
    e->amount.sent = e->amount.size = sw_event_bytes(e, count, type);
    sw_record_between_sent(e, e->comm, dest, e->amount.sent);
    int64_t rank = sw_known_rank(e->comm, dest);
    sw_peers_sent(&e->recorder->peers, SW_PEERS_MESSAGES, rank, e->amount.sent);
    if (e->stands_for)
        sw_event_look_receiver(e, rank, e->wanted);
}

/* Hosts have one handle for all sends that are over before they begin. When a
 * program gets it again, the former send is over. */
static void add(sw_event_t *e, const sw_pending_t *p)
{
    uint32_t former = sw_pending_replace(p);
    if (sw_unlikely(p->name) && former)
        SW_EVENT_NOTE(e, SW_NOTE_ENDS, former);
}

void sw_send_pending(sw_event_t *e, MPI_Comm comm, int dest, int tag,
                     int64_t count, MPI_Datatype type, MPI_Request request,
                     bool persistent)
{
    sw_event_comm_after(e, comm);
    if (dest == MPI_PROC_NULL || (e->paused && !persistent && !e->wanted))
        return;
    e->amount.size = sw_event_bytes(e, count, type);
    sw_pending_t p = {.request = (uintptr_t)request,
                      .communicator = e->comm,
                      .kind = SW_PENDING_SEND,
                      .persistent = persistent,
                      .peer = dest,
                      .tag = tag,
                      .sent = e->amount.size,
                      .device_sent = e->device_sent,
                      .device_received = e->device_received,
                      .piece = e->piece};
    if (!persistent && !e->paused) {
        e->amount.sent = e->amount.size;
        sw_record_between_sent(e, e->comm, dest, e->amount.sent);
        sw_peers_sent(&e->recorder->peers, SW_PEERS_MESSAGES,
                      sw_known_rank(e->comm, dest), e->amount.sent);
    }
    /* A small one does not wait for its receiver, unless it is told to. */
    bool waits = p.sent >= SMALL || e->key.procedure == SW_PROC_Issend ||
                 e->key.procedure == SW_PROC_Issend_c;
    if (waits)
        p.stamp = e->wanted;
    if (!persistent)
        p.name = sw_event_starts(e);
    if (persistent || p.name || p.stamp)
        add(e, &p);
}

static bool wild(int source, int tag)
{
    return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
}

void sw_record_receive_before(sw_event_t *e, MPI_Comm comm, int source, int tag)
{
    sw_event_comm(e, comm);
    if (source == MPI_PROC_NULL)
        return;
    e->partners = 1;
    if (!wild(source, tag))
        e->number = next_stamps(e->comm, source, tag, false, &e->post,
                                &e->wanted);
    else if (e->paused) /* sw_event_clock reads none */
        e->began = sw_event_now(e);
}

/* What a receive asked for. */
typedef struct {
    int source, tag;
    uint64_t number, stamp;      /* of what was named; else 0 */
    uint64_t since;              /* ticks: of what was not; 0: not known */
    const sw_pending_t *request; /* NULL: it was blocking */
} asked_t;

/* What has come, by its status. */
static void arrived(sw_event_t *e, sw_known_comm_t *c, const asked_t *asked,
                    const MPI_Status *status)
{
    uint64_t number = asked->number, theirs = asked->stamp, own;
    int source = status->MPI_SOURCE, tag = status->MPI_TAG;
    if (!number && wild(asked->source, asked->tag)) {
        number = next_stamps(c, source, tag, false, &own, &theirs);
        sw_event_post_since(e, own, asked->since);
    }
    if (e->paused)
        return;
    uint64_t bytes = sw_moves_come(status);
    int64_t rank = sw_known_rank(c, source);
    e->amount.received += bytes;
    sw_record_between_received(e, c, source, bytes);
    if (asked->request)
        sw_record_device_moved(e, asked->request, 0, bytes);
    sw_peers_received(&e->recorder->peers, SW_PEERS_MESSAGES, rank, bytes);
    if (e->stands_for)
        sw_event_look(e, rank, theirs);
    if (!asked->request)
        note(e, SW_NOTE_RECEIVES, c, source, tag, number);
    else
        note_came(e, asked->request, source, tag, number, bytes);
}

void sw_record_receive_after(sw_event_t *e, MPI_Comm comm, int source, int tag,
                             MPI_Datatype type, const MPI_Status *status)
{
    sw_event_comm_after(e, comm);
    if (source == MPI_PROC_NULL || (e->paused && !wild(source, tag)))
        return;
    arrived(e, e->comm,
            &(asked_t){source, tag, e->number, e->wanted, e->began, NULL},
            status);
    SW_KEY_SET(&e->key, datatype, sw_known_type(type)->number);
    if (!e->amount.sent)
        e->amount.size = e->amount.received;
}

/* A nonblocking receive. */
static void posted(sw_event_t *e, sw_pending_t *p)
{
    note(e, SW_NOTE_POSTS, p->communicator, p->peer, p->tag, p->number);
    p->name = sw_event_starts(e);
}

void sw_receive_pending(sw_event_t *e, MPI_Comm comm, int source, int tag,
                        MPI_Datatype type, MPI_Request request, bool persistent)
{
    sw_event_comm_after(e, comm);
    if (source == MPI_PROC_NULL)
        return;
    if (sw_likely(!e->paused))
        SW_KEY_SET(&e->key, datatype, sw_known_type(type)->number);
    sw_pending_t *p = sw_pending_place((uintptr_t)request);
    if (!p)
        return;
    *p = (sw_pending_t){.request = (uintptr_t)request,
                        .communicator = e->comm,
                        .kind = SW_PENDING_RECEIVE,
                        .persistent = persistent,
                        .peer = source,
                        .tag = tag,
                        .asks = wild(source, tag),
                        .stamp = e->wanted,
                        .number = e->number,
                        .device_sent = e->device_sent,
                        .device_received = e->device_received,
                        .piece = e->piece};
    if (p->asks)
        p->since = persistent ? 0 : e->began;
    if (!persistent)
        posted(e, p);
    sw_pending_placed(p);
}

void sw_isendrecv_pending(sw_event_t *e, MPI_Comm comm, int source, int tag,
                          int64_t count, MPI_Datatype type, MPI_Request request)
{
    sw_event_comm_after(e, comm);
    if (source == MPI_PROC_NULL)
        return;
    sw_pending_t p = {.request = (uintptr_t)request,
                      .communicator = e->comm,
                      .kind = SW_PENDING_RECEIVE,
                      .peer = source,
                      .tag = tag,
                      .stamp = e->wanted,
                      .number = e->number,
                      .untold = SW_ISENDRECV_UNTOLD,
                      .asks = SW_ISENDRECV_UNTOLD || wild(source, tag),
                      .received = sw_event_bytes(e, count, type),
                      .device_sent = e->device_sent,
                      .device_received = e->device_received,
                      .piece = e->piece};
    if (!p.untold && p.asks)
        p.since = e->began;
    posted(e, &p);
    sw_pending_add(&p);
}

/* MPICH and Intel MPI (seen: 5.0, 2021) leave anything in the status of
 * MPI_Isendrecv. What agrees with what was asked for is believed; else what
 * there was room for is taken to have come. */
static bool told(const sw_pending_t *p, const MPI_Status *status)
{
    return !p->untold ||
           (status->MPI_SOURCE == p->peer && status->MPI_TAG == p->tag &&
            sw_moves_come(status) <= p->received);
}

static void untold(sw_event_t *e, const sw_pending_t *p)
{
    const sw_known_comm_t *c = p->communicator;
    if (e->paused)
        return;
    e->amount.received += p->received;
    sw_record_between_received(e, c, p->peer, p->received);
    sw_record_device_moved(e, p, 0, p->received);
    if (p->peer != MPI_ANY_SOURCE)
        sw_peers_received(&e->recorder->peers, SW_PEERS_MESSAGES,
                          sw_known_rank(c, p->peer), p->received);
    if (e->stands_for)
        sw_event_look(e, sw_known_rank(c, p->peer), p->stamp);
    note_came(e, p, p->peer, p->tag, p->number, p->received);
}

void sw_record_sendrecv_before(sw_event_t *e, MPI_Comm comm, int dest,
                               int sendtag, int source, int recvtag)
{
    sw_event_comm(e, comm);
    /* The two partners may be different ranks; the wrapper looks at the
     * receive's. Both stamps have the time of the call's beginning. */
    if (dest != MPI_PROC_NULL) {
        uint64_t theirs, own;
        uint64_t n = next_stamps(e->comm, dest, sendtag, true, &own, &theirs);
        sw_event_post(e, own);
        note(e, SW_NOTE_SENDS, e->comm, dest, sendtag, n);
    }
    if (source != MPI_PROC_NULL)
        sw_record_receive_before(e, comm, source, recvtag);
}

/* Partitioned messages are matched when they are made, apart from others: the
 * tag of such a request says which one of its envelope it is. */
#define APART 0x9a27u

/* The stamps of a start: when the receiver had started, when the sender had
 * the last partition ready. Returns the own one. */
static uint64_t parts_stamp(const sw_pending_t *p, uint64_t *theirs)
{
    const sw_known_comm_t *c = p->communicator;
    int64_t them = sw_known_rank(c, p->peer);
    uint64_t own = *theirs = 0;
    if (c->id && them != sw_job.rank && sw_board_of(them))
        stamps_of(c, them, p->tag, p->number, p->kind == SW_PENDING_SEND, &own,
                  theirs);
    return own;
}

void sw_record_pready_before(sw_event_t *e, MPI_Request request)
{
    sw_pending_t p;
    uint64_t theirs;
    if (!sw_pending_look((uintptr_t)request, &p) || !p.partitioned)
        return;
    e->comm = p.communicator;
    e->post = parts_stamp(&p, &theirs);
}

void sw_record_message_ended(sw_event_t *e, const sw_pending_t *p,
                             const MPI_Status *status)
{
    sw_known_comm_t *c = p->communicator;
    bool came = false;
    if (p->partitioned) {
        if (e->stands_for && p->stamp) {
            e->looked = true;
            sw_event_look(e, sw_known_rank(c, p->peer), p->stamp);
        }
        if (p->kind == SW_PENDING_RECEIVE) {
            e->amount.received += p->received;
            sw_record_between_received(e, c, p->peer, p->received);
            sw_record_device_moved(e, p, 0, p->received);
            sw_peers_received(&e->recorder->peers, SW_PEERS_MESSAGES,
                              sw_known_rank(c, p->peer), p->received);
        }
    } else if (p->kind == SW_PENDING_RECEIVE) {
        int cancelled = 0;
        if (p->cancelled || sw_pending_shared)
            host.Test_cancelled(status, &cancelled);
        came = !cancelled;
        if (came && !told(p, status))
            untold(e, p);
        else if (came)
            arrived(e, c,
                    &(asked_t){p->peer, p->tag, p->number, p->stamp,
                               p->asks ? p->since : 0, p},
                    status);
    } else if (e->stands_for && p->stamp) {
        sw_event_look_receiver(e, sw_known_rank(c, p->peer), p->stamp);
    }
    if (!came)
        SW_EVENT_NOTE(e, SW_NOTE_ENDS, p->name);
    if (!e->comm)
        e->comm = c;
}

void sw_record_message_starts(sw_event_t *e, sw_pending_t *p)
{
    sw_known_comm_t *c = p->communicator;
    uint64_t own = 0;
    bool sends = p->kind == SW_PENDING_SEND;
    p->stamp = 0;
    if (p->partitioned) {
        p->number++;
        own = parts_stamp(p, &p->stamp);
    } else {
        p->number = 0;
        if (sends || !wild(p->peer, p->tag))
            p->number = next_stamps(c, p->peer, p->tag, sends, &own, &p->stamp);
        else
            p->since = sw_event_now(e);
    }
    sw_event_post(e, own);
    /* One call may start several: what it moves does not tell a send's
     * bytes. */
    e->amount.size = sends ? p->sent : p->received;
    if (sends)
        SW_EVENT_NOTE(e, SW_NOTE_SENDS, peer_of(c, p->peer), tag_of(p->tag),
                      p->partitioned ? 0 : p->number, sw_comm_number(c),
                      p->sent);
    else
        note(e, SW_NOTE_POSTS, c, p->peer, p->tag,
             p->partitioned ? 0 : p->number);
    p->name = sw_event_starts(e);
    sw_pending_start(p);
    if (sends) {
        e->amount.sent += p->sent;
        sw_record_between_sent(e, c, p->peer, p->sent);
        sw_record_device_moved(e, p, p->sent, 0);
        sw_peers_sent(&e->recorder->peers, SW_PEERS_MESSAGES,
                      sw_known_rank(c, p->peer), p->sent);
    }
    e->comm = c;
}

void sw_record_partitioned(sw_event_t *e, sw_pending_kind_t kind, MPI_Comm comm,
                           int peer, int tag, int partitions, int64_t count,
                           MPI_Datatype type, MPI_Request request)
{
    sw_event_comm_after(e, comm);
    if (peer == MPI_PROC_NULL || !e->comm)
        return;
    sw_tally_t *inits = kind == SW_PENDING_SEND ? &sw_numbers_sent
                                                : &sw_numbers_received;
    uint64_t which = sw_tally_next(inits, e->comm->id ^ APART, peer, tag);
    uint64_t bytes = sw_event_bytes(e, partitions * count, type);
    sw_pending_t p = {
        .request = (uintptr_t)request,
        .communicator = e->comm,
        .kind = (uint8_t)kind,
        .persistent = true,
        .partitioned = true,
        .peer = peer,
        .tag = (int32_t)(sw_board_key((uint32_t)tag, which) >> 34),
        .device_sent = e->device_sent,
        .device_received = e->device_received,
        .piece = e->piece};
    *(kind == SW_PENDING_SEND ? &p.sent : &p.received) = bytes;
    sw_pending_add(&p);
}

/* Probes ------------------------------------------------------------------ */

void sw_record_probe_before(sw_event_t *e, MPI_Comm comm)
{
    sw_event_comm(e, comm);
    e->partners = 1;
}

/* The message stays: its number is the next one's, which is not taken. */
void sw_record_probe_after(sw_event_t *e, MPI_Comm comm,
                           const MPI_Status *status)
{
    sw_event_comm_after(e, comm);
    int64_t from = sw_known_rank(e->comm, status->MPI_SOURCE);
    if (!e->stands_for || from < 0 || !e->comm->id)
        return;
    uint64_t n = sw_tally_of(&sw_numbers_received, e->comm->id, (int)from,
                             status->MPI_TAG);
    sw_event_look(
        e, from,
        stamp(e->comm->id, from, sw_job.rank, status->MPI_TAG, n + 1, true));
}

void sw_record_mprobe_after(sw_event_t *e, MPI_Comm comm, MPI_Message message,
                            const MPI_Status *status)
{
    sw_event_comm_after(e, comm);
    if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC)
        return;
    sw_pending_t p = {.request = ~(uint64_t)(uintptr_t)message,
                      .communicator = e->comm,
                      .kind = SW_PENDING_RECEIVE};
    uint64_t own;
    p.number = next_stamps(e->comm, status->MPI_SOURCE, status->MPI_TAG, false,
                           &own, &p.stamp);
    sw_event_post_since(e, own, e->paused ? sw_event_now(e) : e->began);
    sw_pending_add(&p);
}

void sw_record_mrecv_before(sw_event_t *e, MPI_Message message)
{
    sw_pending_t p;
    if (sw_pending_end(~(uint64_t)(uintptr_t)message, &p)) {
        e->comm = p.communicator;
        e->number = p.number;
        e->wanted = p.stamp;
    }
    e->partners = 1;
}

void sw_record_mrecv_after(sw_event_t *e, MPI_Datatype type,
                           const MPI_Status *status)
{
    if (!e->comm)
        return;
    arrived(
        e, e->comm,
        &(asked_t){MPI_ANY_SOURCE, MPI_ANY_TAG, e->number, e->wanted, 0, NULL},
        status);
    SW_KEY_SET(&e->key, datatype, sw_known_type(type)->number);
    e->amount.size = e->amount.received;
}

void sw_mrecv_pending(sw_event_t *e, MPI_Datatype type, MPI_Request request)
{
    SW_KEY_SET(&e->key, datatype, sw_known_type(type)->number);
    sw_pending_t p = {.request = (uintptr_t)request,
                      .communicator = e->comm,
                      .kind = SW_PENDING_RECEIVE,
                      .peer = MPI_ANY_SOURCE,
                      .tag = MPI_ANY_TAG,
                      .number = e->number,
                      .stamp = e->wanted,
                      .device_sent = e->device_sent,
                      .device_received = e->device_received,
                      .piece = e->piece};
    if (!e->comm)
        return;
    posted(e, &p);
    sw_pending_add(&p);
}

/* Blocks that are given ---------------------------------------------------- */

/* The number is taken when the block has gone: else the program sends it. */
void sw_record_give_before(sw_event_t *e, MPI_Comm comm, int dest, int tag)
{
    sw_event_comm(e, comm);
    const sw_known_comm_t *c = e->comm;
    int64_t them = sw_known_rank(c, dest);
    uint64_t theirs;
    if (c && c->id && them != sw_job.rank && sw_board_of(them))
        stamps_of(c, them, tag,
                  sw_tally_of(&sw_numbers_sent, c->id, (int)them, tag) + 1,
                  true, &e->post, &theirs);
}

void sw_record_give_after(sw_event_t *e, MPI_Comm comm, int dest, int tag,
                          size_t bytes)
{
    uint64_t own, theirs,
        n = next_stamps(e->comm, dest, tag, true, &own, &theirs);
    note(e, SW_NOTE_SENDS, e->comm, dest, tag, n);
    e->looked = true; /* it waits for no rank */
    sw_record_send_after(e, comm, dest, (int64_t)bytes, MPI_BYTE);
    e->stands_for = e->amount.time;
}

void sw_record_take_after(sw_event_t *e, MPI_Comm comm,
                          const MPI_Message *message, const MPI_Status *status)
{
    if (message)
        sw_record_mrecv_before(e, *message);
    else
        sw_event_comm_after(e, comm);
    if (!e->comm || status->MPI_SOURCE == MPI_PROC_NULL)
        return;
    arrived(
        e, e->comm,
        &(asked_t){MPI_ANY_SOURCE, MPI_ANY_TAG, e->number, e->wanted, 0, NULL},
        status);
    SW_KEY_SET(&e->key, datatype, sw_known_type(MPI_BYTE)->number);
    e->amount.size = e->amount.received;
}
