/*
 * reducer.h - what a reducing collective must know of its operation.
 *
 * An element is `elem` bytes, and elements lie side by side. A predefined
 * operation has a kernel. A user's is called through `user`, which computes
 * inout[i] = in[i] op inout[i] as MPI does: `in` holds the lower ranks'
 * operand. A collective combines the members' operands in rank order, over a
 * tree that depends on the communicator alone (reduce/order.h). So the same
 * input gives the same bits on every rank and every run, by every path.
 */
#ifndef SW_COLL_REDUCER_H
#define SW_COLL_REDUCER_H

#include "payload.h"
#include "coll/reduce/kernel.h"

typedef struct sw_reducer {
    size_t elem;
    bool commutative;
    sw_reduce_func_t kernel; /* NULL: user's */
    void (*user)(const struct sw_reducer *, const void *in, void *inout,
                 size_t n);
} sw_reducer_t;

/* Computes to = from[0] op from[1] ... op from[count-1], in this order, for n
 * elements at byte offset `offset` of the sources. `to` is this process's
 * memory and may be one of the sources (at the same offset). Returns SW_OK,
 * SW_NO_ROOM or SW_UNREACHABLE. */
int sw_reducer_combine_in(sw_scratch_t *scratch, const sw_reducer_t *r,
                          sw_order_t order, const sw_source_t *from, int count,
                          uint64_t offset, void *to, size_t n);
static inline int sw_reducer_combine(sw_sequence_t *seq, const sw_reducer_t *r,
                                     const sw_source_t *from, int count,
                                     uint64_t offset, void *to, size_t n)
{
    return sw_reducer_combine_in(&seq->scratch, r, SW_ORDER_TREE, from, count,
                                 offset, to, n);
}

#endif
