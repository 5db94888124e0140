/*
 * collectives.c - what collectives move, and who was waited for; see
 * traffic.h.
 *
 * All members begin the collectives of a communicator in the same order (MPI
 * 4.1, 6.1), so the count of those begun names one alike on all of them.
 */
#include "traffic.h"

static uint32_t partners_of(const sw_known_comm_t *c, sw_shape_t shape,
                            int root)
{
    switch (shape) {
    case SW_SHAPE_ALL:
        return (uint32_t)c->n - 1;
    case SW_SHAPE_FROM_ROOT:
        return root != c->me;
    case SW_SHAPE_TO_ROOT:
        return root == c->me ? (uint32_t)c->n - 1 : 0;
    case SW_SHAPE_BEFORE:
        return (uint32_t)c->me;
    case SW_SHAPE_NEIGHBOURS:
        return c->ins > 0 ? (uint32_t)c->ins : 0;
    default:
        return 0;
    }
}

/* For the trace: a number in the communicator, between groups one in
 * MPI_COMM_WORLD; -1: there is none, or this rank has no part in it. */
static int64_t root_of(const sw_known_comm_t *c, sw_shape_t shape, int root)
{
    if (shape != SW_SHAPE_FROM_ROOT && shape != SW_SHAPE_TO_ROOT)
        return -1;
    if (!c->inter)
        return root;
    return root == MPI_ROOT ? sw_job.rank : sw_known_rank(c, root);
}

/* The stamp of the collective that was begun last; 0: nobody looks for it. */
static uint64_t stamp_of(const sw_known_comm_t *c)
{
    return c->id && c->n > 1 ? sw_board_nth(c->id, c->collectives) : 0;
}

void sw_collective_before(sw_event_t *e, MPI_Comm comm, sw_shape_t shape,
                          int root)
{
    sw_event_comm(e, comm);
    sw_known_comm_t *c = e->comm;
    if (sw_unlikely(!c))
        return;
    c->collectives++;
    SW_EVENT_NOTE(e, SW_NOTE_COLLECTIVE, c->collectives, c->number);
    if (c->inter)
        SW_EVENT_NOTE(e, SW_NOTE_MEANS, SW_TRACE_THE_CALL,
                      sw_tracer_signed(root_of(c, shape, root)));
    if (!c->id || c->inter || !sw_event_is_watched(e))
        return;
    e->post = stamp_of(c);
    e->wanted = e->post ? e->post : 1;  /* of one member: nobody looks */
    e->partners = partners_of(c, shape, root);
}

