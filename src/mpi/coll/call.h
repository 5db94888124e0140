/*
 * call.h - the shape of every accelerated collective.
 *
 * A wrapper (SW_COLLECTIVE) asks sw_serve: whose call is it? The body then
 * looks at its own arguments. It leaves whatever looks wrong to the host, which
 * raises its own errors. Only then does the body ask whether the members are
 * ready (sw_ready), where this member may have to wait for the others. The
 * collective runs on their ring, or over their span, and sw_finish turns its
 * outcome into MPI's.
 */
#ifndef SW_MPI_COLL_CALL_H
#define SW_MPI_COLL_CALL_H

#include "mpi/base/away.h"
#include "mpi/base/comm.h"
#include "mpi/base/datatype.h"
#include "mpi/base/op.h"
#include "mpi/span/spans.h"
#include "node/control.h"
#include "node/base/settings.h"

/* The communicator whose members may serve this collective, or NULL: the host
 * does. Counts the call, for --stats. */
sw_comm_t *sw_serve(sw_collective_t id, MPI_Comm comm);

/* The same as sw_span_ready, for a communicator without a ring. Counts the
 * call, for --stats. */
bool sw_ready_over_nodes(sw_comm_t *c, sw_collective_t id, size_t bytes,
                         const sw_reducer_t *reducer, sw_reason_t *reason);

/* Do the members serve this call, of so many bytes by signature? The arguments
 * of this member are right. If so, they do it on c->ring, or over c->span where
 * there is no ring. False, with the reason: the host serves. */
static inline bool sw_ready(sw_comm_t *c, sw_collective_t id, size_t bytes,
                            sw_reason_t *reason)
{
    if (sw_likely(sw_comm_ring(c, reason) != NULL))
        return true;
    return sw_ready_over_nodes(c, id, bytes, NULL, reason);
}

/* The same for n elements under an operation. */
static inline bool sw_ready_to_reduce(sw_comm_t *c, sw_collective_t id,
                                      size_t n, const sw_operation_t *o,
                                      sw_reason_t *reason)
{
    if (sw_likely(sw_comm_ring(c, reason) != NULL))
        return true;
    return sw_ready_over_nodes(c, id, n * o->reducer.elem, &o->reducer,
                               reason);
}

/* The same for a nonblocking or persistent one (started.h), by its row in
 * --stats. */
sw_comm_t *sw_serve_started(int row, MPI_Comm comm);

/* The host serves a call that one of these gave to us. */
void sw_decline(int row, sw_reason_t reason);

/* The error class of a coll function's result. Says what went wrong. */
int sw_outcome(sw_collective_t id, int status);
/* The MPI result of a coll function's: errors go through the communicator's
 * error handler. */
int sw_finish(sw_collective_t id, MPI_Comm comm, int status);

/* Define sw_MPI_NAME: ours if BODY, an expression in c, &reason and &result,
 * is true; the host's if it is false, for `reason`. */
#define SW_COLLECTIVE(NAME, ID, PARAMETERS, ARGUMENTS, BODY)            \
int sw_MPI_##NAME PARAMETERS                                            \
{                                                                       \
    int result = MPI_SUCCESS;                                           \
    sw_reason_t reason = SW_REASON_ARGUMENTS;                           \
    sw_comm_t *c = sw_serve(ID, comm);                                  \
    if (c) {                                                            \
        if (sw_likely(BODY)) {                                          \
            const sw_ring_t *ring = sw_comm_near(c);                    \
            if (sw_unlikely(ring && ring->broken))                      \
                return sw_comm_give_up(c);                              \
            return result;                                              \
        }                                                               \
        sw_decline(ID, reason);                                         \
    }                                                                   \
    SW_AWAY_IF(reason != SW_REASON_ALONE);                              \
    return host.NAME ARGUMENTS;                                         \
}

/* Parameters and arguments of procedures whose blocks are all of one size
 * ... */
#define SW_ROWS(COUNT)                                                  \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm)
#define SW_ROWS_NAMES                                                   \
    (send, sendcount, sendtype, recv, recvcount, recvtype, comm)
/* ... that receive lists of blocks ... */
#define SW_LISTED(COUNT, DISPL)                                         \
    (const void *send, COUNT sendcount, MPI_Datatype sendtype,          \
     void *recv, const COUNT counts[], const DISPL displs[],            \
     MPI_Datatype recvtype, MPI_Comm comm)
#define SW_LISTED_NAMES                                                 \
    (send, sendcount, sendtype, recv, counts, displs, recvtype, comm)
/* ... and that send them as well. TYPES: one datatype, or an array of them. */
#define SW_LISTS(COUNT, DISPL, TYPES)                                   \
    (const void *send, const COUNT sendcounts[],                        \
     const DISPL sdispls[], TYPES sendtype, void *recv,                 \
     const COUNT recvcounts[], const DISPL rdispls[], TYPES recvtype,   \
     MPI_Comm comm)
#define SW_LISTS_NAMES                                                  \
    (send, sendcounts, sdispls, sendtype, recv, recvcounts, rdispls,    \
     recvtype, comm)

/* The calls so far: a row of each blocking collective, then of each nonblocking
 * one, then of each call that makes a persistent one. A row has those that were
 * ours, those of ours that went over nodes, and the host's by reason. Counted
 * only with --stats. */
enum {
    SW_CALL_STARTED = SW_COLL_COUNT,
    SW_CALL_INIT = 2 * SW_COLL_COUNT,
    SW_CALL_ROWS = 3 * SW_COLL_COUNT
};
enum {
    SW_CALL_OURS,
    SW_CALL_OVER_NODES,
    SW_CALL_HOST,
    SW_CALL_ROW = SW_CALL_HOST + SW_REASON_COUNT
};
/* The ith row in the order of reports. */
int sw_call_reported(int i);
void sw_call_name(int row, char *to, size_t bytes);
void sw_call_counts(int64_t rows[SW_CALL_ROWS][SW_CALL_ROW]);

#endif
