/*
 * carry.h - the bytes of datatypes, to and from memory of a device.
 *
 * One side of a message at least lies in a device's memory. The other may lie
 * there too, or in the processor's memory:
 *
 *   the sides                              the way
 *   both within the device's reach         one launch
 *   one in the processor's memory alone    pieces through pinned memory: while
 *                                          the processor copies one, the device
 *                                          moves the next
 *
 * "Within reach" is the device's own memory, and what the program has pinned.
 * Where neither side has gaps, the device's copy engine moves the bytes, and no
 * kernel runs. In steady use a message asks the driver about its two addresses
 * and its context, and allocates nothing.
 *
 * The program has made its data ready before it called MPI. A call returns when
 * the bytes are there.
 *
 * False: the message is none of ours, or the driver has refused something. The
 * target then has its old bytes or the message's, so that the caller may let
 * the MPI do it all again. Any thread may call.
 */
#ifndef SW_DEVICE_CARRY_H
#define SW_DEVICE_CARRY_H

#include "layout/layout.h"

/* Bytes of the data of `count` elements at `at`, from byte `skip` on. `layout`
 * NULL: of `count` bytes. */
typedef struct {
    const sw_layout_t *layout;
    const void *at;
    int64_t count;
    uint64_t skip;
} sw_carry_side_t;

/* The lowest byte of all elements; in *high, unless that is NULL, the place
 * after the highest one. */
static inline const char *sw_carry_lowest(const sw_carry_side_t *s,
                                          const char **high)
{
    int64_t low = 0, end = s->count;
    if (s->layout)
        sw_layout_span(s->layout, s->count, &low, &end);
    if (high)
        *high = (const char *)((intptr_t)s->at + end);
    return (const char *)((intptr_t)s->at + low);
}

SW_API bool sw_carry(const sw_carry_side_t *source,
                     const sw_carry_side_t *target, uint64_t bytes);

/* As sw_layout_pack: the bytes [from, to) of the data. */
static inline bool sw_carry_pack(const sw_layout_t *l, const void *base,
                                 int64_t count, uint64_t from, uint64_t to,
                                 void *data)
{
    return sw_carry(
        &(sw_carry_side_t){l, base, count, from},
        &(sw_carry_side_t){.at = data, .count = (int64_t)(to - from)},
        to - from);
}

static inline bool sw_carry_unpack(const sw_layout_t *l, void *base,
                                   int64_t count, uint64_t from, uint64_t to,
                                   const void *data)
{
    return sw_carry(
        &(sw_carry_side_t){.at = data, .count = (int64_t)(to - from)},
        &(sw_carry_side_t){l, base, count, from}, to - from);
}

#endif
