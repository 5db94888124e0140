/*
 * stats.h - what was ours and what was not: the report of --stats.
 */
#ifndef SW_MPI_JOB_STATS_H
#define SW_MPI_JOB_STATS_H

/* Print it. Collective over MPI_COMM_WORLD. */
void sw_stats_print(void);

#endif
