/*
 * neighbour.c - MPI_Neighbor_allgather, MPI_Neighbor_alltoall, their v and w
 * variants and their large forms.
 *
 * A block of an edge that leads nowhere (MPI_PROC_NULL) has no elements,
 * whatever the arguments say of it.
 */
#include "adjacency.h"
#include "vector.h"

/* Edges whose description lies on the stack: a stencil in three dimensions has
 * 6, and there is one more than are counted. */
#define EDGES 8

/* One side of a call, as its arguments describe it: blocks of `count` elements
 * in a row, or a list of blocks of one type or of one each. */
typedef struct {
    enum { ROW, LIST, EACH } form;
    const void *user;
    int64_t count;
    sw_vector_t counts, displacements;
    MPI_Datatype type;
    const MPI_Datatype *types;
} side_t;

/* The blocks of n edges; `counts`, `places` and `known` have at least one.
 * False as sw_usable. */
static bool blocks(const side_t *s, const int *edge, int n, MPI_Comm comm,
                   int64_t *counts, int64_t *places,
                   const sw_datatype_t **known, sw_vbuffer_t *to, int *result)
{
    bool anybody = false, any = false;
    *result = MPI_SUCCESS;
    if (s->user == MPI_IN_PLACE ||
        (n && s->form != ROW && (!s->counts.at || !s->displacements.at)))
        return false;
    for (int i = 0; i < n; i++) {
        int64_t count = s->form == ROW ? s->count : sw_at(s->counts, i);
        counts[i] = edge[i] == SW_NOBODY ? 0 : count;
        places[i] = s->form == ROW ? i * count : sw_at(s->displacements, i);
        if (counts[i] < 0)
            return false;
        anybody |= edge[i] != SW_NOBODY;
        any |= counts[i] > 0;
    }
    *to = (sw_vbuffer_t){.user = (void *)(uintptr_t)s->user,
                         .counts = SW_VECTOR(counts),
                         .displacements = SW_VECTOR(places), .types = known,
                         .same = s->form != EACH, .bytes = s->form == EACH,
                         .n = n, .comm = comm};
    if (s->form == EACH)
        return sw_types_of(s->types, to->counts, n, comm, known, result);
    known[0] = anybody ? sw_datatype(s->type, comm, result) : &sw_nothing;
    return known[0] && (s->user || !any || !known[0]->dense);
}

static bool alltoall(sw_comm_t *c, sw_collective_t id, const side_t *out,
                     const side_t *in, MPI_Comm comm, sw_reason_t *reason,
                     int *result)
{
    const int *index;
    const sw_neighbours_t *all = sw_adjacency(c, reason);
    *result = MPI_SUCCESS;
    if (!all)
        return false;
    int outs = all->outs + 1, ins = all->ins + 1;
    SW_ARRAY_OF(int64_t, sent, EDGES, outs);
    SW_ARRAY_OF(int64_t, got, EDGES, ins);
    SW_ARRAY_OF(int64_t, from_places, EDGES, outs);
    SW_ARRAY_OF(int64_t, to_places, EDGES, ins);
    SW_ARRAY_OF(const sw_datatype_t *, s, EDGES, outs);
    SW_ARRAY_OF(const sw_datatype_t *, r, EDGES, ins);
    SW_ARRAY_OF(sw_extent_t, out_list, EDGES, outs);
    SW_ARRAY_OF(sw_extent_t, in_list, EDGES, ins);
    SW_ARRAY_OF(sw_data_t, out_data, EDGES, outs);
    SW_ARRAY_OF(sw_data_t, in_data, EDGES, ins);
    sw_vbuffer_t from, to;
    if (!blocks(in, all->in, all->ins, comm, got, to_places, r, &to,
                result) ||
        !blocks(out, all->out, all->outs, comm, sent, from_places, s, &from,
                result))
        return *result != MPI_SUCCESS;
    sw_ring_t *ring = sw_adjacency_alltoall(c, id, &index, reason);
    if (!ring)
        return false;
    bool equal = out->form == ROW && all->outs;
    for (int i = 0; i < all->outs; i++)
        equal &= all->out[i] != SW_NOBODY && all->out[i] != c->me;
    sw_blocks_t sends = sw_vbuffer_send(&from, false, out_list, out_data);
    sw_blocks_t recvs = sw_vbuffer_receive(&to, in_list, in_data);
    if (equal) {
        sends.bytes = out_list[0].bytes;
        sends.list = NULL;
    }
    int status = sw_coll_neighbor_alltoall(ring, from.data, &sends, index,
                                           to.data, &recvs);
    sw_vbuffer_end(&from);
    sw_vbuffer_received(&to);
    *result = sw_finish(id, comm, status);
    return true;
}

