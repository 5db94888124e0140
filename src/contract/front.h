/*
 * front.h - what a flavour library asks of the preloaded library.
 *
 * These functions live in src/front/. The clocks' half of the contract is
 * contract/clocks.h.
 */
#ifndef SW_CONTRACT_FRONT_H
#define SW_CONTRACT_FRONT_H

#include "node/base/base.h"

/* The host's path; "" before the first MPI call. */
SW_API const char *sw_front_host(void);

/* How deep this thread is inside a host's procedure that calls MPI again; see
 * mpi/base/guard.h. The preloaded library's thread-local data has a fixed
 * place, so that a look at it is one load. */
SW_API extern _Thread_local int sw_depth
    __attribute__((tls_model("initial-exec")));

#endif
