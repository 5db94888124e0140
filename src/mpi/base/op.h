/*
 * op.h - an operation on a datatype, as the coll room reduces with it.
 *
 * A predefined operation on a predefined type has a kernel; without one the
 * host serves. A user's operation is called by the host itself
 * (MPI_Reduce_local), so that language bindings and their handle conversions
 * stay the host's business.
 *
 * The members' datatypes have one signature, but a user's operation may take
 * them with gaps that are each member's own. So its operands travel as their
 * bytes by signature, and each member packs what has gaps (loose.h).
 */
#ifndef SW_MPI_BASE_OP_H
#define SW_MPI_BASE_OP_H

#include "loose.h"
#include "coll/reducer.h"

typedef struct {
    sw_reducer_t reducer; /* first: the callback casts back */
    MPI_Op op;
    const sw_datatype_t *type;
    int8_t predefined; /* sw_op_t, or -1: a user's */
    bool packed;       /* the operands are, since the type has gaps */
} sw_operation_t;

/* False: the host serves (no kernel, no data, or a user's operation without
 * MPI_COMM_WORLD). All members see the same: MPI demands one operation of them,
 * one basic type for a predefined one, and one signature. */
bool sw_operation(MPI_Op op, const sw_datatype_t *type, sw_operation_t *to);

/* A collective goes on after its call: the program may free a user's operation
 * and its datatype meanwhile (MPI 4.1, 6.9.5). The host frees the operation
 * when the last collective has dropped it. Of a datatype that is freed a
 * duplicate stands in. The caller holds it (sw_datatype_hold). */
void sw_operation_hold_slow(const sw_operation_t *o);
void sw_operation_drop_slow(const sw_operation_t *o);
static inline void sw_operation_hold(const sw_operation_t *o)
{
    if (sw_unlikely(!o->reducer.kernel))
        sw_operation_hold_slow(o);
}
static inline void sw_operation_drop(const sw_operation_t *o)
{
    if (sw_unlikely(!o->reducer.kernel))
        sw_operation_drop_slow(o);
}

#endif
