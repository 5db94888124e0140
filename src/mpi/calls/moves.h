/*
 * moves.h - the bytes that a collective moves, as one member sees them.
 *
 * Recording counts them, and virtual time models them. docs/capture-format.md
 * defines them. Both take them from the functions below, which know nothing of
 * either. The table of calls (table.py) says which function a procedure has.
 */
#ifndef SW_MPI_CALLS_MOVES_H
#define SW_MPI_CALLS_MOVES_H

#include "known_comm.h"
#include "known_type.h"
#include "mpi/base/counts.h"

typedef struct {
    uint64_t size;              /* of one block: the size of the call   */
    uint64_t sent, received;
    uint64_t datatype;          /* its number in the capture; 0: none   */
} sw_moved_t;

/* The data that a member sends or receives: one block, or one for each rank
 * that it exchanges with. The wrapper makes it of the call's arguments. */
typedef struct {
    sw_vector_t counts;         /* .width 0: `count` in every block     */
    int64_t count;
    MPI_Datatype type;
    const MPI_Datatype *types;  /* of each block; NULL: `type`          */
} sw_moves_data_t;

#define SW_MOVES_DATA(COUNT, TYPE)                                            \
    (&(sw_moves_data_t){.count = (int64_t)(COUNT), .type = TYPE})
#define SW_MOVES_LIST(COUNTS, TYPE)                                      \
    (&(sw_moves_data_t){.counts = SW_VECTOR(COUNTS), .type = TYPE})
#define SW_MOVES_EACH(COUNTS, TYPES)                                     \
    (&(sw_moves_data_t){.counts = SW_VECTOR(COUNTS), .types = TYPES})

/* Between groups the root says MPI_ROOT, and other members of its group, which
 * have no part in the call, MPI_PROC_NULL. */
static inline bool sw_moves_is_root(const sw_known_comm_t *c, int root)
{
    return c->inter ? root == MPI_ROOT : root == c->me;
}

static inline bool sw_moves_is_idle(const sw_known_comm_t *c, int root)
{
    return c->inter && root == MPI_PROC_NULL;
}

/* Bytes of a part that is one block. */
static inline uint64_t sw_moves_bytes(sw_moved_t *m, const sw_moves_data_t *p)
{
    const sw_known_type_t *t = sw_known_type(p->type);
    if (t->number)
        m->datatype = t->number;
    return (uint64_t)p->count * t->size;
}

/* The commonest are inlined: they cost the program little, and recording them
 * must cost less. */
#define SW_MOVES static inline __attribute__((always_inline)) sw_moved_t

SW_MOVES sw_moves_bcast(const sw_known_comm_t *c, int root,
                        const sw_moves_data_t *data)
{
    sw_moved_t m = {0};
    if (sw_moves_is_idle(c, root))
        return m;
    m.size = sw_moves_bytes(&m, data);
    if (sw_moves_is_root(c, root))
        m.sent = m.size;
    else
        m.received = m.size;
    return m;
}

SW_MOVES sw_moves_reduce(const sw_known_comm_t *c, int root,
                         const sw_moves_data_t *data)
{
    sw_moved_t m = {0};
    bool is_root = sw_moves_is_root(c, root);
    if (sw_moves_is_idle(c, root))
        return m;
    m.size = sw_moves_bytes(&m, data);
    m.received = is_root ? m.size : 0;
    m.sent = c->inter && is_root ? 0 : m.size;
    return m;
}

SW_MOVES sw_moves_allreduce(const sw_known_comm_t *c, const sw_moves_data_t *data)
{
    sw_moved_t m = {0};
    m.size = m.sent = m.received = sw_moves_bytes(&m, data);
    return m;
}

/* MPI does not define the first member's result. */
SW_MOVES sw_moves_exscan(const sw_known_comm_t *c, const sw_moves_data_t *data)
{
    sw_moved_t m = sw_moves_allreduce(c, data);
    m.received = c->me ? m.size : 0;
    return m;
}

/* `data`: the block of each member. */
sw_moved_t sw_moves_reduce_scatter(const sw_known_comm_t *c,
                                   const sw_moves_data_t *data);
sw_moved_t sw_moves_gather(const sw_known_comm_t *c, int root, bool in_place,
                           const sw_moves_data_t *sent, const sw_moves_data_t *received);
sw_moved_t sw_moves_scatter(const sw_known_comm_t *c, int root, bool in_place,
                            const sw_moves_data_t *sent, const sw_moves_data_t *received);
sw_moved_t sw_moves_allgather(const sw_known_comm_t *c, bool in_place,
                              const sw_moves_data_t *sent,
                              const sw_moves_data_t *received);
sw_moved_t sw_moves_alltoall(const sw_known_comm_t *c, bool in_place,
                             const sw_moves_data_t *sent,
                             const sw_moves_data_t *received);
/* These ask the host for the neighbours at need. */
sw_moved_t sw_moves_neighbor_allgather(sw_known_comm_t *c,
                                       const sw_moves_data_t *sent,
                                       const sw_moves_data_t *received);
sw_moved_t sw_moves_neighbor_alltoall(sw_known_comm_t *c,
                                      const sw_moves_data_t *sent,
                                      const sw_moves_data_t *received);

/* The bytes that have come, by the status of a receive. */
uint64_t sw_moves_come(const MPI_Status *status);

#endif
