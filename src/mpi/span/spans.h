/*
 * spans.h - the collectives over several nodes, as mpi/coll calls them.
 *
 * They correspond to those of coll/coll.h, with the same arguments. A team
 * carries out the part inside a node, and the host the part between nodes, on
 * the span's lanes (mpi/base/span.h). Members that have no part in that sleep
 * in their sequence. Members with a lane start the host's nonblocking
 * collective and test it, so that they still serve their peers (await.h).
 *
 * The gate. In a rooted collective one member of each node stands at the lane:
 * the one with the root's number, or the leader where there is no such lane.
 *
 * Each returns SW_OK or what went wrong here. In both cases the collective has
 * run to its end.
 */
#ifndef SW_MPI_SPAN_SPANS_H
#define SW_MPI_SPAN_SPANS_H

#include "mpi/base/comm.h"
#include "mpi/base/op.h"

/* Does the span serve this call? `reducer`: of a reduction. False, with the
 * reason: the host does. All members answer alike. Counts the call, and asks
 * the members now and then about devices (mpi/base/reach.h). */
bool sw_span_ready(sw_comm_t *c, sw_collective_t id, size_t bytes,
                   const sw_reducer_t *reducer, sw_reason_t *reason);

/* Carry a member's part out (coll/coll.h). `key`: the bytes that sw_span_ready
 * was asked with. SW_SPAN_DECLINED: of an Alltoallv or Alltoallw no member knew
 * how large the whole is, but all know now, and the host serves. */
enum { SW_SPAN_DECLINED = -1 };
int sw_span_move(sw_span_t *s, const sw_coll_move_t *m, size_t key);
int sw_span_fold(sw_span_t *s, const sw_coll_fold_t *f,
                 const sw_operation_t *o);

/* They do it by one of these. */
int sw_span_barrier(sw_span_t *s);
int sw_span_bcast(sw_span_t *s, int root, const sw_data_t *buffer,
                  size_t bytes);
int sw_span_gather(sw_span_t *s, int root, const sw_data_t *send, size_t bytes,
                   void *recv, const sw_blocks_t *blocks);
int sw_span_gatherv(sw_span_t *s, int root, const sw_data_t *send, size_t bytes,
                    void *recv, const sw_blocks_t *blocks);
/* `bytes`: this member's block, with MPI_IN_PLACE, too. */
int sw_span_scatter(sw_span_t *s, int root, const void *send,
                    const sw_blocks_t *blocks, const sw_data_t *recv,
                    size_t bytes);
int sw_span_scatterv(sw_span_t *s, int root, const void *send,
                     const sw_blocks_t *blocks, const sw_data_t *recv,
                     size_t bytes);
/* Allgather and Allgatherv. `key`: see sw_span_move. */
int sw_span_allgather(sw_span_t *s, sw_collective_t id, size_t key,
                      const sw_data_t *send, size_t bytes, void *recv,
                      const sw_blocks_t *blocks);
int sw_span_alltoall(sw_span_t *s, const void *send, const sw_blocks_t *sends,
                     void *recv, const sw_blocks_t *recvs);
/* Alltoallv and Alltoallw: may decline. */
int sw_span_alltoallv(sw_span_t *s, sw_collective_t id, const void *send,
                      const sw_blocks_t *sends, void *recv,
                      const sw_blocks_t *recvs);

int sw_span_reduce(sw_span_t *s, int root, const sw_operation_t *o,
                   const void *in, void *out, size_t n);
int sw_span_allreduce(sw_span_t *s, const sw_operation_t *o, const void *in,
                      void *out, size_t n);
int sw_span_reduce_scatter(sw_span_t *s, const sw_operation_t *o,
                           const void *in, void *out, const size_t *counts);
int sw_span_scan(sw_span_t *s, bool exclusive, const sw_operation_t *o,
                 const void *in, void *out, size_t n);

/* The largest of the members' numbers. */
int sw_span_most(sw_span_t *s, int32_t mine, int32_t *most);

#endif
