/*
 * algorithm_parts.h - what the algorithms of collectives are made of.
 *
 * This file has logarithms, how bytes are cut into blocks, and *folding*. By
 * folding, an algorithm for powers of two serves any number of members: the
 * surplus members hand their part to a neighbour first, and get the result at
 * the end. Of n members, p = 2^floor(log2 n) take part, and rest = n - p do
 * not: of the first 2 rest members, those with an even number. So members have
 * a number among those that take part:
 *
 *     member   0  1  2  3  4  5  6        n = 7, p = 4, rest = 3
 *     number      0     1     2  3
 *
 * Phases (a reduction up a tree, then a broadcast down) are joined by their
 * numbers of steps.
 */
#ifndef SW_VTIME_MODEL_ALGORITHM_PARTS_H
#define SW_VTIME_MODEL_ALGORITHM_PARTS_H

#include "algorithm.h"

static inline uint32_t sw_algorithm_log2_floor(uint32_t n)
{
    return 31 - (uint32_t)__builtin_clz(n);
}

/* Of 1: 0. */
static inline uint32_t sw_algorithm_log2_ceil(uint32_t n)
{
    return n > 1 ? sw_algorithm_log2_floor(n - 1) + 1 : 0;
}

/* Where block i of `parts` nearly equal ones begins. */
static inline uint64_t sw_part_start(uint64_t bytes, uint32_t parts, uint32_t i)
{
    uint64_t more = bytes % parts;
    return bytes / parts * i + (i < more ? i : more);
}

/* The bytes of the blocks from `first` up to `end`. */
static inline uint64_t sw_part_bytes(uint64_t bytes, uint32_t parts,
                                     uint32_t first, uint32_t end)
{
    return sw_part_start(bytes, parts, end) -
           sw_part_start(bytes, parts, first);
}

/* Members as they are numbered from the root, and back. */
static inline uint32_t sw_algorithm_from_root(const sw_call_t *call,
                                              uint32_t me)
{
    return me >= call->root ? me - call->root : me + (call->n - call->root);
}

static inline uint32_t sw_algorithm_to_member(const sw_call_t *call,
                                              uint32_t relative)
{
    uint32_t left = call->n - call->root;
    return relative < left ? relative + call->root : relative - left;
}

/* The member `by` places after me, or before, round the ring; by < n. */
static inline uint32_t sw_algorithm_after(uint32_t n, uint32_t me, uint32_t by)
{
    return by < n - me ? me + by : me - (n - by);
}

static inline uint32_t sw_algorithm_before(uint32_t n, uint32_t me, uint32_t by)
{
    return me >= by ? me - by : me + (n - by);
}

static inline void sw_step_send(sw_step_t *step, uint32_t to, uint64_t bytes)
{
    step->to = to;
    step->sent = bytes;
}

static inline void sw_step_receive(sw_step_t *step, uint32_t from,
                                   uint64_t bytes)
{
    step->from = from;
    step->received = bytes;
}

/* Folding. */
typedef struct {
    uint32_t p, levels, rest; /* p = 2^levels, n = p + rest */
} sw_fold_t;

static inline sw_fold_t sw_fold(uint32_t n)
{
    uint32_t levels = sw_algorithm_log2_floor(n);
    return (sw_fold_t){1u << levels, levels, n - (1u << levels)};
}

/* Does `me` have a neighbour to fold with, and is it the one that leaves? */
static inline bool sw_fold_paired(const sw_fold_t *f, uint32_t me)
{
    return me < 2 * f->rest;
}

static inline bool sw_fold_leaves(const sw_fold_t *f, uint32_t me)
{
    return sw_fold_paired(f, me) && me % 2 == 0;
}

static inline uint32_t sw_fold_number(const sw_fold_t *f, uint32_t me)
{
    return sw_fold_paired(f, me) ? me / 2 : me - f->rest;
}

static inline uint32_t sw_fold_member(const sw_fold_t *f, uint32_t number)
{
    return number < f->rest ? 2 * number + 1 : number + f->rest;
}

