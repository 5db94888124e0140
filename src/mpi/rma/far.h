/*
 * far.h - memory of a target that this member has not mapped, in a dynamic
 * window: the system copies between it and memory of this member, in one call
 * for many pieces.
 *
 * Put and Get need no more. An accumulate reads, combines and writes back in
 * the target's turn (rma/update.h), so no other update comes in between.
 *
 * Where a target has no such memory the system says so. That is the program's
 * error (MPI_ERR_RMA_RANGE), even where a part has been moved by then.
 */
#ifndef SW_MPI_RMA_FAR_H
#define SW_MPI_RMA_FAR_H

#include "access.h"

/* Copy the first `bytes` bytes of the data of a far access from `data`, or to
 * it. Returns 0, or the class of the error that the caller raises. */
int sw_far_put(const sw_access_t *to, const void *data, size_t bytes);
int sw_far_get(const sw_access_t *from, void *data, size_t bytes);

#endif
