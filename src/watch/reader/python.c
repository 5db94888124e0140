/* python.c - see python.h; profile/stack/python.c does the same in process. */
#include "python.h"

#include <string.h>

#include "profile/stack/pycode.h"

/* What is copied of an object, a line table, a string. */
enum {
    OBJECT = 512,
    LINES = 256 << 10,
    CHARACTERS = SW_PYTHON_FILE,
    TEXT = 128 + 4 * CHARACTERS
};

typedef struct {
    const sw_space_t *space;
    sw_python_layout_t l;
} reader_t;

static uint64_t word(const unsigned char *object, uint32_t offset)
{
    uint64_t value;
    memcpy(&value, object + offset, sizeof value);
    return value;
}

/* Offsets of fields are small and aligned; else this is no layout. */
static bool known(const sw_watch_t *header, sw_python_layout_t *l)
{
    const uint32_t *o = header->python;

    _Static_assert(sizeof *l <= sizeof header->python, "it fits");
    memcpy(l, o, sizeof *l);
    for (size_t i = 1; i < sizeof *l / sizeof *o; i++)
        if (o[i] > OBJECT - 8 || (o[i] & 3 && o[i] != l->owner))
            return false;
    return l->version >= 0x309 && l->version <= 0x30f && l->text_ascii <= 120 &&
           l->text_wide <= 120 && l->text_state <= 116 &&
           ((l->lines | l->bytes_size | l->text_length) & 7) == 0 &&
           l->first_line % 4 == 0;
}

static bool copy(const reader_t *r, uint64_t from, void *to, size_t n)
{
    return from >= SW_PAGE && sw_space_copy(r->space, from, to, n) == n;
}

/* An object up to the end of its last field. */
static bool copy_fields(const reader_t *r, uint64_t from, unsigned char *to,
                        uint32_t last)
{
    return copy(r, from, to, last + 8);
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void text_of(const reader_t *r, uint64_t at, char *to, size_t room)
{
    _Alignas(8) static unsigned char text[TEXT];
    uint32_t head = most(r->l.text_wide,
                         most(r->l.text_ascii, r->l.text_state + 4));
    uint64_t length;

    *to = 0;
    memset(text, 0, sizeof text);
    if (!copy_fields(r, at, text, r->l.text_length))
        return;
    length = word(text, r->l.text_length);
    if (length > CHARACTERS)
        length = CHARACTERS;
    /* Characters may be four bytes wide. What lies behind the string may be
     * no memory: then zeros are read there. */
    if (sw_space_copy(r->space, at, text, head + 4 * length) <
        r->l.text_ascii + length)
        return;
    memcpy(text + r->l.text_length, &length, sizeof length);
    sw_pycode_text(&r->l, (uintptr_t)text, to, room);
}

static uint32_t line_of(const reader_t *r, unsigned char *code, int64_t at)
{
    _Alignas(8) static unsigned char lines[OBJECT + LINES];
    uint64_t table = word(code, r->l.lines), size;

    if (!copy_fields(r, table, lines, most(r->l.bytes_size, r->l.bytes_data)))
        return 0;
    size = word(lines, r->l.bytes_size);
    if (size > LINES)
        return 0;
    if (!copy(r, table + r->l.bytes_data, lines + r->l.bytes_data, size))
        return 0;
    memcpy(lines + r->l.bytes_size, &size, sizeof size);
    uintptr_t here = (uintptr_t)lines;
    memcpy(code + r->l.lines, &here, sizeof here);
    return sw_pycode_line(&r->l, (uintptr_t)code, at);
}

/* The instruction's offset in bytes. */
static int64_t offset_of(const reader_t *r, const unsigned char *frame,
                         uint64_t code)
{
    uint64_t instruction = word(frame, r->l.instruction);

    if (r->l.version < 0x30b)
        return (int64_t)(int32_t)instruction * (r->l.version < 0x30a ? 1 : 2);
    return (int64_t)(instruction - (code + r->l.bytecode));
}

/* Read a place out. False: this is no code. Frames of the machinery of import
 * are not shown, as in Python's own tracebacks. */
static bool learn(const reader_t *r, const unsigned char *frame,
                  sw_python_stack_t *to)
{
    static const char machinery[] = "<frozen importlib._bootstrap";
    _Alignas(8) unsigned char object[OBJECT];
    uint64_t code = word(frame, r->l.code) & ~(uint64_t)7;
    char *file = to->frame[to->count].file;
    char *function = to->frame[to->count].function;

    if (!copy_fields(r, code, object,
                     most(most(r->l.file, r->l.name),
                          most(r->l.lines, r->l.first_line))))
        return false;
    text_of(r, word(object, r->l.file), file, SW_PYTHON_FILE);
    text_of(r, word(object, r->l.name), function, SW_PYTHON_NAME);
    if (!*file && !*function)
        return false;
    if (!strncmp(file, machinery, sizeof machinery - 1))
        return true;
    to->frame[to->count++].line = line_of(r, object, offset_of(r, frame, code));
    return true;
}

/* Frames that belong to the interpreter, between two of Python's. */
static bool of_interpreter(const reader_t *r, const unsigned char *frame)
{
    return r->l.owner && (signed char)frame[r->l.owner] >= 3;
}

static uint64_t first_frame(const reader_t *r, uint64_t thread)
{
    uint64_t frame = 0;

    if (!copy(r, thread + r->l.thread_frame, &frame, sizeof frame))
        return 0;
    if (r->l.version == 0x30b || r->l.version == 0x30c) {
        uint64_t cframe = frame;
        if (!copy(r, cframe + r->l.cframe_frame, &frame, sizeof frame))
            return 0;
    }
    return frame;
}

void sw_python_stack(const sw_space_t *s, const sw_watch_t *header,
                     uint64_t thread, sw_python_stack_t *to)
{
    _Alignas(8) unsigned char frame[OBJECT];
    reader_t r = {.space = s};

    to->count = 0;
    if (!known(header, &r.l) || thread < SW_PAGE)
        return;
    uint64_t at = first_frame(&r, thread);
    uint32_t last = most(most(r.l.code, r.l.previous),
                         most(r.l.instruction, r.l.owner));
    for (int i = 0; at && i < 5 * SW_PYTHON_FRAMES; i++) {
        if (to->count == SW_PYTHON_FRAMES || at & 7 ||
            !copy_fields(&r, at, frame, last))
            return;
        if (!of_interpreter(&r, frame) && !learn(&r, frame, to))
            return;
        at = word(frame, r.l.previous);
    }
}
