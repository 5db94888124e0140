/*
 * tally.h - numbers of messages, by communicator, peer and tag.
 *
 * A profile counts messages, so that both sides know one by the same number
 * (mpi/record/messages.c). Partitioned messages get their names so
 * (mpi/base/comm_pair.h).
 *
 * A table with open addressing grows by two, up to a bound. So a count takes
 * the same few steps however many peers and tags there are.
 */
#ifndef SW_P2P_TALLY_H
#define SW_P2P_TALLY_H

#include "node/base/base.h"

#include <pthread.h>

typedef struct {
    pthread_mutex_t lock;
    struct sw_tally_entry *at;
    unsigned size, used, most; /* entries: there are, in use, may be */
    uint64_t steps;            /* entries looked at, for tests */
} sw_tally_t;

#define SW_TALLY(MOST) {.lock = PTHREAD_MUTEX_INITIALIZER, .most = (MOST)}
#define SW_TALLY_LIMIT (1u << 30)

/* May several threads come to one at once? Set before they do. */
SW_API extern bool sw_tallies_shared;

SW_API extern sw_tally_t sw_numbers_sent, sw_numbers_received;

/* One more; which one it is, 1 and up; 0: there is no room to count it. */
SW_API uint64_t sw_tally_next(sw_tally_t *t, uint64_t context_id, int place,
                              int tag);
SW_API uint64_t sw_tally_of(sw_tally_t *t, uint64_t context_id, int place,
                            int tag);
/* Back to nothing. */
SW_API void sw_tally_clear(sw_tally_t *t);

#endif
