/*
 * threshold.h - from how many bytes on a message moves in our way, and which.
 *
 * A benchmark (node/control.h) or a test (STRAIGHTWAY_MESSAGE_WAY) may force one
 * way on all messages of SW_DESCRIPTOR_BYTES or more. The thresholds do it, so
 * no other message pays:
 *
 *   TWO_COPY   no buffer counts as readable, and all are worth a copy
 *   CMA        no buffer counts as readable, and the receiver reads it where
 *              it lies (process_vm_readv). Without this force none goes so.
 *   ONE_COPY   all are shown at their first use, and no sender helps
 *   JOINT      the same, and senders help as ever
 */
#ifndef SW_MPI_P2P_THRESHOLD_H
#define SW_MPI_P2P_THRESHOLD_H

#include "node/base/base.h"

/* If its data has gaps, and if it is coarse besides (layout/data.h). Without
 * gaps it is sw_settings.p2p_min, which is no less. */
extern size_t sw_threshold_scattered_min __attribute__((visibility("hidden")));
extern size_t sw_threshold_coarse_min __attribute__((visibility("hidden")));
/* From so many bytes on a receiver reads the sender's own memory, if it can:
 * sw_settings.p2p_min. */
extern size_t sw_threshold_shown_min __attribute__((visibility("hidden")));
/* Up to so many bytes a copy of private memory into the arena is quicker than
 * the host, while all copies have no more than so many; then whether CMA is
 * forced instead. */
extern size_t sw_threshold_staged_max __attribute__((visibility("hidden")));
extern size_t sw_threshold_staged_all __attribute__((visibility("hidden")));
extern bool sw_threshold_cma __attribute__((visibility("hidden")));

/* At the end of MPI_Init: as suits this host. */
void sw_threshold_start(void);

/* Force a way (SW_ACCELERATE_TWO_COPY to _JOINT), or none but the setting's. */
void sw_threshold_force(int state);

#endif
