/*
 * direct.h - blocks that go from one device's memory to another member's, and
 * through no memory of the processor.
 *
 *   1  Each member tells all others what it sends: where its memory is
 *      (device/ipc.h), the layout there, and where each block begins.
 *   2  Each member opens the memory that it receives from, and carries the
 *      blocks into its own, whatever sort that is: a launch for each block.
 *   3  The members tell each other whether that went well. Before, no member
 *      may change what it sends.
 *
 * One member may send from memory that others cannot open, or fail to carry a
 * block. Then all members go on as for ordinary memory (moving.h), which writes
 * the same bytes again. So the way is the same for all, and no member waits for
 * what another has chosen alone. 1 and 3 are collectives of ours, of some
 * hundred bytes. Where they were in vain, the members try again only after more
 * and more calls.
 *
 * Members do so once they know that devices are in use (mpi/base/reach.h), and
 * for large blocks alone: a block costs a launch, and 1 and 3 synchronise. (The
 * limit is not measured on hardware yet.)
 */
#ifndef SW_MPI_COLL_DIRECT_H
#define SW_MPI_COLL_DIRECT_H

#include "call.h"

/* Carry out a call that moves blocks in c->sequence, whose members try this
 * way; *status is how it ended. False: in vain. All members say the same. */
bool sw_direct_move(sw_coll_call_t *k, int *status);

#endif
