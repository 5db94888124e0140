/*
 * reach.c - see reach.h.
 */
#include "reach.h"

#include "aware.h"
#include "buffer.h"
#include "detour.h"
#include "device/cuda.h"
#include "node/base/settings.h"
#include "patience.h"

#include <pthread.h>

bool sw_out_of_reach_slow(const void *user, const sw_datatype_t *type)
{
    if (!sw_device_present())
        return false;
    /* Absolute addresses: each element may have parts of both kinds. */
    if (!user && !type->dense)
        return true;
    MPI_Aint low = 0, span;
    if (type->layout)
        low = (MPI_Aint)type->layout->low;
    else if (!type->dense && type->handle != MPI_DATATYPE_NULL)
        host.Type_get_true_extent(type->handle, &low, &span);
    return sw_device_holds_slow((const char *)((intptr_t)user + low));
}

/* Copies --------------------------------------------------------------- */

/* Elements, for our own kernels. */
static bool ours(const void *user, int64_t count, const sw_datatype_t *type,
                 sw_carry_side_t *to)
{
    return sw_settings.gpu && sw_reach_side(user, count, type, to);
}

/* Elements of one message, so that its bytes are an int. */
static int64_t group_of(const sw_datatype_t *type)
{
    int64_t group = type->size ? (int64_t)((1u << 30) / type->size) : 1 << 30;
    return group > 0 ? group : 1;
}

static void message(const void *from, int64_t count, MPI_Datatype type,
                    void *to, int64_t room, MPI_Datatype as, MPI_Comm comm)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    MPI_Comm own = sw_datatype_comm(comm);
    int me;
    pthread_mutex_lock(&one);
    host.Comm_rank(own, &me);
    /* It waits for no other rank. The matcher may be at work, so no progress of
     * ours is wanted. */
    const sw_host_t *h = sw_plain.Sendrecv ? &sw_plain : &host;
    h->Sendrecv(from, (int)count, type, me, 0, to, (int)room, as, me, 0, own,
                MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&one);
}

/* Each of the two finds its own way. */
static void copy_packed(const void *from, void *to, int64_t count,
                        const sw_datatype_t *type, MPI_Comm comm)
{
    char *data = sw_temporary((size_t)count * type->size);
    sw_pack(from, count, type, data, comm);
    sw_unpack(data, to, count, type, comm);
    sw_temporary_free(data);
}

/* Is there a way but the host's? (Not for elements at absolute addresses whose
 * datatype the host alone understands.) */
static bool lacks(const void *user, const sw_datatype_t *type)
{
    return sw_aware_lacks() && (user || type->dense || type->layout);
}

/* A host that knows no devices will not survive what remains. */
static bool detoured(bool done)
{
    static _Atomic bool said;
    if (!done)
        sw_say_once(&said, "--gpu: CUDA's driver refuses to copy a buffer, and "
                           "this MPI knows no GPUs");
    return done;
}

void sw_reach_copy(const void *from, void *to, int64_t count,
                   const sw_datatype_t *type, MPI_Comm comm)
{
    sw_carry_side_t source, target;
    if (ours(from, count, type, &source) && ours(to, count, type, &target) &&
        sw_carry(&source, &target, (size_t)count * type->size))
        return;
    if (sw_aware_lacks()) {
        copy_packed(from, to, count, type, comm);
        return;
    }
    int64_t group = group_of(type);
    for (int64_t i = 0; i < count; i += group) {
        int64_t n = count - i < group ? count - i : group;
        message(sw_buffer_element(from, i, type), n, type->handle,
                sw_buffer_element(to, i, type), n, type->handle, comm);
    }
}

void sw_reach_pack(const void *user, int64_t count, const sw_datatype_t *type,
                   char *data, MPI_Comm comm)
{
    sw_carry_side_t source,
        target = sw_reach_packed(data, (size_t)count * type->size);
    if (ours(user, count, type, &source) &&
        sw_carry(&source, &target, (size_t)count * type->size))
        return;
    if (lacks(user, type) &&
        detoured(sw_detour_pack(user, count, type, data, comm)))
        return;
    int64_t group = group_of(type);
    for (int64_t i = 0; i < count; i += group) {
        int64_t n = count - i < group ? count - i : group;
        message(sw_buffer_element(user, i, type), n, type->handle,
                data + (size_t)i * type->size, n * (int64_t)type->size,
                MPI_PACKED, comm);
    }
}

