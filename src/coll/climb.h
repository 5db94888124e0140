/*
 * climb.h - a small reduction up a tree, for more than SW_FLAT members.
 */
#ifndef SW_COLL_CLIMB_H
#define SW_COLL_CLIMB_H

#include "coll.h"

/* Combines all members' `in` up the tree rooted at `root`, in one step. The
 * root's result goes to `out` (others may give NULL). The operands of a
 * non-commutative reducer keep rank order: `root` must then be 0. `bytes` =
 * n * r->elem must be at most stage_max. */
int sw_climb(sw_sequence_t *seq, uint64_t step, uint32_t what, int root,
             const sw_reducer_t *r, const void *in, void *out, size_t n);

/* Bcast of member 0's bytes down the machine's tree. Has it none, since it has
 * `failed`, all members return that. */
int sw_bcast_down(sw_sequence_t *seq, char *buffer, size_t bytes, int failed);

#endif
