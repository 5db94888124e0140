/*
 * progress.h - what a wait of ours does now and then: it drives the host's
 * progress, and ours (law 3). A peer may be inside the host, and need this
 * rank.
 */
#ifndef SW_MPI_BASE_PROGRESS_H
#define SW_MPI_BASE_PROGRESS_H

#include "host.h"

/* Drive both. True: a member of the communicator that this thread last used has
 * died, or it was revoked. */
bool sw_progress(void);

/* What a rank does for messages of its own while it waits: set by the room of
 * messages (mpi/p2p/messages.h). */
extern void (*sw_progress_serve)(void) __attribute__((visibility("hidden")));

/* The communicator whose members this thread may wait for now. */
void sw_progress_use(MPI_Comm comm);
/* This thread has ended it. */
void sw_progress_end(MPI_Comm comm);

#endif
