/*
 * alltoall.c - MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw, in all their forms.
 * With MPI_IN_PLACE the blocks to send are copied out of the receive buffer
 * first.
 */
#include "started.h"

/* Are the arguments right? Fills in the rest. */
static bool check(sw_comm_t *c, const void *send, int64_t sendcount,
                  MPI_Datatype sendtype, void *recv, int64_t recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm, sw_move_t *m,
                  int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = send == MPI_IN_PLACE;
    if (!sw_usable(recv, recvcount, recvtype, comm, &r, result) ||
        (!in_place &&
         !sw_usable(send, sendcount, sendtype, comm, &s, result)) ||
        (sendcount == recvcount && sendtype == recvtype &&
         sw_aliased(SW_COLL_ALLTOALL, send, recv, recvcount)))
        return false;
    *m = (sw_move_t){.id = SW_COLL_ALLTOALL, .in_place = in_place,
                     .send = in_place ? recv : send,
                     .sendcount = in_place ? recvcount : sendcount,
                     .s = in_place ? r : s, .recv = recv,
                     .recvcount = recvcount, .r = r};
    return true;
}

/* The v form. */
static bool checkv(sw_comm_t *c, const void *send, sw_vector_t sendcounts,
                   sw_vector_t sdispls, MPI_Datatype sendtype, void *recv,
                   sw_vector_t recvcounts, sw_vector_t rdispls,
                   MPI_Datatype recvtype, MPI_Comm comm, sw_move_t *m,
                   int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = send == MPI_IN_PLACE;
    if (recv == MPI_IN_PLACE || !sw_lists_ok(recvcounts, rdispls, c->n) ||
        (sendcounts.at == recvcounts.at && sendtype == recvtype &&
         sw_aliased(SW_COLL_ALLTOALLV, send, recv,
                    sw_counts_any(recvcounts, c->n))) ||
        !(r = sw_datatype(recvtype, comm, result)))
        return false;
    if (!in_place && (!sw_lists_ok(sendcounts, sdispls, c->n) ||
                      !(s = sw_datatype(sendtype, comm, result))))
        return false;
    *m = (sw_move_t){.id = SW_COLL_ALLTOALLV, .in_place = in_place,
                     .send = in_place ? recv : send,
                     .sendcounts = in_place ? recvcounts : sendcounts,
                     .sdispls = in_place ? rdispls : sdispls,
                     .s = in_place ? r : s, .recv = recv,
                     .recvcounts = recvcounts, .rdispls = rdispls, .r = r};
    return true;
}

/* The w form; `types` is room for 2n. */
static bool checkw(sw_comm_t *c, const void *send, sw_vector_t sendcounts,
                   sw_vector_t sdispls, const MPI_Datatype sendtypes[],
                   void *recv, sw_vector_t recvcounts, sw_vector_t rdispls,
                   const MPI_Datatype recvtypes[], MPI_Comm comm,
                   const sw_datatype_t **types, sw_move_t *m, int *result)
{
    const sw_datatype_t **r = types, **s = types + c->n;
    bool in_place = send == MPI_IN_PLACE;
    if (recv == MPI_IN_PLACE || !sw_lists_ok(recvcounts, rdispls, c->n) ||
        (sendcounts.at == recvcounts.at && sendtypes == recvtypes &&
         sw_aliased(SW_COLL_ALLTOALLW, send, recv,
                    sw_counts_any(recvcounts, c->n))) ||
        !sw_types_of(recvtypes, recvcounts, c->n, comm, r, result))
        return false;
    if (!in_place && (!sw_lists_ok(sendcounts, sdispls, c->n) ||
                      !sw_types_of(sendtypes, sendcounts, c->n, comm, s,
                                   result)))
        return false;
    *m = (sw_move_t){.id = SW_COLL_ALLTOALLW, .in_place = in_place,
                     .send = in_place ? recv : send,
                     .sendcounts = in_place ? recvcounts : sendcounts,
                     .sdispls = in_place ? rdispls : sdispls,
                     .ss = in_place ? r : s, .recv = recv,
                     .recvcounts = recvcounts, .rdispls = rdispls, .rs = r};
    return true;
}