void sw_reach_unpack(const char *data, void *user, int64_t count,
                     const sw_datatype_t *type, MPI_Comm comm)
{
    sw_carry_side_t source = sw_reach_packed(data, (size_t)count * type->size),
                    target;
    if (ours(user, count, type, &target) &&
        sw_carry(&source, &target, (size_t)count * type->size))
        return;
    if (lacks(user, type) &&
        detoured(sw_detour_unpack(data, user, count, type, comm)))
        return;
    int64_t group = group_of(type);
    for (int64_t i = 0; i < count; i += group) {
        int64_t n = count - i < group ? count - i : group;
        message(data + (size_t)i * type->size, n * (int64_t)type->size,
                MPI_PACKED, sw_buffer_element(user, i, type), n, type->handle,
                comm);
    }
}

/* Reductions ------------------------------------------------------------ */

static void *room(const sw_operands_t *o, int64_t count)
{
    return sw_temporary((size_t)(count * o->type->extent));
}

/* A missing side stays away. In place, one copy is both. */
static void pack_operands(sw_operands_t *o, int64_t ins)
{
    bool in_place = o->in == o->out;
    o->in_copy = sw_temporary((size_t)ins * o->type->size);
    sw_pack(o->in, ins, o->type, o->in_copy, o->comm);
    o->in = o->in_copy;
    if (in_place) {
        o->out = o->in_copy;
    } else if (o->outs) {
        o->out_copy = sw_temporary((size_t)o->outs * o->type->size);
        o->out = o->out_copy;
    }
}

void sw_operands_slow(sw_operands_t *o, int64_t ins)
{
    bool in_place = o->in == o->out;
    if (o->packed) {
        pack_operands(o, ins);
        return;
    }
    if (ins && sw_out_of_reach(o->in, o->type)) {
        o->in_copy = room(o, ins);
        sw_reach_copy(o->in, o->in_copy, ins, o->type, o->comm);
        o->in = o->in_copy;
    }
    if (in_place) {
        o->out = o->in_copy ? o->in_copy : o->out;
    } else if (o->outs && o->out && sw_out_of_reach(o->out, o->type)) {
        o->out_copy = room(o, o->outs);
        o->out = o->out_copy;
    }
    if (o->in_copy || o->out_copy)
        sw_reach_note(o->comm, !o->type->dense);
}

void sw_operands_end_slow(sw_operands_t *o, bool written)
{
    if (written && o->packed && o->outs)
        sw_unpack(o->out, o->user, o->outs, o->type, o->comm);
    else if (written && !o->packed && o->out != o->user)
        sw_reach_copy(o->out, o->user, o->outs, o->type, o->comm);
    sw_temporary_free(o->in_copy);
    sw_temporary_free(o->out_copy);
}

/* Leaving a communicator to the host ------------------------------------- */

void sw_reach_note(MPI_Comm comm, bool gaps)
{
    sw_comm_t *c = sw_comm_state(comm);
    if (c)
        atomic_fetch_or_explicit(
            &c->device, gaps ? SW_MET_DEVICE | SW_MET_GAPS : SW_MET_DEVICE,
            memory_order_relaxed);
}

int32_t sw_reach_answer(const sw_comm_t *c)
{
    int met = atomic_load_explicit(&c->device, memory_order_relaxed);
    bool stays = sw_cuda_usable() && (met & SW_MET_GAPS || sw_aware_lacks());
    return (met ? SW_ANSWER_MET : SW_ANSWER_NONE) +
           (stays ? SW_ANSWER_STAYS : SW_ANSWER_NONE);
}

/* All members are at the same step here, even where calls of some have failed:
 * a call that the host serves takes none. */
void sw_reach_review(sw_comm_t *c)
{
    if (!c->review)
        c->review = c->sequence->step + SW_REVIEW_FIRST;
    if (c->sequence->step < c->review)
        return;
    int32_t any = 0;
    int status = sw_coll_most(c->sequence, sw_reach_answer(c), &any);
    c->review = c->sequence->step * SW_REVIEW_LATER;
    if (status != SW_OK || any == SW_ANSWER_NONE || any == SW_ANSWER_STAYS)
        return;
    if (any == SW_ANSWER_BOTH) {
        c->review = UINT64_MAX;
        c->direct = true;
        return;
    }
    /* All have come here, so no other member reads anything of a member's any
     * more but the answer itself, which lies in the block. */
    sw_sequence_close(c->sequence);
    c->sequence = NULL;
    c->reason = SW_REASON_DEVICE;
}
