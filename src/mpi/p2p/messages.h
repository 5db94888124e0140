/*
 * messages.h - the beginning and the end of messages that we match, and of the
 * agent.
 */
#ifndef SW_MPI_P2P_MESSAGES_H
#define SW_MPI_P2P_MESSAGES_H

/* After MPI_Init. */
void sw_messages_start(void);
/* Before MPI_Finalize, on all ranks of the node. */
void sw_messages_stop(void);

#endif
