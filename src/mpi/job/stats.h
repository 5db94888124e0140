/*
 * stats.h - the report of --stats: which calls Straightway served, and which
 * the host served, and why.
 */
#ifndef SW_MPI_JOB_STATS_H
#define SW_MPI_JOB_STATS_H

/* Print it. Collective over MPI_COMM_WORLD. */
void sw_stats_print(void);

#endif
