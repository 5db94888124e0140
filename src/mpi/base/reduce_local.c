/*
 * reduce_local.c - see reduce_local.h.
 */
#include "reduce_local.h"

#include "aware.h"
#include "device_kernel.h"
#include "reach.h"
#include "device/workspace.h"
#include "node/base/settings.h"
#include "node/control.h"
#include "node/temporary.h"

/* The result is made beside the operands: what fails may be done again. */
static bool by_kernel(const void *in, void *inout, int64_t count,
                      const sw_operation_t *o)
{
    sw_device_kernel_t k = sw_device_kernel(o);
    const void *from[] = {in, inout};
    if (k.place < 0 || !sw_device_kernel_takes(k, in) ||
        !sw_device_kernel_takes(k, inout))
        return false;
    sw_workspace_t *w = sw_workspace_take(inout,
                                          (size_t)count * o->reducer.elem);
    if (!w)
        return false;
    void *to = sw_workspace_at(w);
    bool done = sw_combine(&(sw_combine_t){k.place, SW_COMBINE_TREE, 2, from,
                                           to, (uint64_t)count * k.each});
    if (done)
        sw_reach_copy(to, inout, count, o->type, MPI_COMM_SELF);
    sw_workspace_give(w, inout, done);
    return done;
}

/* Elements that the processor reaches: the program's own, or a copy. */
static char *near(const void *at, int64_t count, const sw_datatype_t *type)
{
    if (!sw_out_of_reach(at, type))
        return (char *)(uintptr_t)at;
    char *copy = sw_temporary((size_t)count * (size_t)type->extent);
    sw_reach_copy(at, copy, count, type, MPI_COMM_SELF);
    return copy;
}

static void by_processor(const void *in, void *inout, int64_t count,
                         const sw_operation_t *o)
{
    char *a = near(in, count, o->type), *b = near(inout, count, o->type);
    o->reducer.kernel(b, a, b, (size_t)count);
    if (b != inout) {
        sw_reach_copy(b, inout, count, o->type, MPI_COMM_SELF);
        sw_temporary_free(b);
    }
    if (a != in)
        sw_temporary_free(a);
}

bool sw_reduce_local(const void *inbuf, void *inoutbuf, int64_t count,
                     MPI_Datatype datatype, MPI_Op op)
{
    sw_operation_t o;
    int code;
    if (sw_likely(!sw_device_possible()) || !sw_settings.gpu || count <= 0 ||
        !sw_control_accelerating() || datatype == MPI_DATATYPE_NULL || !inbuf ||
        !inoutbuf || inbuf == inoutbuf || inbuf == MPI_IN_PLACE ||
        inoutbuf == MPI_IN_PLACE)
        return false;
    const sw_datatype_t *d = sw_datatype(
        datatype, sw_datatype_comm(MPI_COMM_SELF), &code);
    if (!d || (!sw_out_of_reach(inbuf, d) && !sw_out_of_reach(inoutbuf, d)) ||
        !sw_operation(op, d, &o) || o.predefined < 0)
        return false;
    if (by_kernel(inbuf, inoutbuf, count, &o))
        return true;
    if (!sw_aware_lacks())
        return false;
    by_processor(inbuf, inoutbuf, count, &o);
    return true;
}
