/*
 * started.h - a nonblocking or persistent collective of ours: a schedule
 * (offload/schedule.h), and the request that the program holds for it.
 *
 * Beside the request lies a shadow, whose kind pushes the schedule, and tells
 * when it is over (mpi/request/scheduled.h).
 *
 * The members start a communicator's collectives in one order, so all choose
 * alike whether they or the host serve it. Everything that a member needs until
 * the end lies in the shadow, since the call returns at once.
 *
 * Persistent ones are initialized in one order, and started in any. So each has
 * slates of its own (base/comm_slates.c). It keeps what its arguments mean, and
 * its datatypes, until the program frees it. So does a copy of the arrays of
 * counts: MPI lets the program change none before, yet mpi4py frees its own.
 */
#ifndef SW_MPI_COLL_STARTED_H
#define SW_MPI_COLL_STARTED_H

/* At the ends of the job. */
void sw_started_start(void);
void sw_started_stop(void);

#endif
