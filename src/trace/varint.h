/*
 * varint.h - numbers of seven bits a byte, lowest first (LEB128).
 *
 * A cursor that meets bytes which are no number becomes `bad`, and yields zeros
 * from then on. So a reader may look once, after several numbers.
 */
#ifndef SW_TRACE_VARINT_H
#define SW_TRACE_VARINT_H

#include "node/base/base.h"

typedef struct {
    const unsigned char *at, *end;
    bool bad;
} sw_cursor_t;

static inline uint64_t sw_varint(sw_cursor_t *c)
{
    if (sw_likely(c->at < c->end && *c->at < 0x80))
        return *c->at++;
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        unsigned char byte = *c->at++;
        if (shift == 63 && byte > 1)
            break;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return n;
    }
    c->bad = true;
    c->end = c->at;
    return 0;
}

static inline int64_t sw_varint_signed(sw_cursor_t *c)
{
    uint64_t n = sw_varint(c);
    return (int64_t)(n >> 1 ^ (0 - (n & 1)));
}

#endif
