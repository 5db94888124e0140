/*
 * opfile_format.h - what the writer and the reader of file.h share;
 * docs/opfile-format.md has the whole.
 *
 *     head        16 bytes
 *     parts       operations of one rank, some tens of KiB each, as they
 *                 came to be full: ranks lie mixed
 *     index       where each rank's parts are, and their checksums
 *     note
 *     tail        64 bytes: where the index is
 *
 * A writer needs to go back nowhere, and a reader finds all parts of a rank
 * without looking at others.
 *
 * An operation is its head byte, its shape, and its request. The shape is all
 * that an operation has but its request and the time that it takes. Programs
 * repeat themselves, and an operation whose shape has been in the part before
 * says only how far back. So a reader needs no table: the part is its table.
 */
#ifndef SW_VTIME_OPS_OPFILE_FORMAT_H
#define SW_VTIME_OPS_OPFILE_FORMAT_H

#include "file.h"
#include "trace/varint.h"

#include <string.h>

#define SW_OPFILE_MAGIC "\x89SWOPS\r\n"
#define SW_OPFILE_END "SWOPEND\n"
#define SW_OPFILE_VERSION 1u
#define SW_OPFILE_HEAD 16u  /* bytes: of the file's head, */
#define SW_OPFILE_TAIL 64u  /* of its tail, */
#define SW_OPFILE_ENTRY 24u /* and of a part in the index */
#define SW_OPFILE_PART_MOST ((uint32_t)64 << 20)

/* The head byte: the kind in the lowest four bits. */
#define SW_OPFILE_KIND 0x0fu
#define SW_OPFILE_WINDOW 0u     /* SW_OP_WINDOW: no other kind is 0 */
#define SW_OPFILE_AGAIN 0x10u   /* the shape: so far back */
#define SW_OPFILE_REQUEST 0x60u /* which of these: */
#define SW_OPFILE_NONE 0x00u    /*   0 */
#define SW_OPFILE_NEXT 0x20u    /*   the last one and 1 */
#define SW_OPFILE_SAME 0x40u    /*   the last one */
#define SW_OPFILE_OTHER 0x60u   /*   the difference follows */
#define SW_OPFILE_ASLEEP 0x80u  /* of computing: SW_COMPUTE_ASLEEP */

/* A collective's number with this is one between two groups. */
#define SW_OPFILE_GROUPS 32u

/* What can be right. */
#define SW_OPFILE_BYTES_MOST ((uint64_t)1 << 48)
#define SW_OPFILE_TIME_MOST ((sw_ps_t)1 << 61) /* of a rank in all */

/* Bytes of a shape, at most: kind, and seven varints. */
#define SW_OPFILE_SHAPE_MOST 64u

static inline uint32_t sw_opfile_4(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
           (uint32_t)at[3] << 24;
}

static inline uint64_t sw_opfile_8(const unsigned char *at)
{
    return sw_opfile_4(at) | (uint64_t)sw_opfile_4(at + 4) << 32;
}

static inline unsigned char *sw_opfile_put4(unsigned char *to, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        *to++ = (unsigned char)(n >> 8 * i);
    return to;
}

static inline unsigned char *sw_opfile_put8(unsigned char *to, uint64_t n)
{
    return sw_opfile_put4(sw_opfile_put4(to, (uint32_t)n), (uint32_t)(n >> 32));
}

static inline unsigned char *sw_opfile_varint(unsigned char *to, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        *to++ = (unsigned char)(n | 0x80);
    *to++ = (unsigned char)n;
    return to;
}

static inline uint64_t sw_opfile_signed(int64_t n)
{
    return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

/* Peers lie near; any is 0, as no peer is that is told from here. */
static inline uint64_t sw_opfile_peer(int32_t peer, uint32_t rank)
{
    return peer < 0 ? 0 : sw_opfile_signed((int64_t)peer - rank) + 1;
}

/* Is it of a message, with a peer and a tag? */
static inline bool sw_opfile_message(unsigned kind)
{
    return kind == SW_OP_SEND || kind == SW_OP_RECV || kind == SW_OP_PROBE ||
           kind == SW_OP_IPROBE || kind == SW_OP_CHOOSE ||
           kind == SW_OP_MATCHED;
}

/* Has this kind a shape? Those that have none have nothing but a time or a
 * request. */
static inline bool sw_opfile_shaped(unsigned kind)
{
    return kind != SW_OP_COMPUTE && kind != SW_OP_WAIT && kind != SW_OP_DROP &&
           kind != SW_OP_CLOCK && kind != SW_OP_LIST;
}

#endif
