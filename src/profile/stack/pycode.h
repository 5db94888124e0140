/*
 * pycode.h - what CPython's objects look like in memory: strings, and the
 * table of lines of a code object. Only reads, and calls nothing.
 */
#ifndef SW_PROFILE_STACK_PYCODE_H
#define SW_PROFILE_STACK_PYCODE_H

#include "node/base/base.h"

/* Offsets in the structures of the Python that is here. */
typedef struct sw_python_layout {
    int version;                 /* 0x30b: 3.11 */
    uint32_t thread_frame;       /* of PyThreadState: frame, or cframe */
    uint32_t cframe_frame;       /* of cframe: current_frame */
    uint32_t code, previous;     /* of a frame */
    uint32_t instruction, owner; /* owner 0: it has none */
    uint32_t file, name, first_line, lines, bytecode; /* of a code */
    uint32_t type;                                    /* of any object */
    uint32_t bytes_size, bytes_data;
    uint32_t text_length, text_state, text_ascii, text_wide;
} sw_python_layout_t;

static inline uintptr_t sw_pycode_word(uintptr_t object, uint32_t offset)
{
    return *(const uintptr_t *)(object + offset);
}

static inline uint32_t sw_pycode_half(uintptr_t object, uint32_t offset)
{
    return *(const uint32_t *)(object + offset);
}

/* A str as UTF-8, cut off at `room` - 1 bytes; returns its length. What UTF-8
 * cannot say becomes U+FFFD. */
size_t sw_pycode_text(const sw_python_layout_t *l, uintptr_t text, char *to,
                      size_t room);

/* The line of the instruction at this offset, in bytes; 0: it has none. */
uint32_t sw_pycode_line(const sw_python_layout_t *l, uintptr_t code,
                        int64_t at);

#endif
