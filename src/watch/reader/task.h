/*
 * task.h - a thread of another process: its state, and where it is.
 *
 * The kernel tells where a thread waits in it. A thread that computes is
 * stopped by ptrace for some microseconds. A thread that waits is stopped only
 * in calls that begin again unnoticed: others would return EINTR to the
 * program. A thread that someone has stopped stays as it is.
 */
#ifndef SW_WATCH_READER_TASK_H
#define SW_WATCH_READER_TASK_H

#include "node/base/base.h"
#include "stack.h"

/* The state's letter, as ps shows it; 0: there is no such thread. */
char sw_task_state(pid_t pid, pid_t tid);

/* The thread by its number in the process's own namespace; 0: none. */
pid_t sw_task_inner(pid_t pid, pid_t inner);

/* Where the thread waits, by the kernel, without its frame pointer. False: it
 * runs, or the kernel does not tell. `halts`: ptrace does not disturb it. */
bool sw_task_waits(pid_t pid, pid_t tid, sw_point_t *to, bool *halts);

/* Stop the thread, and read its registers. False: refused, or it does not come
 * to a stop. Else sw_task_go must follow. */
bool sw_task_halt(pid_t tid, sw_point_t *to);
void sw_task_go(pid_t tid);

#endif
