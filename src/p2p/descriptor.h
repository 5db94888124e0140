/*
 * descriptor.h - what travels through the host in place of a large message.
 *
 * The host carries and matches 192 bytes, whatever the message's size; they
 * say where the data lies, and the receiver fetches it (slot.h). 192 is a
 * multiple of the powers of two up to 64, and of 12, 24 and 48. So the
 * descriptor arrives whole through a receive of any datatype of such elements.
 *
 *   offset  bytes  field
 *        0     16  cookie     random, the same for all processes of the node
 *       16      4  version    SW_DESCRIPTOR_VERSION
 *       20      4  source     the sender's place on the node
 *       24      8  slot       the slot's offset in the sender's control segment
 *       32      8  ticket     which use of the slot this is
 *       40      8  bytes      length of the message
 *       48      8  check      over all that is before it, and `given`
 *       56     24  given      the parcel that is given away, as the slot has
 *                             it: the receiver need not wait for both
 *       80     96  zero
 *      176     16  end        the cookie again, mixed with the check
 *
 * A receiver may look at a buffer while the host still writes it. The end is
 * this descriptor's own, so what an earlier one has left there does not pass.
 * All 192 bytes are compared: where they are right, the host has written all.
 *
 * Can a receiver take user data for a descriptor? The data would have to be 192
 * bytes long and hold the cookie, which no program ever sees. It would also
 * need a valid check, and the ticket of a slot on offer to this very receiver.
 */
#ifndef SW_P2P_DESCRIPTOR_H
#define SW_P2P_DESCRIPTOR_H

#include "node/parcel.h"

#include <string.h>

#define SW_DESCRIPTOR_BYTES 192
#define SW_DESCRIPTOR_VERSION 4u

typedef struct {
    sw_token_t cookie;
    uint32_t version;
    int32_t source;
    uint64_t slot;
    uint64_t ticket;
    uint64_t bytes;
    uint64_t check;
    sw_parcel_name_t given;
    uint64_t zero[12];
    sw_token_t end;
} sw_descriptor_t;

_Static_assert(sizeof(sw_descriptor_t) == SW_DESCRIPTOR_BYTES,
               "the format is fixed");

/* Multiply and add, word by word: any change of one word changes it. */
static inline uint64_t sw_descriptor_check(const sw_descriptor_t *d)
{
    uint64_t word[9], sum = 0x5354524149474854u;
    memcpy(word, d, 6 * sizeof *word);
    memcpy(word + 6, &d->given, sizeof d->given);
    for (size_t i = 0; i < 9; i++)
        sum = (sum ^ word[i]) * 0x9e3779b97f4a7c15u;
    return sum;
}

static inline sw_token_t sw_descriptor_end(const sw_token_t *cookie,
                                           uint64_t check)
{
    return (sw_token_t){{cookie->word[0] ^ check, cookie->word[1] + check}};
}

static inline void sw_descriptor_fill(sw_descriptor_t *d,
                                      const sw_token_t *cookie, int source,
                                      uint64_t slot, uint64_t ticket,
                                      uint64_t bytes,
                                      const sw_parcel_name_t *given)
{
    *d = (sw_descriptor_t){.cookie = *cookie, .version = SW_DESCRIPTOR_VERSION,
                           .source = source, .slot = slot, .ticket = ticket,
                           .bytes = bytes, .given = *given};
    d->check = sw_descriptor_check(d);
    d->end = sw_descriptor_end(cookie, d->check);
}

/* Do 16 bytes at any address hold the cookie? */
static inline bool sw_descriptor_begins(const void *at,
                                        const sw_token_t *cookie)
{
    return memcmp(at, cookie, sizeof *cookie) == 0;
}

/* Is it a descriptor, and all there? */
static inline bool sw_descriptor_valid(const sw_descriptor_t *d,
                                       const sw_token_t *cookie)
{
    if (!sw_descriptor_begins(d, cookie) ||
        d->version != SW_DESCRIPTOR_VERSION ||
        d->check != sw_descriptor_check(d))
        return false;
    const sw_token_t end = sw_descriptor_end(cookie, d->check);
    uint64_t others = 0;
    for (size_t i = 0; i < sizeof d->zero / sizeof *d->zero; i++)
        others |= d->zero[i];
    return others == 0 && memcmp(&d->end, &end, sizeof end) == 0;
}

#endif