static void look(sw_event_t *e, const sw_known_comm_t *c, uint64_t stamp,
                 sw_shape_t shape, int root)
{
    int first = shape == SW_SHAPE_FROM_ROOT ? root : 0;
    int end = shape == SW_SHAPE_FROM_ROOT ? root + 1
            : shape == SW_SHAPE_BEFORE ? c->me : c->n;
    if (!partners_of(c, shape, root))
        e->looked = true;           /* waits for nobody */
    if (shape == SW_SHAPE_NEIGHBOURS) {
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

/* Those that wait for nobody have no partners, and are all looked at. */
void sw_collective_look(sw_event_t *e, sw_shape_t shape, int root)
{
    const sw_known_comm_t *c = e->comm;
    if (!e->wanted || !c || c->inter)
        return;
    if (!e->partners) {
        e->stands_for = e->amount.time;
        e->looked = shape != SW_SHAPE_NEIGHBOURS;
    }
    if (e->stands_for && !e->looked)
        look(e, c, e->wanted, shape, root);
}

void sw_collective_pending(sw_event_t *e, sw_shape_t shape, int root,
                           MPI_Request request)
{
    const sw_known_comm_t *c = e->comm;
    if (!c)
        return;
    /* It may end when recording goes on, and then be looked for. */
    if (e->paused && !c->inter)
        e->wanted = stamp_of(c);
    sw_pending_t p = {.request = (uintptr_t)request, .communicator = e->comm,
                      .kind = SW_PENDING_COLLECTIVE, .shape = (uint8_t)shape,
                      .peer = root, .stamp = e->wanted,
                      .name = sw_event_starts(e)};
    sw_pending_add(&p);
}

void sw_collective_persistent(sw_event_t *e, sw_trace_collective_t what,
                              sw_shape_t shape, int root, MPI_Request request)
{
    if (!e->comm)
        return;
    sw_pending_t p = {.request = (uintptr_t)request, .communicator = e->comm,
                      .kind = SW_PENDING_COLLECTIVE, .shape = (uint8_t)shape,
                      .peer = root, .tag = (int32_t)what, .persistent = true,
                      .number = e->amount.size, .sent = e->amount.sent,
                      .received = e->amount.received};
    e->amount.sent = e->amount.received = 0;
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
    SW_EVENT_NOTE(e, SW_NOTE_MEANS, (uint64_t)p->tag,
                  sw_tracer_signed(root_of(c, (sw_shape_t)p->shape, p->peer)),
                  p->number, p->sent, p->received);
    p->name = sw_event_starts(e);
    sw_pending_start(p);
    e->amount.sent += p->sent;
    e->amount.received += p->received;
}

void sw_collective_ended(sw_event_t *e, const sw_pending_t *p)
{
    sw_known_comm_t *c = p->communicator;
    if (!e->comm)
        e->comm = c;
    if (e->stands_for && p->stamp && !c->inter)
        look(e, c, p->stamp, (sw_shape_t)p->shape, p->peer);
    SW_EVENT_NOTE(e, SW_NOTE_ENDS, p->name);
}

/* Bytes ------------------------------------------------------------------- */

static uint64_t sum_of(sw_event_t *e, sw_vector_t counts, int n,
                       MPI_Datatype type)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += sw_at(counts, i);
    return sw_event_bytes(e, sum, type);
}

static uint64_t sum_of_all(sw_event_t *e, sw_vector_t counts, int n,
                           const MPI_Datatype *types)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++)
        if (sw_at(counts, i))
            sum += sw_event_bytes(e, sw_at(counts, i), types[i]);
    return sum;
}

/* Between groups: the root says so, others of its group have no part. */
static bool is_root(const sw_known_comm_t *c, int root)
{
    return c->inter ? root == MPI_ROOT : root == c->me;
}

static bool no_part(const sw_known_comm_t *c, int root)
{
    return c->inter && root == MPI_PROC_NULL;
}

static const sw_known_comm_t *begin(sw_event_t *e, MPI_Comm comm)
{
    static const sw_known_comm_t none = {.world = NULL};
    sw_event_comm_after(e, comm);
    return e->comm ? e->comm : &none;
}

static void rooted(sw_event_t *e, int root)
{
    if (root >= 0)
        SW_KEY_SET(&e->key, root, (uint32_t)root + 1);
}

static uint64_t mean(uint64_t bytes, int n)
{
    return n > 0 ? bytes / (uint64_t)n : 0;
}

/* Blocks to and from each member, for the matrix. */
static void blocks(sw_event_t *e, const sw_known_comm_t *c, sw_vector_t counts,
                   uint64_t size, const MPI_Datatype *types, bool sent)
{
    for (int i = 0; i < c->targets; i++) {
        int64_t n = sw_at(counts, i);
        if (!n)
            continue;
        uint64_t bytes = (uint64_t)n *
                         (types ? sw_known_type(types[i])->size : size);
        int64_t rank = sw_known_rank(c, i);
        if (sent)
            sw_peers_sent(&e->recorder->peers, SW_PEERS_COLLECTIVES, rank,
                          bytes);
        else
            sw_peers_received(&e->recorder->peers, SW_PEERS_COLLECTIVES, rank,
                              bytes);
    }
}

void sw_barrier_after(sw_event_t *e, MPI_Comm comm)
{
    begin(e, comm);
}

void sw_bcast_after(sw_event_t *e, MPI_Comm comm, int64_t count,
                    MPI_Datatype type, int root)
{
    const sw_known_comm_t *c = begin(e, comm);
    rooted(e, root);
    if (no_part(c, root))
        return;
    e->amount.size = sw_event_bytes(e, count, type);
    *(is_root(c, root) ? &e->amount.sent : &e->amount.received) =
        e->amount.size;
}

