/*
 * reduction.h - a call of one of the procedures that reduce, whatever its form:
 * blocking, nonblocking or persistent. Each family's file checks the arguments
 * of its own and fills this in.
 */
#ifndef SW_MPI_COLL_REDUCTION_H
#define SW_MPI_COLL_REDUCTION_H

#include "call.h"
#include "mpi/base/reach.h"

typedef struct {
    sw_collective_t id;
    int root;                   /* of Reduce                                */
    sw_operation_t o;
    const sw_datatype_t *type;
    const void *in;
    void *out;
    int64_t ins, outs;          /* elements                                 */
    const size_t *counts;       /* of Reduce_scatter                        */
} sw_reduction_t;

/* Fills it in, but for `root` and `counts`. False: the host serves, for
 * *reason. */
static inline bool sw_reduction(sw_reduction_t *k, sw_collective_t id,
                                const sw_datatype_t *d, MPI_Op op,
                                const void *in, int64_t ins, void *out,
                                int64_t outs, sw_reason_t *reason)
{
    k->id = id;
    k->root = 0;
    k->type = d;
    k->in = in;
    k->out = out;
    k->ins = ins;
    k->outs = outs;
    k->counts = NULL;
    *reason = SW_REASON_OPERATION;
    return sw_operation(op, d, &k->o);
}

/* The work of a blocking one: RUN(c, k, x) calls the room below, unless there
 * is nothing to reduce. */
static inline bool sw_reduction_run(sw_comm_t *c, const sw_reduction_t *k,
                                    MPI_Comm comm, sw_reason_t *reason,
                                    int *result,
                                    int (*run)(sw_comm_t *c,
                                               const sw_reduction_t *k,
                                               const sw_operands_t *x))
{
    sw_operands_t x;
    if (!sw_ready_to_reduce(c, k->id, (size_t)k->ins, &k->o, reason))
        return false;
    sw_operands(&x, k->in, k->ins, k->out, k->outs, k->type,
                k->o.packed, comm);
    int status = k->ins ? run(c, k, &x) : SW_OK;
    sw_operands_end(&x, status == SW_OK);
    *result = sw_finish(k->id, comm, status);
    return true;
}

#endif
