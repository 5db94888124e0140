/*
 * aside.h - a copy of the data that MPI_Sendrecv_replace and its kin send,
 * since they receive into the same buffer.
 *
 * The copy has the datatype of the original, and its spaces between elements.
 * Packed bytes would not do. Their receiver must know where a basic element
 * ends (route.h). And hosts fail on them: MPICH 4.0 takes large ones,
 * MPI_PACKED or MPI_BYTE, for truncated where the receiver's type has spaces.
 */
#ifndef SW_MPI_P2P_ASIDE_H
#define SW_MPI_P2P_ASIDE_H

#include "mpi/base/datatype.h"

/* Copy `count` elements; returns the address to send from. The caller frees
 * *block by sw_temporary_free. */
const void *sw_set_aside(const void *buffer, int64_t count,
                         const sw_datatype_t *type, MPI_Comm comm,
                         void **block);

#endif
