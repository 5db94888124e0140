/*
 * context_id.h - the name that a communicator has on all its members; see
 * context_id.c.
 */
#ifndef SW_MPI_BASE_CONTEXT_ID_H
#define SW_MPI_BASE_CONTEXT_ID_H

#include "host.h"

/* Before the host makes a child of all members of `parent`: its name, if it is
 * made. */
uint64_t sw_comm_conceive(MPI_Comm parent);
/* Then. Returns the result. */
int sw_comm_born(MPI_Comm parent, uint64_t name, int result,
                 const MPI_Comm *child);

#endif
