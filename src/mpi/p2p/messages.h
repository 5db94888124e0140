/*
 * messages.h - the beginning and the end of messages that move in our way.
 */
#ifndef SW_MPI_P2P_MESSAGES_H
#define SW_MPI_P2P_MESSAGES_H

#include <stdbool.h>

/* After MPI_Init. `linked`: the ranks of the node are (mpi/base/link.h). */
void sw_messages_start(bool linked);
/* Before MPI_Finalize, on all ranks of the node. */
void sw_messages_stop(void);

#endif
