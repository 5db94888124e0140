/*
 * send.h - waiting for a message on offer.
 */
#ifndef SW_MPI_P2P_SEND_H
#define SW_MPI_P2P_SEND_H

#include "mpi/base/host.h"
#include "p2p/slot.h"

int sw_MPI_Isend(const void *buffer, int count, MPI_Datatype type, int dest,
                 int tag, MPI_Comm comm, MPI_Request *request);
#if SW_LARGE_COUNT
int sw_MPI_Isend_c(const void *buffer, MPI_Count count, MPI_Datatype type,
                   int dest, int tag, MPI_Comm comm, MPI_Request *request);
#endif

/* Until the receiver has the data, or it lies aside. */
void sw_send_await(sw_slot_t *slot, const void *data);

#endif
