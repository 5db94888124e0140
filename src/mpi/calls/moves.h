/*
 * moves.h - the bytes that a collective moves, as one member sees them.
 *
 * Recording counts these bytes, and virtual time models them;
 * docs/capture-format.md defines them. Both call the functions below, which
 * know nothing of either. The table of calls (table.py) says which function
 * belongs to which procedure.
 */
#ifndef SW_MPI_CALLS_MOVES_H
#define SW_MPI_CALLS_MOVES_H

#include "known_comm.h"
#include "known_type.h"
#include "mpi/base/counts.h"

typedef struct {
    uint64_t size; /* of one block: the size of the call */
    uint64_t sent, received;
    uint64_t datatype; /* its number in the capture; 0: none */
} sw_moved_t;

/* The data that a member sends or receives: one block, or one for each rank
 * that it exchanges with. The wrapper makes it of the call's arguments. */
typedef struct {
    sw_vector_t counts; /* .width 0: `count` in every block */
    int64_t count;
    MPI_Datatype type;
    const MPI_Datatype *types; /* of each block; NULL: `type` */
} sw_moves_data_t;

#define SW_MOVES_DATA(COUNT, TYPE) \
    (&(sw_moves_data_t){.count = (int64_t)(COUNT), .type = TYPE})
#define SW_MOVES_LIST(COUNTS, TYPE) \
    (&(sw_moves_data_t){.counts = SW_VECTOR(COUNTS), .type = TYPE})
#define SW_MOVES_EACH(COUNTS, TYPES) \
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

/* Recording a call must cost far less than the call. So the compiler inlines
 * these functions, and knows the form of the data. */
#define SW_MOVES_PART static inline __attribute__((always_inline))
#define SW_MOVES SW_MOVES_PART sw_moved_t

SW_MOVES_PART uint64_t sw_moves_bytes(sw_moved_t *m, int64_t count,
                                      MPI_Datatype type)
{
    const sw_datatype_t *t = sw_known_type(type);
    uint16_t number = atomic_load_explicit(&t->number, memory_order_relaxed);
    if (number)
        m->datatype = number;
    return (uint64_t)count * t->size;
}

/* Bytes of the ith block. */
SW_MOVES_PART uint64_t sw_moves_block(sw_moved_t *m, const sw_moves_data_t *d,
                                      int i)
{
    return sw_moves_bytes(
        m, d->counts.width ? sw_counts_at(d->counts, i) : d->count, d->type);
}

/* Bytes of n blocks, and of one (the mean). */
typedef struct {
    uint64_t all, each;
} sw_moves_sum_t;

sw_moves_sum_t sw_moves_sum_list(sw_moved_t *m, const sw_moves_data_t *d,
                                 int n);
SW_MOVES_PART sw_moves_sum_t sw_moves_sum(sw_moved_t *m,
                                          const sw_moves_data_t *d, int n)
{
    if (d->counts.width)
        return sw_moves_sum_list(m, d, n);
    uint64_t bytes = sw_moves_bytes(m, d->count, d->type);
    return (sw_moves_sum_t){bytes * (uint64_t)n, bytes};
}

SW_MOVES sw_moves_bcast(const sw_known_comm_t *c, int root,
                        const sw_moves_data_t *data)
{
    sw_moved_t m = {0};
    if (sw_moves_is_idle(c, root))
        return m;
    m.size = sw_moves_block(&m, data, 0);
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
    m.size = sw_moves_block(&m, data, 0);
    m.received = is_root ? m.size : 0;
    m.sent = c->inter && is_root ? 0 : m.size;
    return m;
}

SW_MOVES sw_moves_allreduce(const sw_known_comm_t *c,
                            const sw_moves_data_t *data)
{
    sw_moved_t m = {0};
    m.size = m.sent = m.received = sw_moves_block(&m, data, 0);
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
SW_MOVES sw_moves_reduce_scatter(const sw_known_comm_t *c,
                                 const sw_moves_data_t *data)
{
    sw_moved_t m = {0};
    sw_moves_sum_t s = sw_moves_sum(&m, data, c->n);
    m.sent = s.all;
    m.size = s.each;
    m.received = sw_moves_block(&m, data, c->me);
    return m;
}

/* Of a gather or a scatter: the root has `all` blocks, of which its own may lie
 * in place; each other member has one. */
SW_MOVES_PART void sw_moves_rooted(sw_moved_t *m, const sw_known_comm_t *c,
                                   int root, bool in_place,
                                   const sw_moves_data_t *all,
                                   const sw_moves_data_t *one,
                                   uint64_t *all_bytes, uint64_t *one_bytes)
{
    if (sw_moves_is_idle(c, root))
        return;
    if (!sw_moves_is_root(c, root)) {
        m->size = *one_bytes = sw_moves_block(m, one, 0);
        return;
    }
    sw_moves_sum_t s = sw_moves_sum(m, all, c->targets);
    *all_bytes = s.all;
    m->size = s.each;
    if (!c->inter)
        *one_bytes = in_place ? sw_moves_block(m, all, c->me)
                              : sw_moves_block(m, one, 0);
}

SW_MOVES sw_moves_gather(const sw_known_comm_t *c, int root, bool in_place,
                         const sw_moves_data_t *sent,
                         const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sw_moves_rooted(&m, c, root, in_place, received, sent, &m.received,
                    &m.sent);
    return m;
}

SW_MOVES sw_moves_scatter(const sw_known_comm_t *c, int root, bool in_place,
                          const sw_moves_data_t *sent,
                          const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sw_moves_rooted(&m, c, root, in_place, sent, received, &m.sent,
                    &m.received);
    return m;
}

SW_MOVES sw_moves_allgather(const sw_known_comm_t *c, bool in_place,
                            const sw_moves_data_t *sent,
                            const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sw_moves_sum_t s = sw_moves_sum(&m, received, c->targets);
    m.received = s.all;
    m.size = s.each;
    m.sent = in_place ? sw_moves_block(&m, received, c->me)
                      : sw_moves_block(&m, sent, 0);
    return m;
}

SW_MOVES sw_moves_alltoall(const sw_known_comm_t *c, bool in_place,
                           const sw_moves_data_t *sent,
                           const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sw_moves_sum_t s = sw_moves_sum(&m, received, c->targets);
    m.received = s.all;
    m.size = s.each;
    m.sent = in_place ? s.all : sw_moves_sum(&m, sent, c->targets).all;
    return m;
}

/* Ask the host how many neighbours there are, unless a call has asked. */
static inline void sw_moves_neighbours(sw_known_comm_t *c)
{
    if (sw_unlikely(c->outs < 0))
        sw_known_comm_ask_neighbours(c);
}

SW_MOVES sw_moves_neighbor_allgather(sw_known_comm_t *c,
                                     const sw_moves_data_t *sent,
                                     const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sw_moves_neighbours(c);
    m.received = sw_moves_sum(&m, received, c->ins).all;
    m.size = m.sent = sw_moves_block(&m, sent, 0);
    return m;
}

SW_MOVES sw_moves_neighbor_alltoall(sw_known_comm_t *c,
                                    const sw_moves_data_t *sent,
                                    const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sw_moves_neighbours(c);
    m.received = sw_moves_sum(&m, received, c->ins).all;
    sw_moves_sum_t s = sw_moves_sum(&m, sent, c->outs);
    m.sent = s.all;
    m.size = s.each;
    return m;
}

/* The bytes that have come, by the status of a receive. */
uint64_t sw_moves_come(const MPI_Status *status);

#endif
