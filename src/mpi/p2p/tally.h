/*
 * tally.h - numbers of messages, by peer, communicator and tag. A profile
 * counts them, so that both sides know one by the same number (see
 * record/messages.c).
 */
#ifndef SW_MPI_P2P_TALLY_H
#define SW_MPI_P2P_TALLY_H

#include "mpi/base/host.h"

typedef struct sw_tally sw_tally_t;
extern sw_tally_t sw_numbers_sent, sw_numbers_received;
/* The last descriptor's message that was taken: see doubt.h. */
extern sw_tally_t sw_last_taken;

/* One more; which one it is, 1 and up; 0: there is no room to count it. */
uint64_t sw_tally_next(sw_tally_t *t, uint64_t context_id, int place, int tag);
/* Make it `to`, if that is more. */
void sw_tally_raise(sw_tally_t *t, uint64_t context_id, int place, int tag,
                    uint64_t to);
uint64_t sw_tally_of(sw_tally_t *t, uint64_t context_id, int place, int tag);

#endif
