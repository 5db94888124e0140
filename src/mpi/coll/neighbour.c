/*
 * neighbour.c - MPI_Neighbor_allgather, MPI_Neighbor_alltoall, their v and w
 * variants, in all their forms.
 */
#include "describe.h"

/* The blocks of a stencil in one dimension, 2 on each side, find room beside
 * the call. */
static bool describe(sw_coll_call_t *k, const sw_side_args_t *out,
                     const sw_side_args_t *in)
{
    sw_sides_t *sides = &k->sides;
    k->bytes = 0;
    if (!sw_sides_set(sides, k->c, k->id, out, in, &k->reason))
        return false;
    sw_side_room_t *room = sw_call_room(k,
                                        sw_sides_rooms(sides) * sizeof *room);
    return sw_sides_check(sides, room, k->comm, &k->result);
}

static sw_side_args_t row(const void *user, int64_t count, MPI_Datatype type)
{
    return (sw_side_args_t){
        .form = SW_SIDE_ROW, .user = user, .count = count, .type = type};
}

static sw_side_args_t list(const void *user, sw_vector_t counts,
                           sw_vector_t displs, MPI_Datatype type)
{
    return (sw_side_args_t){.form = SW_SIDE_LIST,
                            .user = user,
                            .counts = counts,
                            .displacements = displs,
                            .type = type};
}

static sw_side_args_t each(const void *user, sw_vector_t counts,
                           sw_vector_t displs, const MPI_Datatype *types)
{
    return (sw_side_args_t){.form = SW_SIDE_EACH,
                            .user = user,
                            .counts = counts,
                            .displacements = displs,
                            .types = types};
}

bool sw_neighbor_allgather(sw_coll_call_t *k, const void *sendbuf,
                           int64_t sendcount, MPI_Datatype sendtype,
                           void *recvbuf, int64_t recvcount,
                           MPI_Datatype recvtype)
{
    sw_side_args_t out = row(sendbuf, sendcount, sendtype);
    sw_side_args_t in = row(recvbuf, recvcount, recvtype);
    return describe(k, &out, &in);
}

bool sw_neighbor_allgatherv(sw_coll_call_t *k, const void *sendbuf,
                            int64_t sendcount, MPI_Datatype sendtype,
                            void *recvbuf, sw_vector_t recvcounts,
                            sw_vector_t displs, MPI_Datatype recvtype)
{
    sw_side_args_t out = row(sendbuf, sendcount, sendtype);
    sw_side_args_t in = list(recvbuf, recvcounts, displs, recvtype);
    return describe(k, &out, &in);
}

bool sw_neighbor_alltoall(sw_coll_call_t *k, const void *sendbuf,
                          int64_t sendcount, MPI_Datatype sendtype,
                          void *recvbuf, int64_t recvcount,
                          MPI_Datatype recvtype)
{
    return sw_neighbor_allgather(k, sendbuf, sendcount, sendtype, recvbuf,
                                 recvcount, recvtype);
}

bool sw_neighbor_alltoallv(sw_coll_call_t *k, const void *sendbuf,
                           sw_vector_t sendcounts, sw_vector_t sdispls,
                           MPI_Datatype sendtype, void *recvbuf,
                           sw_vector_t recvcounts, sw_vector_t rdispls,
                           MPI_Datatype recvtype)
{
    sw_side_args_t out = list(sendbuf, sendcounts, sdispls, sendtype);
    sw_side_args_t in = list(recvbuf, recvcounts, rdispls, recvtype);
    return describe(k, &out, &in);
}

bool sw_neighbor_alltoallw(sw_coll_call_t *k, const void *sendbuf,
                           sw_vector_t sendcounts, sw_vector_t sdispls,
                           const MPI_Datatype sendtypes[], void *recvbuf,
                           sw_vector_t recvcounts, sw_vector_t rdispls,
                           const MPI_Datatype recvtypes[])
{
    sw_side_args_t out = each(sendbuf, sendcounts, sdispls, sendtypes);
    sw_side_args_t in = each(recvbuf, recvcounts, rdispls, recvtypes);
    return describe(k, &out, &in);
}
