/*
 * coll.h - the collectives, as the MPI room calls them.
 *
 * All sizes are in bytes. Buffers are contiguous, or what layouts pick
 * (layout/data.h): the caller has decoded the datatypes. All members of the
 * sequence's team call the same functions for it, in the same order.
 * Each returns SW_OK or what went wrong here (sequence.h). In both cases the
 * collective has run to its end, so no other member hangs.
 *
 * No member waits for a member that it receives nothing from.
 *
 * All members choose the same algorithm, since the choice depends only on what
 * all know: the team, the collective and the size by signature. Where sizes may
 * differ (the v-variants) each member describes its own part, and readers
 * follow.
 */
#ifndef SW_COLL_COLL_H
#define SW_COLL_COLL_H

#include "reducer.h"

#include "contract/collectives.h"

/* Where each member's block lies in a buffer of n blocks: equal blocks side
 * by side, or as listed; or each as its own layout says. */
typedef struct {
    int64_t offset; /* from the buffer; may be negative */
    uint64_t bytes;
} sw_extent_t;

typedef struct {
    size_t bytes;            /* of every block, where `list` is NULL */
    const sw_extent_t *list; /* [n], or NULL */
    const sw_data_t *data;   /* [n], or NULL; then there are no offsets */
} sw_blocks_t;

static inline sw_extent_t sw_block(const sw_blocks_t *blocks, int i)
{
    if (blocks->list)
        return blocks->list[i];
    return (sw_extent_t){(int64_t)((size_t)i * blocks->bytes), blocks->bytes};
}

/* Where block i of a buffer lies. */
static inline sw_data_t sw_block_data(const sw_blocks_t *blocks,
                                      const void *buffer, int i)
{
    if (sw_unlikely(blocks->data != NULL))
        return blocks->data[i];
    return sw_data_plain((const char *)buffer + sw_block(blocks, i).offset);
}

/* A collective that moves blocks, as data sees it: a member's part of a Barrier
 * (without any), Bcast, Gather, Scatter, Allgather or Alltoall, and of their
 * variants. `send` and `recv` are what its blocks count from. Of a block for
 * all, or from all, there is one, without a list. A member that sends none, or
 * receives none, has one of 0 bytes. */
typedef struct {
    sw_collective_t id;
    int root; /* of rooted ones */
    const void *send;
    void *recv;
    sw_blocks_t sends, recvs;
    bool in_place; /* its own block is where it belongs */
} sw_coll_move_t;

/* One that reduces. */
typedef struct {
    sw_collective_t id;
    int root; /* of Reduce */
    const sw_reducer_t *reducer;
    const void *in;       /* may be `out` */
    void *out;            /* NULL: this member gets no result */
    size_t n;             /* elements; of a scattered result: in all */
    const size_t *counts; /* of a scattered result; NULL: `each` */
    size_t each;
} sw_coll_fold_t;

/* One of these carries it out in a sequence. */
SW_API int sw_coll_barrier(sw_sequence_t *seq);
SW_API int sw_coll_bcast(sw_sequence_t *seq, int root, const sw_data_t *buffer,
                         size_t bytes);

/* Each member's block, of `bytes` bytes, goes to the root. `send` at the root
 * may be its own block of `recv` (MPI_IN_PLACE). The root alone knows all
 * `blocks`; in Gather they are equal. */
SW_API int sw_coll_gather(sw_sequence_t *seq, int root, const sw_data_t *send,
                          size_t bytes, void *recv, const sw_blocks_t *blocks);
SW_API int sw_coll_gatherv(sw_sequence_t *seq, int root, const sw_data_t *send,
                           size_t bytes, void *recv, const sw_blocks_t *blocks);
/* Scatter and Scatterv: the root describes the blocks, the others follow.
 * `recv` at the root may be NULL (MPI_IN_PLACE). */
SW_API int sw_coll_scatter(sw_sequence_t *seq, int root, const void *send,
                           const sw_blocks_t *blocks, const sw_data_t *recv,
                           size_t bytes);
/* Allgather and Allgatherv. `send` may be its block of `recv`. */
SW_API int sw_coll_allgather(sw_sequence_t *seq, const sw_data_t *send,
                             size_t bytes, void *recv,
                             const sw_blocks_t *blocks);
/* Alltoall, Alltoallv and Alltoallw. `send` and `recv` do not overlap. */
SW_API int sw_coll_alltoall(sw_sequence_t *seq, const void *send,
                            const sw_blocks_t *sends, void *recv,
                            const sw_blocks_t *recvs);

/* The neighbourhood collectives, each for its variants, over seq->neighbours.
 * Allgather sends one block on all edges of `out`; alltoall sends one on each,
 * and `sends` has a block for each. `recvs` has a block for each edge of `in`
 * (0 bytes: nothing comes). index[i] tells which of its sender's blocks comes
 * on edge i of `in`. `send` overlaps no memory that is written. */
SW_API int sw_coll_neighbor_allgather(sw_sequence_t *seq, const sw_data_t *send,
                                      size_t bytes, void *recv,
                                      const sw_blocks_t *recvs);
SW_API int sw_coll_neighbor_alltoall(sw_sequence_t *seq, const void *send,
                                     const sw_blocks_t *sends, const int *index,
                                     void *recv, const sw_blocks_t *recvs);

/* n elements; `in` may be `out`. */
SW_API int sw_coll_reduce(sw_sequence_t *seq, int root, const sw_reducer_t *r,
                          const void *in, void *out, size_t n);
/* Finds the largest of the members' numbers, with little of the stack. */
SW_API int sw_coll_most(sw_sequence_t *seq, int32_t mine, int32_t *most);
SW_API int sw_coll_allreduce(sw_sequence_t *seq, const sw_reducer_t *r,
                             const void *in, void *out, size_t n);
/* Member i gets counts[i] elements; block_count each where counts is NULL.
 * `in` may be `out`. */
SW_API int sw_coll_reduce_scatter(sw_sequence_t *seq, const sw_reducer_t *r,
                                  const void *in, void *out,
                                  const size_t *counts, size_t block_count);
/* Inclusive, or exclusive: then member 0's `out` is left alone. */
SW_API int sw_coll_scan(sw_sequence_t *seq, bool exclusive,
                        const sw_reducer_t *r, const void *in, void *out,
                        size_t n);

#endif
