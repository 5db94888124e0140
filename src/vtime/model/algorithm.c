/*
 * algorithm.c - which algorithms there are for which collective. The variants
 * with counts of each member's own have those of the plain ones, as libraries
 * do; what has no data (making a communicator, a fence) is a barrier.
 */
#include "algorithm_parts.h"

#include <string.h>

#define MOST 8

typedef const sw_algorithm_t *list_t[MOST];

static const list_t barriers = {&sw_barrier_dissemination,
                                &sw_barrier_recursive_doubling,
                                &sw_barrier_binomial, &sw_barrier_linear};
static const list_t bcasts = {&sw_bcast_binomial, &sw_bcast_linear,
                              &sw_bcast_scatter_allgather, &sw_bcast_chain,
                              &sw_bcast_pipeline};
static const list_t reduces = {&sw_reduce_binomial, &sw_reduce_linear,
                               &sw_reduce_rabenseifner, &sw_reduce_chain,
                               &sw_reduce_pipeline};
static const list_t allreduces = {&sw_allreduce_recursive_doubling,
                                  &sw_allreduce_ring,
                                  &sw_allreduce_rabenseifner,
                                  &sw_allreduce_reduce_bcast};
static const list_t reduce_scatters = {&sw_reduce_scatter_recursive_halving,
                                       &sw_reduce_scatter_pairwise,
                                       &sw_reduce_scatter_ring};
static const list_t scans = {&sw_scan_recursive_doubling, &sw_scan_linear};
static const list_t gathers = {&sw_gather_binomial, &sw_gather_linear};
static const list_t scatters = {&sw_scatter_binomial, &sw_scatter_linear};
static const list_t allgathers = {&sw_allgather_recursive_doubling,
                                  &sw_allgather_ring, &sw_allgather_bruck,
                                  &sw_allgather_neighbor_exchange};
static const list_t alltoalls = {&sw_alltoall_pairwise, &sw_alltoall_bruck,
                                 &sw_alltoall_linear};

static const list_t *const lists[SW_COLLECTIVE_COUNT] = {
    [SW_COLLECTIVE_BARRIER] = &barriers,
    [SW_COLLECTIVE_BCAST] = &bcasts,
    [SW_COLLECTIVE_REDUCE] = &reduces,
    [SW_COLLECTIVE_ALLREDUCE] = &allreduces,
    [SW_COLLECTIVE_REDUCE_SCATTER] = &reduce_scatters,
    [SW_COLLECTIVE_REDUCE_SCATTER_BLOCK] = &reduce_scatters,
    [SW_COLLECTIVE_SCAN] = &scans,
    [SW_COLLECTIVE_EXSCAN] = &scans,
    [SW_COLLECTIVE_GATHER] = &gathers,
    [SW_COLLECTIVE_GATHERV] = &gathers,
    [SW_COLLECTIVE_SCATTER] = &scatters,
    [SW_COLLECTIVE_SCATTERV] = &scatters,
    [SW_COLLECTIVE_ALLGATHER] = &allgathers,
    [SW_COLLECTIVE_ALLGATHERV] = &allgathers,
    [SW_COLLECTIVE_ALLTOALL] = &alltoalls,
    [SW_COLLECTIVE_ALLTOALLV] = &alltoalls,
    [SW_COLLECTIVE_ALLTOALLW] = &alltoalls,
    [SW_COLLECTIVE_OTHER] = &barriers,
};

const sw_algorithm_t *sw_algorithm_named(sw_op_collective_t what,
                                         const char *name)
{
    for (const sw_algorithm_t *const *a = *lists[what]; *a; a++)
        if (!strcmp((*a)->name, name))
            return *a;
    return NULL;
}

const char *const *sw_algorithm_names(sw_op_collective_t what)
{
    /* Filled with the same names each time. */
    static const char *names[SW_COLLECTIVE_COUNT][MOST];
    const list_t *list = lists[what];
    for (int i = 0; (*list)[i]; i++)
        names[what][i] = (*list)[i]->name;
    return names[what];
}
