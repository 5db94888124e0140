/*
 * away.h - this thread is about to stay in a call of the host for a time that
 * only the host knows: in a collective that the host serves, or one that makes
 * a communicator.
 *
 * Another rank may wait meanwhile for messages of this rank. The room of
 * messages sets sw_away, and hands its receives and sends under way to the
 * helper thread. The helper keeps them until the host's call returns
 * (mpi/p2p/near.h).
 *
 * Where ranks share cores the thread also yields its core now and then, from
 * within the host (node/os/beat.h, patience.h).
 */
#ifndef SW_MPI_BASE_AWAY_H
#define SW_MPI_BASE_AWAY_H

#include "node/os/beat.h"

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

__attribute__((always_inline)) static inline bool sw_away_beat(void)
{
    return sw_unlikely(sw_beat_there) && sw_beat_start(sw_beat_stack());
}

static inline void sw_away_still(const bool *beats)
{
    if (sw_unlikely(*beats))
        sw_beat_stop();
}

/* From here to the end of the block the thread yields, if so. The host must not
 * read or write files there. */
#define SW_AWAY_BEAT_IF(may_stay)                   \
    __attribute__((cleanup(sw_away_still), unused)) \
    const bool sw_beats = (may_stay) && sw_away_beat()
#define SW_AWAY_BEAT SW_AWAY_BEAT_IF(true)

#endif