static bool allgather(sw_comm_t *c, sw_collective_t id, const void *send,
                      int64_t count, MPI_Datatype type, const side_t *in,
                      MPI_Comm comm, sw_reason_t *reason, int *result)
{
    const sw_neighbours_t *all = sw_adjacency(c, reason);
    *result = MPI_SUCCESS;
    if (!all)
        return false;
    int ins = all->ins + 1;
    SW_ARRAY_OF(int64_t, got, EDGES, ins);
    SW_ARRAY_OF(int64_t, places, EDGES, ins);
    const sw_datatype_t *s = NULL;
    SW_ARRAY_OF(const sw_datatype_t *, r, EDGES, ins);
    SW_ARRAY_OF(sw_extent_t, list, EDGES, ins);
    SW_ARRAY_OF(sw_data_t, data, EDGES, ins);
    sw_buffer_t from;
    sw_vbuffer_t to;
    bool anybody = false;
    for (int i = 0; i < all->outs; i++)
        anybody |= all->out[i] != SW_NOBODY;
    if (!blocks(in, all->in, all->ins, comm, got, places, r, &to, result) ||
        (anybody && !sw_usable(send, count, type, comm, &s, result)))
        return *result != MPI_SUCCESS;
    sw_ring_t *ring = sw_adjacency_ring(c, reason);
    if (!ring)
        return false;
    sw_buffer_send(&from, send, anybody ? count : 0,
                   anybody ? s : &sw_nothing, comm);
    sw_blocks_t recvs = sw_vbuffer_receive(&to, list, data);
    int status = sw_coll_neighbor_allgather(ring, &from.data, from.bytes,
                                            to.data, &recvs);
    sw_buffer_end(&from);
    sw_vbuffer_received(&to);
    *result = sw_finish(id, comm, status);
    return true;
}

#define SIDE_ROW(USER, COUNT, TYPE)                                     \
    &(side_t){.form = ROW, .user = USER, .count = COUNT, .type = TYPE}
#define SIDE_LIST(USER, COUNTS, DISPLS, TYPE)                           \
    &(side_t){.form = LIST, .user = USER, .counts = SW_VECTOR(COUNTS),  \
              .displacements = SW_VECTOR(DISPLS), .type = TYPE}
#define SIDE_EACH(USER, COUNTS, DISPLS, TYPES)                          \
    &(side_t){.form = EACH, .user = USER, .counts = SW_VECTOR(COUNTS),  \
              .displacements = SW_VECTOR(DISPLS), .types = TYPES}

#define ALLGATHER(NAME, COUNT)                                          \
SW_COLLECTIVE(NAME, SW_COLL_NEIGHBOR_ALLGATHER, SW_ROWS(COUNT), SW_ROWS_NAMES, \
    allgather(c, SW_COLL_NEIGHBOR_ALLGATHER, send, sendcount, sendtype, \
              SIDE_ROW(recv, recvcount, recvtype), comm, &reason, &result))

#define ALLGATHERV(NAME, COUNT, DISPL)                                  \
SW_COLLECTIVE(NAME, SW_COLL_NEIGHBOR_ALLGATHERV, SW_LISTED(COUNT, DISPL), SW_LISTED_NAMES, \
    allgather(c, SW_COLL_NEIGHBOR_ALLGATHERV, send, sendcount,          \
              sendtype, SIDE_LIST(recv, counts, displs, recvtype),      \
              comm, &reason, &result))

#define ALLTOALL(NAME, COUNT)                                           \
SW_COLLECTIVE(NAME, SW_COLL_NEIGHBOR_ALLTOALL, SW_ROWS(COUNT), SW_ROWS_NAMES, \
    alltoall(c, SW_COLL_NEIGHBOR_ALLTOALL,                              \
             SIDE_ROW(send, sendcount, sendtype),                       \
             SIDE_ROW(recv, recvcount, recvtype), comm, &reason, &result))

/* TYPES: one datatype, or an array of them, as SIDE says. */
#define ALLTOALLVW(NAME, ID, COUNT, DISPL, TYPES, SIDE)                 \
SW_COLLECTIVE(NAME, ID, SW_LISTS(COUNT, DISPL, TYPES), SW_LISTS_NAMES,  \
    alltoall(c, ID, SIDE(send, sendcounts, sdispls, sendtype),          \
             SIDE(recv, recvcounts, rdispls, recvtype), comm, &reason,  \
             &result))

ALLGATHER(Neighbor_allgather, int)
ALLGATHERV(Neighbor_allgatherv, int, int)
ALLTOALL(Neighbor_alltoall, int)
ALLTOALLVW(Neighbor_alltoallv, SW_COLL_NEIGHBOR_ALLTOALLV, int, int,
           MPI_Datatype, SIDE_LIST)
ALLTOALLVW(Neighbor_alltoallw, SW_COLL_NEIGHBOR_ALLTOALLW, int, MPI_Aint,
           const MPI_Datatype *, SIDE_EACH)
#if SW_LARGE_COUNT
ALLGATHER(Neighbor_allgather_c, MPI_Count)
ALLGATHERV(Neighbor_allgatherv_c, MPI_Count, MPI_Aint)
ALLTOALL(Neighbor_alltoall_c, MPI_Count)
ALLTOALLVW(Neighbor_alltoallv_c, SW_COLL_NEIGHBOR_ALLTOALLV, MPI_Count,
           MPI_Aint, MPI_Datatype, SIDE_LIST)
ALLTOALLVW(Neighbor_alltoallw_c, SW_COLL_NEIGHBOR_ALLTOALLW, MPI_Count,
           MPI_Aint, const MPI_Datatype *, SIDE_EACH)
#endif
