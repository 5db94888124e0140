/*
 * reducer.c - combining the members' operands; see reducer.h.
 *
 * A kernel reads sources in reach of plain loads where they lie: one pass, no
 * staging. A member fetches a source that only CMA reaches block by block, into
 * scratch memory that stays in the cache. A user's function overwrites its
 * right operand, so the member copies each right operand to scratch first.
 */
#include "reducer.h"

#include <string.h>

#define BLOCK 16384     /* bytes of scratch per operand */

static bool all_direct(const sw_source_t *from, int count)
{
    for (int i = 0; i < count; i++)
        if (!from[i].at)
            return false;
    return true;
}

/* Combines one block. `left` starts as a copy of from[0], and the scratch
 * halves take turns as right operand: `to` is written once, at the end. */
static int combine_block(const sw_reducer_t *r, const sw_source_t *from,
                         int count, uint64_t offset, void *to, size_t n,
                         char *left, char *right)
{
    size_t bytes = n * r->elem;
    int rc = sw_source_copy(&from[0], offset, left, bytes);
    for (int i = 1; i < count && !rc; i++) {
        rc = sw_source_copy(&from[i], offset, right, bytes);
        if (rc)
            break;
        if (r->kernel) {
            r->kernel(left, left, right, n);
        } else {
            r->user(r, left, right, n);
            char *swap = left;
            left = right;
            right = swap;
        }
    }
    if (!rc)
        sw_copy(to, left, bytes);
    return rc;
}

int sw_combine_in(sw_scratch_t *keep, const sw_reducer_t *r,
                  const sw_source_t *from, int count, uint64_t offset,
                  void *to, size_t n)
{
    if (n == 0)
        return SW_OK;
    if (r->kernel && all_direct(from, count)) {
        if (count == 2) {
            r->kernel(to, from[0].at + offset, from[1].at + offset, n);
            return SW_OK;
        }
        SW_ARRAY(const void *, in, count);
        char *block = sw_scratch(keep, SW_REDUCE_BLOCK);
        for (int i = 0; i < count; i++)
            in[i] = from[i].at + offset;
        if (block)
            sw_reduce_many(r->kernel, r->elem, to, in, count, n, block);
        return block ? SW_OK : SW_NO_ROOM;
    }
    size_t step = sw_max(BLOCK / r->elem, 1);
    size_t half = sw_round_up(step * r->elem, SW_LINE);
    char *scratch = sw_scratch(keep, 2 * half);
    if (!scratch)
        return SW_NO_ROOM;
    for (size_t i = 0; i < n; i += step) {
        size_t now = sw_min(step, n - i);
        int rc = combine_block(r, from, count, offset + i * r->elem,
                               (char *)to + i * r->elem, now, scratch,
                               scratch + half);
        if (rc)
            return rc;
    }
    return SW_OK;
}
