/*
 * sides.h - what the arguments of a neighbourhood collective say: blocks, one
 * for each edge. neighbour.c says which procedure has which arguments.
 *
 * A block of an edge that leads nowhere (MPI_PROC_NULL) has no elements,
 * whatever the arguments say of it.
 */
#ifndef SW_MPI_COLL_SIDES_H
#define SW_MPI_COLL_SIDES_H

#include "adjacency.h"
#include "vector.h"
#include "offload/neighbourhood.h"

/* One side of a call, as its arguments describe it: blocks of `count` elements
 * in a row, or a list of blocks of one type or of one each. */
typedef struct {
    enum { SW_SIDE_ROW, SW_SIDE_LIST, SW_SIDE_EACH } form;
    const void *user;
    int64_t count;
    sw_vector_t counts, displacements;
    MPI_Datatype type;
    const MPI_Datatype *types;
} sw_side_args_t;

/* Its blocks. An allgather sends one. */
typedef struct {
    sw_side_args_t args;
    int n;
    const int *edge; /* [n] */
    sw_vbuffer_t buffer;
    sw_extent_t *list; /* room for the description */
    sw_data_t *data;
    sw_blocks_t blocks;
} sw_side_t;

typedef struct {
    const sw_neighbours_t *all;
    sw_side_t out, in;
    sw_edge_way_t *way; /* of an alltoall with a request */
} sw_sides_t;

/* Room for the description of a block. */
typedef struct {
    sw_data_t data;
    sw_extent_t extent;
    int64_t count, place;
    const sw_datatype_t *type;
} sw_side_room_t;

static inline bool sw_sides_gather(sw_collective_t id)
{
    return id <= SW_COLL_NEIGHBOR_ALLGATHERV;
}

/* Starts with a call's arguments. False, with the reason: the communicator has
 * no topology. */
bool sw_sides_set(sw_sides_t *k, sw_comm_t *c, sw_collective_t id,
                  const sw_side_args_t *out, const sw_side_args_t *in,
                  sw_reason_t *reason);
/* So much room does sw_sides_check take. */
static inline size_t sw_sides_rooms(const sw_sides_t *k)
{
    return (size_t)k->out.n + (size_t)k->in.n + 2;
}
/* Are the arguments right? False as sw_buffer_usable. */
bool sw_sides_check(sw_sides_t *k, sw_side_room_t *room, MPI_Comm comm,
                    int *result);
/* They are: describes the blocks, and packs what must be. */
void sw_sides_describe(sw_sides_t *k);
/* It is over (`done`), or not: unpacks what must be. `comm`: for the host. */
void sw_sides_end(sw_sides_t *k, MPI_Comm comm, bool done);

/* Carries a blocking call out, whose arguments are right; *status is how it
 * ended. False, with the reason: the host serves. */
bool sw_sides_run(sw_sides_t *k, sw_collective_t id, sw_comm_t *c,
                  sw_reason_t *reason, int *status);

/* For a nonblocking or persistent call, whose arguments are right: the way of
 * its blocks. All members call it in one order. */
void sw_sides_find_way(sw_sides_t *k, sw_collective_t id, sw_comm_t *c);
/* The datatypes last as long as the request. */
void sw_sides_hold(const sw_sides_t *k);
void sw_sides_drop(const sw_sides_t *k);
/* Describes the blocks. */
void sw_sides_settle(sw_sides_t *k, MPI_Comm comm, sw_neighbourhood_args_t *to);
/* Must they be packed for each start? */
static inline bool sw_sides_packs(const sw_sides_t *k)
{
    return k->out.buffer.temporary || k->in.buffer.temporary;
}

#endif
