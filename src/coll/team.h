/*
 * team.h - the members of a communicator that share a node: which processes
 * they are, what reaches their memory, and the trees over them.
 *
 * Every member builds its team from the same introductions (agreement.h), so
 * the members decide alike. A team is private memory of its member. It does
 * not change after set-up, so threads read it without a lock. The sequences
 * (sequence.h) of a team count as its references; the last one to close frees
 * it.
 */
#ifndef SW_COLL_TEAM_H
#define SW_COLL_TEAM_H

#include "node/peer.h"
#include "topology/location.h"
#include "topology/tree.h"

#define SW_FLAT 16  /* members up to which small steps need no tree */
#define SW_FANOUT 8 /* children per node of a tree */
#define SW_MEMBERS_MAX 1024
/* Children of a member, at most. A level of the machine takes at most 4 rounds
 * to cut 1,024 members into chunks of 8. Each round gives a leader 7 children,
 * and there are 4 levels (topology/tree.h). Another root adds one. */
#define SW_CHILDREN 128

/* Members whose versions differ do not share. */
#define SW_TEAM_VERSION 2

/* What a member tells the others of itself before there is a team. */
typedef struct {
    sw_card_t card;
    sw_location_t where;
    int32_t virtual_node; /* members of different ones do not share */
    uint32_t version;
    uint64_t eager, slice; /* settings; the members follow the leader's */
    uint64_t helper;       /* 1: it has a thread of ours that can work */
} sw_introduction_t;

typedef struct {
    int n, me;         /* a member's number is its rank */
    bool arena;        /* every member maps every member's arena */
    bool cma;          /* every member can read every member by CMA */
    bool crowded;      /* the leader counts more ranks than cores */
    bool helped;       /* every member has a helper thread */
    _Atomic int holds; /* references */
    size_t stage_max;  /* largest payload that a sequence stages */
    /* payloads of rooted collectives up to this are copied, at most
     * stage_max */
    size_t eager;
    size_t eager_all; /* likewise where all wait for all */
    /* vectors from this on are reduced in slices: the leader's setting, at most
     * stage_max + 1 */
    size_t slice;
    sw_peer_t **peer;   /* [n] */
    sw_tree_t *tree;    /* follows the machine; NULL up to SW_FLAT */
    sw_tree_t *ordered; /* contiguous ranks, for non-commutative ops */
} sw_team_t;

/* Fills in what this process tells of itself; it has no helper thread, as far
 * as this room knows. False: it cannot share. */
SW_API bool sw_team_introduce(sw_introduction_t *to, int virtual_node);

/* Makes the team of n members, with one reference, from all introductions and
 * what the members agreed on. Owns `peer` (malloced) from here on. Ends the
 * process where memory runs out, since the others rely on it by now. */
SW_API sw_team_t *sw_team_make(const sw_introduction_t *all, int n, int me,
                               sw_peer_t **peer, bool arena, bool cma,
                               bool crowded);

static inline sw_team_t *sw_team_hold(sw_team_t *team)
{
    atomic_fetch_add(&team->holds, 1);
    return team;
}

SW_API void sw_team_drop(sw_team_t *team);

/* Bytes of the largest payload that a sequence of n members stages. */
size_t sw_team_stage_max(int n);

#endif
