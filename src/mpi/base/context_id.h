/*
 * context_id.h - the name that a communicator has on all its members of a
 * node; see context_id.c.
 */
#ifndef SW_MPI_BASE_CONTEXT_ID_H
#define SW_MPI_BASE_CONTEXT_ID_H

#include "host.h"

/* A blocking call has returned `result`. It was given a communicator to set,
 * `fresh`, which held `parent`. No call makes its parent: if the host has
 * refused the arguments, `fresh` still holds `parent`, whatever the result.
 * Else names the new communicator, and hands it to the program. All members
 * come here. Returns the result. */
int sw_context_id_give(int result, MPI_Comm parent, MPI_Comm fresh,
                       MPI_Comm *made);

#endif
