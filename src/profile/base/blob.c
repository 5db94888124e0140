/*
 * blob.c - see blob.h.
 */
#include "blob.h"

#include "node/os/os.h"

#include <string.h>

static bool make_room(sw_blob_t *b, size_t n)
{
    if (b->lost)
        return false;
    if (n <= b->room - b->size)
        return true;
    size_t room = sw_max(2 * b->room, (size_t)1 << 16);
    room = sw_round_up(sw_max(room, b->size + n), SW_PAGE);
    char *to = sw_os_map_lazy(NULL, room);
    b->lost = !to;
    if (!to)
        return false;
    if (b->at) {
        memcpy(to, b->at, b->size);
        sw_os_unmap(b->at, b->room);
    }
    b->at = to;
    b->room = room;
    return true;
}

void sw_blob_put(sw_blob_t *b, const void *bytes, size_t n)
{
    if (n && make_room(b, n)) {
        memcpy(b->at + b->size, bytes, n);
        b->size += n;
    }
}

void sw_blob_free(sw_blob_t *b)
{
    if (b->at)
        sw_os_unmap(b->at, b->room);
    *b = (sw_blob_t){0};
}

void sw_blob_text(sw_blob_t *b, const char *text)
{
    sw_blob_put(b, text, strlen(text));
}

/* The length of the well-formed UTF-8 sequence at `s`, 0 if it is none. */
static int sequence(const unsigned char *s)
{
    int n = *s < 0x80                 ? 1
            : *s >= 0xc2 && *s < 0xe0 ? 2
            : *s >= 0xe0 && *s < 0xf0 ? 3
            : *s >= 0xf0 && *s < 0xf5 ? 4
                                      : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
        (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

/* What is no UTF-8 (paths are bytes) is taken for Latin-1. */
void sw_blob_string(sw_blob_t *b, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    sw_blob_put(b, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int n = sequence(s);
        if (*s == '"' || *s == '\\') {
            char pair[2] = {'\\', (char)*s};
            sw_blob_put(b, pair, 2);
        } else if (n == 0 || *s < 0x20) {
            char code[6] = {'\\',           'u', '0', '0', digits[*s >> 4],
                            digits[*s & 15]};
            sw_blob_put(b, code, 6);
        } else {
            sw_blob_put(b, s, (size_t)n);
        }
        s += n ? n : 1;
    }
    sw_blob_put(b, "\"", 1);
}

static void put_digits(sw_blob_t *b, uint64_t n, unsigned base)
{
    char text[24], *at = text + sizeof text;
    do
        *--at = "0123456789abcdef"[n % base];
    while (n /= base);
    sw_blob_put(b, at, (size_t)(text + sizeof text - at));
}

void sw_blob_number(sw_blob_t *b, uint64_t n)
{
    put_digits(b, n, 10);
}

void sw_blob_hex(sw_blob_t *b, uint64_t n)
{
    put_digits(b, n, 16);
}

static void put_name(sw_blob_t *b, const char *name)
{
    sw_blob_text(b, "\"");
    sw_blob_text(b, name);
    sw_blob_text(b, "\": ");
}

void sw_blob_named(sw_blob_t *b, const char *name, uint64_t n)
{
    put_name(b, name);
    sw_blob_number(b, n);
    sw_blob_text(b, ", ");
}

void sw_blob_named_string(sw_blob_t *b, const char *name, const char *text)
{
    put_name(b, name);
    sw_blob_string(b, text);
    sw_blob_text(b, ", ");
}

void sw_blob_close(sw_blob_t *b, const char *end)
{
    if (b->size >= 2 && !memcmp(b->at + b->size - 2, ", ", 2))
        b->size -= 2;
    sw_blob_text(b, end);
}
