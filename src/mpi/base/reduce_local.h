/*
 * reduce_local.h - MPI_Reduce_local with operands in the memory of a device.
 *
 * A kernel reduces them (device/combine.h), or the processor reduces copies
 * where the host knows no devices. All else is the host's: a user's operation
 * gets the program's own addresses.
 */
#ifndef SW_MPI_BASE_REDUCE_LOCAL_H
#define SW_MPI_BASE_REDUCE_LOCAL_H

#include "host.h"

/* False: the host is to do it. */
bool sw_reduce_local(const void *inbuf, void *inoutbuf, int64_t count,
                     MPI_Datatype datatype, MPI_Op op);

#endif
