/*
 * partition.c - see partition.h.
 */
#include "partition.h"

#include "mpi/base/reach.h"
#include "node/arena/show.h"
#include "node/temporary.h"
#include "offload/room.h"

#include <pthread.h>

/* Held while a thread makes a sender's copy, or gives partitions out. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *element(const sw_partitioned_t *p, int partition)
{
    return sw_buffer_element(p->user, partition * p->count, p->type);
}

static MPI_Comm comm_of(const sw_partitioned_t *p)
{
    return sw_comm_or_any(p->shadow.comm);
}

/* NULL: there is no room. */
static char *place_in_copy(sw_partitioned_t *p, int partition)
{
    if (p->parts.eager)
        return sw_parts_copy(&p->parts, (unsigned)partition);
    pthread_mutex_lock(&lock);
    if (!p->packed)
        p->packed = sw_room_take(sw_partitions_room(p), &p->packed_at);
    char *copy = p->packed;
    pthread_mutex_unlock(&lock);
    return copy ? copy + (size_t)partition * p->bytes : NULL;
}

bool sw_partition_offer(sw_partitioned_t *p, int partition, uint64_t *there)
{
    const void *from = element(p, partition);
    *there = 0;
    if (!p->bytes)
        return true;
    if (!p->parts.eager && p->type->dense && !sw_out_of_reach(from, p->type) &&
        (*there = sw_show(from, p->bytes)) != UINT64_MAX) {
        sw_show_stage(from, p->bytes);
        return true;
    }
    char *copy = place_in_copy(p, partition);
    if (!copy)
        return false;
    sw_pack(from, p->count, p->type, copy, comm_of(p));
    *there = p->parts.eager ? 0 : p->packed_at + (uint64_t)(copy - p->packed);
    return true;
}

void sw_partitions_place(sw_partitioned_t *p)
{
    const sw_datatype_t *type = p->type;
    bool plain = !sw_out_of_reach(p->user, type) &&
                 (type->dense || type->layout);
    p->parts.room = sw_partitions_room(p);
    p->temporary = plain ? NULL : sw_temporary(p->parts.room);
    p->parts.to = plain
                      ? (sw_data_t){p->user, type->dense ? NULL : type->layout,
                                    p->partitions * p->count}
                      : sw_data_plain(p->temporary);
    for (int i = 0; i < p->partitions; i++)
        p->given[i] = false;
}

static void give(sw_partitioned_t *p, int partition)
{
    size_t begin = (size_t)partition * p->bytes;
    size_t end = sw_min(sw_parts_received(&p->parts), begin + p->bytes);
    if (p->given[partition] || begin >= end)
        return;
    if (p->temporary)
        sw_unpack(p->temporary + begin, element(p, partition),
                  (int64_t)((end - begin) / p->type->size), p->type,
                  comm_of(p));
    else if (p->parts.open)
        sw_show_fetch(element(p, partition), end - begin);
    p->given[partition] = true;
}

void sw_partitions_give(sw_partitioned_t *p, int begin, int end)
{
    pthread_mutex_lock(&lock);
    for (int i = begin; i < end; i++)
        give(p, i);
    pthread_mutex_unlock(&lock);
}
