/*
 * partitioned.h - partitioned messages (MPI 4.1, chapter 4.2): MPI_Psend_init,
 * MPI_Precv_init, MPI_Pready and its kin, MPI_Parrived.
 *
 * A message between two ranks that share memory is a schedule
 * (offload/parts.h). Threads of the sender tell which partitions are ready, and
 * a rank that waits copies them. The two ranks find each other without the host
 * (mpi/base/comm_pair.h). All other messages are the host's.
 */
#ifndef SW_MPI_P2P_PARTITIONED_H
#define SW_MPI_P2P_PARTITIONED_H

#include "mpi/base/host.h"

/* MPI_Psend_init, or MPI_Precv_init. True: it is ours, or the host has raised
 * its error; the procedure returns *rc. */
bool sw_partitioned_init(bool sends, const void *buf, int partitions,
                         MPI_Count count, MPI_Datatype datatype, int peer,
                         int tag, MPI_Comm comm, MPI_Request *request, int *rc);

/* At the ends of the job. */
void sw_partitioned_start(void);
void sw_partitioned_stop(void);

/* For --stats: starts that were ours; partitions and bytes that were sent. */
typedef struct {
    _Atomic int64_t starts, partitions, bytes;
} sw_partitioned_counts_t;
extern sw_partitioned_counts_t sw_partitioned_counts
    __attribute__((visibility("hidden")));

#endif
