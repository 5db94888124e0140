/*
 * send.h - waiting for a message on offer.
 */
#ifndef SW_MPI_SEND_H
#define SW_MPI_SEND_H

#include "../p2p/slot.h"

/* Until the receiver has the data, or it lies aside. */
void sw_send_await(sw_slot_t *slot, const void *data);

#endif
