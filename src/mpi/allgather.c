/*
 * allgather.c - MPI_Allgather, MPI_Allgatherv and their large forms.
 */
#include "call.h"
#include "vector.h"

static bool allgather(sw_group_t *g, const void *send, int64_t sendcount,
                      MPI_Datatype sendtype, void *recv, int64_t recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from = {0}, to;
    sw_data_t rows[g->n];
    bool in_place = send == MPI_IN_PLACE;
    if (!sw_usable(recv, recvcount, recvtype, comm, &r, result) ||
        (!in_place &&
         !sw_usable(send, sendcount, sendtype, comm, &s, result)) ||
        (sw_aliased(send, recv) && recvcount))
        return *result != MPI_SUCCESS;
    sw_buffer_receive(&to, recv, recvcount * g->n, r, comm);
    sw_blocks_t blocks = sw_buffer_rows(&to, g->n, rows);
    sw_data_t own = sw_block_data(&blocks, to.data.at, g->me);
    if (!in_place)
        sw_buffer_send(&from, send, sendcount, s, comm);
    else if (to.temporary)
        sw_pack(sw_element(recv, g->me * recvcount, r), recvcount, r, own.at,
                comm);
    int status = sw_coll_allgather(g, in_place ? &own : &from.data,
                                   in_place ? blocks.bytes : from.bytes,
                                   to.data.at, &blocks);
    sw_buffer_end(&from);
    sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_ALLGATHER, comm, status);
    return true;
}

static bool allgatherv(sw_group_t *g, const void *send, int64_t sendcount,
                       MPI_Datatype sendtype, void *recv, sw_vector_t counts,
                       sw_vector_t displs, MPI_Datatype recvtype,
                       MPI_Comm comm, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from = {0};
    sw_extent_t list[g->n];
    sw_data_t data[g->n];
    bool in_place = send == MPI_IN_PLACE;
    *result = MPI_SUCCESS;
    if ((!in_place &&
         !sw_usable(send, sendcount, sendtype, comm, &s, result)) ||
        recv == MPI_IN_PLACE || !displs.at || !sw_counts_ok(counts, g->n) ||
        (sendcount && sw_aliased(send, recv)) ||
        !(r = sw_datatype(recvtype, comm, result)))
        return *result != MPI_SUCCESS;
    sw_vbuffer_t to = {.user = recv, .counts = counts,
                       .displacements = displs, .types = &r, .same = true,
                       .n = g->n, .comm = comm};
    sw_blocks_t blocks = sw_vbuffer_receive(&to, list, data);
    sw_data_t own = sw_block_data(&blocks, to.data, g->me);
    if (!in_place)
        sw_buffer_send(&from, send, sendcount, s, comm);
    else if (to.temporary)
        sw_pack(sw_element(recv, sw_at(displs, g->me), r),
                sw_at(counts, g->me), r, own.at, comm);
    int status = sw_coll_allgather(g, in_place ? &own : &from.data,
                                   in_place ? list[g->me].bytes : from.bytes,
                                   to.data, &blocks);
    sw_buffer_end(&from);
    sw_vbuffer_received(&to);
    *result = sw_finish(SW_COLL_ALLGATHERV, comm, status);
    return true;
}

#define ALLGATHER(NAME, COUNT)                                          \
SW_COLLECTIVE_ROWS(NAME, SW_COLL_ALLGATHER, COUNT,                      \
    allgather(g, send, sendcount, sendtype, recv, recvcount, recvtype,  \
              comm, &result))

#define ALLGATHERV(NAME, COUNT, DISPL)                                  \
SW_COLLECTIVE_V(NAME, SW_COLL_ALLGATHERV, COUNT, DISPL,                 \
    allgatherv(g, send, sendcount, sendtype, recv, SW_VECTOR(counts),   \
               SW_VECTOR(displs), recvtype, comm, &result))

ALLGATHER(Allgather, int)
ALLGATHERV(Allgatherv, int, int)
#if SW_LARGE_COUNT
ALLGATHER(Allgather_c, MPI_Count)
ALLGATHERV(Allgatherv_c, MPI_Count, MPI_Aint)
#endif
