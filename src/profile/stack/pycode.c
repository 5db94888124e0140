/*
 * pycode.c - see pycode.h.
 */
#include "pycode.h"

#include <string.h>

/* The state of a str: how wide its characters are, whether they follow the
 * header, whether all are ASCII. These are bit fields behind the one that says
 * whether the string is interned, which has had 2 bits, and later 16: then the
 * bits that used to be the width are 0, which is no width. */
static unsigned state_of(const sw_python_layout_t *l, uintptr_t text)
{
    uint32_t state = sw_pycode_half(text, l->text_state);
    return state >> 2 & 7 ? state >> 2 : state >> 16;
}

static size_t utf8(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

size_t sw_pycode_text(const sw_python_layout_t *l, uintptr_t text, char *to,
                      size_t room)
{
    unsigned state = state_of(l, text), kind = state & 7;
    bool compact = state >> 3 & 1, ascii = state >> 4 & 1;
    size_t length = sw_pycode_word(text, l->text_length), n = 0;
    const unsigned char *data = (const void *)(text + (ascii ? l->text_ascii
                                                             : l->text_wide));

    if (compact && (kind == 1 || kind == 2 || kind == 4))
        for (size_t i = 0; i < length && n + 5 <= room; i++)
            n += utf8(kind == 1   ? data[i]
                      : kind == 2 ? ((const uint16_t *)(const void *)data)[i]
                                  : ((const uint32_t *)(const void *)data)[i],
                      to + n);
    to[n] = 0;
    return n;
}

/* 3.9, co_lnotab: pairs of how far the address and the line go on. */
static int64_t by_lnotab(const unsigned char *p, size_t n, int64_t line,
                         int64_t at)
{
    int64_t address = 0;

    for (size_t i = 0; i + 1 < n; i += 2) {
        address += p[i];
        if (address > at)
            break;
        line += (signed char)p[i + 1];
    }
    return line;
}

/* 3.10, co_linetable: pairs of a length and how far the line goes on before
 * it; -128: a stretch without a line. */
static int64_t by_ranges(const unsigned char *p, size_t n, int64_t line,
                         int64_t at)
{
    int64_t address = 0;

    for (size_t i = 0; i + 1 < n; i += 2) {
        int delta = (signed char)p[i + 1];
        address += p[i];
        if (delta != -128)
            line += delta;
        if (address > at)
            return delta == -128 ? 0 : line;
    }
    return 0;
}

static uint64_t varint(const unsigned char **p, const unsigned char *end)
{
    uint64_t value = 0;

    for (unsigned shift = 0; *p < end; shift += 6) {
        unsigned byte = *(*p)++;
        if (shift < 32)
            value |= (uint64_t)(byte & 63) << shift;
        if (!(byte & 64))
            break;
    }
    return value;
}

/* From 3.11 on: entries that begin with a byte with the highest bit set, which
 * holds their kind and how many instructions they are about. */
static int64_t by_locations(const unsigned char *p, size_t n, int64_t line,
                            int64_t at)
{
    const unsigned char *end = p + n;
    int64_t address = 0;

    while (p < end) {
        unsigned head = *p++, kind = head >> 3 & 15;
        address += 2 * ((int64_t)(head & 7) + 1);
        if (kind == 13 || kind == 14) {
            uint64_t delta = varint(&p, end);
            line += delta & 1 ? -(int64_t)(delta >> 1) : (int64_t)(delta >> 1);
        } else if (kind >= 10 && kind <= 12) {
            line += kind - 10;
        }
        if (address > at)
            return kind == 15 ? 0 : line;
        while (p < end && !(*p & 0x80))
            p++;
    }
    return 0;
}

uint32_t sw_pycode_line(const sw_python_layout_t *l, uintptr_t code, int64_t at)
{
    int64_t first = (int32_t)sw_pycode_half(code, l->first_line), line;
    uintptr_t table = sw_pycode_word(code, l->lines);
    const unsigned char *p = (const void *)(table + l->bytes_data);
    size_t n = sw_pycode_word(table, l->bytes_size);

    if (at < 0)
        line = first;
    else if (l->version < 0x30a)
        line = by_lnotab(p, n, first, at);
    else if (l->version < 0x30b)
        line = by_ranges(p, n, first, at);
    else
        line = by_locations(p, n, first, at);
    return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}