/* How many members' blocks those below `number` stand for. */
static inline uint32_t sw_fold_blocks(const sw_fold_t *f, uint32_t number)
{
    return number < f->rest ? 2 * number : number + f->rest;
}

/* One member's step of a folded algorithm of so many rounds. The function
 * writes the member's part of the fold into `step`, or tells the round. `in`
 * goes to the neighbour before, `out` comes back (SW_FOLD_NOTHING: no
 * message). */
typedef enum { SW_FOLD_OVER, SW_FOLD_STEP, SW_FOLD_ROUND } sw_fold_at_t;
#define SW_FOLD_NOTHING UINT64_MAX

static inline sw_fold_at_t sw_fold_step(const sw_fold_t *f, uint32_t me,
                                        uint32_t k, uint32_t rounds,
                                        uint64_t in, uint64_t out,
                                        sw_step_t *step, uint32_t *round)
{
    bool paired = sw_fold_paired(f, me), told = out != SW_FOLD_NOTHING;
    if (sw_fold_leaves(f, me)) {
        if (k == 0)
            sw_step_send(step, me + 1, in);
        else
            sw_step_receive(step, me + 1, out);
        return k < 1u + told ? SW_FOLD_STEP : SW_FOLD_OVER;
    }
    if (paired && k == 0) {
        sw_step_receive(step, me - 1, in);
        return SW_FOLD_STEP;
    }
    *round = k - paired;
    if (*round < rounds)
        return SW_FOLD_ROUND;
    if (!paired || !told || *round > rounds)
        return SW_FOLD_OVER;
    sw_step_send(step, me - 1, out);
    return SW_FOLD_STEP;
}

/* Each family has a step function and, where none of the three below serves, a
 * formula of its own. */
sw_step_func_t sw_linear_from_root, sw_linear_to_root, sw_linear_barrier,
    sw_linear_scan, sw_pairwise_shift, sw_pairwise_alltoall, sw_ring_allgather,
    sw_ring_reduce_scatter, sw_ring_allreduce, sw_bruck_allgather,
    sw_bruck_alltoall, sw_neighbor_allgather, sw_binomial_bcast,
    sw_binomial_reduce, sw_binomial_gather, sw_binomial_scatter,
    sw_binomial_reduce_bcast, sw_doubling_allreduce, sw_doubling_allgather,
    sw_doubling_scan, sw_halving_reduce_scatter, sw_rabenseifner_reduce,
    sw_rabenseifner_allreduce, sw_van_de_geijn_bcast, sw_pipeline_bcast,
    sw_pipeline_reduce;
sw_takes_func_t sw_linear_barrier_takes, sw_linear_scan_takes,
    sw_ring_allreduce_takes, sw_bruck_alltoall_takes,
    sw_neighbor_allgather_takes, sw_binomial_reduce_bcast_takes,
    sw_doubling_allreduce_takes, sw_doubling_allgather_takes,
    sw_doubling_scan_takes, sw_halving_reduce_scatter_takes,
    sw_rabenseifner_reduce_takes, sw_rabenseifner_allreduce_takes,
    sw_van_de_geijn_bcast_takes, sw_pipeline_takes;

/* Formulas (algorithm.c): ceil(log2 n) messages of all B bytes; n - 1 messages
 * of B; ceil(log2 n) messages that carry n - 1 blocks of B together. */
sw_takes_func_t sw_takes_tree, sw_takes_turns, sw_takes_blocks;

/* How many steps a member has up a binomial tree, by its number from the root
 * (algorithm_binomial.c). Down it has as many. */
uint32_t sw_binomial_steps(uint32_t n, uint32_t relative);
/* A scatter of call->bytes in all, cut into nearly equal parts. */
sw_step_func_t sw_binomial_scatter_parts;

/* Round the ring (algorithm_ring.c): step k of n - 1 of an allgather, where
 * block i, of `blocks` bytes in all, is member i's. */
void sw_ring_gather(uint64_t blocks, uint32_t n, uint32_t me, uint32_t k,
                    sw_step_t *step);

#endif
