/*
 * posted.h - open receives: those that a descriptor may still reach.
 *
 * Each is in one ring, by what may reach it: the place of its source and its
 * channel (p2p/ledger.h), either of which may be any. A wait looks at the
 * rings of what is on offer to this rank, and at no others; so receives that
 * nothing is offered for cost nothing, however many there are. Of a long ring
 * it looks at few receives in each turn. Where there are few receives at all
 * it looks at each.
 *
 * The call that learns that a receive has got its message sets its flags
 * (taken, done and so on). The receive leaves its ring at the next look.
 */
#ifndef SW_MPI_P2P_POSTED_H
#define SW_MPI_P2P_POSTED_H

#include "receives.h"

/* The caller of all this has the lock (sw_tracks_enter). */

/* At the end of MPI_Init. */
void sw_posted_start(int places);

/* A receive is posted. False: no descriptor can reach it. */
bool sw_posted_add(sw_receive_t *r);
/* It leaves its ring, if it is in one. */
void sw_posted_remove(sw_receive_t *r);

/* May there be anything to look at? Without the lock. */
bool sw_posted_any(void);

/* An open receive that may have got a descriptor, held then, of those that
 * something is on offer for; NULL: none among the few looked at. `now` is a
 * number of the caller's turn. `dense`: shows one, in fact. */
sw_receive_t *sw_posted_next(uint64_t now, bool dense);

/* The rings of all receives that could get a message from `source` with `tag`;
 * false: none can get a descriptor. */
#define SW_POSTED_RINGS 4
bool sw_posted_rings(sw_comm_t *c, int source, int tag,
                     sw_tracks_t *rings[SW_POSTED_RINGS]);

/* Receives looked at so far, for --stats. */
int64_t sw_posted_looks(void);

#endif
