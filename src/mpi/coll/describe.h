/*
 * describe.h - what the arguments of each collective say: a function for each,
 * with the parameters of the standard.
 *
 * Each returns true if this member's arguments are right, and has then
 * described them in the call. It involves no other member. False: the host is
 * to judge, or has raised its error (k->result).
 *
 * A description has only what MPI reads: of a gather, the root alone has
 * something to receive.
 */
#ifndef SW_MPI_COLL_DESCRIBE_H
#define SW_MPI_COLL_DESCRIBE_H

#include "call.h"
#include "lift.h"
#include "mpi/base/counts.h"

bool sw_barrier(sw_coll_call_t *k);

bool sw_bcast(sw_coll_call_t *k, void *buffer, int64_t count,
              MPI_Datatype datatype, int root);

bool sw_gather(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
               MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
               MPI_Datatype recvtype, int root);
bool sw_gatherv(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                MPI_Datatype sendtype, void *recvbuf, sw_vector_t recvcounts,
                sw_vector_t displs, MPI_Datatype recvtype, int root);

bool sw_scatter(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                MPI_Datatype recvtype, int root);
bool sw_scatterv(sw_coll_call_t *k, const void *sendbuf, sw_vector_t sendcounts,
                 sw_vector_t displs, MPI_Datatype sendtype, void *recvbuf,
                 int64_t recvcount, MPI_Datatype recvtype, int root);

bool sw_allgather(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                  MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                  MPI_Datatype recvtype);
bool sw_allgatherv(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                   MPI_Datatype sendtype, void *recvbuf, sw_vector_t recvcounts,
                   sw_vector_t displs, MPI_Datatype recvtype);

bool sw_alltoall(sw_coll_call_t *k, const void *sendbuf, int64_t sendcount,
                 MPI_Datatype sendtype, void *recvbuf, int64_t recvcount,
                 MPI_Datatype recvtype);
bool sw_alltoallv(sw_coll_call_t *k, const void *sendbuf,
                  sw_vector_t sendcounts, sw_vector_t sdispls,
                  MPI_Datatype sendtype, void *recvbuf, sw_vector_t recvcounts,
                  sw_vector_t rdispls, MPI_Datatype recvtype);
bool sw_alltoallw(sw_coll_call_t *k, const void *sendbuf,
                  sw_vector_t sendcounts, sw_vector_t sdispls,
                  const MPI_Datatype sendtypes[], void *recvbuf,
                  sw_vector_t recvcounts, sw_vector_t rdispls,
                  const MPI_Datatype recvtypes[]);

bool sw_neighbor_allgather(sw_coll_call_t *k, const void *sendbuf,
                           int64_t sendcount, MPI_Datatype sendtype,
                           void *recvbuf, int64_t recvcount,
                           MPI_Datatype recvtype);
bool sw_neighbor_allgatherv(sw_coll_call_t *k, const void *sendbuf,
                            int64_t sendcount, MPI_Datatype sendtype,
                            void *recvbuf, sw_vector_t recvcounts,
                            sw_vector_t displs, MPI_Datatype recvtype);
bool sw_neighbor_alltoall(sw_coll_call_t *k, const void *sendbuf,
                          int64_t sendcount, MPI_Datatype sendtype,
                          void *recvbuf, int64_t recvcount,
                          MPI_Datatype recvtype);
bool sw_neighbor_alltoallv(sw_coll_call_t *k, const void *sendbuf,
                           sw_vector_t sendcounts, sw_vector_t sdispls,
                           MPI_Datatype sendtype, void *recvbuf,
                           sw_vector_t recvcounts, sw_vector_t rdispls,
                           MPI_Datatype recvtype);
bool sw_neighbor_alltoallw(sw_coll_call_t *k, const void *sendbuf,
                           sw_vector_t sendcounts, sw_vector_t sdispls,
                           const MPI_Datatype sendtypes[], void *recvbuf,
                           sw_vector_t recvcounts, sw_vector_t rdispls,
                           const MPI_Datatype recvtypes[]);

bool sw_reduce(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
               int64_t count, MPI_Datatype datatype, MPI_Op op, int root);
bool sw_allreduce(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
                  int64_t count, MPI_Datatype datatype, MPI_Op op);
bool sw_reduce_scatter(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
                       sw_vector_t recvcounts, MPI_Datatype datatype,
                       MPI_Op op);
bool sw_reduce_scatter_block(sw_coll_call_t *k, const void *sendbuf,
                             void *recvbuf, int64_t recvcount,
                             MPI_Datatype datatype, MPI_Op op);
bool sw_scan(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
             int64_t count, MPI_Datatype datatype, MPI_Op op);
bool sw_exscan(sw_coll_call_t *k, const void *sendbuf, void *recvbuf,
               int64_t count, MPI_Datatype datatype, MPI_Op op);

/* A reduction of `ins` elements, of which this member gets `outs`: describes
 * all but the root and the counts of blocks. */
static inline bool sw_describe_reduction(sw_coll_call_t *k,
                                         const sw_datatype_t *d, MPI_Op op,
                                         const void *in, int64_t ins, void *out,
                                         int64_t outs)
{
    sw_reduction_t *r = &k->reduction;
    r->root = 0;
    r->type = d;
    r->in = in;
    r->out = out;
    r->ins = ins;
    r->outs = outs;
    r->counts = NULL;
    k->reason = SW_REASON_OPERATION;
    if (!sw_operation(op, d, &r->o))
        return false;
    k->bytes = (size_t)ins * r->o.reducer.elem;
    return true;
}

#endif
