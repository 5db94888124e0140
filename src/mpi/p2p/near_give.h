/*
 * near_give.h - give and take on near communicators (near.h): a message whose
 * data is a block that changes hands (node/parcel.h).
 *
 * The block's slot is an offer as any other. So any receive may get it, and a
 * take may get any message.
 */
#ifndef SW_MPI_P2P_NEAR_GIVE_H
#define SW_MPI_P2P_NEAR_GIVE_H

#include "near.h"

/* Gives a parcel that this rank holds. False: nothing has happened. Either the
 * host is to judge the call, or it has raised its error, which is *rc. */
bool sw_near_give(sw_comm_t *c, MPI_Comm comm, void *parcel, size_t bytes,
                  int dest, int tag, int *rc);

/* A message that was taken out, as a block; *status is set. Returns an error
 * class, raised. */
int sw_near_take(sw_comm_t *c, sw_early_t *m, void **block, size_t *bytes,
                 MPI_Status *status);

#endif