static bool alltoall(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                     sw_reason_t *reason, int *result)
{
    sw_buffer_t from, to;
    SW_ARRAY(sw_data_t, out, c->n);
    SW_ARRAY(sw_data_t, in, c->n);
    if (!sw_ready(c, SW_COLL_ALLTOALL, (size_t)m->recvcount * m->r->size,
                  reason))
        return false;
    sw_buffer_receive(&to, m->recv, m->recvcount * c->n, m->r, comm);
    if (m->in_place)
        sw_buffer_copy(&from, m->recv, m->recvcount * c->n, m->r, comm);
    else
        sw_buffer_send(&from, m->send, m->sendcount * c->n, m->s, comm);
    sw_blocks_t sends = sw_buffer_rows(&from, c->n, out);
    sw_blocks_t recvs = sw_buffer_rows(&to, c->n, in);
    int status =
        c->ring ? sw_coll_alltoall(c->ring, from.data.at, &sends, to.data.at,
                                   &recvs)
                : sw_span_alltoall(c->span, from.data.at, &sends, to.data.at,
                                   &recvs);
    sw_buffer_end(&from);
    sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_ALLTOALL, comm, status);
    return true;
}

/* The v and w forms. */
static bool alltoallv(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                      sw_reason_t *reason, int *result)
{
    SW_ARRAY(sw_extent_t, out, c->n);
    SW_ARRAY(sw_extent_t, in, c->n);
    SW_ARRAY(sw_data_t, from_data, c->n);
    SW_ARRAY(sw_data_t, to_data, c->n);
    if (!sw_ready(c, m->id, 0, reason))
        return false;
    sw_vbuffer_t from = sw_move_sends(m, c->n, comm);
    sw_vbuffer_t to = sw_move_recvs(m, c->n, comm);
    sw_blocks_t sends = sw_vbuffer_send(&from, m->in_place, out, from_data);
    sw_blocks_t recvs = sw_vbuffer_receive(&to, in, to_data);
    int status =
        c->ring ? sw_coll_alltoall(c->ring, from.data, &sends, to.data, &recvs)
                : sw_span_alltoallv(c->span, m->id, from.data, &sends, to.data,
                                    &recvs);
    sw_vbuffer_end(&from);
    if (status == SW_SPAN_DECLINED) {
        sw_vbuffer_end(&to);
        *reason = SW_REASON_SPAN;
        return false;
    }
    sw_vbuffer_received(&to);
    *result = sw_finish(m->id, comm, status);
    return true;
}

#define ALLTOALL(NAME, INAME, INIT, COUNT)                              \
SW_MOVES(NAME, INAME, INIT, SW_COLL_ALLTOALL, SW_ROWS(COUNT), SW_ROWS_NAMES, \
    check(c, send, sendcount, sendtype, recv, recvcount, recvtype,      \
          comm, k, &result), alltoall)

#define ALLTOALLV(NAME, INAME, INIT, COUNT, DISPL)                      \
SW_MOVES(NAME, INAME, INIT, SW_COLL_ALLTOALLV,                          \
    SW_LISTS(COUNT, DISPL, MPI_Datatype), SW_LISTS_NAMES,               \
    checkv(c, send, SW_VECTOR(sendcounts), SW_VECTOR(sdispls),          \
           sendtype, recv, SW_VECTOR(recvcounts), SW_VECTOR(rdispls),   \
           recvtype, comm, k, &result), alltoallv)

#define ALLTOALLW(NAME, INAME, INIT, COUNT, DISPL)                      \
SW_MOVES_TYPES(NAME, INAME, INIT, SW_COLL_ALLTOALLW,                    \
    SW_LISTS(COUNT, DISPL, const MPI_Datatype *), SW_LISTS_NAMES,       \
    checkw(c, send, SW_VECTOR(sendcounts), SW_VECTOR(sdispls),          \
           sendtype, recv, SW_VECTOR(recvcounts), SW_VECTOR(rdispls),   \
           recvtype, comm, types, k, &result), alltoallv)

ALLTOALL(Alltoall, Ialltoall, Alltoall_init, int)
ALLTOALLV(Alltoallv, Ialltoallv, Alltoallv_init, int, int)
ALLTOALLW(Alltoallw, Ialltoallw, Alltoallw_init, int, int)
#if SW_LARGE_COUNT
ALLTOALL(Alltoall_c, Ialltoall_c, Alltoall_init_c, MPI_Count)
ALLTOALLV(Alltoallv_c, Ialltoallv_c, Alltoallv_init_c, MPI_Count, MPI_Aint)
ALLTOALLW(Alltoallw_c, Ialltoallw_c, Alltoallw_init_c, MPI_Count, MPI_Aint)
#endif
