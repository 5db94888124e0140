/*
 * raise.h - errors through a communicator's, or a window's, error handler.
 */
#ifndef SW_MPI_BASE_RAISE_H
#define SW_MPI_BASE_RAISE_H

#include "comm.h"

/* Raise an error class on a communicator (MPI_SUCCESS: do nothing). Returns
 * what the call is to return. */
int sw_raise(MPI_Comm comm, int error);
int sw_raise_on_window(MPI_Win win, int error);
/* The same for a message that may have outlived its communicator. */
int sw_raise_pending(const sw_comm_t *c, int error);

#endif
