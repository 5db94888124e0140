/*
 * failure.h - members that have died, and communicators that were revoked.
 *
 * Under `mpirun --with-ft ulfm` Open MPI goes on after a rank has died, and its
 * procedures return an error where that rank is needed. Our own waits do not
 * pass through the host. So a wait that lasts asks the host about the
 * communicator at hand, and ends when a member has died or the communicator was
 * revoked. The host then raises its error, once. From there on the host serves
 * the communicator: it refuses collectives, and carries out MPIX_Comm_agree and
 * MPIX_Comm_shrink, which never come to us.
 *
 * A member that gives up in the middle of a collective may have offered its
 * memory to the others; coll/sequence.h tells how they notice.
 */
#ifndef SW_MPI_BASE_FAILURE_H
#define SW_MPI_BASE_FAILURE_H

#include "host.h"

/* Find the host's procedures, if it has them. */
void sw_failure_bind(void *(*find)(const char *symbol));

/* Does the host go on after a failure, and tell of it? Known from the first
 * communicator on whose members meet. */
extern bool sw_failure_told __attribute__((visibility("hidden")));
void sw_failure_look(void);

/* Was it revoked? Then even a member that need not wait must not go on. */
bool sw_failure_revoked(MPI_Comm comm);

/* End what is under way on a communicator of our own (or MPI_COMM_NULL). */
void sw_failure_revoke(MPI_Comm comm);

/* Has a member died, or was the communicator revoked? Raises no error. *rank
 * is a member that the host refuses to hear from. */
bool sw_failure_of(MPI_Comm comm, int *rank);

/* Let the host raise the error that sw_failure_of is about, and return it. A
 * member that gave up may have heard of it before this one, which then waits
 * for the news. */
int sw_failure_raise(MPI_Comm comm);

#endif
