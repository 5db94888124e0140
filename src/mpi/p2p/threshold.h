/*
 * threshold.h - from how many bytes on a message moves in our way.
 */
#ifndef SW_MPI_P2P_THRESHOLD_H
#define SW_MPI_P2P_THRESHOLD_H

#include "node/base/base.h"

/* If its data has gaps, and if it is coarse besides (layout/data.h). Without
 * gaps it is sw_settings.p2p_min, which is no less. */
extern size_t sw_threshold_scattered_min __attribute__((visibility("hidden")));
extern size_t sw_threshold_coarse_min __attribute__((visibility("hidden")));
/* Is a copy of private memory into the arena quicker than the host? */
extern bool sw_threshold_stages __attribute__((visibility("hidden")));

/* At the end of MPI_Init: as suits this host. */
void sw_threshold_start(void);

#endif
