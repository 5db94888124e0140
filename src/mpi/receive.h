/*
 * receive.h - what probes leave for the receives that follow them.
 */
#ifndef SW_MPI_RECEIVE_H
#define SW_MPI_RECEIVE_H

#include "host.h"

/* A message that a matched probe found to be a descriptor. */
void sw_matched(MPI_Message message, MPI_Comm comm);

/* The communicator of such a message, forgotten by this; MPI_COMM_NULL: it is
 * none. */
MPI_Comm sw_matched_comm(const MPI_Message *message);

#endif
