/*
 * quiet.h - may any thread or device, but for the calling thread, write to this
 * process's memory just now?
 *
 * Pages that hold more than one call's data may be replaced only if not
 * (node/arena/show.h). Other writers are the program's threads, the agent, and
 * devices that the host lets write: a network card that delivers a message from
 * another node. On one node hosts let the receiver copy, in this thread.
 * Windows are another matter, and their pages are never replaced (window.c).
 */
#ifndef SW_MPI_JOB_QUIET_H
#define SW_MPI_JOB_QUIET_H

#include "mpi/base/host.h"

/* Before the host starts its own threads, and after. */
void sw_quiet_prepare(void);
void sw_quiet_start(void);

#endif
