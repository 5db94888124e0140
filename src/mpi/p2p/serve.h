/*
 * serve.h - the agent (src/offload/agent.h) fetches for posted receives.
 *
 * A descriptor may reach a posted buffer long before the program comes back
 * for it: while it computes, or blocks in a collective of the host's. The
 * agent looks at the buffers of large dense receives and copies what it finds
 * (law 3). The host alone matches, and does so inside MPI calls only: of a
 * message that arrives while the program is in none, there is nothing to see.
 *
 * A thread of the program's that waits with our progress is better placed
 * than the agent, for the data gets into its caches; the agent keeps out while
 * one does.
 */
#ifndef SW_MPI_P2P_SERVE_H
#define SW_MPI_P2P_SERVE_H

#include "node/base/base.h"
#include "offload/agent.h"

/* Is there an agent? Constant after MPI_Init. */
extern bool sw_served __attribute__((visibility("hidden")));
extern _Atomic uint64_t sw_attendance __attribute__((visibility("hidden")));

/* At the ends of the job; start it if there is a core for it. */
void sw_serve_start(void);
void sw_serve_stop(void);

/* A thread of the program's is looking after the receives. */
static inline void sw_serve_attended(void)
{
    if (sw_served)
        atomic_fetch_add_explicit(&sw_attendance, 1, memory_order_relaxed);
}

/* Messages fetched by the agent. */
int64_t sw_serve_count(void);

#endif
