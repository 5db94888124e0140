/*
 * gives.h - the calls of straightway_mpi.h in virtual time.
 */
#ifndef SW_MPI_VIRTUAL_GIVES_H
#define SW_MPI_VIRTUAL_GIVES_H

#include "contract/flavour.h"

extern const sw_hands_t sw_virtual_hands __attribute__((visibility("hidden")));

/* Is this thread's send that of the block that it gave last? Asked once. */
bool sw_virtual_gives(uint64_t bytes, int dest, int tag);

#endif
