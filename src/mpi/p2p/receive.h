/*
 * receive.h - what probes leave for the receives that follow them.
 */
#ifndef SW_MPI_P2P_RECEIVE_H
#define SW_MPI_P2P_RECEIVE_H

#include "mpi/base/link.h"

/* A message that a matched probe has found, as long as a descriptor. */
typedef struct sw_matched {
    MPI_Message message;
    sw_comm_t *comm;            /* held                                     */
    int source, tag;
    sw_slot_t *slot;            /* of the descriptor; NULL: nobody knows    */
    struct sw_matched *next;
} sw_matched_t;

/* Take such a message off the list; the caller drops its communicator. False:
 * the message is not on the list. */
bool sw_matched_take(const MPI_Message *message, sw_matched_t *to);

/* It went where there was no room for a descriptor. */
void sw_matched_lost(const sw_matched_t *m);

#endif
