/*
 * neighbour.c - MPI_Neighbor_allgather, MPI_Neighbor_alltoall, their v and w
 * variants, their large, nonblocking and persistent forms.
 */
#include "near.h"
#include "started.h"

/* Edges whose description lies on the stack: a stencil in three dimensions has
 * 6 on each side. */
#define EDGES 14

static int allgather(sw_ring_t *ring, sw_near_t *k)
{
    sw_data_t block = sw_block_data(&k->out.blocks, k->out.buffer.data, 0);
    return sw_coll_neighbor_allgather(
        ring, &block, sw_block(&k->out.blocks, 0).bytes, k->in.buffer.data,
        &k->in.blocks);
}

static int alltoall(sw_ring_t *ring, sw_near_t *k, const int *index)
{
    const sw_neighbours_t *all = k->all;
    bool equal = k->out.args.form == SW_NEAR_ROW && all->outs;
    for (int i = 0; i < all->outs; i++)
        equal &= all->out[i] != SW_NOBODY && all->out[i] != ring->me;
    if (equal) {
        k->out.blocks.bytes = k->out.list[0].bytes;
        k->out.blocks.list = NULL;
    }
    return sw_coll_neighbor_alltoall(ring, k->out.buffer.data, &k->out.blocks,
                                     index, k->in.buffer.data, &k->in.blocks);
}

/* The blocking form. */
static bool run(sw_comm_t *c, sw_near_t *k, MPI_Comm comm,
                sw_reason_t *reason, int *result)
{
    const int *index = NULL;
    bool gathers = sw_near_gathers(k->id);
    SW_ARRAY_OF(sw_near_room_t, room, EDGES, sw_near_rooms(k));
    if (!sw_near_check(k, room, comm, result))
        return *result != MPI_SUCCESS;
    sw_ring_t *ring = gathers
                          ? sw_adjacency_ring(c, reason)
                          : sw_adjacency_alltoall(c, k->id, &index, reason);
    if (!ring)
        return false;
    sw_near_describe(k);
    int status = gathers ? allgather(ring, k) : alltoall(ring, k, index);
    sw_near_end(k, comm, true);
    *result = sw_finish(k->id, comm, status);
    return true;
}

/* The others; the blocking one checks when it runs. */
static bool check(sw_near_t *k, sw_started_t *s, MPI_Comm comm, int *result)
{
    if (!s)
        return true;
    sw_near_room_t *room =
        sw_started_room(s, sw_near_rooms(k) * sizeof *room);
    if (!sw_near_check(k, room, comm, result))
        return false;
    sw_near_find_way(k, s->track.comm);
    return true;
}

#define SIDE_ROW(USER, COUNT, TYPE)                                     \
    &(sw_near_args_t){.form = SW_NEAR_ROW, .user = USER, .count = COUNT, \
                      .type = TYPE}
#define SIDE_LIST(USER, COUNTS, DISPLS, TYPE)                           \
    &(sw_near_args_t){.form = SW_NEAR_LIST, .user = USER,               \
                      .counts = SW_VECTOR(COUNTS),                      \
                      .displacements = SW_VECTOR(DISPLS), .type = TYPE}
#define SIDE_EACH(USER, COUNTS, DISPLS, TYPES)                          \
    &(sw_near_args_t){.form = SW_NEAR_EACH, .user = USER,               \
                      .counts = SW_VECTOR(COUNTS),                      \
                      .displacements = SW_VECTOR(DISPLS), .types = TYPES}

/* All forms of a procedure, whose sides these are. */
#define NEAR(NAME, INAME, INIT, ID, PARAMETERS, ARGUMENTS, OUT, IN)     \
SW_FORMS(sw_near_t, near, sw_started_t *s = NULL;, , SW_MOVE, NAME,     \
         INAME, INIT, ID, PARAMETERS, ARGUMENTS,                        \
         sw_near_set(k, c, ID, OUT, IN, &reason) &&                     \
             check(k, s, comm, &result), run)

#define ALLGATHER(NAME, INAME, INIT, COUNT)                             \
NEAR(NAME, INAME, INIT, SW_COLL_NEIGHBOR_ALLGATHER, SW_ROWS(COUNT),     \
     SW_ROWS_NAMES, SIDE_ROW(send, sendcount, sendtype),                \
     SIDE_ROW(recv, recvcount, recvtype))

#define ALLGATHERV(NAME, INAME, INIT, COUNT, DISPL)                     \
NEAR(NAME, INAME, INIT, SW_COLL_NEIGHBOR_ALLGATHERV,                    \
     SW_LISTED(COUNT, DISPL), SW_LISTED_NAMES,                          \
     SIDE_ROW(send, sendcount, sendtype),                               \
     SIDE_LIST(recv, counts, displs, recvtype))

#define ALLTOALL(NAME, INAME, INIT, COUNT)                              \
NEAR(NAME, INAME, INIT, SW_COLL_NEIGHBOR_ALLTOALL, SW_ROWS(COUNT),      \
     SW_ROWS_NAMES, SIDE_ROW(send, sendcount, sendtype),                \
     SIDE_ROW(recv, recvcount, recvtype))

/* TYPES: one datatype, or an array of them, as SIDE says. */
#define ALLTOALLVW(NAME, INAME, INIT, ID, COUNT, DISPL, TYPES, SIDE)    \
NEAR(NAME, INAME, INIT, ID, SW_LISTS(COUNT, DISPL, TYPES),              \
     SW_LISTS_NAMES, SIDE(send, sendcounts, sdispls, sendtype),         \
     SIDE(recv, recvcounts, rdispls, recvtype))

ALLGATHER(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init,
          int)
ALLGATHERV(Neighbor_allgatherv, Ineighbor_allgatherv,
           Neighbor_allgatherv_init, int, int)
ALLTOALL(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, int)
ALLTOALLVW(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init,
           SW_COLL_NEIGHBOR_ALLTOALLV, int, int, MPI_Datatype, SIDE_LIST)
ALLTOALLVW(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init,
           SW_COLL_NEIGHBOR_ALLTOALLW, int, MPI_Aint, const MPI_Datatype *,
           SIDE_EACH)
#if SW_LARGE_COUNT
ALLGATHER(Neighbor_allgather_c, Ineighbor_allgather_c,
          Neighbor_allgather_init_c, MPI_Count)
ALLGATHERV(Neighbor_allgatherv_c, Ineighbor_allgatherv_c,
           Neighbor_allgatherv_init_c, MPI_Count, MPI_Aint)
ALLTOALL(Neighbor_alltoall_c, Ineighbor_alltoall_c, Neighbor_alltoall_init_c,
         MPI_Count)
ALLTOALLVW(Neighbor_alltoallv_c, Ineighbor_alltoallv_c,
           Neighbor_alltoallv_init_c, SW_COLL_NEIGHBOR_ALLTOALLV, MPI_Count,
           MPI_Aint, MPI_Datatype, SIDE_LIST)
ALLTOALLVW(Neighbor_alltoallw_c, Ineighbor_alltoallw_c,
           Neighbor_alltoallw_init_c, SW_COLL_NEIGHBOR_ALLTOALLW, MPI_Count,
           MPI_Aint, const MPI_Datatype *, SIDE_EACH)
#endif
