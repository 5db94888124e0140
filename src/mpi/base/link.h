/*
 * link.h - what a rank tells its node for messages (roster.h), and how a wait
 * drives the host.
 */
#ifndef SW_MPI_BASE_LINK_H
#define SW_MPI_BASE_LINK_H

#include "roster.h"

/* Tell the node that this rank takes part, and where its mailbox is. */
void sw_link_offer(sw_hello_t *to);

/* Drive the host's progress. */
void sw_link_poke(void);

#endif
