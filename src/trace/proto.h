/*
 * proto.h - messages of Protocol Buffers, written to a file.
 *
 * A field is its number and the form of its value, then the value: a varint,
 * eight bytes, or a length and that many bytes. A message within a message is
 * the last of these, and its length comes before it: one byte is kept free for
 * it, and where it needs more, the message moves.
 */
#ifndef SW_TRACE_PROTO_H
#define SW_TRACE_PROTO_H

#include "node/base/base.h"

#include <string.h>

typedef struct {
    unsigned char *at;
    size_t size, room;
    int fd; /* where it goes; -1: it stays in memory */
    uint64_t written;
    int error; /* errno: nothing more is written */
} sw_proto_t;

/* Room for `n` bytes more; false, and the error is set: no memory. */
bool sw_proto_grow(sw_proto_t *p, size_t n);
/* There is no memory for what the caller wants to put here. */
void sw_proto_lost(sw_proto_t *p);
/* Write what is there, when it is much or `all`. Between messages only. */
void sw_proto_flush(sw_proto_t *p, bool all);
void sw_proto_free(sw_proto_t *p);

static inline bool sw_proto_room(sw_proto_t *p, size_t n)
{
    return sw_likely(n <= p->room - p->size) || sw_proto_grow(p, n);
}

static inline void sw_proto_varint(sw_proto_t *p, uint64_t n)
{
    if (!sw_proto_room(p, 10))
        return;
    unsigned char *to = p->at + p->size;
    for (; n >= 0x80; n >>= 7)
        *to++ = (unsigned char)(n | 0x80);
    *to++ = (unsigned char)n;
    p->size = (size_t)(to - p->at);
}

static inline void sw_proto_number(sw_proto_t *p, uint32_t field, uint64_t n)
{
    sw_proto_varint(p, field << 3);
    sw_proto_varint(p, n);
}

static inline void sw_proto_fixed64(sw_proto_t *p, uint32_t field, uint64_t n)
{
    sw_proto_varint(p, field << 3 | 1);
    if (!sw_proto_room(p, 8))
        return;
    for (int i = 0; i < 8; i++)
        p->at[p->size++] = (unsigned char)(n >> 8 * i);
}

static inline void sw_proto_raw(sw_proto_t *p, const void *bytes, size_t n)
{
    if (!n || !sw_proto_room(p, n))
        return;
    memcpy(p->at + p->size, bytes, n);
    p->size += n;
}

static inline void sw_proto_text(sw_proto_t *p, uint32_t field,
                                 const char *text)
{
    size_t n = strlen(text);
    sw_proto_varint(p, field << 3 | 2);
    sw_proto_varint(p, n);
    sw_proto_raw(p, text, n);
}

/* Begin a message within; the result goes to sw_proto_close. */
static inline size_t sw_proto_open(sw_proto_t *p, uint32_t field)
{
    sw_proto_varint(p, field << 3 | 2);
    if (sw_proto_room(p, 1))
        p->size++;
    return p->size;
}

void sw_proto_close_long(sw_proto_t *p, size_t from);

static inline void sw_proto_close(sw_proto_t *p, size_t from)
{
    if (sw_unlikely(p->error))
        return;
    if (sw_unlikely(p->size - from >= 0x80))
        sw_proto_close_long(p, from);
    else
        p->at[from - 1] = (unsigned char)(p->size - from);
}

#endif
