/*
 * reducer.c - combining the members' operands; see reducer.h.
 *
 * A kernel reads sources in reach of plain loads where they lie: one pass, no
 * staging. A member fetches a source that only CMA reaches block by block, into
 * scratch memory that stays in the cache. A user's function overwrites its
 * right operand, so the member copies each operand to scratch first.
 */
#include "reducer.h"

#include <string.h>

#define BLOCK 16384 /* bytes of an entry of the stack */

static bool all_direct(const sw_source_t *from, int count)
{
    for (int i = 0; i < count; i++)
        if (!from[i].at)
            return false;
    return true;
}

/* Combines the two top entries of a stack. A user's function leaves the result
 * in the right one: then the two change places. */
static void merge(const sw_reducer_t *r, char **stack, int top, size_t n)
{
    char *left = stack[top - 2], *right = stack[top - 1];
    if (r->kernel) {
        r->kernel(left, left, right, n);
        return;
    }
    r->user(r, left, right, n);
    stack[top - 2] = right;
    stack[top - 1] = left;
}

/* Combines one block. Copies of the operands are the entries of the stack, and
 * `to` is written once, at the end. */
static int combine_block(const sw_reducer_t *r, sw_order_t order,
                         const sw_source_t *from, int count, uint64_t offset,
                         void *to, size_t n, char **stack)
{
    size_t bytes = n * r->elem;
    int pairs = sw_order_pairs(order, count), top = 0, rc = SW_OK;
    for (int item = 0, next = 0; next < count; item++) {
        int merges = sw_order_merges(order, item);
        if (item < pairs) {
            rc = sw_source_copy(&from[next++], offset, stack[top++], bytes);
            merges++;
        }
        if (!rc)
            rc = sw_source_copy(&from[next++], offset, stack[top++], bytes);
        if (rc)
            return rc;
        for (; merges > 0; merges--)
            merge(r, stack, top--, n);
    }
    sw_copy(to, stack[0], bytes);
    return SW_OK;
}

/* Where no kernel can read all sources where they lie. */
static int combine_copies(sw_scratch_t *keep, const sw_reducer_t *r,
                          sw_order_t order, const sw_source_t *from, int count,
                          uint64_t offset, void *to, size_t n)
{
    size_t step = sw_max(BLOCK / r->elem, 1);
    size_t each = sw_round_up(step * r->elem, SW_LINE);
    int depth = sw_order_depth(order, count);
    char *stack[SW_ORDER_DEEPEST];
    char *room = sw_scratch(keep, (size_t)depth * each);
    if (!room)
        return SW_NO_ROOM;
    for (int k = 0; k < depth; k++)
        stack[k] = room + (size_t)k * each;
    int rc = SW_OK;
    for (size_t i = 0; i < n && !rc; i += step)
        rc = combine_block(r, order, from, count, offset + i * r->elem,
                           (char *)to + i * r->elem, sw_min(step, n - i),
                           stack);
    return rc;
}

int sw_reducer_combine_in(sw_scratch_t *keep, const sw_reducer_t *r,
                          sw_order_t order, const sw_source_t *from, int count,
                          uint64_t offset, void *to, size_t n)
{
    if (n == 0)
        return SW_OK;
    if (!r->kernel || !all_direct(from, count))
        return combine_copies(keep, r, order, from, count, offset, to, n);
    if (count == 2) {
        r->kernel(to, from[0].at + offset, from[1].at + offset, n);
        return SW_OK;
    }
    SW_ARRAY(const void *, in, count);
    char *room = sw_scratch(keep, sw_reduce_room(order, count));
    if (!room)
        return SW_NO_ROOM;
    for (int i = 0; i < count; i++)
        in[i] = from[i].at + offset;
    sw_reduce_many(r->kernel, r->elem, order, to, in, count, n, room);
    return SW_OK;
}
