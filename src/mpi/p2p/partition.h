/*
 * partition.h - the memory of a partitioned message: where the receiver finds a
 * partition that is ready, and how the program gets one that has come.
 *
 * While a message is under way, the program writes to the partitions that are
 * not ready. So a partition is shown to the receiver (node/arena/show.h), or
 * copied, no earlier than it is ready.
 */
#ifndef SW_MPI_P2P_PARTITION_H
#define SW_MPI_P2P_PARTITION_H

#include "mpi/base/buffer.h"
#include "mpi/base/comm_pair.h"
#include "mpi/request/scheduled.h"
#include "offload/parts.h"

typedef struct {
    union {
        sw_shadow_t shadow;
        sw_scheduled_t scheduled;
    };
    sw_parts_t parts;
    sw_comm_pair_t pair;
    bool sends, opened;
    int peer, tag;
    char *user;
    const sw_datatype_t *type;
    int partitions;
    int64_t count;      /* elements of a partition */
    size_t bytes;       /* of a partition */
    char *packed;       /* the sender's copy; NULL: none yet */
    uint64_t packed_at; /* its place (offload/room.h) */
    char *temporary;    /* the receiver's, if the host unpacks */
    bool *given;        /* by partition: the program may read it */
} sw_partitioned_t;

/* Of the whole message, in bytes. */
static inline size_t sw_partitions_room(const sw_partitioned_t *p)
{
    return (size_t)p->partitions * p->bytes;
}

/* The sender, any thread: lets the receiver find a partition, at *there. False:
 * there is no room for the copy that this would take. */
bool sw_partition_offer(sw_partitioned_t *p, int partition, uint64_t *there);

/* The receiver, at a start: the place of the message. */
void sw_partitions_place(sw_partitioned_t *p);
/* The receiver, any thread: gives the program what has come of partitions
 * [begin, end). */
void sw_partitions_give(sw_partitioned_t *p, int begin, int end);

#endif