void sw_reduce_after(sw_event_t *e, MPI_Comm comm, int64_t count,
                     MPI_Datatype type, MPI_Op op, int root)
{
    const sw_known_comm_t *c = begin(e, comm);
    rooted(e, root);
    SW_KEY_SET(&e->key, operation, sw_known_op(op));
    if (no_part(c, root))
        return;
    e->amount.size = sw_event_bytes(e, count, type);
    if (is_root(c, root))
        e->amount.received = e->amount.size;
    if (!c->inter || !is_root(c, root))
        e->amount.sent = e->amount.size;
}

void sw_allreduce_after(sw_event_t *e, MPI_Comm comm, int64_t count,
                        MPI_Datatype type, MPI_Op op)
{
    begin(e, comm);
    SW_KEY_SET(&e->key, operation, sw_known_op(op));
    e->amount.size = e->amount.sent = e->amount.received =
        sw_event_bytes(e, count, type);
}

/* The first member's result of an exclusive one is not defined. */
void sw_scan_after(sw_event_t *e, MPI_Comm comm, int64_t count,
                   MPI_Datatype type, MPI_Op op, bool exclusive)
{
    const sw_known_comm_t *c = begin(e, comm);
    sw_allreduce_after(e, comm, count, type, op);
    if (exclusive && c->me == 0)
        e->amount.received = 0;
}

void sw_reduce_scatter_after(sw_event_t *e, MPI_Comm comm,
                             sw_vector_t counts, MPI_Datatype type, MPI_Op op)
{
    const sw_known_comm_t *c = begin(e, comm);
    SW_KEY_SET(&e->key, operation, sw_known_op(op));
    e->amount.sent = sum_of(e, counts, c->n, type);
    if (c->n)
        e->amount.received = sw_event_bytes(e, sw_at(counts, c->me), type);
    e->amount.size = mean(e->amount.sent, c->n);
}

void sw_reduce_scatter_block_after(sw_event_t *e, MPI_Comm comm,
                                   int64_t count, MPI_Datatype type,
                                   MPI_Op op)
{
    const sw_known_comm_t *c = begin(e, comm);
    SW_KEY_SET(&e->key, operation, sw_known_op(op));
    e->amount.size = e->amount.received = sw_event_bytes(e, count, type);
    e->amount.sent = e->amount.size * (uint64_t)c->n;
}

void sw_gather_after(sw_event_t *e, MPI_Comm comm, const void *send,
                     int64_t sendcount, MPI_Datatype sendtype,
                     int64_t recvcount, MPI_Datatype recvtype, int root)
{
    const sw_known_comm_t *c = begin(e, comm);
    rooted(e, root);
    if (no_part(c, root))
        return;
    if (is_root(c, root)) {
        e->amount.size = sw_event_bytes(e, recvcount, recvtype);
        e->amount.received = e->amount.size * (uint64_t)c->targets;
        if (c->inter)
            return;
        e->amount.sent = e->amount.size;
        if (send != MPI_IN_PLACE)
            e->amount.sent = sw_event_bytes(e, sendcount, sendtype);
    } else {
        e->amount.size = e->amount.sent =
            sw_event_bytes(e, sendcount, sendtype);
    }
}

void sw_gatherv_after(sw_event_t *e, MPI_Comm comm, const void *send,
                      int64_t sendcount, MPI_Datatype sendtype,
                      sw_vector_t recvcounts, MPI_Datatype recvtype, int root)
{
    const sw_known_comm_t *c = begin(e, comm);
    rooted(e, root);
    if (no_part(c, root))
        return;
    if (is_root(c, root)) {
        e->amount.received = sum_of(e, recvcounts, c->targets, recvtype);
        e->amount.size = mean(e->amount.received, c->targets);
        blocks(e, c, recvcounts, sw_known_type(recvtype)->size, NULL, false);
        if (c->inter)
            return;
        e->amount.sent = send == MPI_IN_PLACE
            ? sw_event_bytes(e, sw_at(recvcounts, c->me), recvtype)
            : sw_event_bytes(e, sendcount, sendtype);
    } else {
        e->amount.size = e->amount.sent =
            sw_event_bytes(e, sendcount, sendtype);
        sw_peers_sent(&e->recorder->peers, SW_PEERS_COLLECTIVES,
                      sw_known_rank(c, root), e->amount.sent);
    }
}

