/*
 * folds.h - collectives that reduce: Reduce, Allreduce, Reduce_scatter, Scan,
 * Exscan, and their variants.
 *
 * Small: each member posts its operand. A member that gets a result combines
 * all operands itself. Large: the members lend each other their operands and
 * results. The vector is cut into pieces. A worker that claims a piece combines
 * all operands there, in one order, and stores the results of all members. So
 * one thread computes each element, and every rank gets the same bits. Where a
 * member has no room for what it should lend, all go the narrow way (narrow.h).
 */
#ifndef SW_OFFLOAD_FOLDS_H
#define SW_OFFLOAD_FOLDS_H

#include "narrow.h"

typedef struct {
    sw_schedule_t schedule;
    /* the caller fills them in; they last as long as the schedule */
    sw_coll_fold_t args;
    bool small;
    bool present; /* all members' rows have been seen */
    bool waiting; /* for anything at all */
    int owner;    /* the first whose pieces may not be done */
    sw_exposed_t in, out;
    bool is_narrow; /* a member's row says so */
    sw_narrow_t narrow;
} sw_fold_t;

/* Begins one. f->schedule began as zeros, and is kept. */
SW_API void sw_fold_begin(sw_fold_t *f, sw_slates_t *on);

#endif
