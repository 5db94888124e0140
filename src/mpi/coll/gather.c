/*
 * gather.c - MPI_Gather, MPI_Gatherv, in all their forms.
 */
#include "started.h"

/* Are the arguments right? Fills in the rest. */
static bool check(sw_comm_t *c, const void *send, int64_t sendcount,
                  MPI_Datatype sendtype, void *recv, int64_t recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm, sw_move_t *m,
                  int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    if (root < 0 || root >= c->n)
        return false;
    bool is_root = c->me == root;
    bool in_place = is_root && send == MPI_IN_PLACE;
    if (!in_place && !sw_usable(send, sendcount, sendtype, comm, &s, result))
        return false;
    if (is_root &&
        (!sw_usable(recv, recvcount, recvtype, comm, &r, result) ||
         (!in_place &&
          sw_aliased_block(SW_COLL_GATHER, send, sendcount, sendtype, recv,
                           root * recvcount, recvcount, recvtype, r))))
        return false;
    *m = (sw_move_t){.id = SW_COLL_GATHER, .root = root, .in_place = in_place,
                     .send = send, .sendcount = sendcount, .s = s};
    if (is_root) {
        m->recv = recv;
        m->recvcount = recvcount;
        m->r = r;
    }
    return true;
}

static bool checkv(sw_comm_t *c, const void *send, int64_t sendcount,
                   MPI_Datatype sendtype, void *recv, sw_vector_t counts,
                   sw_vector_t displs, MPI_Datatype recvtype, int root,
                   MPI_Comm comm, sw_move_t *m, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    if (root < 0 || root >= c->n)
        return false;
    bool is_root = c->me == root;
    bool in_place = is_root && send == MPI_IN_PLACE;
    if (!in_place && !sw_usable(send, sendcount, sendtype, comm, &s, result))
        return false;
    if (is_root &&
        (recv == MPI_IN_PLACE || !sw_lists_ok(counts, displs, c->n) ||
         !(r = sw_datatype(recvtype, comm, result)) ||
         (!in_place &&
          sw_aliased_block(SW_COLL_GATHERV, send, sendcount, sendtype, recv,
                           sw_displ(displs, root), sw_at(counts, root),
                           recvtype, r))))
        return false;
    *m = (sw_move_t){.id = SW_COLL_GATHERV, .root = root,
                     .in_place = in_place, .send = send,
                     .sendcount = sendcount, .s = s};
    if (is_root) {
        m->recv = recv;
        m->recvcounts = counts;
        m->rdispls = displs;
        m->r = r;
    }
    return true;
}

static bool gather(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                   sw_reason_t *reason, int *result)
{
    sw_buffer_t from = {0}, to = {0};
    sw_blocks_t blocks = {0};
    SW_ARRAY(sw_data_t, rows, c->n);
    int root = m->root;
    size_t bytes = m->in_place ? (size_t)m->recvcount * m->r->size
                               : (size_t)m->sendcount * m->s->size;
    if (!sw_ready(c, SW_COLL_GATHER, bytes, reason))
        return false;
    if (m->r) {
        sw_buffer_receive(&to, m->recv, m->recvcount * c->n, m->r, comm);
        blocks = sw_buffer_rows(&to, c->n, rows);
    }
    if (m->in_place) {
        from.data = sw_block_data(&blocks, to.data.at, root);
        from.bytes = blocks.bytes;
        if (to.temporary)
            sw_pack(sw_element(m->recv, root * m->recvcount, m->r),
                    m->recvcount, m->r, from.data.at, comm);
    } else {
        sw_buffer_send(&from, m->send, m->sendcount, m->s, comm);
    }
    int status =
        c->ring ? sw_coll_gather(c->ring, root, &from.data, from.bytes,
                                 to.data.at, &blocks)
                : sw_span_gather(c->span, root, &from.data, from.bytes,
                                 to.data.at, &blocks);
    sw_buffer_end(&from);
    if (m->r)
        sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_GATHER, comm, status);
    return true;
}

static bool gatherv(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                    sw_reason_t *reason, int *result)
{
    sw_buffer_t from = {0};
    sw_blocks_t blocks = {0};
    SW_ARRAY(sw_extent_t, list, c->n);
    SW_ARRAY(sw_data_t, data, c->n);
    int root = m->root;
    if (!sw_ready(c, SW_COLL_GATHERV, 0, reason))
        return false;
    sw_vbuffer_t to = sw_move_recvs(m, c->n, comm);
    if (m->r)
        blocks = sw_vbuffer_receive(&to, list, data);
    if (m->in_place) {
        from.data = sw_block_data(&blocks, to.data, root);
        from.bytes = list[root].bytes;
        if (to.temporary)
            sw_pack(sw_element(m->recv, sw_at(m->rdispls, root), m->r),
                    sw_at(m->recvcounts, root), m->r, from.data.at, comm);
    } else {
        sw_buffer_send(&from, m->send, m->sendcount, m->s, comm);
    }
    int status =
        c->ring ? sw_coll_gatherv(c->ring, root, &from.data, from.bytes,
                                  to.data, &blocks)
                : sw_span_gatherv(c->span, root, &from.data, from.bytes,
                                  to.data, &blocks);
    sw_buffer_end(&from);
    if (m->r)
        sw_vbuffer_received(&to);
    *result = sw_finish(SW_COLL_GATHERV, comm, status);
    return true;
}

#define GATHER(NAME, INAME, INIT, COUNT)                                \
SW_MOVES(NAME, INAME, INIT, SW_COLL_GATHER,                             \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, COUNT recvcount, MPI_Datatype recvtype, int root,      \
     MPI_Comm comm),                                                    \
    (send, sendcount, sendtype, recv, recvcount, recvtype, root, comm), \
    check(c, send, sendcount, sendtype, recv, recvcount, recvtype,      \
          root, comm, k, &result), gather)

#define GATHERV(NAME, INAME, INIT, COUNT, DISPL)                        \
SW_MOVES(NAME, INAME, INIT, SW_COLL_GATHERV,                            \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, const COUNT counts[], const DISPL displs[],            \
     MPI_Datatype recvtype, int root, MPI_Comm comm),                   \
    (send, sendcount, sendtype, recv, counts, displs, recvtype, root,   \
     comm),                                                             \
    checkv(c, send, sendcount, sendtype, recv, SW_VECTOR(counts),       \
           SW_VECTOR(displs), recvtype, root, comm, k, &result),        \
    gatherv)

GATHER(Gather, Igather, Gather_init, int)
GATHERV(Gatherv, Igatherv, Gatherv_init, int, int)
#if SW_LARGE_COUNT
GATHER(Gather_c, Igather_c, Gather_init_c, MPI_Count)
GATHERV(Gatherv_c, Igatherv_c, Gatherv_init_c, MPI_Count, MPI_Aint)
#endif
