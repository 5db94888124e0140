/*
 * reduction.h - what the arguments of a collective say that reduces.
 */
#ifndef SW_MPI_COLL_REDUCTION_H
#define SW_MPI_COLL_REDUCTION_H

#include "mpi/base/op.h"
#include "mpi/base/reach.h"

typedef struct {
    int root; /* of Reduce */
    sw_operation_t o;
    const sw_datatype_t *type;
    const void *in;
    void *out;
    int64_t ins, outs;    /* elements */
    const size_t *counts; /* of Reduce_scatter */
} sw_reduction_t;

/* What that means to the rooms below; `x` keeps operands that had to be
 * packed, until sw_operands_end. */
static inline void sw_reduction_bind(const sw_reduction_t *r,
                                     sw_collective_t id, MPI_Comm comm,
                                     sw_operands_t *x, sw_coll_fold_t *to)
{
    sw_operands(x, r->in, r->ins, r->out, r->outs, r->type, r->o.packed, comm);
    *to = (sw_coll_fold_t){.id = id,
                           .root = r->root,
                           .reducer = &r->o.reducer,
                           .in = x->in,
                           .out = x->out,
                           .n = (size_t)r->ins,
                           .counts = r->counts};
}

#endif
