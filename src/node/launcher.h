/*
 * launcher.h - what the launcher tells a process in its environment. Some
 * launchers tell less than others, and some tell nothing.
 */
#ifndef SW_NODE_LAUNCHER_H
#define SW_NODE_LAUNCHER_H

#include "node/base/base.h"

/* Does this process speak for the job? True on the first rank, and where the
 * launcher does not tell the rank. */
SW_API bool sw_launcher_first_rank(void);

/* How many ranks the launcher has started in all; 0: it does not tell. */
SW_API int sw_launcher_ranks(void);

/* How many ranks the launcher has put on this node; 0: it does not tell. */
SW_API int sw_launcher_node_ranks(void);

/* What the batch system calls the job, or NULL. */
SW_API const char *sw_launcher_job(void);

#endif
