/*
 * scatter.c - MPI_Scatter, MPI_Scatterv and their large forms.
 */
#include "call.h"
#include "vector.h"

static bool scatter(sw_comm_t *c, const void *send, int64_t sendcount,
                    MPI_Datatype sendtype, void *recv, int64_t recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm,
                    sw_reason_t *reason, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from = {0}, to = {0};
    sw_blocks_t blocks = {0};
    SW_ARRAY(sw_data_t, rows, c->n);
    *result = MPI_SUCCESS;
    if (root < 0 || root >= c->n)
        return false;
    bool is_root = c->me == root;
    bool in_place = is_root && recv == MPI_IN_PLACE;
    if (!in_place && !sw_usable(recv, recvcount, recvtype, comm, &r, result))
        return *result != MPI_SUCCESS;
    if (is_root &&
        (!sw_usable(send, sendcount, sendtype, comm, &s, result) ||
         (!in_place && sw_aliased_block(recv, recvcount, recvtype, send,
                                        root * sendcount, sendcount,
                                        sendtype, s))))
        return *result != MPI_SUCCESS;
    size_t bytes = in_place ? (size_t)sendcount * s->size
                            : (size_t)recvcount * r->size;
    if (!sw_ready(c, SW_COLL_SCATTER, bytes, reason))
        return false;
    if (is_root) {
        sw_buffer_send(&from, send, sendcount * c->n, s, comm);
        blocks = sw_buffer_rows(&from, c->n, rows);
    }
    if (!in_place)
        sw_buffer_receive(&to, recv, recvcount, r, comm);
    const sw_data_t *own = in_place ? NULL : &to.data;
    int status =
        c->ring ? sw_coll_scatter(c->ring, root, from.data.at, &blocks, own,
                                  to.bytes)
                : sw_span_scatter(c->span, root, from.data.at, &blocks, own,
                                  bytes);
    sw_buffer_end(&from);
    if (!in_place)
        sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_SCATTER, comm, status);
    return true;
}

static bool scatterv(sw_comm_t *c, const void *send, sw_vector_t counts,
                     sw_vector_t displs, MPI_Datatype sendtype, void *recv,
                     int64_t recvcount, MPI_Datatype recvtype, int root,
                     MPI_Comm comm, sw_reason_t *reason, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t to = {0};
    SW_ARRAY(sw_extent_t, list, c->n);
    SW_ARRAY(sw_data_t, data, c->n);
    sw_blocks_t blocks = {0};
    *result = MPI_SUCCESS;
    if (root < 0 || root >= c->n)
        return false;
    bool is_root = c->me == root;
    bool in_place = is_root && recv == MPI_IN_PLACE;
    if (!in_place && !sw_usable(recv, recvcount, recvtype, comm, &r, result))
        return *result != MPI_SUCCESS;
    sw_vbuffer_t from = {.user = (void *)(uintptr_t)send, .counts = counts,
                         .displacements = displs, .types = &s, .same = true,
                         .n = c->n, .comm = comm};
    if (is_root && (send == MPI_IN_PLACE || !displs.at ||
                    !sw_counts_ok(counts, c->n) ||
                    !(s = sw_datatype(sendtype, comm, result)) ||
                    (!in_place && sw_aliased_block(
                        recv, recvcount, recvtype, send, sw_at(displs, root),
                        sw_at(counts, root), sendtype, s))))
        return *result != MPI_SUCCESS;
    if (!sw_ready(c, SW_COLL_SCATTERV, 0, reason))
        return false;
    if (is_root)
        blocks = sw_vbuffer_send(&from, false, list, data);
    if (!in_place)
        sw_buffer_receive(&to, recv, recvcount, r, comm);
    const sw_data_t *own = in_place ? NULL : &to.data;
    int status =
        c->ring ? sw_coll_scatter(c->ring, root, from.data, &blocks, own,
                                  to.bytes)
                : sw_span_scatterv(c->span, root, from.data, &blocks, own,
                                   to.bytes);
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
    scatter(c, send, sendcount, sendtype, recv, recvcount, recvtype,    \
            root, comm, &reason, &result))

#define SCATTERV(NAME, COUNT, DISPL)                                    \
SW_COLLECTIVE(NAME, SW_COLL_SCATTERV,                                   \
    (const void *send, const COUNT counts[], const DISPL displs[],      \
     MPI_Datatype sendtype, void *recv, COUNT recvcount,                \
     MPI_Datatype recvtype, int root, MPI_Comm comm),                   \
    (send, counts, displs, sendtype, recv, recvcount, recvtype, root,   \
     comm),                                                             \
    scatterv(c, send, SW_VECTOR(counts), SW_VECTOR(displs), sendtype,   \
             recv, recvcount, recvtype, root, comm, &reason, &result))

SCATTER(Scatter, int)
SCATTERV(Scatterv, int, int)
#if SW_LARGE_COUNT
SCATTER(Scatter_c, MPI_Count)
SCATTERV(Scatterv_c, MPI_Count, MPI_Aint)
#endif
