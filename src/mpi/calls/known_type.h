/*
 * known_type.h - the sizes and the capture's numbers of datatypes (mpi/base/
 * datatype.h holds both) and operations.
 */
#ifndef SW_MPI_CALLS_KNOWN_TYPE_H
#define SW_MPI_CALLS_KNOWN_TYPE_H

#include "mpi/base/datatype.h"

const sw_datatype_t *sw_known_type_meet(MPI_Datatype type);

/* Of a valid datatype. */
static inline const sw_datatype_t *sw_known_type(MPI_Datatype type)
{
    const sw_datatype_t *d = sw_datatype_cached(type);
    return sw_likely(d &&
                     atomic_load_explicit(&d->number, memory_order_relaxed))
               ? d
               : sw_known_type_meet(type);
}

/* The number of an operation. */
uint16_t sw_known_op(MPI_Op op);

#endif
