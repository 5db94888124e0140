/*
 * algorithm.c - the table of algorithms: which there are for which collective.
 *
 * The variants with counts of each member's own have the algorithms of the
 * plain ones, as in MPI libraries. A collective without data (making a
 * communicator, a fence) is a barrier.
 */
#include "algorithm_parts.h"

#include <string.h>

#define MOST 8

#define BIT(NAME) (1u << SW_COLLECTIVE_##NAME)
#define BARRIERS (BIT(BARRIER) | BIT(OTHER) | BIT(FENCE))
#define REDUCE_SCATTERS (BIT(REDUCE_SCATTER) | BIT(REDUCE_SCATTER_BLOCK))
#define SCANS (BIT(SCAN) | BIT(EXSCAN))
#define GATHERS (BIT(GATHER) | BIT(GATHERV))
#define SCATTERS (BIT(SCATTER) | BIT(SCATTERV))
#define ALLGATHERS (BIT(ALLGATHER) | BIT(ALLGATHERV))
#define ALLTOALLS (BIT(ALLTOALL) | BIT(ALLTOALLV) | BIT(ALLTOALLW))
#define EMPTY SW_ALGORITHM_EMPTY
#define REDUCES SW_ALGORITHM_REDUCES
#define SEGMENT 65536

/* Of a collective, the usual algorithm stands first. */
static const sw_algorithm_t algorithms[] = {
    {"dissemination", BARRIERS, sw_bruck_alltoall, sw_takes_tree, EMPTY, 0},
    {"recursive_doubling", BARRIERS, sw_doubling_allreduce,
     sw_doubling_allreduce_takes, EMPTY, 0},
    {"binomial", BARRIERS, sw_binomial_reduce_bcast,
     sw_binomial_reduce_bcast_takes, EMPTY, 0},
    {"linear", BARRIERS, sw_linear_barrier, sw_linear_barrier_takes, EMPTY, 0},
    {"binomial", BIT(BCAST), sw_binomial_bcast, sw_takes_tree, 0, 0},
    {"linear", BIT(BCAST), sw_linear_from_root, sw_takes_turns, 0, 0},
    {"scatter_allgather", BIT(BCAST), sw_van_de_geijn_bcast,
     sw_van_de_geijn_bcast_takes, 0, 0},
    {"chain", BIT(BCAST), sw_pipeline_bcast, sw_pipeline_takes, 0, 0},
    {"pipeline", BIT(BCAST), sw_pipeline_bcast, sw_pipeline_takes, 0, SEGMENT},
    {"binomial", BIT(REDUCE), sw_binomial_reduce, sw_takes_tree, REDUCES, 0},
    {"linear", BIT(REDUCE), sw_linear_to_root, sw_takes_turns, REDUCES, 0},
    {"rabenseifner", BIT(REDUCE), sw_rabenseifner_reduce,
     sw_rabenseifner_reduce_takes, 0, 0},
    {"chain", BIT(REDUCE), sw_pipeline_reduce, sw_pipeline_takes, REDUCES, 0},
    {"pipeline", BIT(REDUCE), sw_pipeline_reduce, sw_pipeline_takes, REDUCES,
     SEGMENT},
    {"recursive_doubling", BIT(ALLREDUCE), sw_doubling_allreduce,
     sw_doubling_allreduce_takes, 0, 0},
    {"ring", BIT(ALLREDUCE), sw_ring_allreduce, sw_ring_allreduce_takes, 0, 0},
    {"rabenseifner", BIT(ALLREDUCE), sw_rabenseifner_allreduce,
     sw_rabenseifner_allreduce_takes, 0, 0},
    {"reduce_bcast", BIT(ALLREDUCE), sw_binomial_reduce_bcast,
     sw_binomial_reduce_bcast_takes, 0, 0},
    {"recursive_halving", REDUCE_SCATTERS, sw_halving_reduce_scatter,
     sw_halving_reduce_scatter_takes, 0, 0},
    {"pairwise", REDUCE_SCATTERS, sw_pairwise_shift, sw_takes_turns, REDUCES,
     0},
    {"ring", REDUCE_SCATTERS, sw_ring_reduce_scatter, sw_takes_turns, REDUCES,
     0},
    {"recursive_doubling", SCANS, sw_doubling_scan, sw_doubling_scan_takes, 0,
     0},
    {"linear", SCANS, sw_linear_scan, sw_linear_scan_takes, 0, 0},
    {"binomial", GATHERS, sw_binomial_gather, sw_takes_blocks, 0, 0},
    {"linear", GATHERS, sw_linear_to_root, sw_takes_turns, 0, 0},
    {"binomial", SCATTERS, sw_binomial_scatter, sw_takes_blocks, 0, 0},
    {"linear", SCATTERS, sw_linear_from_root, sw_takes_turns, 0, 0},
    {"recursive_doubling", ALLGATHERS, sw_doubling_allgather,
     sw_doubling_allgather_takes, 0, 0},
    {"ring", ALLGATHERS, sw_ring_allgather, sw_takes_turns, 0, 0},
    {"bruck", ALLGATHERS, sw_bruck_allgather, sw_takes_blocks, 0, 0},
    {"neighbor_exchange", ALLGATHERS, sw_neighbor_allgather,
     sw_neighbor_allgather_takes, 0, 0},
    {"pairwise", ALLTOALLS, sw_pairwise_alltoall, sw_takes_turns, 0, 0},
    {"bruck", ALLTOALLS, sw_bruck_alltoall, sw_bruck_alltoall_takes, 0, 0},
    {"linear", ALLTOALLS, sw_pairwise_shift, sw_takes_turns, 0, 0},
};

