/*
 * scatter.c - MPI_Scatter, MPI_Scatterv, in all their forms.
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
    bool in_place = is_root && recv == MPI_IN_PLACE;
    if (!in_place && !sw_usable(recv, recvcount, recvtype, comm, &r, result))
        return false;
    if (is_root &&
        (!sw_usable(send, sendcount, sendtype, comm, &s, result) ||
         (!in_place &&
          sw_aliased_block(SW_COLL_SCATTER, recv, recvcount, recvtype, send,
                           root * sendcount, sendcount, sendtype, s))))
        return false;
    *m = (sw_move_t){.id = SW_COLL_SCATTER, .root = root,
                     .in_place = in_place, .recv = recv,
                     .recvcount = recvcount, .r = r};
    if (is_root) {
        m->send = send;
        m->sendcount = sendcount;
        m->s = s;
    }
    return true;
}

static bool checkv(sw_comm_t *c, const void *send, sw_vector_t counts,
                   sw_vector_t displs, MPI_Datatype sendtype, void *recv,
                   int64_t recvcount, MPI_Datatype recvtype, int root,
                   MPI_Comm comm, sw_move_t *m, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    if (root < 0 || root >= c->n)
        return false;
    bool is_root = c->me == root;
    bool in_place = is_root && recv == MPI_IN_PLACE;
    if (!in_place && !sw_usable(recv, recvcount, recvtype, comm, &r, result))
        return false;
    if (is_root &&
        (send == MPI_IN_PLACE || !sw_lists_ok(counts, displs, c->n) ||
         !(s = sw_datatype(sendtype, comm, result)) ||
         (!in_place &&
          sw_aliased_block(SW_COLL_SCATTERV, recv, recvcount, recvtype, send,
                           sw_displ(displs, root), sw_at(counts, root),
                           sendtype, s))))
        return false;
    *m = (sw_move_t){.id = SW_COLL_SCATTERV, .root = root,
                     .in_place = in_place, .recv = recv,
                     .recvcount = recvcount, .r = r};
    if (is_root) {
        m->send = send;
        m->sendcounts = counts;
        m->sdispls = displs;
        m->s = s;
    }
    return true;
}

static bool scatter(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                    sw_reason_t *reason, int *result)
{
    sw_buffer_t from = {0}, to = {0};
    sw_blocks_t blocks = {0};
    SW_ARRAY(sw_data_t, rows, c->n);
    size_t bytes = m->in_place ? (size_t)m->sendcount * m->s->size
                               : (size_t)m->recvcount * m->r->size;
    if (!sw_ready(c, SW_COLL_SCATTER, bytes, reason))
        return false;
    if (m->s) {
        sw_buffer_send(&from, m->send, m->sendcount * c->n, m->s, comm);
        blocks = sw_buffer_rows(&from, c->n, rows);
    }
    if (m->r)
        sw_buffer_receive(&to, m->recv, m->recvcount, m->r, comm);
    const sw_data_t *own = m->r ? &to.data : NULL;
    int status =
        c->ring ? sw_coll_scatter(c->ring, m->root, from.data.at, &blocks, own,
                                  to.bytes)
                : sw_span_scatter(c->span, m->root, from.data.at, &blocks, own,
                                  bytes);
    sw_buffer_end(&from);
    if (m->r)
        sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_SCATTER, comm, status);
    return true;
}

static bool scatterv(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                     sw_reason_t *reason, int *result)
{
    sw_buffer_t to = {0};
    SW_ARRAY(sw_extent_t, list, c->n);
    SW_ARRAY(sw_data_t, data, c->n);
    sw_blocks_t blocks = {0};
    if (!sw_ready(c, SW_COLL_SCATTERV, 0, reason))
        return false;
    sw_vbuffer_t from = sw_move_sends(m, c->n, comm);
    if (m->s)
        blocks = sw_vbuffer_send(&from, false, list, data);
    if (m->r)
        sw_buffer_receive(&to, m->recv, m->recvcount, m->r, comm);
    const sw_data_t *own = m->r ? &to.data : NULL;
    int status =
        c->ring ? sw_coll_scatter(c->ring, m->root, from.data, &blocks, own,
                                  to.bytes)
                : sw_span_scatterv(c->span, m->root, from.data, &blocks, own,
                                   to.bytes);
    if (m->s)
        sw_vbuffer_end(&from);
    if (m->r)
        sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_SCATTERV, comm, status);
    return true;
}

#define SCATTER(NAME, INAME, INIT, COUNT)                               \
SW_MOVES(NAME, INAME, INIT, SW_COLL_SCATTER,                            \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, COUNT recvcount, MPI_Datatype recvtype, int root,      \
     MPI_Comm comm),                                                    \
    (send, sendcount, sendtype, recv, recvcount, recvtype, root, comm), \
    check(c, send, sendcount, sendtype, recv, recvcount, recvtype,      \
          root, comm, k, &result), scatter)

#define SCATTERV(NAME, INAME, INIT, COUNT, DISPL)                       \
SW_MOVES(NAME, INAME, INIT, SW_COLL_SCATTERV,                           \
    (const void *send, const COUNT counts[], const DISPL displs[],      \
     MPI_Datatype sendtype, void *recv, COUNT recvcount,                \
     MPI_Datatype recvtype, int root, MPI_Comm comm),                   \
    (send, counts, displs, sendtype, recv, recvcount, recvtype, root,   \
     comm),                                                             \
    checkv(c, send, SW_VECTOR(counts), SW_VECTOR(displs), sendtype,     \
           recv, recvcount, recvtype, root, comm, k, &result),          \
    scatterv)

SCATTER(Scatter, Iscatter, Scatter_init, int)
SCATTERV(Scatterv, Iscatterv, Scatterv_init, int, int)
#if SW_LARGE_COUNT
SCATTER(Scatter_c, Iscatter_c, Scatter_init_c, MPI_Count)
SCATTERV(Scatterv_c, Iscatterv_c, Scatterv_init_c, MPI_Count, MPI_Aint)
#endif
