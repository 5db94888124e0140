/*
 * allgather.c - MPI_Allgather, MPI_Allgatherv and their large forms.
 */
#include "call.h"
#include "vector.h"

/* Once the arguments are described. `key`: what the members were asked with. */
static int gather(const sw_comm_t *c, sw_collective_t id, size_t key,
                  const sw_data_t *send, size_t bytes, void *recv,
                  const sw_blocks_t *blocks)
{
    return c->ring ? sw_coll_allgather(c->ring, send, bytes, recv, blocks)
                   : sw_span_allgather(c->span, id, key, send, bytes, recv,
                                       blocks);
}

static bool allgather(sw_comm_t *c, const void *send, int64_t sendcount,
                      MPI_Datatype sendtype, void *recv, int64_t recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm,
                      sw_reason_t *reason, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from = {0}, to;
    SW_ARRAY(sw_data_t, rows, c->n);
    bool in_place = send == MPI_IN_PLACE;
    if (!sw_usable(recv, recvcount, recvtype, comm, &r, result) ||
        (!in_place &&
         !sw_usable(send, sendcount, sendtype, comm, &s, result)) ||
        (!in_place && sw_aliased_block(send, sendcount, sendtype, recv,
                                       c->me * recvcount, recvcount,
                                       recvtype, r)))
        return *result != MPI_SUCCESS;
    if (!sw_ready(c, SW_COLL_ALLGATHER, (size_t)recvcount * r->size, reason))
        return false;
    sw_buffer_receive(&to, recv, recvcount * c->n, r, comm);
    sw_blocks_t blocks = sw_buffer_rows(&to, c->n, rows);
    sw_data_t own = sw_block_data(&blocks, to.data.at, c->me);
    if (!in_place)
        sw_buffer_send(&from, send, sendcount, s, comm);
    else if (to.temporary)
        sw_pack(sw_element(recv, c->me * recvcount, r), recvcount, r, own.at,
                comm);
    int status = gather(c, SW_COLL_ALLGATHER, blocks.bytes,
                        in_place ? &own : &from.data,
                        in_place ? blocks.bytes : from.bytes, to.data.at,
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

static bool allgatherv(sw_comm_t *c, const void *send, int64_t sendcount,
                       MPI_Datatype sendtype, void *recv, sw_vector_t counts,
                       sw_vector_t displs, MPI_Datatype recvtype,
                       MPI_Comm comm, sw_reason_t *reason, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from = {0};
    SW_ARRAY(sw_extent_t, list, c->n);
    SW_ARRAY(sw_data_t, data, c->n);
    bool in_place = send == MPI_IN_PLACE;
    *result = MPI_SUCCESS;
    if ((!in_place &&
         !sw_usable(send, sendcount, sendtype, comm, &s, result)) ||
        recv == MPI_IN_PLACE || !displs.at || !sw_counts_ok(counts, c->n) ||
        !(r = sw_datatype(recvtype, comm, result)) ||
        (!in_place && sw_aliased_block(send, sendcount, sendtype, recv,
                                       sw_at(displs, c->me),
                                       sw_at(counts, c->me), recvtype, r)))
        return *result != MPI_SUCCESS;
    size_t key = mean(c, counts, r->size);
    if (!sw_ready(c, SW_COLL_ALLGATHERV, key, reason))
        return false;
    sw_vbuffer_t to = {.user = recv, .counts = counts,
                       .displacements = displs, .types = &r, .same = true,
                       .n = c->n, .comm = comm};
    sw_blocks_t blocks = sw_vbuffer_receive(&to, list, data);
    sw_data_t own = sw_block_data(&blocks, to.data, c->me);
    if (!in_place)
        sw_buffer_send(&from, send, sendcount, s, comm);
    else if (to.temporary)
        sw_pack(sw_element(recv, sw_at(displs, c->me), r),
                sw_at(counts, c->me), r, own.at, comm);
    int status = gather(c, SW_COLL_ALLGATHERV, key,
                        in_place ? &own : &from.data,
                        in_place ? list[c->me].bytes : from.bytes, to.data,
                        &blocks);
    sw_buffer_end(&from);
    sw_vbuffer_received(&to);
    *result = sw_finish(SW_COLL_ALLGATHERV, comm, status);
    return true;
}

#define ALLGATHER(NAME, COUNT)                                          \
SW_COLLECTIVE_ROWS(NAME, SW_COLL_ALLGATHER, COUNT,                      \
    allgather(c, send, sendcount, sendtype, recv, recvcount, recvtype,  \
              comm, &reason, &result))

#define ALLGATHERV(NAME, COUNT, DISPL)                                  \
SW_COLLECTIVE_V(NAME, SW_COLL_ALLGATHERV, COUNT, DISPL,                 \
    allgatherv(c, send, sendcount, sendtype, recv, SW_VECTOR(counts),   \
               SW_VECTOR(displs), recvtype, comm, &reason, &result))

ALLGATHER(Allgather, int)
ALLGATHERV(Allgatherv, int, int)
#if SW_LARGE_COUNT
ALLGATHER(Allgather_c, MPI_Count)
ALLGATHERV(Allgatherv_c, MPI_Count, MPI_Aint)
#endif
