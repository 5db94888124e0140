/*
 * reach.h - can the processor reach a buffer, or is it a device's memory?
 *
 * Every wrapper asks before Straightway touches the program's data. If the data
 * lie in a device's memory:
 *
 *   a message        between near ranks (mpi/p2p/near.h) goes through a copy
 *                    in memory of ours, for two matchers cannot keep its order
 *                    (with --gpu, often without: mpi/p2p/near_device.h)
 *   packing          is the host's, or with --gpu the device's
 *   a collective     cannot be left to the host by one member (law 2), so the
 *                    member takes part through a copy in its own memory
 *
 * The host makes all copies between the two kinds of memory, as a message of
 * this process to itself: it knows the device, and types with gaps. With --gpu
 * the engine of src/device is asked first, and the host serves what it refuses.
 *
 * A copy may be slower than the host's own way for device memory (law 4). So
 * the members of a communicator ask each other whether any has needed a copy,
 * after some collectives and then less and less often. If so, the host serves
 * the communicator's collectives from there on. The question is a collective of
 * ours at a step that all members number alike.
 *
 * With --gpu a member may answer that the communicator has to stay ours: its
 * host knows no devices (aware.h), or its data have had gaps, which kernels
 * move faster than any host. Then it stays, for all members. Large blocks then
 * go straight from device to device (coll/direct.h), and kernels reduce large
 * vectors (coll/direct_fold.h).
 */
#ifndef SW_MPI_BASE_REACH_H
#define SW_MPI_BASE_REACH_H

#include "comm.h"
#include "datatype.h"
#include "device/carry.h"
#include "device/memory.h"

bool sw_out_of_reach_slow(const void *user, const sw_datatype_t *type);

/* Are elements of `type` at `user` out of the processor's reach? */
static inline bool sw_out_of_reach(const void *user, const sw_datatype_t *type)
{
    return sw_device_possible() && sw_out_of_reach_slow(user, type);
}

/* Elements as the engine takes them: dense ones are bytes. False: the host
 * alone knows where their bytes are. */
static inline bool sw_reach_side(const void *user, int64_t count,
                                 const sw_datatype_t *type, sw_carry_side_t *to)
{
    int64_t n = type->dense ? count * (int64_t)type->size : count;
    *to = (sw_carry_side_t){type->dense ? NULL : type->layout, user, n, 0};
    return type->dense || type->layout;
}

/* So many bytes of packed data. */
static inline sw_carry_side_t sw_reach_packed(const void *data, size_t bytes)
{
    return (sw_carry_side_t){.at = data, .count = (int64_t)bytes};
}

/* Let the host copy `count` elements between the two kinds of memory. */
void sw_reach_copy(const void *from, void *to, int64_t count,
                   const sw_datatype_t *type, MPI_Comm comm);
void sw_reach_pack(const void *user, int64_t count, const sw_datatype_t *type,
                   char *data, MPI_Comm comm);
void sw_reach_unpack(const char *data, void *user, int64_t count,
                     const sw_datatype_t *type, MPI_Comm comm);

/* The members ask after so many collectives, and then after so many times as
 * many as that. */
#define SW_REVIEW_FIRST 16
#define SW_REVIEW_LATER 8

/* A collective on `comm` has needed a copy of data with gaps, or without. */
enum { SW_MET_DEVICE = 1, SW_MET_GAPS = 2 };
void sw_reach_note(MPI_Comm comm, bool gaps);

/* What this member says at a review, and what the largest of the answers is:
 * that it has needed no copy, and the communicator may go; that it has needed
 * one, and the communicator may go; that it has to stay; both. */
enum { SW_ANSWER_NONE, SW_ANSWER_MET, SW_ANSWER_STAYS, SW_ANSWER_BOTH };
int32_t sw_reach_answer(const sw_comm_t *c);

/* Ask the members, if it is time (c->review). The communicator may be the
 * host's from here on. Collective. */
void sw_reach_review(sw_comm_t *c);

/* What a reduction reads and writes: the program's own, or copies, which are
 * `packed` or as they were. */
typedef struct {
    const void *in;
    void *out;
    void *in_copy, *out_copy; /* to be freed, or NULL */
    void *user;               /* where the result belongs */
    int64_t outs;
    const sw_datatype_t *type;
    bool packed;
    MPI_Comm comm;
} sw_operands_t;

/* `ins` elements are read at `in`, `outs` written at `out`, which may be the
 * same address, or NULL. */
void sw_operands_slow(sw_operands_t *o, int64_t ins);
static inline void sw_operands(sw_operands_t *o, const void *in, int64_t ins,
                               void *out, int64_t outs,
                               const sw_datatype_t *type, bool packed,
                               MPI_Comm comm)
{
    *o = (sw_operands_t){.in = in,
                         .out = out,
                         .user = out,
                         .outs = outs,
                         .type = type,
                         .packed = packed,
                         .comm = comm};
    if (sw_device_possible() || packed)
        sw_operands_slow(o, ins);
}

/* The result is there (`written`), or there is none. */
void sw_operands_end_slow(sw_operands_t *o, bool written);
static inline void sw_operands_end(sw_operands_t *o, bool written)
{
    if (sw_unlikely(o->in_copy || o->out_copy))
        sw_operands_end_slow(o, written);
}

#endif
