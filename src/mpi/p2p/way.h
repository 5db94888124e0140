/*
 * way.h - how the data of a longer message gets to its receiver.
 *
 * Each message goes its own way (near_send.c), unless a benchmark
 * (node/control.h) or a test (STRAIGHTWAY_MESSAGE_WAY) forces one on all:
 *
 *   TWO_COPY   no buffer counts as readable: all are copied twice
 *   CMA        no buffer counts as readable, and the receiver reads it where
 *              it lies (process_vm_readv)
 *   ONE_COPY   all are shown at their first use, and no sender helps
 *   JOINT      the same, and senders help as ever
 */
#ifndef SW_MPI_P2P_WAY_H
#define SW_MPI_P2P_WAY_H

#include "node/base/base.h"

/* Are buffers shown to receivers? Does CMA read all others? */
extern bool sw_way_shows __attribute__((visibility("hidden")));
extern bool sw_way_cma __attribute__((visibility("hidden")));

/* At the end of MPI_Init. */
void sw_way_start(void);

/* Force a way (SW_ACCELERATE_TWO_COPY to _JOINT), or none but the setting's. */
void sw_way_force(int state);

#endif
