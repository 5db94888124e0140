/*
 * alone.h - collectives of a communicator of one member, with data in a
 * device's memory, under a host that knows no devices (mpi/base/aware.h).
 *
 * Any other collective of a single member is the host's, which needs no help.
 * This member sends to itself: a copy at most. Blocking calls only.
 */
#ifndef SW_MPI_COLL_ALONE_H
#define SW_MPI_COLL_ALONE_H

#include "lift.h"

/* Might there be such calls on this communicator? */
static inline bool sw_alone_serves(const sw_comm_t *c, sw_collective_t id)
{
    return sw_unlikely(c->reason == SW_REASON_ALONE) && sw_lift_serves(id);
}

/* Carry it out, if it is one. If not, the host serves. */
bool sw_alone_carry_out(sw_coll_call_t *k);

#endif
