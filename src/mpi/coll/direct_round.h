/*
 * direct_round.h - what the members' ways from device to device share: the
 * members tell each other where their memory is, open it, and vote at the end.
 *
 * Each step is a collective of ours, of some hundred bytes at most for each
 * member. So all members take the same steps, and learn the same of them.
 */
#ifndef SW_MPI_COLL_DIRECT_ROUND_H
#define SW_MPI_COLL_DIRECT_ROUND_H

#include "mpi/base/comm.h"
#include "mpi/base/roster.h"
#include "coll/coll.h"
#include "device/ipc.h"

/* Bytes from which on it is tried. (Not measured on hardware yet.) */
#define SW_DIRECT_MIN ((uint64_t)64 << 10)
#define SW_DIRECT_PAUSE_MOST 4096

/* All members' turns are alike. */
static inline bool sw_direct_due(sw_pause_t *p)
{
    if (p->calls)
        p->calls--;
    return !p->calls;
}

static inline void sw_direct_remember(sw_pause_t *p, bool good)
{
    p->next = good ? 0
                   : (uint16_t)sw_min(2 * p->next + 1, SW_DIRECT_PAUSE_MOST);
    p->calls = p->next;
}

/* Each member's `each` bytes go to all, in their order. */
static inline int sw_direct_tell(sw_comm_t *c, const void *mine, size_t each,
                                 char *all)
{
    sw_data_t one = sw_data_plain(mine);
    sw_blocks_t blocks = {.bytes = each};
    return sw_coll_allgather(c->sequence, &one, each, all, &blocks);
}

/* Has it gone well for all? All have come here, so no member uses another's
 * memory any more for what it says of. */
static inline int sw_direct_vote(sw_comm_t *c, bool well, bool *good)
{
    int32_t failed = 1;
    int status = sw_coll_most(c->sequence, !well, &failed);
    *good = status == SW_OK && !failed;
    return status;
}

/* Where member i's memory is for this process, in the context of the memory
 * `beside`, until sw_ipc_done; NULL: the driver refuses. */
static inline void *sw_direct_open(sw_comm_t *c, int i, const sw_ipc_t *there,
                                   const void *beside)
{
    const sw_members_t *members = sw_comm_members(c);
    int rank = members ? members->rank[i] : -1;
    int place = rank < 0 ? -1 : sw_roster_place(rank);
    return place < 0 ? NULL : sw_ipc_open(there, place, beside);
}

#endif
