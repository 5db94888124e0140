/*
 * order.h - in which order a reduction combines its operands.
 *
 * Floating-point sums round, so the order decides their last bits. A reduction
 * of all operands takes the tree of recursive doubling (SW_ORDER_TREE), as most
 * MPIs do. Of `count` operands that are no power of two the first ones pair up,
 * so that a power of two of *items* is left. Neighbouring items are combined,
 * then neighbouring results, and so on:
 *
 *     operand   0   1   2   3   4   5   6        7 operands, 3 pairs
 *     item      0 + 1   2 + 3   4 + 5   6        4 items
 *               0 ..... 3       4 ..... 6
 *               0 ..................... 6
 *
 * A scan needs the results of all first operands, and combines them one after
 * the other (SW_ORDER_LINE), as Open MPI does.
 *
 * Both keep the operands' order, so they serve what does not commute. Both are
 * the work of a stack: the items come one by one, each on top of the stack, and
 * then so many times the two top entries become one.
 */
#ifndef SW_COLL_REDUCE_ORDER_H
#define SW_COLL_REDUCE_ORDER_H

#include "node/base/base.h"

typedef enum { SW_ORDER_TREE, SW_ORDER_LINE } sw_order_t;

/* Entries that a stack holds at most, of up to 32,767 operands. */
#define SW_ORDER_DEEPEST 16

/* How many items are pairs: the first ones. */
static inline int sw_order_pairs(sw_order_t order, int count)
{
    return order == SW_ORDER_LINE
               ? 0
               : count - (1 << (31 - __builtin_clz((unsigned)count)));
}

/* How many times the top two entries become one after this item. */
static inline int sw_order_merges(sw_order_t order, int item)
{
    return order == SW_ORDER_LINE ? item > 0
                                  : __builtin_ctz((unsigned)item + 1);
}

/* The entries that a stack needs: the last item of all completes the tree. */
static inline int sw_order_depth(sw_order_t order, int count)
{
    return order == SW_ORDER_LINE ? 2 : 32 - __builtin_clz((unsigned)count);
}

#endif
