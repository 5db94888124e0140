/*
 * gather.c - MPI_Gather, MPI_Gatherv and their large forms.
 */
#include "call.h"
#include "vector.h"

static bool gather(sw_comm_t *c, const void *send, int64_t sendcount,
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
    bool in_place = is_root && send == MPI_IN_PLACE;
    if (!in_place && !sw_usable(send, sendcount, sendtype, comm, &s, result))
        return *result != MPI_SUCCESS;
    if (is_root &&
        (!sw_usable(recv, recvcount, recvtype, comm, &r, result) ||
         (!in_place && sw_aliased_block(send, sendcount, sendtype, recv,
                                        root * recvcount, recvcount,
                                        recvtype, r))))
        return *result != MPI_SUCCESS;
    size_t bytes = in_place ? (size_t)recvcount * r->size
                            : (size_t)sendcount * s->size;
    if (!sw_ready(c, SW_COLL_GATHER, bytes, reason))
        return false;
    if (is_root) {
        sw_buffer_receive(&to, recv, recvcount * c->n, r, comm);
        blocks = sw_buffer_rows(&to, c->n, rows);
    }
    if (in_place) {
        from.data = sw_block_data(&blocks, to.data.at, root);
        from.bytes = blocks.bytes;
        if (to.temporary)
            sw_pack(sw_element(recv, (int64_t)root * recvcount, r), recvcount,
                    r, from.data.at, comm);
    } else {
        sw_buffer_send(&from, send, sendcount, s, comm);
    }
    int status =
        c->ring ? sw_coll_gather(c->ring, root, &from.data, from.bytes,
                                 to.data.at, &blocks)
                : sw_span_gather(c->span, root, &from.data, from.bytes,
                                 to.data.at, &blocks);
    sw_buffer_end(&from);
    if (is_root)
        sw_buffer_received(&to);
    *result = sw_finish(SW_COLL_GATHER, comm, status);
    return true;
}

static bool gatherv(sw_comm_t *c, const void *send, int64_t sendcount,
                    MPI_Datatype sendtype, void *recv, sw_vector_t counts,
                    sw_vector_t displs, MPI_Datatype recvtype, int root,
                    MPI_Comm comm, sw_reason_t *reason, int *result)
{
    const sw_datatype_t *s = NULL, *r = NULL;
    sw_buffer_t from = {0};
    sw_blocks_t blocks = {0};
    SW_ARRAY(sw_extent_t, list, c->n);
    SW_ARRAY(sw_data_t, data, c->n);
    *result = MPI_SUCCESS;
    if (root < 0 || root >= c->n)
        return false;
    bool is_root = c->me == root;
    bool in_place = is_root && send == MPI_IN_PLACE;
    if (!in_place && !sw_usable(send, sendcount, sendtype, comm, &s, result))
        return *result != MPI_SUCCESS;
    sw_vbuffer_t to = {.user = recv, .counts = counts,
                       .displacements = displs, .types = &r, .same = true,
                       .n = c->n, .comm = comm};
    if (is_root && (recv == MPI_IN_PLACE || !displs.at ||
                    !sw_counts_ok(counts, c->n) ||
                    !(r = sw_datatype(recvtype, comm, result)) ||
                    (!in_place && sw_aliased_block(
                        send, sendcount, sendtype, recv, sw_at(displs, root),
                        sw_at(counts, root), recvtype, r))))
        return *result != MPI_SUCCESS;
    if (!sw_ready(c, SW_COLL_GATHERV, 0, reason))
        return false;
    if (is_root)
        blocks = sw_vbuffer_receive(&to, list, data);
    if (in_place) {
        from.data = sw_block_data(&blocks, to.data, root);
        from.bytes = list[root].bytes;
        if (to.temporary)
            sw_pack(sw_element(recv, sw_at(displs, root), r),
                    sw_at(counts, root), r, from.data.at, comm);
    } else {
        sw_buffer_send(&from, send, sendcount, s, comm);
    }
    int status =
        c->ring ? sw_coll_gatherv(c->ring, root, &from.data, from.bytes,
                                  to.data, &blocks)
                : sw_span_gatherv(c->span, root, &from.data, from.bytes,
                                  to.data, &blocks);
    sw_buffer_end(&from);
    if (is_root)
        sw_vbuffer_received(&to);
    *result = sw_finish(SW_COLL_GATHERV, comm, status);
    return true;
}

#define GATHER(NAME, COUNT)                                             \
SW_COLLECTIVE(NAME, SW_COLL_GATHER,                                     \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, COUNT recvcount, MPI_Datatype recvtype, int root,      \
     MPI_Comm comm),                                                    \
    (send, sendcount, sendtype, recv, recvcount, recvtype, root, comm), \
    gather(c, send, sendcount, sendtype, recv, recvcount, recvtype,     \
           root, comm, &reason, &result))

#define GATHERV(NAME, COUNT, DISPL)                                     \
SW_COLLECTIVE(NAME, SW_COLL_GATHERV,                                    \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, const COUNT counts[], const DISPL displs[],            \
     MPI_Datatype recvtype, int root, MPI_Comm comm),                   \
    (send, sendcount, sendtype, recv, counts, displs, recvtype, root,   \
     comm),                                                             \
    gatherv(c, send, sendcount, sendtype, recv, SW_VECTOR(counts),      \
            SW_VECTOR(displs), recvtype, root, comm, &reason, &result))

GATHER(Gather, int)
GATHERV(Gatherv, int, int)
#if SW_LARGE_COUNT
GATHER(Gather_c, MPI_Count)
GATHERV(Gatherv_c, MPI_Count, MPI_Aint)
#endif
