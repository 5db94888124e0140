/*
 * members.h - the members of a communicator, as ranks in MPI_COMM_WORLD.
 *
 * Communicators of the same members in the same order share one list: a program
 * may duplicate a communicator at each step. The communicators hold the list,
 * and the last one to drop it frees it.
 */
#ifndef SW_MPI_BASE_MEMBERS_H
#define SW_MPI_BASE_MEMBERS_H

#include "host.h"

typedef struct sw_members {
    struct sw_members *next;
    uint64_t hash; /* of the ranks, alike on all ranks */
    int holds;
    int n;
    bool all;   /* every member has a rank */
    int rank[]; /* in MPI_COMM_WORLD, or -1 */
} sw_members_t;

/* A good mix of two words, alike on all ranks. */
static inline uint64_t sw_members_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 1);
    x = (x ^ x >> 32) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 29;
}

/* The list of a group's n members, held. NULL: no memory. */
sw_members_t *sw_members_of(MPI_Group group, int n);
void sw_members_hold(sw_members_t *members);
void sw_members_drop(sw_members_t *members);

#endif
