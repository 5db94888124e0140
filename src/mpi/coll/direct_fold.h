/*
 * direct_fold.h - reductions of vectors in devices' memory, by kernels
 * (device/combine.h).
 *
 *   1  Each member tells all others where its operand is, and where its part of
 *      the result will be.
 *   2  Each member opens the operands that it needs and combines its part of
 *      all of them, in one launch:
 *        Allreduce, Reduce            a slice
 *        Reduce_scatter and _block    its own block
 *        Scan, Exscan                 the whole operands of the members up to
 *                                     it, or before it
 *   3  The members tell each other whether that went well. From here on no
 *      member reads an operand.
 *   4  Of slices: each member that gets a result copies the others' slices to
 *      it, and the members vote once more.
 *
 * The order of the operands is that of the processor's way, so that both give
 * the same bits (coll/reduce/order.h).
 *
 * A result in the place of an operand is made in memory of ours and copied at
 * the end, behind the last vote. So an operand is whole for as long as any
 * member may fail: then all go on by the processor's way. As direct.h says, all
 * members choose alike, and try again after more and more calls.
 *
 * All operands and results must lie in devices' memory. Operations without a
 * kernel, nonblocking and persistent calls take the processor's way.
 */
#ifndef SW_MPI_COLL_DIRECT_FOLD_H
#define SW_MPI_COLL_DIRECT_FOLD_H

#include "call.h"

/* Carry out a call that reduces in c->sequence, whose members try this way.
 * False: in vain. All members say the same. */
bool sw_direct_fold(sw_coll_call_t *k);

#endif
