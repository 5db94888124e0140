/*
 * allgather.c - MPI_Allgather, MPI_Allgatherv, in all their forms.
 */
#include "started.h"

/* Once the arguments are described. `key`: what the members were asked with. */
static int gather(const sw_comm_t *c, sw_collective_t id, size_t key,
                  const sw_data_t *send, size_t bytes, void *recv,
                  const sw_blocks_t *blocks)
{
    return c->ring ? sw_coll_allgather(c->ring, send, bytes, recv, blocks)
                   : sw_span_allgather(c->span, id, key, send, bytes, recv,
                                       blocks);
}

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
        (!in_place &&
         sw_aliased_block(SW_COLL_ALLGATHER, send, sendcount, sendtype, recv,
                          c->me * recvcount, recvcount, recvtype, r)))
        return false;
    *m = (sw_move_t){.id = SW_COLL_ALLGATHER, .in_place = in_place,
                     .send = send, .sendcount = sendcount, .s = s,
                     .recv = recv, .recvcount = recvcount, .r = r};
    return true;
}

static bool checkv(sw_comm_t *c, const void *send, int64_t sendcount,
                   MPI_Datatype sendtype, void *recv, sw_vector_t counts,
                   sw_vector_t displs, MPI_Datatype recvtype, MPI_Comm comm,
                   sw_move_t *m, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    bool in_place = send == MPI_IN_PLACE;
    if ((!in_place &&
         !sw_usable(send, sendcount, sendtype, comm, &s, result)) ||
        recv == MPI_IN_PLACE || !sw_lists_ok(counts, displs, c->n) ||
        !(r = sw_datatype(recvtype, comm, result)) ||
        (!in_place &&
         sw_aliased_block(SW_COLL_ALLGATHERV, send, sendcount, sendtype, recv,
                          sw_displ(displs, c->me), sw_at(counts, c->me),
                          recvtype, r)))
        return false;
    *m = (sw_move_t){.id = SW_COLL_ALLGATHERV, .in_place = in_place,
                     .send = send, .sendcount = sendcount, .s = s,
                     .recv = recv, .recvcounts = counts, .rdispls = displs,
                     .r = r};
    return true;
}

static bool allgather(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                      sw_reason_t *reason, int *result)
{
    sw_buffer_t from = {0}, to;
    SW_ARRAY(sw_data_t, rows, c->n);
    int64_t count = m->recvcount;
    if (!sw_ready(c, SW_COLL_ALLGATHER, (size_t)count * m->r->size, reason))
        return false;
    sw_buffer_receive(&to, m->recv, count * c->n, m->r, comm);
    sw_blocks_t blocks = sw_buffer_rows(&to, c->n, rows);
    sw_data_t own = sw_block_data(&blocks, to.data.at, c->me);
    if (!m->in_place)
        sw_buffer_send(&from, m->send, m->sendcount, m->s, comm);
    else if (to.temporary)
        sw_pack(sw_element(m->recv, c->me * count, m->r), count, m->r, own.at,
                comm);
    int status = gather(c, SW_COLL_ALLGATHER, blocks.bytes,
                        m->in_place ? &own : &from.data,
                        m->in_place ? blocks.bytes : from.bytes, to.data.at,
                        &blocks);
    sw_buffer_end(&from);
    sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_ALLGATHER, comm, status);
    return true;
}

/* The mean block's bytes, by which a span goes. A ring needs none. */
static size_t mean(const sw_comm_t *c, sw_vector_t counts, size_t size)
{
    size_t total = 0;
    for (int i = 0; i < c->n && !c->ring; i++)
        total += (size_t)sw_at(counts, i) * size;
    return total / (size_t)c->n;
}

static bool allgatherv(sw_comm_t *c, const sw_move_t *m, MPI_Comm comm,
                       sw_reason_t *reason, int *result)
{
    sw_buffer_t from = {0};
    SW_ARRAY(sw_extent_t, list, c->n);
    SW_ARRAY(sw_data_t, data, c->n);
    size_t key = mean(c, m->recvcounts, m->r->size);
    if (!sw_ready(c, SW_COLL_ALLGATHERV, key, reason))
        return false;
    sw_vbuffer_t to = sw_move_recvs(m, c->n, comm);
    sw_blocks_t blocks = sw_vbuffer_receive(&to, list, data);
    sw_data_t own = sw_block_data(&blocks, to.data, c->me);
    if (!m->in_place)
        sw_buffer_send(&from, m->send, m->sendcount, m->s, comm);
    else if (to.temporary)
        sw_pack(sw_element(m->recv, sw_at(m->rdispls, c->me), m->r),
                sw_at(m->recvcounts, c->me), m->r, own.at, comm);
    int status = gather(c, SW_COLL_ALLGATHERV, key,
                        m->in_place ? &own : &from.data,
                        m->in_place ? list[c->me].bytes : from.bytes, to.data,
                        &blocks);
    sw_buffer_end(&from);
    sw_vbuffer_received(&to);
    *result = sw_finish(SW_COLL_ALLGATHERV, comm, status);
    return true;
}

#define ALLGATHER(NAME, INAME, INIT, COUNT)                             \
SW_MOVES(NAME, INAME, INIT, SW_COLL_ALLGATHER, SW_ROWS(COUNT), SW_ROWS_NAMES, \
    check(c, send, sendcount, sendtype, recv, recvcount, recvtype,      \
          comm, k, &result), allgather)

#define ALLGATHERV(NAME, INAME, INIT, COUNT, DISPL)                     \
SW_MOVES(NAME, INAME, INIT, SW_COLL_ALLGATHERV, SW_LISTED(COUNT, DISPL), \
    SW_LISTED_NAMES,                                                    \
    checkv(c, send, sendcount, sendtype, recv, SW_VECTOR(counts),       \
           SW_VECTOR(displs), recvtype, comm, k, &result), allgatherv)

ALLGATHER(Allgather, Iallgather, Allgather_init, int)
ALLGATHERV(Allgatherv, Iallgatherv, Allgatherv_init, int, int)
#if SW_LARGE_COUNT
ALLGATHER(Allgather_c, Iallgather_c, Allgather_init_c, MPI_Count)
ALLGATHERV(Allgatherv_c, Iallgatherv_c, Allgatherv_init_c, MPI_Count, MPI_Aint)
#endif
