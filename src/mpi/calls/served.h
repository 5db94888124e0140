/*
 * served.h - the procedures that recorded and virtual wrappers call: ours where
 * there is one and acceleration is on, else the host's.
 */
#ifndef SW_MPI_CALLS_SERVED_H
#define SW_MPI_CALLS_SERVED_H

#include "mpi/base/host.h"

extern sw_host_t served __attribute__((visibility("hidden")));

#endif
