/*
 * algorithm_parts.h - what the algorithms of collectives are made of.
 *
 * Logarithms, how bytes are cut into blocks, and *folding*: an algorithm for
 * powers of two serves any number of members when the surplus of them hand
 * their part to a neighbour first, and are told the result at the end. Of n
 * members, p = 2^floor(log2 n) take part, and rest = n - p do not: of the
 * first 2 rest members, those with an even number. So members have a number
 * among those who take part:
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

static inline uint32_t sw_log2_floor(uint32_t n)
{
    return 31 - (uint32_t)__builtin_clz(n);
}

/* Of 1: 0. */
static inline uint32_t sw_log2_ceil(uint32_t n)
{
    return n > 1 ? sw_log2_floor(n - 1) + 1 : 0;
}

/* Where block i of `parts` nearly equal ones begins. */
static inline uint64_t sw_part_start(uint64_t bytes, uint32_t parts,
                                     uint32_t i)
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
static inline uint32_t sw_from_root(const sw_call_t *call, uint32_t me)
{
    return me >= call->root ? me - call->root : me + (call->n - call->root);
}

static inline uint32_t sw_to_member(const sw_call_t *call, uint32_t relative)
{
    uint32_t left = call->n - call->root;
    return relative < left ? relative + call->root : relative - left;
}

/* The member `by` places after me, or before, round the ring; by < n. */
static inline uint32_t sw_after(uint32_t n, uint32_t me, uint32_t by)
{
    return by < n - me ? me + by : me - (n - by);
}

static inline uint32_t sw_before(uint32_t n, uint32_t me, uint32_t by)
{
    return me >= by ? me - by : me + (n - by);
}

/* A step in which nothing is done yet. */
static inline void sw_step_idle(sw_step_t *step)
{
    *step = (sw_step_t){.to = SW_STEP_NOBODY, .from = SW_STEP_NOBODY};
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
    uint32_t p, levels, rest;   /* p = 2^levels, n = p + rest */
} sw_fold_t;

static inline sw_fold_t sw_fold(uint32_t n)
{
    uint32_t levels = sw_log2_floor(n);
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

/* One member's step of a folded algorithm of so many rounds: its part of the
 * fold is written into `step`, or the round is told. `in` goes to the neighbour
 * before, `out` comes back (SW_FOLD_NOTHING: no message). */
typedef enum { SW_FOLD_OVER, SW_FOLD_STEP, SW_FOLD_ROUND } sw_fold_at_t;
#define SW_FOLD_NOTHING UINT64_MAX

static inline sw_fold_at_t sw_fold_step(const sw_fold_t *f, uint32_t me,
                                        uint32_t k, uint32_t rounds,
                                        uint64_t in, uint64_t out,
                                        sw_step_t *step, uint32_t *round)
{
    bool paired = sw_fold_paired(f, me), told = out != SW_FOLD_NOTHING;
    sw_step_idle(step);
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

/* Binomial trees, over members as numbered from the root
 * (algorithm_binomial.c). The steps that a member has on the way up (down:
 * as many), and the k-th of them. `blocks`: each member has a part of
 * call->bytes, and those of a subtree travel together; else all of it does. */
uint32_t sw_binomial_steps(uint32_t n, uint32_t relative);
void sw_binomial_up(const sw_call_t *call, uint32_t me, uint32_t k,
                    bool blocks, sw_step_t *step);
void sw_binomial_down(const sw_call_t *call, uint32_t me, uint32_t k,
                      bool blocks, sw_step_t *step);

/* Round the ring (algorithm_ring.c): step k of n - 1 of an allgather, where
 * block i, of `blocks` bytes in all, is member i's. */
void sw_ring_gather(uint64_t blocks, uint32_t n, uint32_t me, uint32_t k,
                    sw_step_t *step);

#define SW_ALGORITHMS(SW_ALGORITHM)                                         \
    SW_ALGORITHM(sw_barrier_dissemination)                                  \
    SW_ALGORITHM(sw_barrier_binomial)                                       \
    SW_ALGORITHM(sw_barrier_recursive_doubling)                             \
    SW_ALGORITHM(sw_barrier_linear)                                         \
    SW_ALGORITHM(sw_bcast_binomial)                                         \
    SW_ALGORITHM(sw_bcast_linear)                                           \
    SW_ALGORITHM(sw_bcast_scatter_allgather)                                \
    SW_ALGORITHM(sw_bcast_chain)                                            \
    SW_ALGORITHM(sw_bcast_pipeline)                                         \
    SW_ALGORITHM(sw_reduce_binomial)                                        \
    SW_ALGORITHM(sw_reduce_linear)                                          \
    SW_ALGORITHM(sw_reduce_rabenseifner)                                    \
    SW_ALGORITHM(sw_reduce_chain)                                           \
    SW_ALGORITHM(sw_reduce_pipeline)                                        \
    SW_ALGORITHM(sw_allreduce_recursive_doubling)                           \
    SW_ALGORITHM(sw_allreduce_ring)                                         \
    SW_ALGORITHM(sw_allreduce_rabenseifner)                                 \
    SW_ALGORITHM(sw_allreduce_reduce_bcast)                                 \
    SW_ALGORITHM(sw_reduce_scatter_recursive_halving)                       \
    SW_ALGORITHM(sw_reduce_scatter_pairwise)                                \
    SW_ALGORITHM(sw_reduce_scatter_ring)                                    \
    SW_ALGORITHM(sw_allgather_recursive_doubling)                           \
    SW_ALGORITHM(sw_allgather_ring)                                         \
    SW_ALGORITHM(sw_allgather_bruck)                                        \
    SW_ALGORITHM(sw_allgather_neighbor_exchange)                            \
    SW_ALGORITHM(sw_alltoall_pairwise)                                      \
    SW_ALGORITHM(sw_alltoall_bruck)                                         \
    SW_ALGORITHM(sw_alltoall_linear)                                        \
    SW_ALGORITHM(sw_scan_recursive_doubling)                                \
    SW_ALGORITHM(sw_scan_linear)                                            \
    SW_ALGORITHM(sw_gather_binomial)                                        \
    SW_ALGORITHM(sw_gather_linear)                                          \
    SW_ALGORITHM(sw_scatter_binomial)                                       \
    SW_ALGORITHM(sw_scatter_linear)

#define SW_ALGORITHM(symbol) extern const sw_algorithm_t symbol;
SW_ALGORITHMS(SW_ALGORITHM)
#undef SW_ALGORITHM

#endif
