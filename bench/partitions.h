/*
 * partitions.h - partitioned messages of bench pingpong, one there and one
 * back.
 *
 * Not every MPI has these calls, nor does every <mpi.h>. So the benchmark looks
 * them up.
 */
#ifndef SW_BENCH_PARTITIONS_H
#define SW_BENCH_PARTITIONS_H

#include <mpi.h>

#include <stdbool.h>

/* So many partitions; fewer of a message that they do not divide. */
#define SW_PARTITIONS 16

/* Does this MPI have the calls? */
bool sw_partitions_known(void);

/* Bind messages of `length` bytes to their buffers, on both ranks of a pair, in
 * Straightway's mode. An MPI error, or 0. */
int sw_partitions_bind(const void *send, void *receive, int length, int partner,
                       MPI_Comm comm);
void sw_partitions_free(void);

/* Start, make all partitions ready, wait. An MPI error, or 0. */
int sw_partitions_send(void);
int sw_partitions_receive(void);

#endif