void sw_scatter_after(sw_event_t *e, MPI_Comm comm, int64_t sendcount,
                      MPI_Datatype sendtype, const void *recv,
                      int64_t recvcount, MPI_Datatype recvtype, int root)
{
    const sw_known_comm_t *c = begin(e, comm);
    rooted(e, root);
    if (no_part(c, root))
        return;
    if (is_root(c, root)) {
        e->amount.size = sw_event_bytes(e, sendcount, sendtype);
        e->amount.sent = e->amount.size * (uint64_t)c->targets;
        if (c->inter)
            return;
        e->amount.received = e->amount.size;
        if (recv != MPI_IN_PLACE)
            e->amount.received = sw_event_bytes(e, recvcount, recvtype);
    } else {
        e->amount.size = e->amount.received =
            sw_event_bytes(e, recvcount, recvtype);
    }
}

void sw_scatterv_after(sw_event_t *e, MPI_Comm comm, sw_vector_t sendcounts,
                       MPI_Datatype sendtype, const void *recv,
                       int64_t recvcount, MPI_Datatype recvtype, int root)
{
    const sw_known_comm_t *c = begin(e, comm);
    rooted(e, root);
    if (no_part(c, root))
        return;
    if (is_root(c, root)) {
        e->amount.sent = sum_of(e, sendcounts, c->targets, sendtype);
        e->amount.size = mean(e->amount.sent, c->targets);
        blocks(e, c, sendcounts, sw_known_type(sendtype)->size, NULL, true);
        if (c->inter)
            return;
        e->amount.received = recv == MPI_IN_PLACE
            ? sw_event_bytes(e, sw_at(sendcounts, c->me), sendtype)
            : sw_event_bytes(e, recvcount, recvtype);
    } else {
        e->amount.size = e->amount.received =
            sw_event_bytes(e, recvcount, recvtype);
        sw_peers_received(&e->recorder->peers, SW_PEERS_COLLECTIVES,
                          sw_known_rank(c, root), e->amount.received);
    }
}

void sw_allgather_after(sw_event_t *e, MPI_Comm comm, const void *send,
                        int64_t sendcount, MPI_Datatype sendtype,
                        int64_t recvcount, MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = begin(e, comm);
    e->amount.size = sw_event_bytes(e, recvcount, recvtype);
    e->amount.received = e->amount.size * (uint64_t)c->targets;
    e->amount.sent = e->amount.size;
    if (send != MPI_IN_PLACE)
        e->amount.sent = sw_event_bytes(e, sendcount, sendtype);
}

void sw_allgatherv_after(sw_event_t *e, MPI_Comm comm, const void *send,
                         int64_t sendcount, MPI_Datatype sendtype,
                         sw_vector_t recvcounts, MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = begin(e, comm);
    e->amount.received = sum_of(e, recvcounts, c->targets, recvtype);
    e->amount.size = mean(e->amount.received, c->targets);
    e->amount.sent = send == MPI_IN_PLACE
        ? sw_event_bytes(e, sw_at(recvcounts, c->me), recvtype)
        : sw_event_bytes(e, sendcount, sendtype);
}

void sw_alltoall_after(sw_event_t *e, MPI_Comm comm, const void *send,
                       int64_t sendcount, MPI_Datatype sendtype,
                       int64_t recvcount, MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = begin(e, comm);
    uint64_t n = (uint64_t)c->targets;
    e->amount.size = sw_event_bytes(e, recvcount, recvtype);
    e->amount.received = e->amount.size * n;
    e->amount.sent = e->amount.received;
    if (send != MPI_IN_PLACE)
        e->amount.sent = sw_event_bytes(e, sendcount, sendtype) * n;
}

