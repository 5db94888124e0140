/*
 * log.h - the epochs of a run in turns, and the file that rank 0 makes of them.
 * docs/turns-format.md describes the file.
 */
#ifndef SW_MPI_TURNS_LOG_H
#define SW_MPI_TURNS_LOG_H

#include "mpi/base/host.h"
#include "turns/plan.h"

typedef struct {
    int64_t side, pair, flags;
    uint64_t began, calls; /* ns */
} sw_log_epoch_t;

typedef struct {
    uint32_t count, room, epoch_room;
    uint64_t *times;       /* this rank's: ns */
    sw_log_epoch_t *epoch; /* rank 0's */
} sw_log_t;

/* Makes room for one more epoch, on rank 0 for all of it. False: no memory. */
bool sw_log_make_room(sw_log_t *log, bool first);
void sw_log_end(sw_log_t *log);

/* What else the file says. */
typedef struct {
    const char *state, *messages, *why;
    uint64_t began, ended, own, seed, calls, period, meetings, meeting_time;
} sw_log_head_t;

/* Every rank calls this. `own`: ns of its MPI_Init that were ours. */
void sw_log_write(const sw_log_t *log, const sw_log_head_t *head,
                  const char *path, MPI_Comm comm);

#endif
