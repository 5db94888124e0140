/*
 * away.h - this thread is about to stay in a call of the host for a time that
 * only the host knows: in a collective that the host serves, or one that makes
 * a communicator.
 *
 * Another rank may wait meanwhile for messages of this rank. The room of
 * messages sets sw_away, and hands its receives and sends under way to the
 * helper thread. The helper keeps them until the host's call returns
 * (mpi/p2p/near.h).
 */
#ifndef SW_MPI_BASE_AWAY_H
#define SW_MPI_BASE_AWAY_H

#include "node/base/base.h"

/* Goes (true), or comes back. Going returns false where nothing is handed over,
 * and then no call comes back. NULL: there is nothing to hand over, ever. */
extern bool (*sw_away)(bool goes) __attribute__((visibility("hidden")));

static inline bool sw_away_go(void)
{
    return sw_unlikely(sw_away) && sw_away(true);
}

static inline void sw_away_end(const bool *gone)
{
    if (sw_unlikely(*gone))
        sw_away(false);
}

/* From here to the end of the block the host may keep this thread, if so. */
#define SW_AWAY_IF(may_stay)                      \
    __attribute__((cleanup(sw_away_end), unused)) \
    const bool sw_gone = (may_stay) && sw_away_go()
#define SW_AWAY SW_AWAY_IF(true)

#endif
