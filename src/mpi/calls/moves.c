/*
 * moves.c - see moves.h.
 */
#include "moves.h"

#include "mpi/p2p/fetch.h"

typedef struct {
    uint64_t all, each;         /* of all blocks, and of one (the mean) */
} sum_t;

/* Bytes of a member's own block. */
static uint64_t block(sw_moved_t *m, const sw_moves_data_t *p, int i)
{
    int64_t count = p->counts.width ? sw_at(p->counts, i) : p->count;
    return sw_moves_bytes(m, &(sw_moves_data_t){.count = count, .type = p->type});
}

/* A block of no elements may have any type. */
static sum_t sum(sw_moved_t *m, const sw_moves_data_t *p, int n)
{
    uint64_t bytes = 0;
    int64_t count = 0;
    if (!p->counts.width) {
        bytes = sw_moves_bytes(m, p);
        return (sum_t){bytes * (uint64_t)n, bytes};
    }
    for (int i = 0; i < n; i++) {
        int64_t more = sw_at(p->counts, i);
        count += more;
        if (p->types && more)
            bytes += sw_moves_bytes(m, &(sw_moves_data_t){.count = more,
                                                    .type = p->types[i]});
    }
    if (!p->types)
        bytes = sw_moves_bytes(m, &(sw_moves_data_t){.count = count,
                                               .type = p->type});
    return (sum_t){bytes, n > 0 ? bytes / (uint64_t)n : 0};
}

sw_moved_t sw_moves_reduce_scatter(const sw_known_comm_t *c,
                                   const sw_moves_data_t *data)
{
    sw_moved_t m = {0};
    sum_t s = sum(&m, data, c->n);
    m.sent = s.all;
    m.size = s.each;
    m.received = block(&m, data, c->me);
    return m;
}

/* Of a gather or a scatter: the root has `all` blocks, of which its own may
 * lie in place; the other members have one. */
static void rooted(sw_moved_t *m, const sw_known_comm_t *c, int root,
                   bool in_place, const sw_moves_data_t *all, const sw_moves_data_t *one,
                   uint64_t *all_bytes, uint64_t *one_bytes)
{
    if (sw_moves_is_idle(c, root))
        return;
    if (!sw_moves_is_root(c, root)) {
        m->size = *one_bytes = sw_moves_bytes(m, one);
        return;
    }
    sum_t s = sum(m, all, c->targets);
    *all_bytes = s.all;
    m->size = s.each;
    if (!c->inter)
        *one_bytes = in_place ? block(m, all, c->me) : sw_moves_bytes(m, one);
}

sw_moved_t sw_moves_gather(const sw_known_comm_t *c, int root, bool in_place,
                           const sw_moves_data_t *sent, const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    rooted(&m, c, root, in_place, received, sent, &m.received, &m.sent);
    return m;
}

sw_moved_t sw_moves_scatter(const sw_known_comm_t *c, int root, bool in_place,
                            const sw_moves_data_t *sent, const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    rooted(&m, c, root, in_place, sent, received, &m.sent, &m.received);
    return m;
}

sw_moved_t sw_moves_allgather(const sw_known_comm_t *c, bool in_place,
                              const sw_moves_data_t *sent, const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sum_t s = sum(&m, received, c->targets);
    m.received = s.all;
    m.size = s.each;
    m.sent = in_place ? block(&m, received, c->me) : sw_moves_bytes(&m, sent);
    return m;
}

sw_moved_t sw_moves_alltoall(const sw_known_comm_t *c, bool in_place,
                             const sw_moves_data_t *sent, const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    sum_t s = sum(&m, received, c->targets);
    m.received = s.all;
    m.size = s.each;
    m.sent = in_place ? s.all : sum(&m, sent, c->targets).all;
    return m;
}

static void ask_neighbours(sw_known_comm_t *c)
{
    if (c->outs < 0)
        sw_known_comm_ask_neighbours(c);
}

sw_moved_t sw_moves_neighbor_allgather(sw_known_comm_t *c,
                                       const sw_moves_data_t *sent,
                                       const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    ask_neighbours(c);
    m.received = sum(&m, received, c->ins).all;
    m.size = m.sent = sw_moves_bytes(&m, sent);
    return m;
}

sw_moved_t sw_moves_neighbor_alltoall(sw_known_comm_t *c,
                                      const sw_moves_data_t *sent,
                                      const sw_moves_data_t *received)
{
    sw_moved_t m = {0};
    ask_neighbours(c);
    m.received = sum(&m, received, c->ins).all;
    sum_t s = sum(&m, sent, c->outs);
    m.sent = s.all;
    m.size = s.each;
    return m;
}

uint64_t sw_moves_come(const MPI_Status *status)
{
    /* Where headers show it, as their binary interfaces promise. */
#if defined(OMPI_MAJOR_VERSION)
    return status->_ucount;
#elif defined(MPICH_NUMVERSION) && !defined(MPI_ABI)
    return (uint64_t)(uint32_t)(status->count_hi_and_cancelled >> 1) << 32 |
           (uint32_t)status->count_lo;
#endif
    size_t bytes = sw_status_bytes(status);
#ifdef SW_HAS_Get_elements_x
    MPI_Count many = 0;
    if (sw_unlikely(bytes == SIZE_MAX) && host.Get_elements_x &&
        host.Get_elements_x(status, MPI_BYTE, &many) == MPI_SUCCESS)
        bytes = many < 0 ? 0 : (size_t)many;
#endif
    return bytes == SIZE_MAX ? 0 : bytes;
}
