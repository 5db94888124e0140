/*
 * alltoall.c - MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and their large
 * forms. With MPI_IN_PLACE the blocks to send are copied out of the receive
 * buffer first.
 */
#include "call.h"
#include "vector.h"

static bool alltoall(sw_comm_t *c, const void *send, int64_t sendcount,
                     MPI_Datatype sendtype, void *recv, int64_t recvcount,
                     MPI_Datatype recvtype, MPI_Comm comm, sw_reason_t *reason,
                     int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from, to;
    SW_ARRAY(sw_data_t, out, c->n);
    SW_ARRAY(sw_data_t, in, c->n);
    bool in_place = send == MPI_IN_PLACE;
    if (!sw_usable(recv, recvcount, recvtype, comm, &r, result) ||
        (!in_place &&
         !sw_usable(send, sendcount, sendtype, comm, &s, result)) ||
        (sw_aliased(send, recv) && recvcount && sendcount == recvcount &&
         sendtype == recvtype))
        return *result != MPI_SUCCESS;
    if (!sw_ready(c, SW_COLL_ALLTOALL, (size_t)recvcount * r->size, reason))
        return false;
    sw_buffer_receive(&to, recv, recvcount * c->n, r, comm);
    if (in_place) {
        from = (sw_buffer_t){.bytes = to.bytes};
        from.data.at = from.temporary = sw_temporary(to.bytes);
        sw_pack(recv, recvcount * c->n, r, from.data.at, comm);
    } else {
        sw_buffer_send(&from, send, sendcount * c->n, s, comm);
    }
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

/* The v and w forms, once their arguments are described. */
static bool exchange(const sw_comm_t *c, sw_collective_t id,
                     sw_vbuffer_t *from, sw_vbuffer_t *to, bool in_place,
                     MPI_Comm comm, sw_reason_t *reason, int *result)
{
    SW_ARRAY(sw_extent_t, out, c->n);
    SW_ARRAY(sw_extent_t, in, c->n);
    SW_ARRAY(sw_data_t, from_data, c->n);
    SW_ARRAY(sw_data_t, to_data, c->n);
    sw_blocks_t sends = sw_vbuffer_send(from, in_place, out, from_data);
    sw_blocks_t recvs = sw_vbuffer_receive(to, in, to_data);
    int status =
        c->ring ? sw_coll_alltoall(c->ring, from->data, &sends, to->data,
                                   &recvs)
                : sw_span_alltoallv(c->span, id, from->data, &sends, to->data,
                                    &recvs);
    sw_vbuffer_end(from);
    if (status == SW_SPAN_DECLINED) {
        sw_vbuffer_end(to);
        *reason = SW_REASON_SPAN;
        return false;
    }
    sw_vbuffer_received(to);
    *result = sw_finish(id, comm, status);
    return true;
}

static bool alltoallv(sw_comm_t *c, const void *send, sw_vector_t sendcounts,
                      sw_vector_t sdispls, MPI_Datatype sendtype, void *recv,
                      sw_vector_t recvcounts, sw_vector_t rdispls,
                      MPI_Datatype recvtype, MPI_Comm comm, sw_reason_t *reason,
                      int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = send == MPI_IN_PLACE;
    *result = MPI_SUCCESS;
    if (recv == MPI_IN_PLACE || !rdispls.at ||
        !sw_counts_ok(recvcounts, c->n) ||
        (sw_aliased(send, recv) && sendcounts.at == recvcounts.at &&
         sendtype == recvtype && sw_counts_any(recvcounts, c->n)) ||
        !(r = sw_datatype(recvtype, comm, result)))
        return *result != MPI_SUCCESS;
    if (!in_place && (!sdispls.at || !sw_counts_ok(sendcounts, c->n) ||
                      !(s = sw_datatype(sendtype, comm, result))))
        return *result != MPI_SUCCESS;
    if (!sw_ready(c, SW_COLL_ALLTOALLV, 0, reason))
        return false;
    sw_vbuffer_t to = {.user = recv, .counts = recvcounts,
                       .displacements = rdispls, .types = &r, .same = true,
                       .n = c->n, .comm = comm};
    sw_vbuffer_t from = to;
    if (!in_place) {
        from.user = (void *)(uintptr_t)send;
        from.counts = sendcounts;
        from.displacements = sdispls;
        from.types = &s;
    }
    return exchange(c, SW_COLL_ALLTOALLV, &from, &to, in_place, comm, reason,
                    result);
}

static bool alltoallw(sw_comm_t *c, const void *send, sw_vector_t sendcounts,
                      sw_vector_t sdispls, const MPI_Datatype sendtypes[],
                      void *recv, sw_vector_t recvcounts, sw_vector_t rdispls,
                      const MPI_Datatype recvtypes[], MPI_Comm comm,
                      sw_reason_t *reason, int *result)
{
    SW_ARRAY(const sw_datatype_t *, s, c->n);
    SW_ARRAY(const sw_datatype_t *, r, c->n);
    bool in_place = send == MPI_IN_PLACE;
    *result = MPI_SUCCESS;
    if (recv == MPI_IN_PLACE || !rdispls.at ||
        !sw_counts_ok(recvcounts, c->n) ||
        (sw_aliased(send, recv) && sendcounts.at == recvcounts.at &&
         sendtypes == recvtypes && sw_counts_any(recvcounts, c->n)) ||
        !sw_types_of(recvtypes, recvcounts, c->n, comm, r, result))
        return *result != MPI_SUCCESS;
    if (!in_place && (!sdispls.at || !sw_counts_ok(sendcounts, c->n) ||
                      !sw_types_of(sendtypes, sendcounts, c->n, comm, s,
                                   result)))
        return *result != MPI_SUCCESS;
    if (!sw_ready(c, SW_COLL_ALLTOALLW, 0, reason))
        return false;
    sw_vbuffer_t to = {.user = recv, .counts = recvcounts,
                       .displacements = rdispls, .types = r, .bytes = true,
                       .n = c->n, .comm = comm};
    sw_vbuffer_t from = to;
    if (!in_place) {
        from.user = (void *)(uintptr_t)send;
        from.counts = sendcounts;
        from.displacements = sdispls;
        from.types = s;
    }
    return exchange(c, SW_COLL_ALLTOALLW, &from, &to, in_place, comm, reason,
                    result);
}

#define ALLTOALL(NAME, COUNT)                                           \
SW_COLLECTIVE_ROWS(NAME, SW_COLL_ALLTOALL, COUNT,                       \
    alltoall(c, send, sendcount, sendtype, recv, recvcount, recvtype,   \
             comm, &reason, &result))

/* TYPES: one datatype, or an array of them. */
#define ALLTOALLVW(NAME, COUNT, DISPL, TYPES, ID, BODY)                 \
SW_COLLECTIVE_VW(NAME, ID, COUNT, DISPL, TYPES,                         \
    BODY(c, send, SW_VECTOR(sendcounts), SW_VECTOR(sdispls), sendtype,  \
         recv, SW_VECTOR(recvcounts), SW_VECTOR(rdispls), recvtype,     \
         comm, &reason, &result))

ALLTOALL(Alltoall, int)
ALLTOALLVW(Alltoallv, int, int, MPI_Datatype, SW_COLL_ALLTOALLV, alltoallv)
ALLTOALLVW(Alltoallw, int, int, const MPI_Datatype *, SW_COLL_ALLTOALLW,
           alltoallw)
#if SW_LARGE_COUNT
ALLTOALL(Alltoall_c, MPI_Count)
ALLTOALLVW(Alltoallv_c, MPI_Count, MPI_Aint, MPI_Datatype, SW_COLL_ALLTOALLV,
           alltoallv)
ALLTOALLVW(Alltoallw_c, MPI_Count, MPI_Aint, const MPI_Datatype *,
           SW_COLL_ALLTOALLW, alltoallw)
#endif