void sw_alltoallv_after(sw_event_t *e, MPI_Comm comm, const void *send,
                        sw_vector_t sendcounts, MPI_Datatype sendtype,
                        sw_vector_t recvcounts, MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = begin(e, comm);
    if (send == MPI_IN_PLACE) {
        sendcounts = recvcounts;
        sendtype = recvtype;
    }
    e->amount.received = sum_of(e, recvcounts, c->targets, recvtype);
    e->amount.sent = sum_of(e, sendcounts, c->targets, sendtype);
    e->amount.size = mean(e->amount.received, c->targets);
    blocks(e, c, sendcounts, sw_known_type(sendtype)->size, NULL, true);
    blocks(e, c, recvcounts, sw_known_type(recvtype)->size, NULL, false);
}

void sw_alltoallw_after(sw_event_t *e, MPI_Comm comm, const void *send,
                        sw_vector_t sendcounts, const MPI_Datatype *sendtypes,
                        sw_vector_t recvcounts, const MPI_Datatype *recvtypes)
{
    const sw_known_comm_t *c = begin(e, comm);
    if (send == MPI_IN_PLACE) {
        sendcounts = recvcounts;
        sendtypes = recvtypes;
    }
    e->amount.received = sum_of_all(e, recvcounts, c->targets, recvtypes);
    e->amount.sent = sum_of_all(e, sendcounts, c->targets, sendtypes);
    e->amount.size = mean(e->amount.received, c->targets);
    blocks(e, c, sendcounts, 0, sendtypes, true);
    blocks(e, c, recvcounts, 0, recvtypes, false);
}

/* Neighbours -------------------------------------------------------------- */

static const sw_known_comm_t *neighbours(sw_event_t *e, MPI_Comm comm)
{
    const sw_known_comm_t *c = begin(e, comm);
    if (c->outs < 0)
        sw_known_comm_ask_neighbours(e->comm);
    return c;
}

void sw_neighbor_allgather_after(sw_event_t *e, MPI_Comm comm,
                                 int64_t sendcount, MPI_Datatype sendtype,
                                 int64_t recvcount, MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = neighbours(e, comm);
    e->amount.received =
        sw_event_bytes(e, recvcount, recvtype) * (uint64_t)c->ins;
    e->amount.size = e->amount.sent = sw_event_bytes(e, sendcount, sendtype);
}

void sw_neighbor_allgatherv_after(sw_event_t *e, MPI_Comm comm,
                                  int64_t sendcount, MPI_Datatype sendtype,
                                  sw_vector_t recvcounts,
                                  MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = neighbours(e, comm);
    e->amount.received = sum_of(e, recvcounts, c->ins, recvtype);
    e->amount.size = e->amount.sent = sw_event_bytes(e, sendcount, sendtype);
}

void sw_neighbor_alltoall_after(sw_event_t *e, MPI_Comm comm,
                                int64_t sendcount, MPI_Datatype sendtype,
                                int64_t recvcount, MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = neighbours(e, comm);
    e->amount.received =
        sw_event_bytes(e, recvcount, recvtype) * (uint64_t)c->ins;
    e->amount.size = sw_event_bytes(e, sendcount, sendtype);
    e->amount.sent = e->amount.size * (uint64_t)c->outs;
}

void sw_neighbor_alltoallv_after(sw_event_t *e, MPI_Comm comm,
                                 sw_vector_t sendcounts, MPI_Datatype sendtype,
                                 sw_vector_t recvcounts, MPI_Datatype recvtype)
{
    const sw_known_comm_t *c = neighbours(e, comm);
    e->amount.received = sum_of(e, recvcounts, c->ins, recvtype);
    e->amount.sent = sum_of(e, sendcounts, c->outs, sendtype);
    e->amount.size = mean(e->amount.sent, c->outs);
}

void sw_neighbor_alltoallw_after(sw_event_t *e, MPI_Comm comm,
                                 sw_vector_t sendcounts,
                                 const MPI_Datatype *sendtypes,
                                 sw_vector_t recvcounts,
                                 const MPI_Datatype *recvtypes)
{
    const sw_known_comm_t *c = neighbours(e, comm);
    e->amount.received = sum_of_all(e, recvcounts, c->ins, recvtypes);
    e->amount.sent = sum_of_all(e, sendcounts, c->outs, sendtypes);
    e->amount.size = mean(e->amount.sent, c->outs);
}
