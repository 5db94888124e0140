/*
 * sentry.h - a process that tells of a hang by itself (--hang-after).
 *
 * The first rank of each node starts it (watch/reader/sentry.h). It is no child
 * of the rank's: a program that waits for its children does not see it.
 *
 * The sentry also tells where a job stands that is ended by SIGTERM. A rank
 * waits for that in a handler of its own, at most some seconds, and ends then.
 * A program that handles SIGTERM itself ends as it wants to.
 */
#ifndef SW_MPI_WATCH_SENTRY_H
#define SW_MPI_WATCH_SENTRY_H

/* On each rank, when the process shows its calls and its job. */
void sw_sentry_start(void);

#endif
