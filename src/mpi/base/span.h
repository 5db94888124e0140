/*
 * span.h - a communicator whose members live on several nodes.
 *
 * The members of each node form a team, with a sequence (coll/sequence.h).
 * Between the nodes the host carries the data, on communicators of our own, the
 * *lanes*: lane i joins the i-th members of all nodes. So lane 0 joins the
 * leaders, and every member has one lane at most.
 *
 *            node 0        node 1        node 2
 *   lane 0   rank 0   ---  rank 2   ---  rank 3
 *   lane 1   rank 1   ---  rank 5   ---  rank 4
 *            rank 6        (sequence)    (sequence)
 *            (sequence)
 *
 * Nodes are numbered by the ranks of their leaders, and a member's number on
 * its node follows its rank. A member of a lane has its node's number as its
 * rank there. All nodes have each lane, so the smallest node limits their
 * count. Any placement of ranks will do.
 *
 * The members meet at the communicator's first collective. They make one
 * MPI_Allgather of sw_span_answer_t, and one MPI_Comm_split that makes all
 * lanes. A span lives as long as its communicator. Each process holds at most
 * STRAIGHTWAY_SPAN_MAX of them, since the host's communicators are finite.
 */
#ifndef SW_MPI_BASE_SPAN_H
#define SW_MPI_BASE_SPAN_H

#include "members.h"
#include "span_way.h"
#include "coll/coll.h"
#include "node/control.h"

#define SW_SPAN_MEMBERS_MAX (1 << 20)

typedef struct sw_span {
    sw_sequence_t *sequence; /* of the members on this node */
    MPI_Comm lane;           /* MPI_COMM_NULL: this member has none */
    int n, me;               /* of the communicator */
    int nodes, node;         /* how many; this member's */
    int here, mine;          /* members on this node; this one's number */
    int lanes;
    int fullest;              /* members on the node that has most */
    bool ordered;             /* ranks ascend from node to node */
    bool cramped;             /* this machine has more nodes than cores */
    uint64_t calls;           /* served so far; alike on all members */
    int *first;               /* [nodes + 1] of each node in `rank` */
    int *rank;                /* [n] by node, then by number there */
    int *node_of, *number_of; /* [n] by rank */
    sw_ways_t ways;
    bool any[SW_COLL_COUNT]; /* is some size of it not the host's? */
} sw_span_t;

static inline int sw_span_members(const sw_span_t *s, int node)
{
    return s->first[node + 1] - s->first[node];
}

static inline bool sw_span_is_forced(void)
{
    return sw_unlikely(
        atomic_load_explicit(&sw_forced_way, memory_order_relaxed));
}

/* The way of a collective of `bytes` bytes by signature: alike on all members
 * (law 2). */
static inline sw_way_t sw_span_way(const sw_span_t *s, sw_collective_t id,
                                   size_t bytes)
{
    if (sw_span_is_forced())
        return sw_span_way_forced(id, s->fullest, s->lanes);
    return (sw_way_t)s->ways.way[id][sw_ways_class(bytes)];
}

/* Does the host serve all sizes of it? */
static inline bool sw_span_never(const sw_span_t *s, sw_collective_t id)
{
    return sw_span_is_forced() ? sw_span_way(s, id, 0) == SW_WAY_HOST
                               : !s->any[id];
}

enum { SW_SPAN_ABLE = 1, SW_SPAN_ROOM = 2 };

/* What each member tells all others. */
typedef struct {
    uint64_t offset;  /* a leader's: its team's sequence */
    uint64_t ways;    /* hash of its table of ways */
    int32_t node;     /* a rank in MPI_COMM_WORLD stands for it */
    uint32_t machine; /* hash of what is the same on one machine */
    uint32_t ok;      /* SW_SPAN_* bits: it can take part */
    uint32_t crowded; /* its node has more ranks than cores, ... */
    uint32_t spins;   /* ... and the host keeps a core while it waits */
} sw_span_answer_t;

/* Meets the members of `comm`: the world ranks `members`. Every member
 * must come here with the same call. NULL, with *why (static text): they have
 * no span, and the host serves. */
sw_span_t *sw_span_adopt(MPI_Comm comm, int me, const sw_members_t *members,
                         const char **why);

/* Two reasons to tell apart: no room, and no member that shares its node. */
extern const char *const sw_span_full __attribute__((visibility("hidden")));
extern const char *const sw_span_alone __attribute__((visibility("hidden")));

/* The communicator goes. Waits for no member. */
void sw_span_free(sw_span_t *span);

/* How many spans this process holds, and the most it has held. */
void sw_span_counts(int *now, int *most);

#endif
