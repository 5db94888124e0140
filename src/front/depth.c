/*
 * depth.c - how deep this thread is inside a host's procedure that calls MPI
 * again; see src/mpi/guard.h. It lives in the preloaded library, whose
 * thread-local data has a fixed place, so that a look at it is one load.
 */
#include "../node/base.h"

SW_API _Thread_local int sw_depth
    __attribute__((tls_model("initial-exec")));
