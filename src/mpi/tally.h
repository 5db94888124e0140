/*
 * tally.h - how many messages as long as a descriptor have gone through the
 * host, by peer, communicator and tag: sent, and received.
 *
 * A probe that sees this length may see such a message or a descriptor. Each
 * descriptor's slot says how many of them were sent before it; who has
 * received as many sees the descriptor (probe.c).
 */
#ifndef SW_MPI_TALLY_H
#define SW_MPI_TALLY_H

#include "host.h"

typedef struct sw_tally sw_tally_t;
extern sw_tally_t sw_tally_sent, sw_tally_received;
/* All messages that a profile sees; see record/messages.c. */
extern sw_tally_t sw_numbers_sent, sw_numbers_received;

/* One more; false: there is no room to count it. */
bool sw_tally_add(sw_tally_t *t, uint64_t lineage, int place, int tag);
/* One more; which one it is, 1 and up; 0: there is no room to count it. */
uint64_t sw_tally_next(sw_tally_t *t, uint64_t lineage, int place, int tag);
uint64_t sw_tally_of(sw_tally_t *t, uint64_t lineage, int place, int tag);

/* A message of this length has been received from `source`. */
void sw_tally_receive(MPI_Comm comm, int source, int tag);

/* Some were received that nobody could count. */
extern _Atomic bool sw_tally_lost __attribute__((visibility("hidden")));

/* What the host says of receives that nobody keeps account of, being shorter:
 * after an error such a message may have been cut short by one. */
static inline int sw_tally_doubt(int rc)
{
    if (sw_unlikely(rc != MPI_SUCCESS))
        sw_tally_lost = true;
    return rc;
}

#endif
