/*
 * turns.h - the host's side and ours in turns, within one run of a program.
 *
 * `straightway study` learns so what Straightway gains, on a machine whose
 * speed changes from run to run. With STRAIGHTWAY_TURNS the ranks count their
 * blocking collectives on communicators of all ranks, and meet at some of them
 * (turns/plan.h). Where a side ends, all collectives that begin later, and all
 * messages, are the other side's.
 *
 * Why all members of any communicator call a collective on one side: a blocking
 * collective may wait for all its members (MPI 4.1, 6.14). Were it before the
 * meeting on one member and behind it on another, the program could hang by
 * itself. So the order of the two is alike on all members.
 *
 * This holds for threads, too, that call MPI one at a time. With
 * MPI_THREAD_MULTIPLE only collectives on MPI_COMM_WORLD count, which no two
 * threads call at once, and base/turn.h says whose the others are. As soon as a
 * second thread calls a collective, the turns end.
 *
 * Messages change sides where none is under way: no message was sent that is
 * not received, no receive stands, no persistent request lives. The ranks add
 * up their counts (watch/own.h) at the meeting. A rank sends nothing between
 * its count and the end of the meeting, so the sums are those of one moment.
 * With MPI_THREAD_MULTIPLE another thread might, and messages stay ours.
 *
 * What keeps our side: nonblocking, persistent and partitioned operations,
 * since their order against the meetings may differ; windows.
 *
 * A rank counts a collective, and comes to a meeting, when the call is over. A
 * call that the host has refused for its arguments does not count. It waits for
 * no other member, and so no meeting may be in it.
 */
#ifndef SW_MPI_TURNS_TURNS_H
#define SW_MPI_TURNS_TURNS_H

#include "mpi/base/host.h"
#include "contract/collectives.h"

extern bool sw_turns_on __attribute__((visibility("hidden")));

/* At the end of MPI_Init, of which our own part took `own_ns`; at the beginning
 * of MPI_Finalize. */
void sw_turns_start(uint64_t own_ns);
void sw_turns_stop(void);

/* A blocking collective is over, with this result. */
void sw_turns_called(sw_collective_t id, MPI_Comm comm, int result);

#endif
