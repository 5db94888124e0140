/*
 * near.h - a call of a neighbourhood collective, whatever its form: blocking,
 * nonblocking or persistent. neighbour.c says which procedure has which
 * arguments. Here they become blocks, one for each edge.
 *
 * A block of an edge that leads nowhere (MPI_PROC_NULL) has no elements,
 * whatever the arguments say of it.
 */
#ifndef SW_MPI_COLL_NEAR_H
#define SW_MPI_COLL_NEAR_H

#include "adjacency.h"
#include "vector.h"
#include "offload/neighbourhood.h"

/* One side of a call, as its arguments describe it: blocks of `count` elements
 * in a row, or a list of blocks of one type or of one each. */
typedef struct {
    enum { SW_NEAR_ROW, SW_NEAR_LIST, SW_NEAR_EACH } form;
    const void *user;
    int64_t count;
    sw_vector_t counts, displacements;
    MPI_Datatype type;
    const MPI_Datatype *types;
} sw_near_args_t;

/* Its blocks. An allgather sends one. */
typedef struct {
    sw_near_args_t args;
    int n;
    const int *edge;            /* [n]                                      */
    sw_vbuffer_t buffer;
    sw_extent_t *list;          /* room for the description                 */
    sw_data_t *data;
    sw_blocks_t blocks;
} sw_near_side_t;

typedef struct {
    sw_collective_t id;
    const sw_neighbours_t *all;
    sw_near_side_t out, in;
    sw_edge_way_t *way;         /* of an alltoall with a request            */
} sw_near_t;

/* Room for the description of a block. */
typedef struct {
    sw_data_t data;
    sw_extent_t extent;
    int64_t count, place;
    const sw_datatype_t *type;
} sw_near_room_t;

static inline bool sw_near_gathers(sw_collective_t id)
{
    return id <= SW_COLL_NEIGHBOR_ALLGATHERV;
}

/* Starts with a call's arguments. False, with the reason: the communicator has
 * no topology. */
bool sw_near_set(sw_near_t *k, sw_comm_t *c, sw_collective_t id,
                 const sw_near_args_t *out, const sw_near_args_t *in,
                 sw_reason_t *reason);
/* So much room does sw_near_check take. */
static inline size_t sw_near_rooms(const sw_near_t *k)
{
    return (size_t)k->out.n + (size_t)k->in.n + 2;
}
/* Are the arguments right? False as sw_usable. */
bool sw_near_check(sw_near_t *k, sw_near_room_t *room, MPI_Comm comm,
                   int *result);
/* They are: describes the blocks, and packs what must be. */
void sw_near_describe(sw_near_t *k);
/* It is over (`done`), or not: unpacks what must be. `comm`: for the host. */
void sw_near_end(sw_near_t *k, MPI_Comm comm, bool done);

/* For a nonblocking or persistent call, whose arguments are right: the way of
 * its blocks. All members call it in one order. */
void sw_near_find_way(sw_near_t *k, sw_comm_t *c);
/* The datatypes last as long as the request. */
void sw_near_hold(const sw_near_t *k);
void sw_near_drop(const sw_near_t *k);
/* Describes the blocks. */
void sw_near_settle(sw_near_t *k, MPI_Comm comm, sw_neighbourhood_args_t *to);
/* Must they be packed for each start? */
static inline bool sw_near_packs(const sw_near_t *k)
{
    return k->out.buffer.temporary || k->in.buffer.temporary;
}

#endif
