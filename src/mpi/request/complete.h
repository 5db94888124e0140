/*
 * complete.h - waiting for requests, ours and the host's alike.
 */
#ifndef SW_MPI_REQUEST_COMPLETE_H
#define SW_MPI_REQUEST_COMPLETE_H

#include "mpi/base/idle.h"
#include "shadow.h"

int sw_MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);

/* MPICH and its kin (to 5.0 at least) end the program in MPI_Testall in two
 * cases: a persistent collective, or a message in parts, is complete or not
 * started. They are right in MPI_Test and MPI_Waitall. */
#ifdef OMPI_MAJOR_VERSION
#define SW_TESTALL_ENDS false
#else
#define SW_TESTALL_ENDS true
#endif

/* Where its error comes with a flag that says no, MPICH has completed nothing:
 * a program that asks again is right in the end. */
static inline bool sw_complete_testall_over(int flag, int rc)
{
    return flag || (rc != MPI_SUCCESS && !SW_TESTALL_ENDS);
}

/* A request of the host's that is complete for ever, and that a program may
 * hold any number of times: what Open MPI gives for a send to MPI_PROC_NULL.
 * (Other hosts count the uses of theirs.) MPI_REQUEST_NULL: none is known. */
extern MPI_Request sw_request_done __attribute__((visibility("hidden")));

static inline bool sw_request_is_done(MPI_Request request)
{
    return request == sw_request_done || request == MPI_REQUEST_NULL;
}

/* MPI_Wait where some requests have shadows. */
int sw_wait_one(MPI_Request *request, MPI_Status *status);

/* The doorbell that rings when the state of an open request changes; or NULL.
 */
static inline sw_doorbell_t *sw_shadow_bell(sw_shadow_t *s)
{
    return s && s->active && s->kind->bell ? s->kind->bell(s) : NULL;
}

#endif
