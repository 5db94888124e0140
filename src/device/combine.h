/*
 * combine.h - vectors in memory of a device become one, by one launch.
 *
 * The target and all sources lie within reach of one device: in its own memory,
 * or in a peer's that this process has opened (ipc.h). reduce.h says in which
 * order the kernel combines them, and what it may differ in from the processor.
 *
 * The program has made its data ready before it called MPI. The call returns
 * when the result is there. False: the driver has refused something, there is
 * no kernel, or one of the vectors is none of ours. The target then has its old
 * bytes or the result's, and the caller another way. Where the target is one
 * of the sources that other way would reduce twice: so a caller which has one
 * takes a target of its own (workspace.h). Any thread may call.
 */
#ifndef SW_DEVICE_COMBINE_H
#define SW_DEVICE_COMBINE_H

#include "node/base/base.h"
#include "reduce.h"

enum { SW_COMBINE_TREE, SW_COMBINE_LINE };

typedef struct {
    int kernel; /* SW_REDUCE_... */
    int order;
    int sources; /* 1 to SW_REDUCE_SOURCES */
    const void *const *source;
    void *target;
    uint64_t n; /* elements */
} sw_combine_t;

SW_API bool sw_combine(const sw_combine_t *x);

/* Bytes of an element of a kernel's. */
SW_API unsigned sw_combine_element(int kernel);

#endif
