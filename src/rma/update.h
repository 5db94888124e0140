/*
 * update.h - accumulates: updates of a target's memory, each element at once.
 *
 * Short ones, of elements that the processor updates atomically, need no lock.
 * Long ones want kernels, which work on whole vectors. Both may meet at one
 * element, whatever their types and operations. So a long update waits for the
 * short ones under way, and keeps others out:
 *
 *   short   active++ at the origin           long    take a ticket
 *           has a long one a ticket?                 wait for its turn
 *             yes: active--, go as a long            wait until none is active
 *           update each element by itself            update all elements
 *           active--                                 the next one's turn
 *
 * Memory order: `active` and tickets are sequentially consistent where the two
 * look at each other. So either the short one sees the long one's ticket, or
 * the long one sees it active, and waits. `active--` and the end of a turn are
 * releases; the looks that find no rank acquire them. An origin with one thread
 * stores 0 instead of counting down: it has no other short update under way.
 *
 * A short update writes no line that other origins read, but the element's.
 */
#ifndef SW_RMA_UPDATE_H
#define SW_RMA_UPDATE_H

#include "share.h"
#include "coll/reduce/kernel.h"

typedef enum {
    SW_UPDATE_COMBINE, /* by the kernel */
    SW_UPDATE_ADD,     /* the same: integers of 4 or 8 bytes are added */
    SW_UPDATE_REPLACE,
    SW_UPDATE_NOTHING, /* the target is read */
} sw_update_kind_t;

typedef struct {
    sw_update_kind_t kind;
    sw_reduce_func_t kernel; /* or NULL */
    size_t elem;             /* bytes of an element in memory */
} sw_update_t;

/* Update n elements of a target's memory at `at`, where they lie for this
 * member, with those of `origin`; `result` gets what was there before. Either
 * may be NULL where the kind does not need it. False: locked instructions alone
 * did it, so no store is put off (x86). */
SW_API bool sw_rma_update(const sw_rma_share_t *w, int target,
                          const sw_update_t *u, void *at, const void *origin,
                          void *result, size_t n);

/* One element of 1, 2, 4 or 8 bytes becomes *origin if it is *compare. False:
 * as above. */
SW_API bool sw_rma_swap(const sw_rma_share_t *w, int target, size_t elem,
                        void *at, const void *origin, const void *compare,
                        void *result);

/* Between these, this member alone updates the target's memory. */
SW_API void sw_rma_update_begin(const sw_rma_share_t *w, int target);
SW_API void sw_rma_update_end(const sw_rma_share_t *w, int target);

/* Update n elements that no other thread touches. */
SW_API void sw_update_apply(const sw_update_t *u, void *at, const void *origin,
                            size_t n);

#endif
