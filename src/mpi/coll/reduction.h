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

/* May it go on after the call? A user's operation may be freed then, and its
 * datatype, too; the host keeps both. All members decide alike. */
static inline bool sw_reduction_goes_on(const sw_reduction_t *k)
{
    return k->o.reducer.kernel != NULL;
}

#endif
