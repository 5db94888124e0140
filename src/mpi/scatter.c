/*
 * scatter.c - MPI_Scatter, MPI_Scatterv and their large forms.
 */
#include "call.h"
#include "vector.h"

static bool scatter(sw_group_t *g, const void *send, int64_t sendcount,
                    MPI_Datatype sendtype, void *recv, int64_t recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm,
                    int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from = {0}, to = {0};
    sw_blocks_t blocks = {0};
    sw_data_t rows[g->n];
    *result = MPI_SUCCESS;
    if (root < 0 || root >= g->n)
        return false;
    bool is_root = g->me == root;
    bool in_place = is_root && recv == MPI_IN_PLACE;
    if (!in_place && !sw_usable(recv, recvcount, recvtype, comm, &r, result))
        return *result != MPI_SUCCESS;
    if (is_root) {
        if ((sw_aliased(send, recv) && sendcount) ||
            !sw_usable(send, sendcount, sendtype, comm, &s, result))
            return *result != MPI_SUCCESS;
        sw_buffer_send(&from, send, sendcount * g->n, s, comm);
        blocks = sw_buffer_rows(&from, g->n, rows);
    }
    if (!in_place)
        sw_buffer_receive(&to, recv, recvcount, r, comm);
    int status = sw_coll_scatter(g, root, from.data.at, &blocks,
                                 in_place ? NULL : &to.data, to.bytes);
    sw_buffer_end(&from);
    if (!in_place)
        sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_SCATTER, comm, status);
    return true;
}

static bool scatterv(sw_group_t *g, const void *send, sw_vector_t counts,
                     sw_vector_t displs, MPI_Datatype sendtype, void *recv,
                     int64_t recvcount, MPI_Datatype recvtype, int root,
                     MPI_Comm comm, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t to = {0};
    sw_extent_t list[g->n];
    sw_data_t data[g->n];
    sw_blocks_t blocks = {0};
    *result = MPI_SUCCESS;
    if (root < 0 || root >= g->n)
        return false;
    bool is_root = g->me == root;
    bool in_place = is_root && recv == MPI_IN_PLACE;
    if (!in_place && !sw_usable(recv, recvcount, recvtype, comm, &r, result))
        return *result != MPI_SUCCESS;
    sw_vbuffer_t from = {.user = (void *)(uintptr_t)send, .counts = counts,
                         .displacements = displs, .types = &s, .same = true,
                         .n = g->n, .comm = comm};
    if (is_root) {
        if (send == MPI_IN_PLACE || !displs.at ||
            !sw_counts_ok(counts, g->n) ||
            (recvcount && sw_aliased(send, recv)) ||
            !(s = sw_datatype(sendtype, comm, result)))
            return *result != MPI_SUCCESS;
        blocks = sw_vbuffer_send(&from, false, list, data);
    }
    if (!in_place)
        sw_buffer_receive(&to, recv, recvcount, r, comm);
    int status = sw_coll_scatter(g, root, from.data, &blocks,
                                 in_place ? NULL : &to.data, to.bytes);
    if (is_root)
        sw_vbuffer_end(&from);
    if (!in_place)
        sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_SCATTERV, comm, status);
    return true;
}

#define SCATTER(NAME, COUNT)                                            \
SW_COLLECTIVE(NAME, SW_COLL_SCATTER,                                    \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, COUNT recvcount, MPI_Datatype recvtype, int root,      \
     MPI_Comm comm),                                                    \
    (send, sendcount, sendtype, recv, recvcount, recvtype, root, comm), \
    scatter(g, send, sendcount, sendtype, recv, recvcount, recvtype,    \
            root, comm, &result))

#define SCATTERV(NAME, COUNT, DISPL)                                    \
SW_COLLECTIVE(NAME, SW_COLL_SCATTERV,                                   \
    (const void *send, const COUNT counts[], const DISPL displs[],      \
     MPI_Datatype sendtype, void *recv, COUNT recvcount,                \
     MPI_Datatype recvtype, int root, MPI_Comm comm),                   \
    (send, counts, displs, sendtype, recv, recvcount, recvtype, root,   \
     comm),                                                             \
    scatterv(g, send, SW_VECTOR(counts), SW_VECTOR(displs), sendtype,   \
             recv, recvcount, recvtype, root, comm, &result))

SCATTER(Scatter, int)
SCATTERV(Scatterv, int, int)
#if SW_LARGE_COUNT
SCATTER(Scatter_c, MPI_Count)
SCATTERV(Scatterv_c, MPI_Count, MPI_Aint)
#endif