/* The call as the algorithm's functions see it. */
static sw_call_t seen(const sw_algorithm_t *algorithm, const sw_call_t *call)
{
    sw_call_t its = *call;
    its.segment = algorithm->segment;
    if (algorithm->how & EMPTY)
        its.bytes = its.root = 0;
    return its;
}

bool sw_algorithm_step(const sw_algorithm_t *algorithm, const sw_call_t *call,
                       uint32_t me, uint32_t k, sw_step_t *step)
{
    sw_call_t its = seen(algorithm, call);
    *step = (sw_step_t){.to = SW_STEP_NOBODY, .from = SW_STEP_NOBODY};
    if (!algorithm->step(&its, me, k, step))
        return false;
    if (algorithm->how & REDUCES)
        step->reduced = step->received;
    return true;
}

double sw_algorithm_takes(const sw_algorithm_t *algorithm,
                          const sw_call_t *call, double alpha, double beta,
                          double gamma)
{
    sw_call_t its = seen(algorithm, call);
    return algorithm->how & REDUCES
               ? algorithm->takes(&its, alpha, beta + gamma, 0)
               : algorithm->takes(&its, alpha, beta, gamma);
}

double sw_takes_tree(const sw_call_t *call, double alpha, double beta,
                     double gamma)
{
    return sw_algorithm_log2_ceil(call->n) *
           (alpha + beta * (double)call->bytes);
}

double sw_takes_turns(const sw_call_t *call, double alpha, double beta,
                      double gamma)
{
    return (call->n - 1.0) * (alpha + beta * (double)call->bytes);
}

double sw_takes_blocks(const sw_call_t *call, double alpha, double beta,
                       double gamma)
{
    return sw_algorithm_log2_ceil(call->n) * alpha +
           (call->n - 1.0) * beta * (double)call->bytes;
}

const sw_algorithm_t *sw_algorithm_named(sw_op_collective_t what,
                                         const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (algorithms[i].collectives >> what & 1 &&
            !strcmp(algorithms[i].name, name))
            return &algorithms[i];
    return NULL;
}

const char *const *sw_algorithm_names(sw_op_collective_t what)
{
    /* Filled with the same names each time. */
    static const char *names[SW_COLLECTIVE_COUNT][MOST];
    int n = 0;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (algorithms[i].collectives >> what & 1)
            names[what][n++] = algorithms[i].name;
    return names[what];
}
