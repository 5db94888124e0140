/* json.c - see json.h. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 16 };

static char closing[DEPTH];
static bool filled[DEPTH]; /* the list or object has an entry */
static int depth;

static void put(unsigned char c)
{
    putc_unlocked(c, stdout);
}

static void puts_all(const char *text)
{
    fputs_unlocked(text, stdout);
}

/* How many bytes of UTF-8 begin here; 0: these are none. */
static size_t utf8(const unsigned char *p, size_t left)
{
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;

    if (n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return n;
}

static void quoted(const char *text, size_t size)
{
    const unsigned char *p = (const void *)text;

    put('"');
    while (size) {
        size_t n = utf8(p, size);
        if (n == 0) {
            puts_all("\\ufffd");
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            put('\\');
            put(*p);
        } else if (*p < 0x20 || *p == 0x7f) {
            printf("\\u%04x", *p);
        } else {
            for (size_t i = 0; i < n; i++)
                put(p[i]);
        }
        p += n;
        size -= n;
    }
    put('"');
}

static void entry(const char *name)
{
    if (depth && filled[depth - 1])
        puts_all(", ");
    if (depth)
        filled[depth - 1] = true;
    if (name) {
        quoted(name, strlen(name));
        puts_all(": ");
    }
}

void sw_json_begin(const char *name, char what)
{
    entry(name);
    put((unsigned char)what);
    if (depth == DEPTH)
        abort();
    closing[depth] = what == '{' ? '}' : ']';
    filled[depth++] = false;
}

void sw_json_end(void)
{
    put((unsigned char)closing[--depth]);
    if (depth <= 2)
        put('\n');
}

void sw_json_text(const char *name, const char *text)
{
    entry(name);
    quoted(text, strlen(text));
}

void sw_json_field(const char *name, const char *text, size_t room)
{
    entry(name);
    quoted(text, strnlen(text, room));
}

void sw_json_number(const char *name, int64_t value)
{
    entry(name);
    printf("%lld", (long long)value);
}

void sw_json_real(const char *name, double value)
{
    entry(name);
    printf("%.6f", value);
}

void sw_json_bool(const char *name, bool value)
{
    entry(name);
    puts_all(value ? "true" : "false");
}

void sw_json_null(const char *name)
{
    entry(name);
    puts_all("null");
}
